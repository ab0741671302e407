"""The tool set `edit`, called by a client; what it writes is read with git."""

from functools import partial

import pytest
from mcp import Client
from mcp.types import Implementation

from ubp.server.scheduler import Scheduler
from ubp.server.tools.registry import load_rows, select_tools
from ubp.workspace import Workspace

pytestmark = pytest.mark.anyio
EDIT_TOOLS = [tool.name for tool in load_rows("edit")]


def open_workspace(root, progress):
    return Workspace.open(root, progress=progress)


@pytest.fixture
def project(repository):
    repository.write("src/auth.py", "def login():\n    pass\n")
    repository.page("docs/auth.md", "src/auth.py", body="# Auth\n\n## Login\n\nOld.\n")
    repository.commit()
    repository.write("src/auth.py", "def login(user):\n    pass\n")
    repository.commit()
    return repository


@pytest.fixture
def serve(project, server_of):
    """Serve the project: a server needs a running event loop."""
    scheduler = Scheduler(partial(open_workspace, str(project.root)))

    def start():
        scheduler.start()
        return server_of(scheduler, select_tools(["+edit"]))

    yield start
    scheduler.close()


def test_edit_tools_are_offered_only_on_request():
    assert not {tool.name for tool in select_tools()} & {*EDIT_TOOLS}
    assert [tool.name for tool in select_tools(["edit"])] == EDIT_TOOLS
    assert [tool.name for tool in select_tools(["+edit"])] == [
        *(tool.name for tool in select_tools()),
        *EDIT_TOOLS,
    ]
    read_only = {tool.name for tool in select_tools(["edit"], read_only=True)}
    assert read_only == {"ubp_list_proposals"}


async def test_agent_edits_a_page_and_gets_the_result(project, serve):
    info = Implementation(name="claude-code", version="2.1")
    async with Client(serve(), client_info=info) as client:
        assert "A person reviews what you propose." in client.instructions
        offered = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert not offered["ubp_update_page"].annotations.read_only_hint
        page = await client.call_tool("ubp_get_page", {"filepath": "docs/auth.md"})
        blob = project.git("rev-parse", "HEAD:docs/auth.md")
        assert f", blob {blob[:10]}" in page.content[0].text
        edited = await client.call_tool(
            "ubp_update_page",
            {
                "filepath": "docs/auth.md",
                "section": "Login",
                "content": "## Login\n\nTakes a user.",
                "expected_blob": blob,
                "reason": "login takes a user now",
            },
        )
        text = edited.content[0].text
        assert text.startswith("Proposed as proposal 1, on the branch ubp/proposals/1; a person")
        assert "Staleness: stale before, fresh after.\nFixes 1 finding:" in text
        assert "+Takes a user." in text
        proposed = project.git("rev-parse", "ubp/proposals/1:docs/auth.md")
        again = await client.call_tool(
            "ubp_update_page",
            {
                "filepath": "docs/auth.md",
                "append": "See [x](gone.md).",
                "expected_blob": proposed,
                "reason": "more",
            },
        )
        assert again.is_error
        assert "gone.md does not exist." in again.content[0].text
        listed = await client.call_tool("ubp_list_proposals", {}, meta={"ubp/record": True})
        assert listed.structured_content["proposals"][0]["client"] == "claude-code 2.1"
        ended = await client.call_tool("ubp_withdraw_proposal", {"proposal": 1, "reason": "later"})
        assert ended.content[0].text.startswith("Proposal 1 is withdrawn")
    assert project.git("branch", "--list", "ubp/*") == ""
    assert project.git("status", "--short") == ""


async def test_all_edits_are_made_through_tools(project, serve):
    async with Client(serve()) as client:
        calls = {
            "ubp_create_page": {"filepath": "docs/new.md", "content": "# New\n\n[[auth]]\n"},
            "ubp_acknowledge": {"filepath": "docs/auth.md"},
            "ubp_bind": {"filepath": "docs/auth.md", "sources": ["docs"]},
        }
        for name, arguments in calls.items():
            answer = await client.call_tool(name, {**arguments, "reason": "why"})
            assert not answer.is_error, answer.content[0].text
    assert project.git("show", "ubp/proposals/1:docs/new.md") == "# New\n\n[[auth]]"
    assert "blob: " in project.git("show", "ubp/proposals/2:docs/auth.md")


async def test_calls_about_its_pages_renew_the_lease_of_a_session(project, serve):
    leases = project.root / ".git/ubp/leases"
    async with Client(serve()) as client:
        page = {"filepath": "docs/auth.md"}
        await client.call_tool("ubp_get_page", page)
        await client.call_tool("ubp_acknowledge", {**page, "reason": "why"})
        await client.call_tool("ubp_search", {"query": "login"})
        assert not leases.exists()
        await client.call_tool("ubp_get_page", page)
        assert [file.name for file in leases.iterdir()] == ["1"]


async def test_errors_name_tools_and_not_commands_of_the_same_answer(serve):
    async with Client(serve()) as client:
        missing = {"proposal": 9, "reason": "why"}
        answer = await client.call_tool("ubp_withdraw_proposal", missing)
        assert answer.content[0].text.endswith(
            "No open proposal 9. List the open ones: ubp_list_proposals"
        )


PINNED = "---\nsource_refs:\n  - path: src/auth.py\n    blob: {}\n---\n\n# Auth\n\n{}\n"


@pytest.fixture
def pinned(project):
    """A pinned page that names two functions, of which the source lost both."""
    project.write("src/auth.py", "def sign_in():\n    pass\n\n\ndef sign_out():\n    pass\n")
    project.commit()
    blob = project.git("rev-parse", "HEAD:src/auth.py")
    body = "## In\n\nCall `sign_in`.\n\n## Out\n\nCall `sign_out`."
    project.write("docs/auth.md", PINNED.format(blob, body))
    project.commit()
    project.write("src/auth.py", "def enter():\n    pass\n\n\ndef leave():\n    pass\n")
    project.commit()
    return project


async def ask(client, name, arguments):
    """The record of an answer."""
    answer = await client.call_tool(name, arguments, meta={"ubp/record": True})
    assert not answer.is_error, answer.content[0].text
    return answer.structured_content


def edit(blob, section, content, **more):
    page = {"filepath": "docs/auth.md", "section": section, "content": content}
    return {**page, "expected_blob": blob, "reason": "It was renamed.", **more}


async def test_repair_of_a_judged_page_renews_its_pins_and_names_what_is_left(pinned, serve):
    async with Client(serve()) as client:
        about = {"filepath": "docs/auth.md"}
        judged = await ask(client, "ubp_check_staleness", {**about, "for_update": True})
        blob = judged["documents"][0]["blob"]
        record = await ask(client, "ubp_update_page", edit(blob, "In", "## In\n\nCall `enter`."))
        assert record["renewed"] == ["src/auth.py"]
        assert record["effect"]["staleness"][0]["after"] == "fresh"
        assert [(name["name"], name["change"]) for name in record["remaining"]] == [
            ("sign_out", "removed")
        ]
        again = edit(record["blob"], "Out", "## Out\n\nCall `leave`.")
        second = await ask(client, "ubp_update_page", again)
        assert "remaining" not in second
    now = pinned.git("rev-parse", "HEAD:src/auth.py")
    assert f"blob: {now[:12]}" in pinned.git("show", "ubp/proposals/1:docs/auth.md")


async def test_edit_of_a_page_that_was_not_judged_keeps_its_pins(pinned, serve):
    blob = pinned.git("rev-parse", "HEAD:docs/auth.md")
    async with Client(serve()) as client:
        record = await ask(client, "ubp_update_page", edit(blob, "In", "## In\n\nCall `enter`."))
        assert record["effect"]["staleness"][0]["after"] == "stale"
        blob = record["blob"]
        reviewed = edit(blob, "Out", "## Out\n\nCall `leave`.", reviewed=True)
        renewed = await ask(client, "ubp_update_page", reviewed)
        assert renewed["renewed"] == ["src/auth.py"]


async def test_session_reads_its_own_proposal_and_others_the_last_commit(pinned, serve):
    blob = pinned.git("rev-parse", "HEAD:docs/auth.md")
    server = serve()
    async with Client(server, client_info=Implementation(name="a", version="1")) as client:
        edited = await ask(client, "ubp_update_page", edit(blob, "In", "## In\n\nOwn."))
        own = edited["blob"]
        for name in ("docs/auth.md", "auth.md", "docs/auth.md#in"):
            page = await ask(client, "ubp_get_page", {"filepath": name})
            assert (page["blob"], page["proposal"]) == (own, 1)
            assert "Own." in page["content"]
        judged = {"filepath": "docs/auth.md", "for_update": True}
        page = await ask(client, "ubp_check_staleness", judged)
        assert (page["documents"][0]["blob"], page["documents"][0]["proposal"]) == (own, 1)
        head = await ask(client, "ubp_get_page", {"filepath": "docs/auth.md", "ref": "HEAD"})
        assert head["blob"] == blob
    async with Client(server, client_info=Implementation(name="b", version="1")) as client:
        page = await ask(client, "ubp_get_page", {"filepath": "docs/auth.md"})
        assert page["blob"] == blob


async def test_next_steps_are_calls_where_the_edit_tools_are_offered(pinned, serve):
    async with Client(serve()) as client:
        judged = {"filepath": "docs/auth.md", "for_update": True, "max_tokens": 3000}
        answer = await client.call_tool("ubp_check_staleness", judged)
        blob = pinned.git("rev-parse", "HEAD:docs/auth.md")[:10]
        path = 'filepath="docs/auth.md"'
        text = answer.content[0].text
        assert f'ubp_update_page({path}, expected_blob="{blob}", reason="…")' in text
        assert f'ubp_acknowledge({path}, reason="…")' in text
        assert "ubp ack" not in text


async def test_model_and_task_that_a_client_names_are_in_the_proposal(project, serve):
    async with Client(serve()) as client:
        about = {"ubp/model": "some-model-3", "ubp/task": "Review the\nlogin page"}
        page = {"filepath": "docs/auth.md", "reason": "why"}
        await client.call_tool("ubp_acknowledge", page, meta=about)
        listed = await ask(client, "ubp_list_proposals", {})
        (proposal,) = listed["proposals"]
        assert (proposal["model"], proposal["task"]) == ("some-model-3", "Review the login page")
        more = {"filepath": "docs/auth.md", "append": "More.", "reason": "why"}
        blob = project.git("rev-parse", "ubp/proposals/1:docs/auth.md")
        await ask(client, "ubp_update_page", {**more, "expected_blob": blob})
    message = project.git("log", "-1", "--format=%B", "ubp/proposals/1")
    assert "UBP-Model: some-model-3\nUBP-Task: Review the login page\n" in message


async def test_source_that_moved_takes_the_place_of_the_old_one(project, serve):
    project.page("docs/auth.md", "src/auth.py", body="# Auth\n\nReviewed.\n")
    project.commit()
    project.git("mv", "src/auth.py", "src/login.py")
    project.commit()
    async with Client(serve()) as client:
        page = {"filepath": "docs/auth.md"}
        checked = (await client.call_tool("ubp_check_staleness", page)).content[0].text
        sources = 'sources=["src/login.py"]'
        assert f'ubp_bind(filepath="docs/auth.md", {sources}, reason="…")' in checked
        answer = await client.call_tool(
            "ubp_bind", {**page, "sources": ["src/login.py"], "reason": "It moved."}
        )
    text = answer.content[0].text
    assert " before, fresh after.\n" in text
    assert "-  - src/auth.py\n+  - src/login.py\n" in text
    assert "Warning" not in text


async def test_source_that_moved_to_one_that_is_listed_is_neither_renamed_nor_suggested(
    project, serve
):
    project.page("docs/auth.md", "src/auth.py", "src/login.py", body="# Auth\n")
    project.write("src/other.py", "1\n")
    project.commit()
    project.git("mv", "-f", "src/auth.py", "src/login.py")
    project.commit()
    async with Client(serve()) as client:
        page = {"filepath": "docs/auth.md"}
        checked = (await client.call_tool("ubp_check_staleness", page)).content[0].text
        assert "moved to src/login.py" in checked
        assert "ubp_bind" not in checked
        sources = ["src/login.py", "./src/other.py"]
        bound = {**page, "sources": sources, "reason": "It has them."}
        answer = await client.call_tool("ubp_bind", bound)
    assert "+  - ./src/other.py\n" in answer.content[0].text
