"""`ubp sql`: SQL over what UBP knows about the documents."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Annotated, Any

from ubp.core.paths import doc_id
from ubp.frame.answer import Answer, Request
from ubp.frame.arguments import Ref
from ubp.frame.records import moment_or_none
from ubp.frame.wording import printable, printable_line, text_width
from ubp.frame.writer import Writer
from ubp.index.session import Session, Target
from ubp.index.store.query import Table, run_query
from ubp.search.graph import Graph, open_graph
from ubp.search.list_pages import ListRequest, list_pages
from ubp.staleness.ranking import rank_pages
from ubp.staleness.state import assess_paths, find_stale

Cell = str | int | float | None
Row = dict[str, Any]

# A cell of the text table shows this many columns of a terminal at most.
CELL_WIDTH = 60

DOCUMENTS: Mapping[str, type] = {
    "doc_id": str,
    "filepath": str,
    "title": str,
    "doc_type": str,
    "tags": str,
    "level": str,
    "created_at": str,
    "updated_at": str,
    "is_uncommitted": int,
    "outlinks": int,
    "backlinks": int,
    "blob": str,
}
SECTIONS: Mapping[str, type] = {
    "doc_id": str,
    "filepath": str,
    "section_order": int,
    "heading": str,
    "level": int,
    "heading_path": str,
    "anchor": str,
    "line_start": int,
    "line_end": int,
    "content": str,
}
LINKS: Mapping[str, type] = {
    "filepath": str,
    "line": int,
    "column": int,
    "kind": str,
    "type": str,
    "label": str,
    "target": str,
    "anchor": str,
    "status": str,
    "target_path": str,
    "context": str,
}
SOURCE_REFS: Mapping[str, type] = {
    "doc_id": str,
    "filepath": str,
    "line": int,
    "key": str,
    "source_path": str,
    "verdict": str,
    "level": str,
    "pin": str,
    "baseline_commit": str,
    "moved_to": str,
    "drifted_at": str,
    "age_days": int,
    "commits": int,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsRecord:
    """The rows that a query selects."""

    columns: Annotated[tuple[str, ...], "names of the columns"]
    rows: Annotated[tuple[Mapping[str, Cell], ...], "the rows: columns with their values"]


@dataclass(frozen=True, slots=True)
class SqlRequest(Request[RowsRecord]):
    """A single SELECT over the tables `documents`, `sections`, `links` and `source_refs`.

    Lists are JSON texts, times ISO 8601 in UTC, and what is unknown is NULL.
    """

    query: Annotated[str, "the statement"]
    ref: Ref | None = None


def run(session: Session, request: SqlRequest) -> RowsRecord:
    """Return the rows that the query selects, of the work tree or of the revision `ref`.

    Raises:
        UsageError: it is not a SELECT, or SQLite cannot run it.
    """
    result = run_query(request.query, _build_tables(session, request.query, request.ref))
    return RowsRecord(
        columns=result.columns,
        rows=tuple(
            dict(zip(result.columns, map(_json_value, row), strict=True)) for row in result.rows
        ),
    )


def _json_value(value: Cell) -> Cell:
    """JSON has no infinity."""
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def _build_tables(session: Session, sql: str, ref: str | None) -> dict[str, Table]:
    """Return the tables that a query names; the others are empty."""
    words = {word.lower() for word in re.findall(r"\w+", sql)}
    graph = open_graph(session.view(Target(ref)))
    needs_creation = "created_at" in words or "*" in sql
    makers: Mapping[str, tuple[Mapping[str, type], Callable[[], Iterator[Row]]]] = {
        "documents": (DOCUMENTS, lambda: _documents(session, ref, has_created=needs_creation)),
        "sections": (SECTIONS, lambda: _sections(graph)),
        "links": (LINKS, lambda: _links(graph)),
        "source_refs": (SOURCE_REFS, lambda: _source_refs(session, ref)),
    }
    return {
        name: Table(columns, make() if name in words else ())
        for name, (columns, make) in makers.items()
    }


def _documents(session: Session, ref: str | None, *, has_created: bool) -> Iterator[Row]:
    view = session.view(Target(ref))
    request = ListRequest(sort="created_at" if has_created else "title", ref=ref)
    pages = list_pages(session, view, request, partial(assess_paths, session))
    for page in pages.pages:
        document = page.document
        path = document.path
        yield {
            "doc_id": document.doc_id,
            "filepath": path,
            "title": document.title,
            "doc_type": document.doc_type,
            "tags": json.dumps(document.tags, ensure_ascii=False),
            "level": pages.assessments[path].level,
            "created_at": moment_or_none(pages.created_at[path]),
            "updated_at": moment_or_none(pages.updated_at[path]),
            "is_uncommitted": int(path in pages.uncommitted),
            "outlinks": page.outgoing,
            "backlinks": page.incoming,
            "blob": document.blob,
        }


def _sections(graph: Graph) -> Iterator[Row]:
    for document in graph.documents():
        path = document.path
        text = graph.text(path) or b""
        for number, section in enumerate(graph.sections(path)):
            content = text[section.byte_start : section.byte_end]
            yield {
                "doc_id": document.doc_id,
                "filepath": path,
                "section_order": number,
                "heading": section.heading,
                "level": section.level,
                "heading_path": json.dumps(section.heading_path, ensure_ascii=False),
                "anchor": section.anchor,
                "line_start": section.line_start,
                "line_end": section.line_end,
                "content": content.decode("utf-8", "replace"),
            }


def _links(graph: Graph) -> Iterator[Row]:
    for edge in graph.all_edges():
        link = edge.link
        yield {
            "filepath": edge.source,
            "line": link.line,
            "column": link.column,
            "kind": link.kind,
            "type": link.link_type,
            "label": link.label,
            "target": link.target,
            "anchor": link.anchor,
            "status": edge.resolution.bucket,
            "target_path": edge.resolution.target,
            "context": link.context,
        }


def _source_refs(session: Session, ref: str | None) -> Iterator[Row]:
    report, context = find_stale(session, Target(ref), (), every=True)
    for assessment in rank_pages(report, context).pages:
        path = assessment.page.filepath
        for verdict in assessment.references:
            yield {
                "doc_id": doc_id(path),
                "filepath": path,
                "line": verdict.reference.line,
                "key": verdict.reference.key,
                "source_path": verdict.source_path,
                "verdict": verdict.verdict,
                "level": verdict.level,
                "pin": verdict.reference.pin,
                "baseline_commit": verdict.baseline_commit,
                "moved_to": verdict.moved_to,
                "drifted_at": moment_or_none(verdict.since),
                "age_days": verdict.age_days,
                "commits": len(verdict.commits),
            }


def text(record: RowsRecord, write: Writer) -> Iterator[str]:
    """Yield a table for a terminal; long cells are cut."""
    values = (row.values() for row in record.rows)
    rows = [[_cell(value) for value in row] for row in (record.columns, *values)]
    widths = [max(map(text_width, column)) for column in zip(*rows, strict=True)]
    header, *body = [
        "  ".join(
            cell + " " * (width - text_width(cell)) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]
    yield write.style.bold(header)
    yield from body


def _cell(value: Any) -> str:
    text = "" if value is None else printable(str(value))
    if text_width(text) <= CELL_WIDTH:
        return text
    kept, width = [], 1
    for character in text:
        width += text_width(character)
        if width > CELL_WIDTH:
            break
        kept.append(character)
    return "".join(kept) + "…"


def csv_text(record: RowsRecord) -> str:
    """Return the rows as CSV (RFC 4180) with a header; NULL is an empty field."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(record.columns)
    writer.writerows([_csv_value(value) for value in row.values()] for row in record.rows)
    return out.getvalue()


def _csv_value(value: Any) -> Any:
    if isinstance(value, str):
        return "\n".join(map(printable_line, value.split("\n")))
    return value


SQL = Answer(
    request=SqlRequest,
    record=RowsRecord,
    run=run,
    text=text,
    has_facts=False,
    formats={"csv": csv_text},
)
