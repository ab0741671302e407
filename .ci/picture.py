"""Make pictures: the report on UBP's own pages in README.md, and the extension's icon.

    python .ci/picture.py [report] [icon]

Without a name it makes both. It needs Chromium, and Playwright of the group `dev`. The report does
not show what is not committed. Marketplaces take no icon as SVG.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs/report.png"
WIDTH, HEIGHT = 1200, 720
MAX_BYTES = 150_000
BROWSERS = ("chromium", "google-chrome")
ICON = ROOT / "editors/vscode/media/icon.png"
ICON_PIXELS = 128


def draw_report(browser: Browser) -> None:
    """Write the picture of the report.

    Raises:
        SystemExit: The file is too large for a README.
    """
    with tempfile.TemporaryDirectory() as folder:
        clone, page = Path(folder) / "ubp", Path(folder) / "report.html"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)  # noqa: S603, S607
        command = [sys.executable, "-m", "ubp", "report", "--graph", "--html", page]
        subprocess.run(command, cwd=clone, check=True)  # noqa: S603
        size = {"width": WIDTH, "height": HEIGHT}
        shown = browser.new_page(viewport=size, color_scheme="light")
        shown.goto(page.as_uri())
        shown.screenshot(path=PICTURE)
    if PICTURE.stat().st_size > MAX_BYTES:
        raise SystemExit(f"{PICTURE} has more than {MAX_BYTES:,} bytes")


def draw_icon(browser: Browser) -> None:
    """Write the extension's icon from its SVG."""
    size = {"width": ICON_PIXELS, "height": ICON_PIXELS}
    shown = browser.new_page(viewport=size)
    svg = ICON.with_suffix(".svg").read_text(encoding="utf-8")
    shown.set_content(f"<style>body {{ margin: 0 }} svg {{ display: block }}</style>{svg}")
    shown.screenshot(path=ICON, omit_background=True)


DRAWN = {"report": draw_report, "icon": draw_icon}


def main(*names: str) -> None:
    """Write the pictures with these names, without names all of them."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=next(filter(None, map(shutil.which, BROWSERS)), None),
            args=["--no-sandbox"],
        )
        for name in names or DRAWN:
            DRAWN[name](browser)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
