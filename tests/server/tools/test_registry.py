"""The table of tools: what is offered, and the precedence of options."""

from dataclasses import replace

import jsonschema
import pytest

from ubp.core.errors import UsageError
from ubp.server.tools.registry import TOOLSETS, select_tools, with_prefix
from ubp.server.tools.tool import Tool


@pytest.mark.parametrize("tool", select_tools(), ids=lambda tool: tool.name)
def test_tools_describe_what_they_take_and_return(tool):
    jsonschema.Draft202012Validator.check_schema(tool.input_schema)
    jsonschema.Draft202012Validator.check_schema(tool.output_schema)
    assert tool.input_schema["additionalProperties"] is False
    assert "Use it" in tool.description
    assert list(undescribed(tool.output_schema)) == []


def undescribed(schema):
    """The fields of a schema that it does not explain."""
    for name, schema_part in schema.get("properties", {}).items():
        if not schema_part.get("description"):
            yield name
        yield from undescribed(schema_part)
        yield from undescribed(schema_part.get("items", {}))


def names(*args, **kwargs):
    return [tool.name for tool in select_tools(*args, **kwargs)]


def test_empty_selection_selects_everything():
    assert names() == names(list(TOOLSETS)) == names([], names())


def test_sets_and_tools_are_combined_in_the_order_of_the_table():
    assert names(["maintenance"])[0] == "ubp_check_staleness"
    assert names([], ["ubp_list_pages", "ubp_get_page"]) == ["ubp_get_page", "ubp_list_pages"]
    both = names(["maintenance"], ["ubp_get_page"])
    assert both == ["ubp_get_page", *names(["maintenance"])]


def test_former_name_of_a_tool_set_still_selects_it():
    assert names(["care"]) == names(["maintenance"])


def test_exclusion_wins():
    assert "ubp_get_page" not in names(["docs"], ["ubp_get_page"], ["ubp_get_page"])
    assert names([], ["ubp_get_page"], ["ubp_get_page"]) == []


def test_read_only_wins():
    reading = select_tools()[0]
    writing = replace(reading, name="ubp_write", writes=True)
    table = {"docs": (reading, writing)}
    assert names(table=table) == [reading.name, "ubp_write"]
    assert names([], ["ubp_write"], read_only=True, table=table) == []
    assert not any(tool.writes for tool in select_tools())


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ((["doc"],), "Did you mean docs?"),
        (([], ["ubp_getpage"]), "Did you mean ubp_get_page?"),
        (([], [], ["nonsense"]), ""),
    ],
)
def test_unknown_set_or_tool_is_reported(arguments, hint):
    with pytest.raises(UsageError) as caught:
        select_tools(*arguments)
    assert caught.value.hint == hint


def test_tool_is_a_row_of_the_table():
    assert all(isinstance(tool, Tool) for tools in TOOLSETS.values() for tool in tools)


def test_prefix_that_cannot_begin_a_name_is_refused():
    with pytest.raises(UsageError, match="Invalid --prefix: a b"):
        with_prefix(select_tools(), "a b")
