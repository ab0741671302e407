"""`ubp stale --since`: what became of the pages since a revision."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ubp.cli.error_handler import CLEAN, FAILED
from ubp.cli.open_workspace import open_workspace
from ubp.cli.terminal import Format, Terminal
from ubp.core.errors import UsageError
from ubp.output.text.report import comparison_text

FORMATS: tuple[Format, ...] = ("text", "json", "markdown")


Others = Mapping[str, object]
"""Options of `ubp stale` that say how to judge, by name, and what was given for them."""


class Since(NamedTuple):
    """What is compared: a revision with the work tree, or with another revision."""

    revision: str
    ref: str | None
    paths: Sequence[str]
    keys: Sequence[str]
    days: float | None


def print_comparison(
    asked: Since, format_: Format | None, others: Others, terminal: Terminal
) -> int:
    """Print it; 2 where a shallow clone could not tell. `others` are options that it cannot take.

    Raises:
        UsageError: one of them was given, or a format that tells findings.
    """
    _refuse(others, format_, terminal)
    with open_workspace(terminal, keys=asked.keys, days=asked.days) as workspace:
        found = workspace.compare(asked.revision, asked.paths, ref=asked.ref)
    if terminal.options.json or format_ == "json":
        from ubp.output.records.report import comparison_record

        terminal.record(comparison_record(found))
    elif format_ == "markdown":
        from ubp.output.ci.markdown import comparison_markdown

        terminal.speak_utf8()
        terminal.write(comparison_markdown(found, asked.revision))
    else:
        quiet = terminal.options.quiet
        told = comparison_text(found, asked.revision, terminal.style, is_quiet=quiet)
        terminal.write(told)
    return FAILED if found.counts.get("unknown") else CLEAN


def _refuse(others: Others, format_: Format | None, terminal: Terminal) -> None:
    given = [name for name, value in others.items() if value]
    if given:
        raise UsageError(
            f"--since cannot be combined with {given[0]}.",
            cause="It compares the levels of pages at two moments, and fails on none of them.",
            hint="To judge what a branch brings: ubp stale --base REV",
        )
    is_told_twice = terminal.options.json and format_ not in {None, "json"}
    if is_told_twice or format_ not in {None, *FORMATS}:
        raise UsageError(
            f"--since cannot be told as {format_}{' and json' if is_told_twice else ''}.",
            hint=f"Take one of {', '.join(FORMATS)}.",
        )
