"""`ubp stale --since`: how the pages' levels changed since a revision."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ubp.answers.staleness.since import compare_since, comparison_record, comparison_text
from ubp.cli.error_handler import CLEAN, FAILED
from ubp.cli.open_workspace import open_workspace
from ubp.cli.terminal import Format, Terminal
from ubp.core.errors import UsageError

FORMATS: tuple[Format, ...] = ("text", "json", "markdown")


class ComparisonOptions(NamedTuple):
    """What is compared, a revision with the work tree or with `ref`, and how it is printed."""

    revision: str
    ref: str | None
    paths: Sequence[str]
    keys: Sequence[str]
    days: float | None
    format: Format | None


def print_comparison(
    options: ComparisonOptions, excluded: Mapping[str, object], terminal: Terminal
) -> int:
    """Print the comparison; return 2 where a shallow clone could not verify a page.

    `excluded` are the options of `ubp stale` that cannot be combined with `--since`, by name, with
    their values.

    Raises:
        UsageError: one of them was given, or a format for findings.
    """
    given = [name for name, value in excluded.items() if value]
    if given:
        raise UsageError(
            f"--since cannot be combined with {given[0]}.",
            cause="--since compares the levels of pages at two revisions, and never fails.",
            hint="To check the changes of a branch: ubp stale --base REV",
        )
    is_contradicted = terminal.options.json and options.format not in {None, "json"}
    if is_contradicted or options.format not in {None, *FORMATS}:
        if is_contradicted:
            raise UsageError(
                f"--json cannot be combined with --format {options.format}.",
                hint="Remove one of the two options.",
            )
        raise UsageError(
            f"--since does not support --format {options.format}.",
            hint=f"Use one of {', '.join(FORMATS)}.",
        )
    with open_workspace(terminal, keys=options.keys, days=options.days) as workspace:
        comparison = compare_since(
            workspace.session, options.revision, options.paths, ref=options.ref
        )
    if terminal.options.json or options.format == "json":
        terminal.record(comparison_record(comparison))
    elif options.format == "markdown":
        from ubp.output.ci.markdown import comparison_markdown

        terminal.use_utf8()
        terminal.write(comparison_markdown(comparison, options.revision))
    else:
        quiet = terminal.options.quiet
        terminal.show(comparison_text(comparison, options.revision, terminal.style, is_quiet=quiet))
    return FAILED if comparison.counts.get("unknown") else CLEAN
