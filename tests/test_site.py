"""The documentation as a site: built by its generator, as the workflow does."""

import importlib.util
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Links(HTMLParser):
    """The addresses of a page's links."""

    def __init__(self, text):
        super().__init__()
        self.found = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.found.add(dict(attrs).get("href"))


@pytest.mark.slow
def test_site_builds_without_a_warning_and_leads_to_the_repository(tmp_path):
    site = tmp_path / "site"
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", site],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    links = Links((site / "index.html").read_text(encoding="utf-8")).found
    repository = load(ROOT / ".ci/site_links.py").repository()
    assert f"{repository}/blob/main/README.md#install" in links
    assert "tutorial/" in links


@pytest.mark.parametrize("path", sorted((DOCS / "ja").rglob("*.md")), ids=lambda path: path.stem)
def test_lines_of_japanese_pages_end_where_sentences_end(path):
    """A browser shows a line break as a space, which Japanese words do not have between them."""
    text = re.sub(r"(?ms)^<!--.*?-->$|^```.*?^```$", "", path.read_text(encoding="utf-8"))
    broken = re.findall(r"(?m)^(?![#|]).*[、\u3041-\u9fff]\n(?=[^\n\s#|*-]).*", text)
    assert broken == []


def test_navigation_of_the_site_lists_every_page():
    def leaves(value):
        if isinstance(value, str):
            yield value
        else:
            for part in value.values() if isinstance(value, dict) else value:
                yield from leaves(part)

    lines = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[1:]
    config = yaml.safe_load("".join(lines))
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    decisions = {page for page in pages if page.startswith("decisions/0")}  # listed by their index
    assert set(leaves(config["nav"])) == pages - decisions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](../ci.md#x)", "[a](../ci.md#x)"),
        ("[a](../../README.md#install)", "[a](REPOSITORY/blob/main/README.md#install)"),
        ("![a](../../docs/report.png)", "![a](../../docs/report.png)"),
        ("```text\n[a](../../README.md)\n```", "```text\n[a](../../README.md)\n```"),
    ],
)
def test_links_that_leave_the_pages_are_addresses_of_the_repository(text, expected):
    hook = load(ROOT / ".ci/site_links.py")
    page = type("Page", (), {"file": type("File", (), {"src_uri": "guide/checks.md"})})
    expected = expected.replace("REPOSITORY", hook.repository())
    assert hook.on_page_markdown(text, page=page) == expected


def test_moving_picture_shows_what_the_tutorial_shows():
    cast = load(ROOT / ".ci/cast.py")
    drawn = cast.draw((DOCS / "tutorial.md").read_text(encoding="utf-8"))
    assert drawn == cast.PICTURE.read_text(encoding="utf-8"), "Run: python .ci/cast.py"


def test_picture_of_the_view_shows_what_it_shows_and_loads_nothing():
    view = load(ROOT / ".ci/view.py")
    committed = view.PICTURE.read_text(encoding="utf-8")
    pictures = committed, view.draw()
    shown, drawn = (re.findall(r"<text[^>]*>([^<]*)</text>", svg) for svg in pictures)
    assert shown == drawn, "Run: python .ci/view.py"
    assert "url(http" not in committed
