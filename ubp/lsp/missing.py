"""Pages that do not exist yet: links ask for them."""

from collections.abc import Iterable
from typing import NamedTuple

from ubp.bindings.sources import is_binary
from ubp.checks.finding import WIKILINKS
from ubp.core.config import is_document
from ubp.core.model import FilePath
from ubp.core.paths import PAGE_SUFFIXES, is_windows_path, normalize_path
from ubp.index.link_graph import GraphEdge
from ubp.index.session import Target
from ubp.lsp.context import EditorContext
from ubp.markdown.resolve import requested_names


class Missing(NamedTuple):
    """The names of pages that wikilinks ask for, and the paths that other links ask for."""

    names: tuple[str, ...]
    paths: tuple[FilePath, ...]


def missing_pages(context: EditorContext) -> Missing:
    """Return what the links of the last commit and of the pages on the screen ask for in vain."""
    return context.view.derived("missing pages", lambda: _find_missing(context))


def missing_path(context: EditorContext, edge: GraphEdge) -> FilePath | None:
    """Return the page that a link asks for by its path, if it may be created."""
    target = edge.link.target
    folder = "" if target.startswith("/") else edge.source.rpartition("/")[0]
    path = normalize_path(f"{folder}/{target.lstrip('/')}".lstrip("/"))
    if path is None or not path.lower().endswith(PAGE_SUFFIXES):
        return None
    is_free = context.view.entry(path) is None and is_document(context.session.config, path)
    return path if is_free and is_windows_path(path) else None


def _find_missing(context: EditorContext) -> Missing:
    view = context.view
    commit, changes = view.snapshot.commit, list(view.snapshot.changes)
    committed: tuple[GraphEdge, ...] = ()
    if commit:
        before = context.session.view(Target(ref=commit))
        committed = before.of_commit(
            "links to nothing", lambda: tuple(_missing(before.link_graph().edges()))
        )
    differing = {*changes}
    changed = (edge for edges in view.link_graph().out(changes).values() for edge in edges)
    edges = [*(e for e in committed if e.source not in differing), *_missing(changed)]
    by_name = {e.link.target: e.link for e in edges if e.link.kind in WIKILINKS}
    # A page that is not committed may have the name.
    wikilinks = [
        name
        for name, link in by_name.items()
        if not is_binary(name) and not context.pages.named(requested_names(link))
    ]
    others = (missing_path(context, e) for e in edges if e.link.kind not in WIKILINKS)
    return Missing(tuple(sorted(wikilinks)), tuple(sorted(set(filter(None, others)))))


def _missing(edges: Iterable[GraphEdge]) -> Iterable[GraphEdge]:
    return (edge for edge in edges if edge.bucket == "missing")
