"""The tools of several kits together."""

import json
import re

import pytest

from ubp.server.tools.registry import select_tools, with_prefix, without_defaults
from ubp.table import KITS

pytestmark = pytest.mark.skipif(len(KITS) < 3, reason="needs all kits")


def test_sets_of_a_list_with_a_plus_are_added_to_the_default_ones():
    default = [tool.name for tool in select_tools()]
    for toolsets in (["+specs", "rag"], ["+specs", "+rag"], ["specs", "+rag"]):
        names = [tool.name for tool in select_tools(toolsets)]
        assert names[: len(default)] == default
        assert {"search_spec", "rag_search"} < {*names}
    assert without_defaults(["specs", "rag"]) == ("specs", "rag")
    assert without_defaults(["+specs", "rag"]) == without_defaults(["docs", "specs"]) == ()


@pytest.mark.parametrize(
    ("toolsets", "prefix", "names"),
    [
        (["specs"], None, {"search_spec", "get_section"}),
        (["docs", "specs"], None, {"ubp_search", "specs_search_spec", "specs_get_section"}),
        (["notes", "rag"], None, {"notes_search", "notes_ask", "rag_search"}),
        (["+edit"], None, {"ubp_search", "ubp_bind"}),
        (["notes", "rag"], "kb_", {"kb_search", "kb_ask", "rag_search"}),
        (["notes", "rag"], "", {"search", "ask", "rag_search"}),
    ],
)
def test_bare_names_have_a_prefix_where_sets_of_several_servers_are_offered(
    toolsets, prefix, names
):
    tools = with_prefix(select_tools(toolsets), prefix)
    offered = {tool.name: tool for tool in tools}
    assert names <= offered.keys()
    shown = json.dumps([(tool.shown_description, tool.input_schema) for tool in tools])
    for name in re.findall(r"\b(?:specs_)?(?:search_spec|get_section|list_\w+s)\b", shown):
        assert name in offered
