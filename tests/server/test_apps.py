"""The graph as an MCP App, by real clients over stdio, in both eras of the protocol."""

import re
import sys

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.extension import ClientExtension
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID

from ubp.server.scheduler import Scheduler
from ubp.server.tools.registry import select_tools
from ubp.workspace import Workspace

pytestmark = pytest.mark.anyio

URI = "ui://ubp/graph"
KEY = "ubp/graph"
BOTH_ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])


class Apps(ClientExtension):
    """The capabilities of a client that shows apps of these types."""

    identifier = EXTENSION_ID

    def __init__(self, *mime_types):
        self._mime_types = mime_types

    def settings(self):
        return {"mimeTypes": [*self._mime_types]}


@pytest.fixture(scope="module")
def repository(shared_repository):
    shared_repository.page("docs/auth.md", "src/auth.py", body="# Auth\n\n[[tokens]]\n")
    shared_repository.write("docs/tokens.md", "# Tokens & co\n\nHow they expire.\n")
    shared_repository.write("docs/alone.md", "# Alone\n")
    shared_repository.write("src/auth.py", "old\n")
    shared_repository.commit("Begin")
    return shared_repository


@pytest.fixture
def connect(repository, module_environment):
    """A client of a server over stdio, in an era and with extensions."""

    def make(mode, *extensions):
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "ubp", "--quiet", "serve"],
            cwd=repository.root,
            env=module_environment,
        )
        return Client(server, mode=mode, extensions=extensions)

    return make


@pytest.fixture
def serve(repository, server_of):
    """A server in this process, with options."""
    schedulers = []

    def make(*excluded, **options):
        root = str(repository.root)
        schedulers.append(Scheduler(lambda progress: Workspace.open(root, progress=progress)))
        schedulers[-1].start()
        return server_of(schedulers[-1], select_tools(excluded=excluded), **options)

    yield make
    for scheduler in schedulers:
        scheduler.close()


@BOTH_ERAS
async def test_client_with_apps_gets_the_page_and_the_graph_that_it_shows(connect, mode):
    async with connect(mode, Apps(APP_MIME_TYPE)) as client:
        # The handshake's capabilities have no extensions of servers.
        offered = {EXTENSION_ID: {}} if mode == "auto" else None
        assert client.server_capabilities.extensions == offered
        tools = {tool.name: tool.meta for tool in (await client.list_tools()).tools}
        listed = (await client.list_resources()).resources
        (page,) = (await client.read_resource(URI)).contents
        answer = await client.call_tool("ubp_get_graph", {"center": "docs/auth.md", "depth": 1})
        other = await client.call_tool("ubp_get_page", {"filepath": "docs/auth.md"})
    assert tools.pop("ubp_get_graph") == {"ui": {"resourceUri": URI}}
    assert set(tools.values()) == {None}
    assert [(each.mime_type, each.meta) for each in listed if each.uri == URI] == [
        (APP_MIME_TYPE, page.meta)
    ]
    assert (page.mime_type, page.meta["ui"]["csp"]) == (APP_MIME_TYPE, {})
    assert page.text.startswith("<!doctype html>")
    assert re.search(r'http-equiv="Content-Security-Policy" content="default-src', page.text)
    shown = answer.meta[KEY]
    assert shown["data"]["names"] == ["auth.md", "tokens.md"]
    assert shown["data"]["links"] == [[1], []]
    assert "Tokens &amp; co" in shown["markup"]
    assert "docs/tokens.md" in answer.content[0].text
    assert "How they expire" not in answer.content[0].text
    assert KEY not in (other.meta or {})


@BOTH_ERAS
async def test_client_without_apps_gets_the_answer_as_before(connect, mode):
    async with connect(mode) as client:
        tools = (await client.list_tools()).tools
        listed = (await client.list_resources()).resources
        answer = await client.call_tool("ubp_get_graph", {"center": "docs/auth.md"})
    assert {tool.meta for tool in tools} == {None}
    assert URI not in {each.uri for each in listed}
    assert KEY not in (answer.meta or {})
    assert answer.structured_content is None
    assert "docs/tokens.md" in answer.content[0].text


async def test_client_of_other_apps_gets_the_answer_as_before(serve):
    async with Client(serve(), extensions=[Apps("text/html")]) as client:
        assert {tool.meta for tool in (await client.list_tools()).tools} == {None}
        assert KEY not in ((await client.call_tool("ubp_get_graph", {})).meta or {})


async def test_record_and_budget_of_an_answer_do_not_depend_on_the_app(serve):
    server = serve(is_structured=True)
    answers = []
    for extensions in ([Apps(APP_MIME_TYPE)], []):
        async with Client(server, extensions=extensions) as client:
            answers.append(await client.call_tool("ubp_get_graph", {"max_tokens": 200}))
    records = [answer.structured_content for answer in answers]
    for record in records:
        del record["query_time_ms"]
    assert records[0] == records[1]
    assert len(records[0]["nodes"]) < len(answers[0].meta[KEY]["data"]["names"]) == 3


async def test_server_without_the_tool_offers_no_app(serve):
    async with Client(serve("ubp_get_graph"), extensions=[Apps(APP_MIME_TYPE)]) as client:
        assert client.server_capabilities.extensions is None
        assert URI not in {each.uri for each in (await client.list_resources()).resources}
