"""`ubp affected`: the pages that describe given files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from ubp.bindings.probable import find_probably_describing
from ubp.core.model import FilePath, SourceReference
from ubp.core.paths import doc_id
from ubp.core.shell import path_argument, ubp_command
from ubp.frame.answer import Answer, Request
from ubp.frame.arguments import Ref
from ubp.frame.fields import REVISION, DocId, Fraction, Line, Option, PagePath, Title
from ubp.frame.records import title_of
from ubp.frame.wording import count
from ubp.frame.writer import Writer
from ubp.index.select import path_from_root
from ubp.index.session import Session, Target
from ubp.staleness.references import find_affected

MAX_PROBABLE = 5  # pages that are shown


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
class ProbablyAffectedRecord:
    """A page that lists no sources, names something of a given file, and seems to describe it."""

    doc_id: DocId
    filepath: PagePath
    line: Annotated[Line, "line of the page that names something of the file, from 1"]
    name: Annotated[str, "what it names there: a path, a file name, an identifier"]
    source_path: Annotated[str, "the source that `ubp bind` would propose"]
    confidence: Annotated[Fraction, "confidence of the proposal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AffectedRecord:
    """Pages that describe the given files."""

    documents: Annotated[tuple[AffectedPageRecord, ...], "pages, sorted by path"]
    probable: Annotated[
        tuple[ProbablyAffectedRecord, ...],
        "pages that probably describe them, by proposals, the most confident first; empty where"
        " a quarter of the pages list sources, or finding them would take more than five seconds",
    ]


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
    view = session.view(Target(request.ref))
    return AffectedRecord(
        probable=tuple(
            ProbablyAffectedRecord(
                doc_id=doc_id(found.filepath),
                filepath=found.filepath,
                line=found.line,
                name=found.name,
                source_path=found.source_path,
                confidence=round(found.confidence, 3),
            )
            for found in find_probably_describing(session, view, paths)
        ),
        documents=tuple(
            AffectedPageRecord(
                doc_id=doc_id(page.filepath),
                filepath=page.filepath,
                title=title_of(page),
                references=tuple(map(_reference_record, references)),
            )
            for page, references in find_affected(view, paths)
        ),
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
        yield write.style.yellow("No page lists the given files.")
    yield from _probable(record.probable, write)


def _probable(found: Sequence[ProbablyAffectedRecord], write: Writer) -> Iterator[str]:
    if not found:
        return
    yield ""
    yield write.style.bold(f"Probably also {count(len(found), 'page')} without sources:")
    for page in found[:MAX_PROBABLE]:
        place = write.path(f"{page.filepath}:{page.line}")
        yield f"  {place}  {write.name(page.source_path)}, names {write.name(page.name)}"
    if len(found) > MAX_PROBABLE:
        yield write.style.dim(f"  and {count(len(found) - MAX_PROBABLE, 'more page')}")
    command = ubp_command("bind", path_argument(FilePath(found[0].filepath), write.prefix))
    yield f"To list the sources of a page: {write.style.cyan(command)}"


AFFECTED = Answer(
    request=AffectedRequest,
    record=AffectedRecord,
    run=run,
    text=text,
    reads_keys=True,
    has_facts=False,
)
