"""`ubp sql`: the tables that it queries, filled from a workspace, and its results."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any
from unicodedata import combining, east_asian_width

from ubp.core.paths import doc_id
from ubp.frame.wording import Style, moment, printable, printable_line
from ubp.index.session import Target
from ubp.index.store.query import QueryResult, Table
from ubp.search.graph import Graph, open_graph
from ubp.search.list_pages import ListRequest, list_pages
from ubp.staleness.state import assess_paths
from ubp.workspace import Workspace

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


def build_tables(workspace: Workspace, sql: str, ref: str | None = None) -> dict[str, Table]:
    """Return the tables that a query names, of the work tree or of a revision.

    Lists are JSON texts, times ISO 8601 in UTC, and what is unknown is NULL.
    """
    words = {word.lower() for word in re.findall(r"\w+", sql)}
    graph = open_graph(workspace.session.view(Target(ref)))
    needs_creation = "created_at" in words or "*" in sql
    makers: Mapping[str, tuple[Mapping[str, type], Callable[[], Iterator[Row]]]] = {
        "documents": (DOCUMENTS, lambda: _documents(workspace, ref, has_created=needs_creation)),
        "sections": (SECTIONS, lambda: _sections(graph)),
        "links": (LINKS, lambda: _links(graph)),
        "source_refs": (SOURCE_REFS, lambda: _source_refs(workspace, ref)),
    }
    return {
        name: Table(columns, make() if name in words else ())
        for name, (columns, make) in makers.items()
    }


def _documents(workspace: Workspace, ref: str | None, *, has_created: bool) -> Iterator[Row]:
    session, view = workspace.session, workspace.session.view(Target(ref))
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
            "created_at": _moment(pages.created_at[path]),
            "updated_at": _moment(pages.updated_at[path]),
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


def _source_refs(workspace: Workspace, ref: str | None) -> Iterator[Row]:
    for assessment in workspace.stale(ref=ref, every=True).pages:
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
                "drifted_at": _moment(verdict.since),
                "age_days": verdict.age_days,
                "commits": len(verdict.commits),
            }


def _moment(seconds: int | None) -> str | None:
    return None if seconds is None else moment(seconds)


def result_csv(result: QueryResult) -> str:
    """Return the rows as CSV (RFC 4180) with a header; NULL is an empty field."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(result.columns)
    writer.writerows([_csv_value(value) for value in row] for row in result.rows)
    return out.getvalue()


def result_text(result: QueryResult, style: Style) -> str:
    """Return the rows as a table for a terminal; long cells are cut."""
    rows = [[_cell(value) for value in row] for row in (result.columns, *result.rows)]
    widths = [max(map(text_width, column)) for column in zip(*rows, strict=True)]
    header, *body = [
        "  ".join(
            cell + " " * (width - text_width(cell)) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]
    return "\n".join([style.bold(header), *body]) + "\n"


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


def text_width(text: str) -> int:
    """Return the columns that a printable text takes in a terminal."""
    return sum(2 if east_asian_width(c) in "WF" else not combining(c) for c in text)


def _csv_value(value: Any) -> Any:
    if isinstance(value, str):
        return "\n".join(map(printable_line, value.split("\n")))
    return value
