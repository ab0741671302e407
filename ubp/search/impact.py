"""What depends on a page or a source: what must be looked at when it changes."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from ubp.core.model import FilePath, LinkType
from ubp.index.link_graph import GraphEdge
from ubp.search.graph import DocumentRow, Graph
from ubp.search.traverse import STRENGTH

Reason = LinkType | Literal["source_reference"]

ORDER: tuple[Reason, ...] = ("source_reference", *STRENGTH)
RANKS = {reason: rank for rank, reason in enumerate(ORDER)}
# A page that says so builds on the other one; who only mentions it may not care.
FIRM: frozenset[Reason] = frozenset({"source_reference", "depends_on", "implements", "extends"})


class ImpactStep(NamedTuple):
    """Why the page `path` depends on `target`, and the line where it says so.

    `source_path` is the source reference as it is written; where that has moved to, if it has.
    """

    path: FilePath
    target: FilePath
    reason: Reason
    line: int
    source_path: FilePath | None = None
    moved_to: FilePath | None = None


Chain = tuple[ImpactStep, ...]
LinkedPages = Callable[[FilePath], Iterable[ImpactStep]]


class Impacted(NamedTuple):
    """A page, and the chain that leads to it from what it depends on."""

    document: DocumentRow
    chain: Chain

    @property
    def depth(self) -> int:
        """How many steps it is away."""
        return len(self.chain)

    @property
    def reason(self) -> Reason:
        """How the page itself says what it depends on."""
        return self.chain[-1].reason


class ImpactTarget(NamedTuple):
    """What is asked about: the pages that it is or holds, and the `first` steps that lead from it.

    `exists`: something stands at the path.
    """

    path: FilePath
    kind: Literal["page", "source"]
    exists: bool
    pages: tuple[FilePath, ...] = ()
    first: tuple[ImpactStep, ...] = ()


class Impact(NamedTuple):
    """The pages that depend on something, those that must be looked at first; `total` are all."""

    subject: ImpactTarget
    impacted: tuple[Impacted, ...]
    total: int


def find_impact(
    graph: Graph, subject: ImpactTarget, naming: LinkedPages, depth: int, limit: int
) -> Impact:
    """The pages at most `depth` steps away, the first `limit` of them.

    Those that a chain of firm steps (source references, `depends_on`, `implements`, `extends`)
    leads to come first, then those that are near. `naming` tells which pages name a page as their
    source.
    """
    chains = find_chains(subject, _asker(graph, naming), depth)
    ordered = sorted(chains.values(), key=_importance)[:limit]
    documents = graph.documents_at([chain[-1].path for chain in ordered])
    impacted = (
        Impacted(documents[chain[-1].path], chain)
        for chain in ordered
        if chain[-1].path in documents
    )
    return Impact(subject, tuple(impacted), len(chains))


def link_step(edge: GraphEdge, target: FilePath) -> ImpactStep:
    """The step that a link makes."""
    return ImpactStep(edge.source, target, edge.link.link_type, edge.link.line)


def find_chains(
    subject: ImpactTarget, ask: Callable[[Collection[FilePath]], Iterable[ImpactStep]], depth: int
) -> dict[FilePath, Chain]:
    """The best chain to each page: a firm one if there is any, of these the shortest."""
    chains: dict[FilePath, Chain] = dict.fromkeys(subject.pages, ())
    for reasons in (FIRM, frozenset(ORDER)):
        for distance in range(1, depth + 1):
            rim = [path for path, chain in chains.items() if len(chain) == distance - 1]
            steps = [*(subject.first if distance == 1 else ()), *ask(rim)]
            for step in sorted(steps, key=_worth):
                if step.reason in reasons and step.path not in chains:
                    chains[step.path] = (*chains.get(step.target, ()), step)
    return {path: chain for path, chain in chains.items() if chain}


def _asker(
    graph: Graph, naming: LinkedPages
) -> Callable[[Collection[FilePath]], Iterable[ImpactStep]]:
    """Tells the steps that lead on from pages, and asks only once about each."""
    known: dict[FilePath, Sequence[ImpactStep]] = {}

    def ask(paths: Collection[FilePath]) -> Iterator[ImpactStep]:
        unknown = [path for path in paths if path not in known]
        for path, edges in graph.backlinks_of(unknown).items():
            links = (link_step(edge, path) for edge in edges)
            known[path] = (*links, *(step for step in naming(path) if step.path != path))
        for path in paths:
            yield from known[path]

    return ask


def _worth(step: ImpactStep) -> tuple[int, FilePath, FilePath, int]:
    return RANKS[step.reason], step.target, step.path, step.line


def _importance(chain: Chain) -> tuple[bool, int, list[int], FilePath]:
    ranks = [RANKS[step.reason] for step in chain]
    is_loose = any(step.reason not in FIRM for step in chain)
    return is_loose, len(chain), ranks, chain[-1].path
