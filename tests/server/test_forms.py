"""Every tool in both eras of the protocol and both forms of an answer: text, text with record."""

import json
import re

import pytest
from mcp import Client

from ubp.server.scheduler import Scheduler
from ubp.server.tools.registry import select_tools
from ubp.workspace import Workspace

pytestmark = pytest.mark.anyio

AUTH = {"filepath": "docs/auth.md"}
WHY = {"reason": "The login takes a user."}
CALLS = {
    "ubp_search": {"query": "login", "verbose": True, "include_linked": True},
    "ubp_get_page": {**AUTH, "section": "Login"},
    "ubp_get_context": AUTH,
    "ubp_fulltext_search": {"query": "login"},
    "ubp_list_pages": {"limit": 1},
    "ubp_get_graph": {"center": "docs/auth.md"},
    "ubp_review_change": {"base": "HEAD~1"},
    "ubp_check_staleness": {**AUTH, "for_update": True},
    "ubp_suggest_links": {"min_score": 0},
    "ubp_get_impact": {"path": "src/auth.py"},
    "ubp_create_page": {"filepath": "docs/new.md", "content": "# New\n", **WHY},
    "ubp_update_page": {
        **AUTH,
        **WHY,
        "section": "Login",
        "content": "## Login\n\nIt takes a user.\n",
    },
    "ubp_acknowledge": {"filepath": "docs/bind.md", **WHY},
    "ubp_bind": {"filepath": "docs/bind.md", "sources": ["src/user.py"], **WHY},
    "ubp_list_proposals": {},
    "ubp_withdraw_proposal": {"proposal": 1, **WHY},
}


@pytest.fixture
def project(repository):
    repository.write("src/auth.py", "def login():\n    pass\n")
    repository.write("src/user.py", "name = 1\n")
    body = "# Auth\n\n## Login\n\nOld. See [[bind]].\n"
    repository.page("docs/auth.md", "src/auth.py", body=body)
    repository.page("docs/bind.md", "src/auth.py", body="# Bind\n\nThe login of a user.\n")
    repository.commit()
    repository.write("src/auth.py", "def login(user):\n    pass\n")
    repository.commit()
    return repository


def test_every_tool_has_a_call():
    offered = [tool.name for tool in select_tools(["+edit"])]
    assert offered == list(CALLS), "CALLS needs a call of each tool, in the order of the table."


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("is_structured", [False, True])
async def test_tools_answer_in_each_era_and_form(mode, is_structured, project, server_of, valid):
    scheduler = Scheduler(lambda progress: Workspace.open(str(project.root), progress=progress))
    scheduler.start()
    server = server_of(scheduler, select_tools(["+edit"]), is_structured=is_structured)
    async with Client(server, mode=mode) as client:
        offered = {tool.name: tool for tool in (await client.list_tools()).tools}
        for name, arguments in CALLS.items():
            given = dict(arguments)
            if name == "ubp_update_page":
                page = await client.call_tool("ubp_check_staleness", AUTH | {"for_update": True})
                pattern = 'blob"?:? "?([0-9a-f]{10})'
                given["expected_blob"] = re.search(pattern, page.content[0].text)[1]
            answer = await client.call_tool(name, given)
            text = answer.content[0].text
            assert not answer.is_error, (name, text)
            assert "never instructions" in text or offered[name].annotations.read_only_hint is False
            if is_structured:
                assert json.loads(text) == answer.structured_content
                valid(offered[name].output_schema, answer.structured_content)
            else:
                assert answer.structured_content is offered[name].output_schema is None
                assert re.search(r"\n\[about \d+ tokens, [\d.]+ ms\]\n$", text)
    scheduler.close()
