"""Where links lead; when files change, only what may lead elsewhere is resolved again.

That are the links of changed pages, and those that ask for a name that came, went or was renamed.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from ubp.indexing.knowledge import Knowledge
from ubp.links import names_asked, names_of, resolve
from ubp.model import FilePath, Link, ObjectId
from ubp.paths import doc_id
from ubp.store.edges import StoredEdges, StoredGraph
from ubp.store.graph_rows import checksums
from ubp.store.patches import Edges, Node, Patch
from ubp.targets import PageNames, Targets, stem

Files = Mapping[FilePath, ObjectId | None]
"""What is no folder: a page's blob, or None."""
Changed = Mapping[FilePath, tuple[ObjectId | None] | None]
"""The same, where None says that nothing stands there any more."""

PAGES_AT_ONCE = 500  # whose links are in memory


def link_all(files: Files, knowledge: Knowledge, roots: Sequence[FilePath]) -> Patch:
    """Resolve every link of a snapshot."""
    names = knowledge.names(files)
    targets = _targets(files, names, knowledge)
    edges = _resolve_all(
        {path: blob for path, blob in files.items() if blob}, targets, knowledge, roots
    )
    return Patch({path: _node(path, files[path], names, knowledge) for path in files}, edges)


def relink(
    stored: StoredEdges,
    graph: StoredGraph,
    changed: Changed,
    knowledge: Knowledge,
    roots: Sequence[FilePath],
) -> Patch:
    """Tell how a stored graph differs where these files do."""
    before = stored.blobs(graph, changed)
    after = {path: there[0] for path, there in changed.items() if there is not None}
    names_after = knowledge.names(after)
    names_before = knowledge.names(before)
    if not graph.is_complete:  # what could not be read answered to its file's name alone
        names_before.update((path, PageNames(path, None, ())) for path in stored.unread(graph))
    touched = _touched(before, after, names_before, names_after)
    again = _links_again(stored, graph, changed, touched, knowledge)
    own = {path: links for path, links in knowledge.links(after).items() if links}
    wanted = {path: dict(enumerate(links)) for path, links in own.items()} | again
    asked = {
        name for links in wanted.values() for one in links.values() for name in names_asked(one)
    }
    around = stored.named(graph, checksums(asked))
    files = {path: blob for path, blob in around.items() if path not in changed} | after
    targets = _targets(files, knowledge.names(files), knowledge)
    edges = {
        path: {number: resolve(path, link, targets, roots) for number, link in links.items()}
        for path, links in wanted.items()
    }
    nodes = {
        path: _node(path, after[path], names_after, knowledge) if path in after else None
        for path in changed
    }
    return Patch(nodes, edges)


def _touched(
    before: Files,
    after: Files,
    names_before: Mapping[FilePath, PageNames],
    names_after: Mapping[FilePath, PageNames],
) -> set[str]:
    """Return the names under which something came, went, or is called in another way."""
    touched: set[str] = set()
    for path in {*before, *after}:
        is_same = (
            path in before
            and path in after
            and (before[path] is None) == (after[path] is None)
            and names_before.get(path) == names_after.get(path)
        )
        if not is_same:
            for side, names in ((before, names_before), (after, names_after)):
                if path in side:
                    touched |= _names(path, names)
    return touched


def _links_again(
    stored: StoredEdges,
    graph: StoredGraph,
    changed: Changed,
    touched: Collection[str],
    knowledge: Knowledge,
) -> dict[FilePath, dict[int, Link]]:
    """Return the links of unchanged pages that may lead elsewhere now."""
    asking = knowledge.facts.asking(checksums(touched))
    pages = {p: b for p, b in stored.paths_of(graph, asking).items() if p not in changed}
    anchored = {
        path: {number for number, one in edges.items() if one.has_anchor is not None}
        for path, edges in stored.into(graph, changed.keys()).items()
        if path not in changed
    }
    blobs = pages | stored.blobs(graph, [path for path in anchored if path not in pages])
    again: dict[FilePath, dict[int, Link]] = {}
    for path, links in knowledge.links(blobs).items():
        for number, link in enumerate(links):
            if number in anchored.get(path, ()) or not names_asked(link).isdisjoint(touched):
                again.setdefault(path, {})[number] = link
    return again


def _targets(files: Files, names: Mapping[FilePath, PageNames], knowledge: Knowledge) -> Targets:
    targets = Targets(lambda path: knowledge.anchors(files.get(path)))
    for path, blob in files.items():
        if blob is None:
            targets.add_file(path)
        else:
            targets.add_page(names[path])
    return targets


def _resolve_all(
    pages: Files, targets: Targets, knowledge: Knowledge, roots: Sequence[FilePath]
) -> Edges:
    edges: Edges = {}
    for batch in _batches(pages):
        for path, links in knowledge.links(batch).items():
            if links:
                edges[path] = {
                    number: resolve(path, link, targets, roots) for number, link in enumerate(links)
                }
    return edges


def _batches(pages: Files) -> Iterator[Files]:
    items: Iterable[tuple[FilePath, ObjectId | None]] = iter(pages.items())
    while batch := dict(islice(items, PAGES_AT_ONCE)):
        yield batch


def _node(
    path: FilePath,
    blob: ObjectId | None,
    names: Mapping[FilePath, PageNames],
    knowledge: Knowledge,
) -> Node:
    answers = frozenset(checksums(_names(path, names)))
    if blob is None:
        return Node(None, None, answers)
    return Node(blob, doc_id(path), answers, not knowledge.is_known(blob))


def _names(path: FilePath, names: Mapping[FilePath, PageNames]) -> frozenset[str]:
    page = names.get(path)
    return names_of(page) if page else frozenset({stem(path)})
