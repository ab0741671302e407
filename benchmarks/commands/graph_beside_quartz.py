"""The first picture of one vault's graph, by UBP and by Quartz.

Run: python benchmarks/commands/graph_beside_quartz.py GRAPH.html SITE PICTURE.png
GRAPH.html is what `ubp get-graph --format html` wrote for the vault, SITE the folder `public` that
`npx quartz build` wrote. It needs Chromium and Playwright; the pages load nothing from the network.
"""

import argparse
import functools
import http.server
import statistics
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
LOADED = """() => [
  ...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource"),
].reduce((sum, entry) => sum + entry.decodedBodySize, 0)"""
SIZE = {"width": 1200, "height": 760}
ROUNDS = 5
SETTLED_MS = 15_000
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader")


class Pages(http.server.SimpleHTTPRequestHandler):
    """Files, and pages without their suffix, as a static host serves them."""

    def translate_path(self, path: str) -> str:
        """Return the file of an address."""
        file = super().translate_path(path)
        return file if Path(file).exists() else f"{file}.html"

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address at which the files of a folder can be read meanwhile."""
    handler = functools.partial(Pages, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Tab:
    """A page that counts the CPU seconds of its main thread."""

    def __init__(self, browser: Browser, address: str) -> None:
        self._context = browser.new_context(viewport=SIZE)
        self.page = self._context.new_page()
        local = (address, "file:", "data:", "blob:")
        self.page.route(
            "**/*",
            lambda route: (
                route.continue_() if route.request.url.startswith(local) else route.abort()
            ),
        )
        self._session = self._context.new_cdp_session(self.page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.page.goto(address)

    def seconds(self) -> float:
        """Return the CPU seconds until the next picture."""
        self.page.evaluate(FRAMES)
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return {metric["name"]: metric["value"] for metric in metrics}["TaskDuration"]

    def loaded(self) -> int:
        """Return the bytes of the page and of everything that it loaded, unpacked."""
        return self.page.evaluate(LOADED)

    def picture(self, file: Path) -> None:
        """Write what the window shows."""
        self.page.screenshot(path=file)

    def close(self) -> None:
        """Close the window."""
        self._context.close()


def measure_ubp(browser: Browser, address: str, file: Path | None) -> tuple[float, int, str]:
    """Return CPU seconds, bytes, and a sentence about labels."""
    tab = Tab(browser, address)
    tab.page.wait_for_selector("[data-ready]", state="attached")
    seconds = tab.seconds()
    size = tab.loaded()
    labels = len(tab.page.evaluate("ubpGraph.measure()")["labels"])
    if file:
        tab.picture(file)
    tab.close()
    return seconds, size, f"{labels} labels"


def measure_quartz(browser: Browser, address: str, file: Path | None) -> tuple[float, int, str]:
    """Return CPU seconds, bytes, and the further CPU seconds until the picture is at rest."""
    tab = Tab(browser, address)
    tab.page.wait_for_load_state("networkidle")
    tab.page.click(".global-graph-icon")
    tab.page.wait_for_selector(".global-graph-container canvas")
    seconds = tab.seconds()
    size = tab.loaded()
    rest = ""
    if file:
        tab.page.wait_for_timeout(SETTLED_MS)
        rest = f"{tab.seconds() - seconds:.2f} s more until it is at rest"
        tab.picture(file)
    tab.close()
    return seconds, size, rest


def main() -> None:
    """Print a line for each program, and draw both pictures side by side."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", type=Path)
    parser.add_argument("site", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        served(arguments.site) as site,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=arguments.chromium, args=list(ARGUMENTS)
        )
        graph = arguments.graph.resolve().as_uri()
        programs = {"ubp": (measure_ubp, graph), "quartz": (measure_quartz, site)}
        files = {name: Path(folder, f"{name}.png") for name in programs}
        rounds: dict[str, list[float]] = {name: [] for name in programs}
        for turn in range(ROUNDS):
            for name, (measure, address) in programs.items():
                file = files[name] if turn == ROUNDS - 1 else None
                seconds, size, more = measure(browser, address, file)
                rounds[name].append(seconds)
                if file:
                    median, least, most = (
                        function(rounds[name]) for function in (statistics.median, min, max)
                    )
                    print(
                        f"{name}: {median:.2f} s ({least:.2f} to {most:.2f}), "
                        f"{size / 1e6:.2f} MB loaded, {more}"
                    )
        width, height = (pixels // 2 for pixels in SIZE.values())
        both = browser.new_page(viewport={"width": 2 * width + 10, "height": height})
        sources = "".join(f"<img width={width} src={file.as_uri()}>" for file in files.values())
        frame = Path(folder, "both.html")
        frame.write_text(f"<style>body{{margin:0;display:flex;gap:10px}}</style>{sources}")
        both.goto(frame.as_uri())
        both.screenshot(path=arguments.picture)
        browser.close()


if __name__ == "__main__":
    main()
