"""The graph as an MCP App, in the frame of a host that speaks the protocol of MCP Apps."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from axe_playwright_python.sync_playwright import Axe
from mcp import Client
from mcp.client.extension import advertise
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID

from ubp import __version__
from ubp.server.protocol import create_server
from ubp.server.repositories import Repositories, ServedRepository
from ubp.server.scheduler import Scheduler
from ubp.server.subscriptions import Subscriptions
from ubp.server.tools.registry import select_tools
from ubp.workspace import Workspace

URI = "ui://ubp/graph"
# What a host allows a page that names no domains, in a frame without an origin.
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; media-src 'self' data:; object-src 'none'; connect-src 'none'"
)
# A host: `host.tell` sends notifications, `host.ask` requests; `host.log` has what the app sent.
HOST = """<!doctype html><html lang="en"><title>Host</title>
<style>body { margin: 0 } iframe { border: 0; width: 100% }</style>
<iframe title="App" sandbox="allow-scripts"></iframe>
<script>
const frame = document.querySelector("iframe");
const host = { log: [], answers: {}, results: {}, context: CONTEXT, capabilities: CAPABILITIES };
const post = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
host.tell = (method, params) => post({ method, params });
host.ask = (id, method) => post({ id, method, params: {} });
window.addEventListener("message", ({ source, data }) => {
  if (source !== frame.contentWindow) return;
  host.log.push(data);
  if (data.method === "ui/initialize") {
    post({ id: data.id, result: {
      protocolVersion: "2026-01-26", hostInfo: { name: "test", version: "1" },
      hostCapabilities: host.capabilities, hostContext: host.context,
    } });
  } else if (data.method === "ui/notifications/size-changed") {
    frame.style.height = `${data.params.height}px`;
  } else if (data.method === "ui/request-display-mode") {
    post({ id: data.id, result: { mode: data.params.mode } });
  } else if (data.method === "tools/call") {
    post({ id: data.id, result: host.answers[data.params.arguments.center] });
  } else if (data.method === undefined) host.results[data.id] = data.result ?? data.error;
});
frame.srcdoc = HTML;
</script>"""


@pytest.fixture(scope="module")
def answers(isolate, repository_in, tmp_path_factory):
    """The page of the app, and what the tool answers about the whole graph and about a page."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        isolate(monkeypatch)
        return read_answers(repository_in(tmp_path_factory.mktemp("app") / "project"))


def read_answers(repository):
    repository.page("docs/auth.md", "src/auth.py", title="Auth", body="[[tokens]]\n")
    repository.page("docs/tokens.md", title="Tokens", body="[[keys]]\n")
    repository.page("docs/keys.md", title="</script><img src=x onerror=alert(1)>", body="x\n")
    repository.write("src/auth.py", "old\n")
    repository.commit()

    async def ask():
        root = str(repository.root)
        scheduler = Scheduler(lambda progress: Workspace.open(root, progress=progress))
        scheduler.start()
        repositories = Repositories([ServedRepository("project", scheduler)], select_tools())
        server = create_server(repositories, Subscriptions(repositories))
        extension = advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]})
        async with Client(server, extensions=[extension]) as client:
            (page,) = (await client.read_resource(URI)).contents
            around = {"center": "docs/auth.md", "depth": 1}
            found = [
                await client.call_tool("ubp_get_graph", given)
                for given in ({}, around, {"center": "docs/none.md"})
            ]
        scheduler.close()
        return page.text, [answer.model_dump(by_alias=True, mode="json") for answer in found]

    # The loop of Playwright is that of this thread.
    with ThreadPoolExecutor() as threads:
        return threads.submit(asyncio.run, ask()).result()


class Hosted:
    """The app in a host's frame."""

    def __init__(self, visit):
        self.visit, self.page = visit, visit.page
        self.page.wait_for_function(
            "() => host.log.some((message) => message.method === 'ui/notifications/initialized')"
        )
        self.frame = self.page.frames[1]

    def tell(self, method, params):
        self.page.evaluate("([method, params]) => host.tell(method, params)", [method, params])

    def show(self, result, **given):
        """Pass on an answer and wait until it is drawn."""
        self.tell("ui/notifications/tool-input", {"arguments": given})
        self.tell("ui/notifications/tool-result", result)
        self.frame.wait_for_selector("[data-ready]")
        self.frame.evaluate("document.querySelector('.graph-list').open = true")

    def sent(self, method):
        """The parameters of these messages from the app."""
        log = self.page.evaluate("host.log")
        return [message["params"] for message in log if message.get("method") == method]

    def titles(self):
        return self.frame.locator("[data-item] button").all_text_contents()


@pytest.fixture
def hosted(answers, visit, tmp_path):
    """Open the app in a host: `hosted(capabilities, **context)`."""

    def show(capabilities=None, *, width=1200, **context):
        html, _ = answers
        page = html.replace(
            "<head>", f'<head><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        )
        host = HOST
        for name, value in (
            ("CONTEXT", context),
            ("CAPABILITIES", capabilities or {}),
            ("HTML", page),
        ):
            host = host.replace(name, json.dumps(value).replace("<", "\\u003c"))
        file = tmp_path / "host.html"
        file.write_text(host, encoding="utf-8")
        return Hosted(visit(file, width=width))

    return show


def test_app_shakes_hands_and_draws_the_answer_that_the_host_passes_on(hosted, answers):
    app = hosted()
    (started,) = app.sent("ui/initialize")
    assert started["protocolVersion"] == "2026-01-26"
    assert started["appInfo"] == {"name": "ubp", "version": __version__}
    assert "Waiting" in app.frame.locator("main").text_content()
    app.show(answers[1][0])
    assert app.frame.locator("[data-part=picture] canvas").count() == 1
    assert app.titles() == ["Auth", "</script><img src=x onerror=alert(1)>", "Tokens"]
    assert app.frame.locator("[data-part=question]").text_content() == "3 pages."
    app.frame.get_by_role("button", name="Auth").first.click()
    assert "src/auth.py" in app.frame.locator("[data-part=details]").text_content()
    # Nothing was fetched, and no policy was offended.
    assert app.visit.complaints == []


def test_app_asks_for_the_pages_around_another_one_where_the_host_lets_it(hosted, answers):
    app = hosted({"serverTools": {}})
    app.show(answers[1][1], depth=1, center="docs/auth.md")
    assert app.titles() == ["Auth", "Tokens"]
    app.page.evaluate("(answer) => (host.answers['docs/tokens.md'] = answer)", answers[1][2])
    app.frame.locator("[data-item] button", has_text="Tokens").click()
    app.frame.get_by_role("button", name="What depends on it").click()
    sentence = app.frame.locator("[data-part=question]")
    sentence.filter(has_text="none.md").wait_for()
    called = {"name": "ubp_get_graph", "arguments": {"depth": 1, "center": "docs/tokens.md"}}
    assert app.sent("tools/call") == [called]
    app.page.evaluate("(answer) => (host.answers['docs/tokens.md'] = answer)", answers[1][0])
    app.frame.get_by_role("button", name="What depends on it").click()
    app.frame.locator("[data-item]").nth(2).wait_for(state="attached")
    # The whole graph is here: nothing more has to be asked.
    app.frame.evaluate("document.querySelector('.graph-list').open = true")
    app.frame.locator("[data-item] button", has_text="Tokens").click()
    app.frame.get_by_role("button", name="What depends on it").click()
    sentence.filter(has_text="What depends on Tokens: 1 page").wait_for()
    assert len(app.sent("tools/call")) == 2


def test_app_shows_errors_and_answers_without_a_graph_as_text(hosted, answers):
    app = hosted()
    app.tell("ui/notifications/tool-result", answers[1][2])
    app.frame.wait_for_function("() => document.body.textContent.includes('docs/none.md')")
    app.tell("ui/notifications/tool-result", {"content": [{"type": "text", "text": "3 pages"}]})
    app.frame.wait_for_function("() => document.body.textContent.includes('3 pages')")
    app.tell("ui/notifications/tool-cancelled", {"reason": "stopped"})
    app.frame.wait_for_function("() => document.body.textContent.includes('cancelled')")
    for number, method in ((1, "ping"), (2, "ui/resource-teardown"), (3, "ui/nope")):
        app.page.evaluate("([number, method]) => host.ask(number, method)", [number, method])
    app.page.wait_for_function("() => Object.keys(host.results).length === 3")
    assert app.page.evaluate("host.results") == {
        "1": {},
        "2": {},
        "3": {"code": -32601, "message": "Unknown method: ui/nope"},
    }


def test_app_follows_the_theme_and_the_size_of_the_host(hosted, answers):
    app = hosted(theme="dark", availableDisplayModes=["inline", "fullscreen"])
    app.show(answers[1][0])
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = app.frame.evaluate(ground)
    app.tell("ui/notifications/host-context-changed", {"theme": "light"})
    app.frame.wait_for_function(f"() => {ground} !== {dark!r}")
    assert (dark, app.frame.evaluate(ground)) == ("rgb(16, 20, 27)", "rgb(244, 245, 248)")
    app.page.wait_for_timeout(300)
    heights = [size["height"] for size in app.sent("ui/notifications/size-changed")]
    assert heights[-1] == app.frame.evaluate("document.documentElement.scrollHeight")
    assert heights[-1] < 1_200
    app.frame.get_by_role("button", name="Full screen").click()
    app.frame.wait_for_selector("body:not(.graph-app)")
    assert app.sent("ui/request-display-mode") == [{"mode": "fullscreen"}]


def test_app_is_accessible_before_and_after_the_answer_and_on_a_phone(hosted, answers):
    for options in ({}, {"theme": "dark"}, {"width": 375}):
        app = hosted(**options)
        assert options or violations(app.frame) == []
        app.show(answers[1][0])
        app.frame.get_by_role("button", name="Tokens").first.click()
        assert violations(app.frame) == []
        assert app.frame.evaluate("document.documentElement.scrollWidth <= innerWidth")


def violations(frame):
    found = Axe().run(frame).response
    assert found["passes"]
    return [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]]
