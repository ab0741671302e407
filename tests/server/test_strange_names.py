"""Names that are no UTF-8: Git stores any bytes, the protocol knows UTF-8 only."""

import json
import os
import sys

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import ResourceTemplateReference

pytestmark = pytest.mark.anyio

PAGE, SOURCE = os.fsdecode(b"docs/caf\xe9.md"), os.fsdecode(b"src/m\xe9.py")
TOLD, WRITTEN = "docs/caf\ufffd.md", "docs/caf\\xe9.md"


@pytest.fixture
def strange(repository):
    """A page and its source with such names, and a page that links there."""
    try:
        repository.write(SOURCE, "1\n")
        repository.page(PAGE, "src/*.py", body=b"# Token caf\xe9\n\n[[b]]\n".decode("latin-1"))
    except OSError as error:
        pytest.skip(f"the file system refuses the name: {error.strerror}")
    repository.write("docs/b.md", "# B\n\nA token, see [c](caf%E9.md).\n")
    repository.commit("Begin")
    repository.write(SOURCE, "2\n")
    repository.commit("Go on")
    return repository


async def test_unusual_names_are_readable_and_accepted_as_shown(strange):
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "ubp", "--quiet", "serve", "--output-schema"],
        cwd=strange.root,
        env=dict(os.environ),
    )
    async with Client(server) as client:
        listed = (await client.call_tool("ubp_list_pages", {})).structured_content
        assert {page["filepath"] for page in listed["pages"]} == {TOLD, "docs/b.md"}
        page = (await client.call_tool("ubp_get_page", {"filepath": TOLD})).structured_content
        assert page["staleness"] == "stale"
        for tool, given in [
            ("ubp_get_context", {"filepath": TOLD, "max_tokens": 500}),
            ("ubp_get_graph", {"center": page["doc_id"]}),
            ("ubp_search", {"query": "token"}),
            ("ubp_fulltext_search", {"query": "token"}),
            ("ubp_check_staleness", {"include_diff": True}),
            ("ubp_get_impact", {"path": "src/new.py"}),
        ]:
            answer = await client.call_tool(tool, given)
            assert TOLD in str(answer.structured_content), tool
            assert json.loads(answer.content[0].text) == answer.structured_content, tool
        written = await client.call_tool("ubp_get_page", {"filepath": WRITTEN})
        assert written.structured_content["doc_id"] == page["doc_id"]
        for uri in (f"ubp://page/{TOLD}", "ubp://page/docs/caf%E9.md"):
            assert "# Token" in (await client.read_resource(uri)).contents[0].text
        assert TOLD in (await client.read_resource("ubp://stale")).contents[0].text
        template = ResourceTemplateReference(uri="ubp://page/{+filepath}")
        completed = await client.complete(template, {"name": "filepath", "value": "docs/c"})
        assert completed.completion.values == [TOLD]
        prompt = await client.get_prompt("ubp_update_stale_page", {"filepath": TOLD})
        _, page, steps = (message.content for message in prompt.messages)
        assert "# Token" in page.resource.text
        again = (await client.read_resource(page.resource.uri)).contents[0].text
        assert again.endswith(page.resource.text)
        assert "ubp ack $'docs/caf\\351.md'" in steps.text
        missing = await client.call_tool("ubp_get_page", {"filepath": "docs/cafe.md"})
        assert missing.is_error
        assert missing.meta["ubp/error"]["data"]["nearest"][0] == TOLD
