"""`ubp stale`: which pages no longer describe their sources."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from ubp import __version__
from ubp.cli.error_handler import CLEAN, FAILED, FINDINGS
from ubp.cli.open_workspace import open_workspace
from ubp.cli.terminal import Format, Terminal
from ubp.core.errors import UsageError
from ubp.core.model import FilePath, Level, ReferenceVerdict
from ubp.output.text.common import StaleTextOptions, visible_pages, visible_references
from ubp.output.text.stale import stale_text
from ubp.staleness.model import SourceDiff, StaleReport
from ubp.workspace import Workspace

if TYPE_CHECKING:
    from ubp.cli.outputs import Answer, Outputs

FailOn = Literal["stale", "possibly_stale"]
FAILING: dict[FailOn, tuple[Level, ...]] = {
    "stale": ("stale",),
    "possibly_stale": ("stale", "possibly_stale"),
}
Diffs = dict[tuple[FilePath, ReferenceVerdict], SourceDiff]


def stale(  # noqa: PLR0913  # the command's options
    *paths: str,
    staged: bool = False,
    base: str | None = None,
    ref: str | None = None,
    since: str | None = None,
    days: float | None = None,
    key: list[str] | None = None,
    all_: bool = False,
    exit_code: bool = False,
    fail_on: FailOn | None = None,
    diff: bool = False,
    format_: Format | None = None,
    output_file: list[str] | None = None,
    terminal: Terminal,
) -> int:
    """Tell which pages no longer describe their sources, since which commit, by whom.

    Args:
        paths: Pages, folders or globs to look at; all pages where none is given.
        staged: Judge the commit in the making, as a hook does: only what it leaves behind.
        base: Judge everything since the merge base with this revision, as for a pull request.
        ref: Judge this revision instead of the work tree.
        since: Compare levels with those at this revision: became stale, became fresh, new, gone.
        days: Drift of this age makes a page stale, younger drift possibly stale.
        key: A front matter key that names sources, instead of the configured ones; repeatable.
        all_: Tell of every page: fresh ones, those without sources, and what was stale before.
        exit_code: Exit 1 when a page is stale.
        fail_on: Exit 1 on this level or a worse one.
        diff: Show what changed in each source since the page described it (text, json, markdown).
        format_: How the answer is printed: for people, programs, a CI service.
        output_file: Write the answer to a file too, as in sarif=ubp.sarif; repeatable.
        terminal: Where the answer goes.
    """
    _check(days)
    if since is not None:
        from ubp.cli.since import Since, print_comparison

        others = _given(staged, base, diff, all_, exit_code, fail_on, output_file)
        return print_comparison(
            Since(since, ref, paths, key or (), days), format_, others, terminal
        )
    outputs = _outputs(format_, output_file or (), terminal)
    with open_workspace(terminal, keys=key or (), days=days) as workspace:
        report = workspace.stale(paths, ref=ref, staged=staged, base=base, every=all_)
        status = exit_status(report, fail_on or ("stale" if exit_code else None))
        diffs = _diffs(workspace, report, every=all_) if diff else {}
        telling = _telling(workspace, report, paths, terminal)
        telling = telling._replace(every=all_, base=base, keys=tuple(key or ()), diffs=diffs)
        _tell((report, telling, status), outputs, workspace, terminal)
    return status


def exit_status(report: StaleReport, fail_on: FailOn | None) -> int:
    """1 on findings that fail, 2 where something is unknown; a finding wins over an unknown."""
    if report.is_change:
        verdicts = {
            answer.verdict
            for one in report.brought
            for answer in visible_references(one, every=False)
        }
        has_failed = bool(verdicts - {"unknown"})
    else:
        has_failed = fail_on is not None and _fails(report, FAILING[fail_on])
    if has_failed:
        return FINDINGS
    is_unknown = any(a.verdict == "unknown" for one in report.pages for a in one.references)
    return FAILED if is_unknown else CLEAN


def _given(*values: object) -> dict[str, object]:
    """What was given for the options that --since cannot take."""
    names = ("--staged", "--base", "--diff", "--all", "--exit-code", "--fail-on", "--output-file")
    return dict(zip(names, values, strict=True))


def _fails(report: StaleReport, levels: tuple[Level, ...]) -> bool:
    """Whether a page has one of these levels by more than what the debt file accepts."""
    if report.settled:
        return True
    return any(
        answer.level in levels and not answer.is_debt
        for one in report.pages
        for answer in one.references
    )


def _outputs(format_: Format | None, files: Sequence[str], terminal: Terminal) -> "Outputs | None":
    """What was asked for beside the usual: a hook asks for nothing, and loads nothing for it."""
    if format_ is None and not files:
        return None
    from ubp.cli.outputs import read_outputs

    return read_outputs(format_, files, terminal)


def _tell(
    told: tuple[StaleReport, StaleTextOptions, int],
    outputs: "Outputs | None",
    workspace: Workspace,
    terminal: Terminal,
) -> None:
    report, telling, status = told
    if outputs:
        outputs.deliver(_answer(report, telling, status), workspace, terminal)
    elif terminal.options.json:
        terminal.record(_record(report, telling))
    else:
        terminal.write(stale_text(report, telling))


def _answer(report: StaleReport, telling: StaleTextOptions, status: int) -> "Answer":
    from ubp.checks.from_staleness import stale_findings
    from ubp.cli.outputs import Answer
    from ubp.output.ci.outcome import Outcome

    return Answer(
        text=lambda style: stale_text(report, telling._replace(style=style)),
        record=lambda: _record(report, telling),
        outcome=lambda: Outcome(
            command="stale",
            report=stale_findings(report, every=telling.every),
            exit_status=status,
            version=__version__,
            summary=report.summary,
            base=telling.base,
            keys=telling.keys,
            diffs=telling.diffs,
        ),
    )


def _record(report: StaleReport, telling: StaleTextOptions) -> dict[str, Any]:
    from ubp.output.records.staleness import stale_record

    return stale_record(report, every=telling.every, diffs=telling.diffs)


def _check(days: float | None) -> None:
    if days is not None and not 0 <= days < float("inf"):
        raise UsageError(
            f"--days is {days:g}.", cause="Drift cannot be of that age.", hint="Take 0 or more."
        )


def _telling(
    workspace: Workspace, report: StaleReport, paths: tuple[str, ...], terminal: Terminal
) -> StaleTextOptions:
    return StaleTextOptions(
        style=terminal.style,
        quiet=terminal.options.quiet,
        prefix=workspace.repository.prefix,
        key=workspace.config.keys[0],
        example=None if report.summary.bound else workspace.example(report, paths),
    )


def _diffs(workspace: Workspace, report: StaleReport, *, every: bool) -> Diffs:
    pages = visible_pages(report, every=every)
    return {
        (one.page.filepath, answer): diff
        for one, answer, diff in workspace.diffs(report._replace(pages=pages))
        if answer in visible_references(one, every=every)
    }
