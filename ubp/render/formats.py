"""The table of formats that a run can be told in, beside the text and JSON of its command."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import NamedTuple

from ubp.render.outcome import Outcome


class Row(NamedTuple):
    """A format: its function as `module:function`, from an outcome to the whole text.

    `is_placed`: it points at text, so that findings must know their places to the character.
    """

    target: str
    is_placed: bool = False


FORMATS: Mapping[str, Row] = {
    "github": Row("ubp.render.github:github_text", is_placed=True),
    "sarif": Row("ubp.render.sarif:sarif_text", is_placed=True),
    "rdjson": Row("ubp.render.rdjson:rdjson_text", is_placed=True),
    "gitlab": Row("ubp.render.gitlab:gitlab_text"),
    "markdown": Row("ubp.render.markdown:markdown_text"),
    "html": Row("ubp.render.html.outcome:outcome_html"),
}


def render(name: str, outcome: Outcome) -> str:
    """The outcome in this format, ending with a newline unless there is nothing to tell."""
    module, _, function = FORMATS[name].target.partition(":")
    write: Callable[[Outcome], str] = getattr(import_module(module), function)
    return write(outcome)
