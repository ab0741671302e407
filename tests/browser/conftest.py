"""A real browser: Chromium without a screen, driven by Playwright."""

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
# As root it has no sandbox; and it is to ask nobody anything.
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def browser():
    """Chromium; where CI asks for it, its absence is a failure."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        reason = "no Chromium is installed (Debian: apt-get install chromium)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    # While Playwright runs, so does its event loop: other modules' tests want their own.
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield chromium
        chromium.close()


class Visit:
    """A page that was opened, and everything that it should not have done."""

    def __init__(self, page):
        self.page = page
        self.complaints = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", self._request)

    def _request(self, request):
        if not (request.is_navigation_request() and request.url.startswith("file:")):
            self.complaints.append(request.url)

    def open(self, file, anchor=""):
        """Go there and wait until it is loaded."""
        self.page.goto(file.as_uri() + anchor)
        return self

    def shown(self, selector):
        """The paths in those of these elements that can be seen."""
        # Not `inner_text`: it is empty for what the browser has not drawn yet.
        paths = self.page.locator(f"{selector}:visible .path").all_text_contents()
        return [path.replace("\u200b", "") for path in paths]


@pytest.fixture
def visit(browser):
    """Open a file: `visit(file, width=375, color_scheme="dark")`."""
    contexts = []

    def open_page(file, *, anchor="", width=1200, **options):
        viewport = {"width": width, "height": 900}
        context = browser.new_context(viewport=viewport, **options)
        contexts.append(context)
        return Visit(context.new_page()).open(file, anchor)

    yield open_page
    for context in contexts:
        context.close()
