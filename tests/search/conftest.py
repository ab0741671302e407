"""Workspaces to search in, and what a repository answers about its links."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ubp.index.embed.locate import find_model
from ubp.index.embed.model import Model, load_model
from ubp.index.match import Phrase
from ubp.index.session import Session, Target
from ubp.index.store.fulltext import RowMatch
from ubp.index.view import View
from ubp.search.filters import page_filters
from ubp.search.graph import Graph, open_graph
from ubp.search.lexical import FileNames
from ubp.search.pages import PageQuery
from ubp.search.run import FoundPages, search_pages
from ubp.search.sections import SectionAnswer, find_sections
from ubp.workspace import Workspace


@pytest.fixture
def make_repository(repository: Any) -> Callable[[dict[str, str]], Path]:
    """Commit files, by path, and return the root of the repository."""

    def make(files: dict[str, str]) -> Path:
        for path, text in files.items():
            repository.write(path, text)
        repository.commit()
        root: Path = repository.root
        return root

    return make


@pytest.fixture(scope="session")
def bundled() -> Model:
    """The model that comes with UBP, loaded once: it takes half a second."""
    return load_model(find_model(None, {}))


@pytest.fixture
def opened(bundled: Model) -> Iterator[Callable[..., Workspace]]:
    """`opened(root, **options)`: a workspace with the bundled model; `model="none"`: without."""
    with ExitStack() as stack:

        def open_one(root: Path, **options: Any) -> Workspace:
            workspace = stack.enter_context(Workspace.open(str(root), **options))
            if "model" not in options:
                workspace.session._model = bundled
            return workspace

        yield open_one


@pytest.fixture
def sections() -> Callable[[View, str, int], SectionAnswer]:
    """The best sections for a query: `sections(view, "token", 3)`."""
    return lambda view, query, limit: find_sections(
        view, query, limit, FileNames(view.document_paths())
    )


@pytest.fixture(scope="session")
def search_in() -> Callable[..., FoundPages]:
    """What a search in a workspace finds: `search_in(workspace, "token", mode="fulltext")`."""

    def search(
        workspace: Workspace,
        query: str,
        *,
        doc_types: Sequence[str] = (),
        tags: Sequence[str] = (),
        ref: str | None = None,
        **options: Any,
    ) -> FoundPages:
        asked = PageQuery(query, filters=page_filters(doc_types, tags), **options)
        return search_pages(workspace.session, asked, ref)

    return search


@contextmanager
def open_links(root: Path, **question: Any):
    """A session and the links of one of its snapshots."""
    with Session.open(str(root)) as session:
        view = session.view(Target(**question))
        yield session, view, open_graph(view)


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
                for hit in sorted(view.full_text().search(RowMatch([Phrase(word)]), 100))
            ]
            for word in ("one", "two", "text", "alias")
        },
    }


@pytest.fixture
def links() -> Callable[..., Any]:
    return open_links


@pytest.fixture
def contents_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Everything about a snapshot: `contents_of(root)`; `anew=True` reads without the index."""

    def read_contents(root: Path, *, anew: bool = False, **question: Any) -> dict[str, Any]:
        if not anew:
            with open_links(root, **question) as (_, view, graph):
                return everything(graph, view)
        index, aside = root / ".git/ubp", tmp_path_factory.mktemp("aside") / "index"
        if index.exists():
            index.rename(aside)
        try:
            return read_contents(root, **question)
        finally:
            for file in index.glob("*"):
                file.unlink()
            if aside.exists():
                index.rmdir()
                aside.rename(index)

    return read_contents
