"""Several repositories: each request is about one of them, and each answer says which."""

import asyncio
import json
import re
import sys
from functools import partial

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import ListRootsResult, PromptReference, ResourceTemplateReference, Root

from ubp.server.protocol import create_server
from ubp.server.repositories import Repositories, ServedRepository, short_names
from ubp.server.scheduler import Scheduler
from ubp.server.subscriptions import Subscriptions
from ubp.server.tools.registry import select_tools
from ubp.workspace import Workspace

pytestmark = pytest.mark.anyio

PAGE = "ubp://page/docs/page.md?repository=web"


@pytest.fixture(scope="module")
def roots(module_environment, repository_in, tmp_path_factory):  # noqa: ARG001  # in it
    """Two repositories, with a page of the same path."""
    folder = tmp_path_factory.mktemp("several")
    for name in ("api", "web"):
        repository = repository_in(folder / name)
        repository.write("src/a.py", "1\n")
        repository.page("docs/page.md", "src/a.py", body=f"# The {name}\n\nToken of the {name}.\n")
        repository.write(f"docs/{name}.md", f"# Only in {name}\n")
        long = "\n\n".join(f"Key {number} of the {name} opens a door." for number in range(90))
        repository.write("docs/keys.md", f"# Keys\n\n## Doors\n\n{long}\n")
        repository.commit()
    return folder


@pytest.fixture(scope="module", params=["auto", "legacy"])
async def client(request, roots):
    """A client of a server for both."""
    served = [
        ServedRepository(name, Scheduler(partial(open_workspace, str(roots / name))))
        for name in ("api", "web")
    ]
    repositories = Repositories(served, select_tools())
    server = create_server(repositories, Subscriptions(repositories))
    repositories.start()
    async with Client(server, mode=request.param) as client:
        yield client
    repositories.close()


@pytest.fixture
def ask_record(client):
    """Call a tool as a program does that asks for the record, and return that."""

    async def ask(tool, arguments):
        answer = await client.call_tool(tool, arguments, meta={"ubp/record": True})
        assert json.loads(answer.content[0].text) == answer.structured_content
        return answer.structured_content

    return ask


def open_workspace(root, progress):
    return Workspace.open(root, progress=progress)


@pytest.mark.parametrize(
    ("given", "name"), [({}, "api"), ({"repository": "api"}, "api"), ({"repository": "web"}, "web")]
)
async def test_answer_is_about_the_chosen_repository_by_default_the_first(
    client, ask_record, given, name
):
    answer = await client.call_tool("ubp_search", {"query": "token", **given})
    assert answer.content[0].text.startswith(f"Repository {name}:\n1 of 1 page.")
    assert answer.structured_content is None
    record = await ask_record("ubp_search", {"query": "token", **given})
    assert record["repository"] == name
    assert record["results"][0]["title"] == f"The {name}"


async def test_suggested_next_call_is_about_the_same_repository(client, ask_record):
    arguments = {"repository": "web", "max_tokens": 900}
    found = await client.call_tool("ubp_search", {"query": "key 40 door", **arguments})
    call = 'ubp_get_page(filepath, lines="FIRST-LAST", repository="web")'
    assert f"[a whole section: {call}]" in found.content[0].text
    page = await client.call_tool("ubp_get_page", {"filepath": "docs/keys.md", **arguments})
    assert re.search(r'continue="\d+@\w+", repository="web"\]', page.content[0].text)
    listed = await client.call_tool("ubp_list_pages", {"limit": 1, **arguments})
    cursor = (await ask_record("ubp_list_pages", {"limit": 1, **arguments}))["next_cursor"]
    assert f'More pages: pass cursor {cursor}, repository="web"' in listed.content[0].text


async def test_tools_have_a_parameter_for_the_repository(client):
    for tool in (await client.list_tools()).tools:
        choice = tool.input_schema["properties"]["repository"]
        assert choice == {"type": "string", "description": "by default api: api, web"}


async def test_unknown_repository_is_an_error_that_lists_the_known_ones(client):
    answer = await client.call_tool("ubp_search", {"query": "token", "repository": "wen"})
    assert answer.is_error
    assert answer.content[0].text == (
        "Error -32602 (bad_argument): This server has no repository wen. It has api, web. "
        "Did you mean web?"
    )


async def test_error_is_about_a_repository_like_an_answer(client):
    answer = await client.call_tool("ubp_get_page", {"filepath": "docs/web.md"})
    assert answer.is_error
    assert answer.content[0].text.startswith("Repository api:\nError -32003 (page_not_found): ")


async def test_resources_belong_to_their_repository(client):
    listed = [resource.uri for resource in (await client.list_resources()).resources]
    assert "ubp://stale?repository=api" in listed
    assert "ubp://stale?repository=web" in listed
    assert "# The web" in (await client.read_resource(PAGE)).contents[0].text
    assert "# The api" in (await client.read_resource("ubp://page/docs/page.md")).contents[0].text
    with pytest.raises(MCPError, match="no repository none"):
        await client.read_resource("ubp://stale?repository=none")


async def test_prompts_and_completions_are_about_the_chosen_repository(client):
    choice = {"repository": "web"}
    prompt = await client.get_prompt("ubp_answer", {"question": "token", **choice})
    assert prompt.messages[0].content.text == "Repository web:\n"
    assert PAGE in [str(message.content.resource.uri) for message in prompt.messages[2:3]]
    reference = PromptReference(name="ubp_update_stale_page")
    for given, paths in ((choice, ["docs/web.md"]), ({}, [])):
        completed = await client.complete(
            reference, {"name": "filepath", "value": "docs/web"}, context_arguments=given
        )
        assert completed.completion.values == paths
    template = (await client.list_resource_templates()).resource_templates[0].uri_template
    completed = await client.complete(
        ResourceTemplateReference(uri=template), {"name": "repository", "value": "w"}
    )
    assert completed.completion.values == ["web"]


MANY = 2_000
# The tools of one repository have 9,000 characters (`test_protocol`).
MOST_CHARACTERS = 12_000


async def test_a_client_of_2000_repositories_reads_no_list_of_them(roots):
    open_api = partial(open_workspace, str(roots / "api"))
    names = short_names([f"/srv/git/team-{n % 40:02}/service-{n:04}" for n in range(MANY)])
    served = [
        ServedRepository(name, Scheduler(open_api), [f"specification-{number}"])
        for number, name in enumerate(names)
    ]
    repositories = Repositories(served, select_tools())
    server = create_server(repositories, Subscriptions(repositories))
    served[0].scheduler.start()
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        listed = [tool.model_dump_json(by_alias=True, exclude_none=True) for tool in tools]
        assert sum(map(len, listed)) < MOST_CHARACTERS
        resources = (await client.list_resources()).resources
        assert len(resources) < 100
        templates = (await client.list_resource_templates()).resource_templates
        assert "ubp://stale{?repository}" in [template.uri_template for template in templates]
        prompts = (await client.list_prompts()).prompts
        assert len(prompts[0].model_dump_json()) < 2_000
        for reference in (
            PromptReference(name="ubp_update_stale_page"),
            ResourceTemplateReference(uri="ubp://stale{?repository}"),
        ):
            asked = await client.complete(reference, {"name": "repository", "value": "1234"})
            assert asked.completion.values == ["service-1234"]
        asked = await client.complete(reference, {"name": "repository", "value": "serv"})
        assert (len(asked.completion.values), asked.completion.total) == (100, MANY)
        answer = await client.call_tool("ubp_list_pages", {"repository": "sevice-1234"})
        assert "Did you mean service-1234?" in answer.content[0].text
        assert len(answer.content[0].text) < 500
    served[0].scheduler.close()


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")  # of the client
async def test_folders_of_an_older_client_outside_a_repository_are_served_and_watched(
    roots, module_environment
):
    updated = asyncio.Queue()

    async def list_folders(_):
        addresses = [(roots / name).as_uri() for name in ("none", "web", "api")]
        return ListRootsResult(roots=[Root(uri=address) for address in addresses])

    async def receive(message):
        if getattr(message, "method", "") == "notifications/resources/updated":
            updated.put_nowait(str(message.params.uri))

    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "ubp", "--quiet", "serve"],
        cwd=roots,
        env=module_environment,
    )
    async with Client(
        server, mode="legacy", list_roots_callback=list_folders, message_handler=receive
    ) as client:
        answer = await client.call_tool("ubp_search", {"query": "token"})
        assert answer.content[0].text.startswith("Repository web:\n")
        await client.subscribe_resource(PAGE)
        await client.subscribe_resource("ubp://page/docs/web.md?repository=web")
        (roots / "web/src/a.py").write_text("2\n")
        async with asyncio.timeout(20):
            assert await updated.get() == PAGE
        await client.unsubscribe_resource(PAGE)
        with pytest.raises(MCPError, match="Unknown resource"):
            await client.subscribe_resource("https://example.org/")
    assert updated.empty()


@pytest.mark.parametrize(
    ("roots", "names"),
    [
        (["/home/ann/api"], ("api",)),
        (["/home/ann/api", "/w/web/docs", "/w/app/docs"], ("api", "web/docs", "app/docs")),
        (["/a/docs", "/docs"], ("a/docs", "/docs")),
    ],
)
def test_repositories_are_named_by_their_folders_and_distinguishing_parents(roots, names):
    assert short_names(roots) == names
