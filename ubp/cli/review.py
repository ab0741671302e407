"""`ubp review`: its formats for pull requests, and the dialogue."""

from dataclasses import replace
from typing import Annotated, Literal

from cyclopts import Parameter

from ubp.answers.review.review import REVIEW, ReviewRequest
from ubp.cli.answers import print_answer
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError


def review(
    request: ReviewRequest,
    *,
    interactive: Annotated[
        bool,
        Parameter(
            name=["--interactive", "-i"],
            help="Show the cases one by one, and ask what to do.",
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
    """Print the cases of a change, or ask about each."""
    if stop_hook:
        if interactive or terminal.options.json or format_ != "text":
            raise UsageError(
                "--stop-hook has a format of its own.", hint="Run `ubp review --stop-hook` alone."
            )
        from ubp.cli.stop_hook import run_stop_hook

        return run_stop_hook(request, terminal)
    if interactive:
        if not terminal.is_interactive() or terminal.options.json or format_ != "text":
            raise UsageError("--interactive requires a terminal.", hint="Run `ubp review`.")
        from ubp.cli.review_session import run_session

        return run_session(request, terminal)
    if format_ == "json":
        terminal.set(terminal.options._replace(json=True))
    answer = REVIEW
    if format_ in {"github", "markdown"}:
        from ubp.output.ci.review import FORMATS

        answer = replace(REVIEW, formats=FORMATS, run_for_people=None)
    return print_answer(answer, request, terminal, format_=format_)
