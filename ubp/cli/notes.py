"""The commands about notes: trends, ask and oss-report."""

import time
from functools import partial
from typing import Annotated

from cyclopts import Parameter

from ubp.cli.error_handler import CLEAN
from ubp.cli.open_workspace import open_workspace
from ubp.cli.parameters import In, OptionalNumber, read_collection
from ubp.cli.reading import RecordFormat, print_answer
from ubp.cli.terminal import Terminal
from ubp.core.errors import CollectionError, UsageError
from ubp.core.shell import ubp_command
from ubp.notes.ask import NotesAnswer, answer_question
from ubp.notes.note import parse_date
from ubp.notes.reports import OssReport, ReportFinder, parse_repository
from ubp.notes.trends import Period, Trends, find_trends
from ubp.output.text.notes import answer_text, oss_report_text, trends_text
from ubp.workspace import Workspace


def trends(
    *,
    period: Annotated[Period, Parameter(metavar="PERIOD")] = "1w",
    category: Annotated[str | None, Parameter(metavar="NAME")] = None,
    until: Annotated[str | None, Parameter(metavar="DATE")] = None,
    in_: In = None,
    terminal: Terminal,
) -> int:
    """Run `ubp trends`.

    Args:
        period: The length of the period: a day, weeks or months (1w).
        category: Count only the notes of this category.
        until: The last day of the period, by default today: 2026-01-31.
        in_: Read the notes of a collection instead of this repository.
        terminal: Where the answer goes.
    """
    last = parse_date(until) if until else None
    if until and last is None:
        raise UsageError(f"Invalid --until: {until}.", hint="Write it as 2026-01-31.")

    def read(workspace: Workspace) -> Trends:
        session = workspace.session
        return find_trends(session, session.view(), period, category or "", last)

    return print_answer(
        terminal,
        read,
        partial(trends_text, style=terminal.style),
        _load_trends_format,
        collection=read_collection(in_, None),
    )


def ask(
    *question: str, max_tokens: OptionalNumber = None, in_: In = None, terminal: Terminal
) -> int:
    """Run `ubp ask`.

    Args:
        question: The question, in natural language.
        max_tokens: With --json: maximum number of tokens; the least relevant passages are dropped.
        in_: Ask the notes of a collection instead of this repository.
        terminal: Where the answer goes.
    """
    text = " ".join(question)
    if not text.strip():
        raise UsageError("Missing question.", hint="ubp ask how do I rotate a key")
    from ubp.sync.answer import find_language_model, write_answer

    find_language_model(terminal.environment)  # a wrong one is an error before any work

    def read(workspace: Workspace) -> NotesAnswer:
        return answer_question(workspace.session, text)

    def written(answer: NotesAnswer) -> str:
        return answer_text(
            answer,
            write_answer(answer, terminal.environment),
            terminal.style,
            is_quiet=terminal.options.quiet,
        )

    def load_format() -> RecordFormat[NotesAnswer]:
        from ubp.output.records.notes import answer_record
        from ubp.server.tools.notes.ask import fit_answer

        return RecordFormat(
            lambda answer: answer_record(answer, write_answer(answer, terminal.environment)),
            fit_answer,
        )

    return print_answer(
        terminal,
        read,
        written,
        load_format,
        max_tokens=max_tokens,
        collection=read_collection(in_, None),
    )


def oss_report(url: str, /, *, verify: bool = False, in_: In = None, terminal: Terminal) -> int:
    """Run `ubp oss-report`.

    Args:
        url: The address of the repository, or OWNER/NAME on GitHub.
        verify: Read the repository now, over the network, and save the report.
        in_: Look for the report in a collection before those that UBP wrote.
        terminal: Where the answer goes.
    """
    address = parse_repository(url)
    started = time.perf_counter()
    report: OssReport | None
    if verify:
        from ubp.sync.verify import verify_repository

        report = verify_repository(address, terminal.environment, terminal.progress, terminal.clock)
    else:
        with open_workspace(terminal, collection=read_collection(in_, None)) as workspace:
            report = ReportFinder(workspace.session).find(address.url)
    if report is None:
        raise CollectionError(
            f"There is no report on {address.url}.",
            hint=f"Make one: {ubp_command('oss-report', address.url, '--verify')}",
        )
    if terminal.options.json:
        from ubp.frame.budget import build_answer
        from ubp.output.records.notes import oss_report_record

        terminal.json(build_answer(oss_report_record(report), started, is_lean=False))
    else:
        terminal.write(oss_report_text(report, terminal.style))
    return CLEAN


def _load_trends_format() -> RecordFormat[Trends]:
    from ubp.output.records.notes import trends_record

    return RecordFormat(trends_record)
