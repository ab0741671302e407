"""The options of `ubp review`."""

from typing import Annotated, Literal

from cyclopts import Parameter

from ubp.answers.review.review import ReviewRequest
from ubp.cli.run_review import run_review
from ubp.cli.terminal import Terminal


def review(
    request: ReviewRequest,
    *,
    interactive: Annotated[
        bool,
        Parameter(
            name=["--interactive", "-i"],
            help="Show the cases one by one on the whole screen, and decide by keys.",
        ),
    ] = False,
    format_: Annotated[
        Literal["text", "json", "github", "markdown"],
        Parameter(name=["--format", "-f"], metavar="FORMAT", help="Output format."),
    ] = "text",
    stop_hook: Annotated[
        bool,
        Parameter(
            help="Be the Stop hook of an agent: read its JSON on stdin, and print what makes it "
            "continue if a page is probably wrong.",
        ),
    ] = False,
    terminal: Terminal,
) -> int:
    """Print the cases of a change, or let the user decide about each."""
    return run_review(
        request, terminal, interactive=interactive, format_=format_, stop_hook=stop_hook
    )
