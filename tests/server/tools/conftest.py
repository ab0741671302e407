"""Tools as front ends call them; every record is validated against its schema."""

import re

import pytest

from ubp.frame.encoding import to_json
from ubp.server.tools.registry import select_tools
from ubp.server.tools.tool import call_tool
from ubp.workspace import Workspace

ALWAYS = {"content_notice", "query_time_ms", "token_estimate"}


@pytest.fixture
def tools():
    """The tools by their names without `ubp_`."""
    return {tool.name.removeprefix("ubp_"): tool for tool in select_tools()}


@pytest.fixture
def answer(tools, repository, valid):
    """Call a tool: `answer("get_page", filepath="docs/a.md")`."""
    workspaces = []

    def ask(name, **arguments):
        workspace = Workspace.open(str(repository.root))
        workspaces.append(workspace)
        found = call_tool(tools[name], workspace, arguments)
        valid(tools[name].output_schema, found.record)
        assert found.record.keys() >= ALWAYS
        assert len(found.text) <= len(to_json(found.record)) or len(found.text) < 500
        assert "instructions" in found.text or found.record["results"] == []
        return found

    yield ask
    for workspace in workspaces:
        workspace.close()


@pytest.fixture
def unmarked():
    """Write MARKER for the random word that encloses what documents say in an answer's text."""

    def rewrite(text):
        (marker,) = set(re.findall("^<<<([a-p]{8})$", text, re.MULTILINE))
        return text.replace(marker, "MARKER")

    return rewrite


@pytest.fixture
def record(answer):
    """The same, but the record without what every answer has."""

    def ask(name, **arguments):
        found = answer(name, **arguments).record
        return {key: value for key, value in found.items() if key not in ALWAYS}

    return ask
