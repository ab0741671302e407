"""Make the picture at the beginning of README.md: the report on UBP's own pages.

    python .ci/picture.py

It needs Chromium, and Playwright of the group `dev`. What is not committed is not shown.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs/report.png"
WIDTH, HEIGHT = 1200, 720
MAX_BYTES = 150_000


def main() -> None:
    """Write the picture."""
    with tempfile.TemporaryDirectory() as folder:
        clone, page = Path(folder) / "ubp", Path(folder) / "report.html"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)  # noqa: S603, S607
        command = [sys.executable, "-m", "ubp", "report", "--graph", "--html", page]
        subprocess.run(command, cwd=clone, check=True)  # noqa: S603
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            size = {"width": WIDTH, "height": HEIGHT}
            shown = browser.new_page(viewport=size, color_scheme="light")
            shown.goto(page.as_uri())
            shown.screenshot(path=PICTURE)
            browser.close()
    if PICTURE.stat().st_size > MAX_BYTES:
        raise SystemExit(f"{PICTURE} has more than {MAX_BYTES:,} bytes")


if __name__ == "__main__":
    main()
