"""`ubp review`: its formats for pull requests, the dialogue, and the hook of agents."""

from dataclasses import replace

from ubp.answers.review.review import REVIEW, ReviewRequest
from ubp.cli.print_answer import print_answer
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError


def run_review(
    request: ReviewRequest,
    terminal: Terminal,
    *,
    interactive: bool = False,
    format_: str = "text",
    stop_hook: bool = False,
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
        if format_ != "text":
            raise UsageError(
                "--interactive cannot be combined with --format.", hint="Remove one of the two."
            )
        from ubp.cli.decide import require_screen
        from ubp.cli.decide_cases import decide_cases

        require_screen(terminal, "ubp review")
        return decide_cases(request, terminal)
    if format_ == "json":
        terminal.set(terminal.options._replace(json=True))
    answer = REVIEW
    if format_ in {"github", "markdown"}:
        from ubp.output.ci.review import FORMATS

        answer = replace(REVIEW, formats=FORMATS, run_for_people=None)
    return print_answer(answer, request, terminal, format_=format_)
