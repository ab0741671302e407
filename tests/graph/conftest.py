"""Ask a repository about its links, with the index that is there or with a new one."""

from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ubp.graph.view import Graph, open_graph
from ubp.index import View
from ubp.rooms import Question, Rooms
from ubp.store.fulltext import Match


@contextmanager
def open_links(root: Path, **question: Any):
    """A workspace and the links of one of its snapshots."""
    with Rooms.open(str(root)) as workspace:
        view = workspace.view(Question(**question))
        yield workspace, view, open_graph(view)


def everything(graph: Graph, view: View) -> dict[str, Any]:
    """All that a graph answers, put so that two can be compared."""
    edges = list(graph.all_edges())
    paths = view.document_paths()
    backlinks = {path: graph.backlinks(path) for path in paths}
    assert graph.backlinks_of(paths) == backlinks
    assert graph.edges_of(paths) == {path: graph.outlinks(path) for path in paths}
    assert edges == [edge for path in paths for edge in graph.outlinks(path)]
    assert graph.buckets() == Counter(edge.resolution.bucket for edge in edges)
    assert [row.path for row in graph.documents()] == paths
    return {
        "edges": [(e.source, e.link, e.resolution) for e in edges],
        "backlinks": backlinks,
        "counts": graph.link_counts(),
        "anchors": {path: graph.anchors(path) for path in paths},
        "sections": {path: graph.sections(path) for path in paths},
        "words": {
            word: [
                (hit.path, hit.number, view.full_text().chunks([hit.blob])[hit.blob][hit.number])
                for hit in sorted(view.full_text().search(Match(word), 100))
            ]
            for word in ("one", "two", "text", "alias")
        },
    }


@pytest.fixture
def links() -> Callable[..., Any]:
    return open_links


@pytest.fixture
def told(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Everything about a snapshot: `told(root)`; `anew=True` asks without the index."""

    def tell(root: Path, *, anew: bool = False, **question: Any) -> dict[str, Any]:
        if not anew:
            with open_links(root, **question) as (_, view, graph):
                return everything(graph, view)
        index, aside = root / ".git/ubp", tmp_path_factory.mktemp("aside") / "index"
        if index.exists():
            index.rename(aside)
        try:
            return tell(root, **question)
        finally:
            for file in index.glob("*"):
                file.unlink()
            if aside.exists():
                index.rmdir()
                aside.rename(index)

    return tell
