"""`ubp report`: how fresh the documentation is, as a whole."""

import os
from typing import Annotated

from cyclopts import Parameter

from ubp.cli.door import CLEAN
from ubp.cli.files import check_folder, write_file
from ubp.cli.opening import open_workspace
from ubp.cli.terminal import Terminal
from ubp.errors import UsageError
from ubp.render.text.report import report_text, told_levels
from ubp.render.wording import printable, size
from ubp.report.values import Levels, Report, Span

DEFAULT_FILE = "ubp-report.html"


def report(  # noqa: PLR0913  # the command's options
    *,
    html: Annotated[
        list[str] | None, Parameter(consume_multiple=(0, 1), negative_iterable="")
    ] = None,
    open_: bool = False,
    commits: int | None = None,
    weeks: int | None = None,
    ref: str | None = None,
    key: list[str] | None = None,
    terminal: Terminal,
) -> int:
    """Tell how fresh the documentation is: levels, ages, a trend, and what matters most.

    Args:
        html: Write it all, with what changed, to this file (ubp-report.html); it needs no network.
        open_: Write that file and open it in the browser.
        commits: Look back at so many commits of the main line.
        weeks: Look back so many weeks (12 where nothing is said).
        ref: Report on this revision instead of the work tree.
        key: A front matter key that names sources, instead of the configured ones; repeatable.
        terminal: Where the answer goes.
    """
    file = _file(html, is_opened=open_)
    if file is not None:
        check_folder(file, terminal)
    span = _span(commits, weeks)
    with open_workspace(terminal, keys=key or ()) as workspace:
        made = workspace.report(ref=ref, span=span)._replace(keys=tuple(key or ()))
    if terminal.options.json:
        from ubp.render.report_records import report_record

        terminal.record(report_record(made))
    elif file is None:
        terminal.write(report_text(made, terminal.style, is_quiet=terminal.options.quiet))
    if file is not None:
        _write(made, file, terminal)
        if open_:
            _open(file, terminal)
    return CLEAN


def _file(html: list[str] | None, *, is_opened: bool) -> str | None:
    if html is None:
        return DEFAULT_FILE if is_opened else None
    return html[0] if html else DEFAULT_FILE


def _span(commits: int | None, weeks: int | None) -> Span | None:
    if commits is not None and weeks is not None:
        raise UsageError(
            "--commits and --weeks contradict each other.", hint="Look back by one of them."
        )
    for name, length in (("commits", commits), ("weeks", weeks)):
        if length is not None and length < 1:
            raise UsageError(f"--{name} is {length}.", hint="Take 1 or more.")
    if commits is not None:
        return Span("commits", commits)
    return None if weeks is None else Span("weeks", weeks)


def _write(made: Report, file: str, terminal: Terminal) -> None:
    from ubp.render.html.report import report_html

    page = report_html(made)
    write_file(file, page, terminal)
    if not (terminal.options.json or terminal.options.quiet):
        levels = told_levels(made.levels or Levels())
        length = size(len(page.encode("utf-8", "replace")))
        terminal.write(f"{levels[:1].upper()}{levels[1:]}.\nWrote {printable(file)} ({length}).\n")


def _open(file: str, terminal: Terminal) -> None:
    import webbrowser
    from pathlib import Path

    address = Path(os.path.join(terminal.directory, file)).resolve().as_uri()
    if not webbrowser.open(address):
        terminal.warn(f"No browser could be started: open {file} yourself.")
