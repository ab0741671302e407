"""The table of output formats, besides the text and JSON of each command."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import NamedTuple

from ubp.output.ci.outcome import Outcome


class FormatRow(NamedTuple):
    """A format: its function as `module:function`, from an outcome to the whole text.

    `is_placed`: it points at text, so findings need positions to the character; `has_excerpts`: it
    quotes pages and their sources; `has_edits`: it has the edits that would settle findings.
    """

    target: str
    is_placed: bool = False
    has_excerpts: bool = False
    has_edits: bool = False


FORMATS: Mapping[str, FormatRow] = {
    "github": FormatRow("ubp.output.ci.github:github_text", is_placed=True),
    "sarif": FormatRow("ubp.output.ci.sarif:sarif_text", is_placed=True),
    "rdjson": FormatRow("ubp.output.ci.rdjson:rdjson_text", is_placed=True),
    "gitlab": FormatRow("ubp.output.ci.gitlab:gitlab_text"),
    "markdown": FormatRow("ubp.output.ci.markdown:markdown_text", has_excerpts=True),
    "suggestions": FormatRow("ubp.output.ci.suggestions:suggestions_text", has_edits=True),
    "html": FormatRow("ubp.output.html.report:outcome_html"),
}


def render(name: str, outcome: Outcome) -> str:
    """Return the outcome in this format; empty, or ending with a newline."""
    module, _, function = FORMATS[name].target.partition(":")
    write: Callable[[Outcome], str] = getattr(import_module(module), function)
    return write(outcome)
