"""The hub's search in a real browser: what it shows, dark and narrow, and what it never does."""

import re

import pytest

from tests.browser.conftest import browser  # noqa: F401  # a fixture
from ubp.hub.web_pages import FILES

TOKEN = "development-token-for-tests"
HOSTILE = (
    '---\ntitle: "<img src=x onerror=alert(1)>"\n---\n\n'
    "Zebras `</p><script>alert(2)</script>` run [here](javascript:alert(3)).\n"
)


@pytest.fixture
def pushed(hub, repository):
    repository.write("CODEOWNERS", "* @acme/zoo\n")
    repository.write("src/zoo.py", "a = 1\n")
    repository.page("docs/zebras.md", "src/zoo.py", title="Zebras", body="Zebras run in herds.\n")
    repository.write("docs/hostile.md", HOSTILE)
    repository.commit()
    hub.push(repository, texts=True)
    return hub


@pytest.fixture
def open_page(browser, pushed):  # noqa: F811  # the fixture
    """Open the page with a query, in a browser of these settings, and note what it complains of."""
    contexts = []

    def open_(query="", token=TOKEN, **settings):
        context = browser.new_context(**settings)
        contexts.append(context)
        context.add_init_script(f"sessionStorage.setItem('token', '{token}')")
        page = context.new_page()
        page.complaints = []
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("dialog", lambda dialog: page.complaints.append(dialog.message))
        page.on(
            "request",
            lambda asked: (
                asked.url.startswith((f"{pushed.url}/", "data:,"))
                or page.complaints.append(asked.url)
            ),
        )
        page.goto(f"{pushed.url}/search?q={query}")
        return page

    yield open_
    for context in contexts:
        context.close()


def wait(page):
    # Not `wait_for_function`: the page's policy forbids to evaluate strings.
    status = page.locator("#status", has_text=re.compile(r"\bof\b|found|hub"))
    status.wait_for()
    return status.inner_text()


def test_page_shows_results_with_place_owner_freshness_and_address(open_page):
    page = open_page("zebras%20herds")

    assert wait(page) in {"1 of 1 page.", "2 of 2 pages."}
    first = page.locator("li").first
    assert first.locator("a").inner_text() == "Zebras"
    assert first.locator("a").get_attribute("href").startswith("https://github.com/acme/api/blob/")
    text = first.inner_text()
    for words in ("github.com/acme/api: docs/zebras.md", "fresh", "@acme/zoo", "run in herds"):
        assert words in text
    assert page.complaints == []


def test_form_searches_by_keyboard_and_address_can_be_shared(open_page):
    page = open_page()
    page.wait_for_function("document.activeElement.id === 'query'")  # which has the focus
    page.keyboard.type("zebras")
    page.keyboard.press("Enter")

    assert "page" in wait(page)
    assert page.url.endswith("?q=zebras")
    assert page.complaints == []


def test_text_of_a_repository_is_never_markup(open_page):
    page = open_page("zebras%20script")
    wait(page)

    assert "<img src=x onerror=alert(1)>" in page.locator("#results").inner_text()
    assert "<script>" in page.locator("#results").inner_text()
    assert page.locator("#results img, #results script").count() == 0
    assert page.locator("#results a:not([href^='https://github.com/'])").count() == 0
    assert page.complaints == []


def test_wrong_token_is_asked_for_again(open_page):
    page = open_page("zebras", token="wrong")

    assert "does not accept this token" in wait(page)
    assert page.locator("#token").is_visible()
    assert page.evaluate("document.activeElement.id") == "token"
    page.fill("#token", TOKEN)
    page.keyboard.press("Enter")
    page.wait_for_selector("li")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_narrow_page_does_not_scroll_sideways_and_texts_have_contrast(open_page, scheme):
    page = open_page("zebras", viewport={"width": 320, "height": 640}, color_scheme=scheme)
    wait(page)

    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert min(page.evaluate(CONTRASTS)) >= 4.5
    unnamed = "input:not([type=hidden])"
    assert all(page.locator(unnamed).nth(n).evaluate("box => box.labels.length") for n in range(3))


# The contrast of each text with what is behind it (WCAG 2.2).
CONTRASTS = """() => {
  const light = (color) => color.match(/[\\d.]+/g).slice(0, 3).map(Number)
    .map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, n) => sum + c * [0.2126, 0.7152, 0.0722][n], 0);
  const behind = (node) => {
    while (getComputedStyle(node).backgroundColor === "rgba(0, 0, 0, 0)") node = node.parentElement;
    return getComputedStyle(node).backgroundColor;
  };
  return [...document.querySelectorAll("h1, h2, a, label, summary, button, li p, .badge, #status")]
    .filter((node) => node.textContent.trim() && node.checkVisibility())
    .map((node) => [light(getComputedStyle(node).color), light(behind(node))])
    .map(([a, b]) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
}"""


def test_files_need_no_token_and_contain_nothing_of_a_repository(pushed):
    for address in FILES:
        status, body = pushed.call(address)
        assert status == 200
        assert b"ebras" not in body


def test_answers_need_a_token(pushed):
    assert pushed.call("/v1/ask/search", value={"query": "zebras"})[0] == 401
