"""`ubp debt`: accept the current findings, or remove those that were fixed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.checks.accept import accept_findings
from ubp.core.errors import UsageError
from ubp.core.model import DEBT_FILE
from ubp.frame.answer import Answer, Request
from ubp.frame.fields import Count, Option
from ubp.frame.wording import count
from ubp.frame.writer import Writer
from ubp.index.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class DebtRecord:
    """The state of the debt file."""

    path: Annotated[str, "the debt file, from the repository's root"]
    is_written: Annotated[bool, "whether the file was written"]
    is_ignored: Annotated[bool, "whether Git ignores the written file, so that it has no effect"]
    accepted: Annotated[Count, "number of findings it accepts"]
    pages: Annotated[Count, "number of pages with findings it accepts"]
    new: Annotated[Count, "number of findings it does not accept"]
    settled: Annotated[Count, "number of obsolete lines; with is_written they were removed"]


@dataclass(frozen=True, slots=True)
class DebtRequest(Request[DebtRecord]):
    """Whether to shorten the debt file; one that does not exist yet is written."""

    prune: Annotated[
        bool,
        "whether to remove lines whose findings have been fixed",
        Option("Remove lines whose findings have been fixed."),
    ] = False


def run(session: Session, request: DebtRequest) -> DebtRecord:
    """Write the first debt file or shorten the existing one, or compare it with the findings.

    Raises:
        UsageError: a bare repository, or the file or its folder is a symbolic link.
    """
    root = session.repository.root
    if root is None:
        raise UsageError(
            "`ubp debt` cannot write a debt file in a bare repository.",
            cause="A bare repository has no work tree.",
            hint="Run `ubp debt` in a clone, and commit the file.",
        )
    result = accept_findings(session, is_pruning=request.prune)
    is_ignored = False
    if result.text is not None:
        from ubp.core.setup_files import write_debt_file

        write_debt_file(root, result.text)
        # An ignored or excluded file has no effect.
        is_ignored = session.view().entry(DEBT_FILE) is None
    return DebtRecord(
        path=DEBT_FILE,
        is_written=result.text is not None,
        is_ignored=is_ignored,
        accepted=result.accepted,
        pages=result.pages,
        new=result.new,
        settled=result.obsolete,
    )


def text(record: DebtRecord, write: Writer) -> Iterator[str]:
    """Yield what was written, or what to do."""
    if write.is_quiet:
        return
    if record.is_written:
        yield from _written(record, write)
    elif record.accepted or record.settled or record.new:
        yield from _compared(record, write)
    else:
        yield write.style.green("No findings, so there is no debt to accept.")


def _written(record: DebtRecord, write: Writer) -> Iterator[str]:
    accepted = f"{count(record.accepted, 'finding')} in {count(record.pages, 'page')}"
    if record.settled:
        head = f"Removed {count(record.settled, 'line')} from {record.path}; {accepted} left."
    else:
        head = f"Accepted {accepted}: `ubp check` and `ubp stale` fail only on new ones."
    yield write.style.green(head)
    yield from _new_findings(record)
    if record.is_ignored:
        yield write.style.yellow("The file is ignored by Git, so UBP does not use it yet.")
    command = "git add --force" if record.is_ignored else "git add"
    yield "Next:"
    yield f"  {write.style.cyan(f'{command} {record.path}')}  stages it for the next commit"


def _compared(record: DebtRecord, write: Writer) -> Iterator[str]:
    yield f"{record.path} accepts {count(record.accepted, 'finding')}."
    if record.settled:
        yield write.style.red(f"{count(record.settled, 'obsolete line')}.")
        yield "Next:"
        yield f"  {write.style.cyan('ubp debt --prune')}  removes obsolete lines"
    elif not record.new:
        yield write.style.green("All of them still exist, and there are no new findings.")
    yield from _new_findings(record)


def _new_findings(record: DebtRecord) -> Iterator[str]:
    if record.new:
        yield f"{count(record.new, 'finding')} not accepted: the debt file can only shrink."
        yield "Fix them (`ubp check` lists them), or delete the file and run `ubp debt` again."


def _status(record: DebtRecord) -> int:
    return int(record.new > 0 or (record.settled > 0 and not record.is_written))


DEBT = Answer(
    request=DebtRequest, record=DebtRecord, run=run, text=text, has_facts=False, status=_status
)
