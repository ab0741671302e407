"""The documentation's site in a browser: what somebody who cannot see or click would miss."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "index.html",
    "tutorial/index.html",
    "comparison/index.html",
    "guide/editors/index.html",
    "reference/rules/index.html",
    "measurements/index.html",
    "ja/tutorial/index.html",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "site"
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=True,
    )
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_page_has_no_accessibility_violation(site, browser, name, scheme):
    page = browser.new_page(color_scheme=scheme, reduced_motion="reduce")
    page.goto((site / name).as_uri())
    found = Axe().run(page).response["violations"]
    page.close()
    assert {
        violation["id"]: [node["html"][:120] for node in violation["nodes"][:3]]
        for violation in found
    } == {}
