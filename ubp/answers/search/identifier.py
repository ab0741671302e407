"""What a search also answers to a query that is one identifier: lines with it, its definition."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from ubp.bindings.path_words import is_test
from ubp.core.errors import GitCommandError
from ubp.core.model import FilePath
from ubp.frame.budget import TokenLimit
from ubp.frame.encoding import Json
from ubp.frame.fields import Count, Line, PagePath
from ubp.frame.wording import count, printable
from ubp.frame.writer import Writer
from ubp.index.session import Session
from ubp.index.view import View
from ubp.search.filters import Filters
from ubp.search.identifier import Definition, find_defining, find_lines, read_identifier
from ubp.search.query import Condition
from ubp.search.run import file_names

MAX_LINES, MAX_DEFINITIONS = 100, 5
# Of a budget: the rest is for the sections that say what it is about.
SHARE = 0.6
PEOPLES_LINES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class NamingLineRecord:
    """A line of a page with the identifier."""

    collection: Annotated[str | None, "collection that the page is in, null: this repository"]
    filepath: PagePath
    line: Annotated[Line, "line of the page, from 1"]
    text: Annotated[str, "the line, of a long one its beginning"]
    copies: Annotated[Count, "number of other versions of the page with the same line"] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionRecord:
    """A place in code that defines the identifier."""

    source_path: Annotated[str, "path from the root"]
    line: Annotated[Line, "line where the definition begins, from 1"]
    text: Annotated[str, "the definition without its body"]
    is_certain: Annotated[
        bool, "whether a keyword such as class or fn defines it; else it may be a key or an option"
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentifierRecord:
    """Where the identifier occurs in pages as it is written, and where code defines it."""

    name: Annotated[str, "the identifier"]
    definitions: Annotated[
        tuple[DefinitionRecord, ...], "definitions in code, tests last; at most 5"
    ] = ()
    total_definitions: Annotated[Count, "number of definitions"] = 0
    is_code_searched: Annotated[
        bool, "false where a partial clone lacks files, so that there may be definitions"
    ] = True
    lines: Annotated[
        tuple[NamingLineRecord, ...], "lines of pages with it, the best pages first"
    ] = ()
    total_lines: Annotated[Count, "number of such lines; equal ones of a page count once"] = 0
    total_pages: Annotated[Count, "number of pages with such lines"] = 0


def labelled(path: str, collection: str | None) -> str:
    """Return a path after the name of its collection, if it is in one: `go:ref/spec.md`."""
    return f"{collection}:{path}" if collection else path


class Place(NamedTuple):
    """A repository or collection that is searched; `best` are the pages that were found in it."""

    session: Session
    view: View
    best: Sequence[FilePath]


def find_identifier(
    query: str, filters: Filters, places: Sequence[Place]
) -> IdentifierRecord | None:
    """Return where an identifier occurs; None: the query is none, or nothing has it.

    Definitions are those of the repository that the pages are in. Git stops at the first file that
    a partial clone lacks.
    """
    name = read_identifier(query)
    if name is None:
        return None
    lines = [line for place in places for line in _lines(name, filters, place)]
    definitions: list[Definition] = []
    is_searched = True
    for session, view, _ in places:
        if session.collection is not None:
            continue
        try:
            definitions += find_defining(view, name, session.is_hidden)
        except GitCommandError:
            if not session.repository.is_partial():
                raise
            is_searched = False
    if not lines and not definitions:
        return None
    ordered = sorted(definitions, key=lambda found: (is_test(found.path), found.path, found.line))
    return IdentifierRecord(
        name=name,
        definitions=tuple(
            DefinitionRecord(
                source_path=found.path,
                line=found.line,
                text=found.signature,
                is_certain=found.is_sure,
            )
            for found in ordered[:MAX_DEFINITIONS]
        ),
        total_definitions=len(definitions),
        is_code_searched=is_searched,
        lines=tuple(lines[:MAX_LINES]),
        total_lines=len(lines),
        total_pages=len({(line.collection, line.filepath) for line in lines}),
    )


def _lines(name: str, filters: Filters, place: Place) -> Iterator[NamingLineRecord]:
    session, view, best = place
    within = file_names(view).select(Condition(filters)) if filters.are_any else None
    for line in find_lines(view, name, best, within):
        yield NamingLineRecord(
            collection=session.collection.name if session.collection else None,
            filepath=line.path,
            line=line.line,
            text=line.text,
            copies=line.copies,
        )


def fit_identifier(record: Json, limit: TokenLimit) -> int:
    """Leave out the last lines until they take their share of the budget; return what is taken."""
    part = record.get("identifier")
    if not part:
        return 0
    lines = part.get("lines", [])

    def size(line: Json) -> int:
        text = f"{line['filepath']}:{line['line']}: {line['text']}\n"
        return limit.measure(text) if limit.is_text else limit.weigh(line)

    before = limit.excess(record)
    del record["identifier"]
    taken = before - limit.excess(record)
    record["identifier"] = part
    while len(lines) > 1 and taken > limit.most * SHARE:
        taken -= size(lines.pop())
    return taken


def agents_lines(record: IdentifierRecord, write: Writer, marker: str) -> Iterator[str]:
    """Yield definitions and lines as grep prints them, between two lines with the marker."""
    yield f"{write.name(record.name)}: {_counts(record)}"
    yield from write.enclose(
        "\n".join(_places(record, write, [line.filepath for line in record.lines])), marker
    )
    if left := record.total_lines - len(record.lines):
        yield f"[{count(left, 'more line')}: use a larger max_tokens]"


def peoples_lines(record: IdentifierRecord, write: Writer) -> Iterator[str]:
    """Yield how many there are, definitions, and the first lines."""
    yield f"{write.name(record.name)}: {_counts(record)}"
    paths = [labelled(line.filepath, line.collection) for line in record.lines]
    for place in [*_places(record, write, paths)][: len(record.definitions) + PEOPLES_LINES]:
        yield f"   {write.style.dim(printable(place))}"
    yield ""


def texts_of(record: IdentifierRecord | None) -> list[str]:
    """Return the texts of files that the record has."""
    if record is None:
        return []
    return [*(found.text for found in record.definitions), *(line.text for line in record.lines)]


def _counts(record: IdentifierRecord) -> str:
    parts = []
    if number := record.total_definitions:
        shown = len(record.definitions)
        more = f" ({shown} shown)" if shown < number else ""
        probably = "" if record.definitions[0].is_certain else "probably "
        parts.append(f"{probably}defined in code at {count(number, 'place')}{more}")
    if record.total_lines:
        pages = count(record.total_pages, "page")
        parts.append(f"in {count(record.total_lines, 'line')} of {pages}")
    if not record.is_code_searched:
        parts.append("code not searched: this partial clone lacks files")
    return ", ".join(parts)


def _places(record: IdentifierRecord, write: Writer, paths: Sequence[str]) -> Iterator[str]:
    """Yield definitions, then the lines, each with its page as one of the paths."""
    for found in record.definitions:
        yield f"{write.name(found.source_path)}:{found.line}: {found.text}"
    for path, line in zip(paths, record.lines, strict=True):
        copies = f" (and in {count(line.copies, 'other version')})" if line.copies else ""
        yield f"{write.name(path)}:{line.line}: {line.text}{copies}"
