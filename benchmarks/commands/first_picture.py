"""How long a browser takes to the first picture of graphs, in CPU of the page's main thread.

Run: python benchmarks/commands/first_picture.py BEFORE.html AFTER.html
Each file is one that `ubp get-graph --format html` wrote; it needs Chromium and Playwright.
"""

import argparse
import os
from pathlib import Path

from playwright.sync_api import sync_playwright

FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
TIMEOUT_MS = 240_000


def main() -> None:
    """Print a line for each file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    arguments = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=arguments.chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        for file in arguments.files:
            context = browser.new_context(viewport={"width": 1440, "height": 900})
            page = context.new_page()
            session = context.new_cdp_session(page)
            session.send("Performance.enable", {"timeDomain": "threadTicks"})
            page.goto(file.resolve().as_uri(), timeout=TIMEOUT_MS)
            page.wait_for_selector("[data-ready]", timeout=TIMEOUT_MS, state="attached")
            page.evaluate(FRAMES)
            metrics = session.send("Performance.getMetrics")["metrics"]
            seconds = {metric["name"]: metric["value"] for metric in metrics}["TaskDuration"]
            height = page.evaluate("document.documentElement.scrollHeight")
            size = os.path.getsize(file) / 1e6
            print(f"{file.name}: {seconds:.2f} s, {size:.2f} MB, {height} pixels high")
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
