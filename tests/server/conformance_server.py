"""The server with what the protocol's conformance suite calls, as far as UBP has such things.

`python conformance_server.py ROOT` serves a repository over HTTP, without a token, which the suite
cannot send. The tools, resources and prompts go through the table, as those of a kit do.
"""

import os
import sys
import time
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import ubp.table
from ubp.core.errors import UsageError
from ubp.frame.kit import KitPrompt, KitResource, KitResources
from ubp.table import Kit


class Text(NamedTuple):
    """A record with a text."""

    text: Annotated[str, "the text"]


@dataclass(frozen=True, slots=True)
class NoArguments:
    """A request for what needs no arguments."""


def simple(_, __):
    return Text("This is a simple text response for testing.")


def failing(_, __):
    raise UsageError("This tool intentionally returns an error for testing.")


def advancing(workspace, _):
    for step in range(6):
        workspace.session.progress("Working", step, 6)
        time.sleep(0.4)
    return Text("done")


def read(_, uri):
    known = uri in {"test://static-text", "test://watched-resource"}
    return Text(uri) if known or uri.startswith("test://template/") else None


def resource(uri):
    return KitResource(uri, uri, "For tests", "For tests.", "test", Text)


def prompt(name, argument):
    return KitPrompt(name, name, "For tests.", argument, "any text", lambda _, text: text)


RESOURCES = KitResources(
    scheme="test://",
    rows=tuple(
        map(
            resource, ("test://static-text", "test://watched-resource", "test://template/{id}/data")
        )
    ),
    read=read,
)
PROMPTS = (prompt("test_simple_prompt", "text"), prompt("test_prompt_with_arguments", "arg1"))

if __name__ == "__main__":
    ubp.table.KITS = (
        Kit(
            "test",
            resources="__main__:RESOURCES",
            prompts="__main__:PROMPTS",
            offered_with="test_simple_text",
        ),
    )
    import ubp.server.http
    from ubp.server.loopback import HttpOptions
    from ubp.server.process import ServeOptions, serve_repositories
    from ubp.server.tools.tool import Tool

    ubp.server.http._require_token = lambda application, _: application
    tools = [
        Tool(
            name=name,
            title=name,
            description="For tests.",
            request=NoArguments,
            record=Text,
            run=run,
            text=lambda record: record["text"],
            writes=run is advancing,  # what writes is waited for, with reports
        )
        for name, run in (
            ("test_simple_text", simple),
            ("test_error_handling", failing),
            ("test_tool_with_progress", advancing),
        )
    ]
    options = ServeOptions(tools, http=HttpOptions(port=0, token="none", shown_token="none"))
    serve_repositories([sys.argv[1]], options, environment=os.environ)
