"""`ubp affected`: the pages that describe given files."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.core.model import SourceReference
from ubp.core.paths import doc_id
from ubp.frame.answer import Answer, Request
from ubp.frame.arguments import Ref
from ubp.frame.fields import REVISION, DocId, Line, Option, PagePath, Title
from ubp.frame.records import title_of
from ubp.frame.wording import count
from ubp.frame.writer import Writer
from ubp.index.select import path_from_root
from ubp.index.session import Session, Target
from ubp.staleness.references import find_affected


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceRecord:
    """A reference to a source, as written in a page."""

    source_path: Annotated[str, "path or glob from the root, as written"]
    line: Annotated[Line, "line of the reference in the page, from 1"]
    key: Annotated[str, "front matter key that contains the reference"]
    fragment: Annotated[str | None, "suffix removed from the path: #symbol, :12, #L3-L9"]
    pin: Annotated[str | None, "object id of the pin"]
    reason: Annotated[str | None, "reason given when it was acknowledged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AffectedPageRecord:
    """A page that describes one of the given files."""

    doc_id: DocId
    filepath: PagePath
    title: Title
    references: Annotated[tuple[ReferenceRecord, ...], "references to the given files"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AffectedRecord:
    """Pages that describe the given files."""

    documents: Annotated[tuple[AffectedPageRecord, ...], "pages, sorted by path"]


@dataclass(frozen=True, slots=True)
class AffectedRequest(Request[AffectedRecord]):
    """Files whose pages are wanted; they need not exist."""

    paths: Annotated[
        tuple[str, ...],
        "files, folders or globs; may be deleted",
        Option(
            "Files, directories or globs.",
            is_argument=True,
            missing="a file, directory or glob",
            cause="`ubp affected` lists the pages that describe the given files.",
            hint="Specify one or more: ubp affected src/auth.py",
        ),
    ]
    ref: Annotated[Ref, REVISION] | None = None


def run(session: Session, request: AffectedRequest) -> AffectedRecord:
    """Return the pages that describe these files, folders or globs."""
    paths = [path_from_root(path, session.repository) for path in request.paths]
    return AffectedRecord(
        documents=tuple(
            AffectedPageRecord(
                doc_id=doc_id(page.filepath),
                filepath=page.filepath,
                title=title_of(page),
                references=tuple(map(_reference_record, references)),
            )
            for page, references in find_affected(session.view(Target(request.ref)), paths)
        )
    )


def _reference_record(reference: SourceReference) -> ReferenceRecord:
    return ReferenceRecord(
        source_path=reference.source_path,
        line=reference.line,
        key=reference.key,
        fragment=reference.fragment,
        pin=reference.pin,
        reason=reference.reason,
    )


def text(record: AffectedRecord, write: Writer) -> Iterator[str]:
    """Yield a line for each reference, then how many pages there are."""
    for page in record.documents:
        for reference in page.references:
            place = write.path(f"{page.filepath}:{reference.line}")
            yield f"{place}  {write.name(reference.source_path + (reference.fragment or ''))}"
    if write.is_quiet:
        return
    if record.documents:
        verb = "describes" if len(record.documents) == 1 else "describe"
        yield ""
        yield f"{count(len(record.documents), 'page')} {verb} the given files."
    else:
        yield write.style.yellow("No page describes the given files.")


AFFECTED = Answer(
    request=AffectedRequest,
    record=AffectedRecord,
    run=run,
    text=text,
    reads_keys=True,
    has_facts=False,
)
