"""The documents that depend on a document or a source, and should be reviewed when it changes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple

from ubp.core.config import is_document
from ubp.core.errors import PageNotFoundError
from ubp.core.interruption import with_checkpoints
from ubp.core.model import FilePath, LinkType
from ubp.core.shell import path_argument, quote
from ubp.core.source import PartSource
from ubp.index.link_graph import GraphEdge
from ubp.index.parts import is_readable, part_at, part_lines
from ubp.index.select import is_doc_id, path_from_root, select_page
from ubp.index.session import Session
from ubp.index.view import View
from ubp.search.graph import DocumentRow, Graph
from ubp.search.traverse import LINK_TYPES_BY_STRENGTH, traverse

Reason = LinkType | Literal["source_reference"]

REASONS: tuple[Reason, ...] = ("source_reference", *LINK_TYPES_BY_STRENGTH)
REASON_RANKS = {reason: rank for rank, reason in enumerate(REASONS)}
# A document that states one of these builds on the other; one that only mentions it may not care.
FIRM: frozenset[Reason] = frozenset({"source_reference", "depends_on", "implements", "extends"})
MAX_SIMILAR_FILES = 3  # names that an error offers


class ImpactStep(NamedTuple):
    """Why the document `path` depends on `target`, and the line that states it.

    `source_path` is the source reference as written, `moved_to` the new path of a moved source.
    """

    path: FilePath
    target: FilePath
    reason: Reason
    line: int
    source_path: FilePath | None = None
    moved_to: FilePath | None = None


Chain = tuple[ImpactStep, ...]
ReferencingSteps = Callable[[FilePath], Iterable[ImpactStep]]


class Impacted(NamedTuple):
    """A document, and the chain that leads to it from the target."""

    document: DocumentRow
    chain: Chain

    @property
    def depth(self) -> int:
        """The number of steps from the target."""
        return len(self.chain)

    @property
    def reason(self) -> Reason:
        """How the document itself states what it depends on."""
        return self.chain[-1].reason


class ImpactTarget(NamedTuple):
    """What may change: `pages` are the documents at or below `path`, `first` the steps from it.

    `exists`: the snapshot has a file or folder at the path. The path of a part of a file ends in a
    fragment, `src/auth.py#login`; a part is not a document. `listing` are the documents that list
    the part, and not only its file, `naming` those that name it.
    """

    path: FilePath
    kind: Literal["page", "source"]
    exists: bool
    pages: tuple[FilePath, ...] = ()
    first: tuple[ImpactStep, ...] = ()
    listing: frozenset[FilePath] = frozenset()
    naming: frozenset[FilePath] = frozenset()


class Impact(NamedTuple):
    """The documents that depend on a target, most important first; `total` ignores the limit."""

    subject: ImpactTarget
    impacted: tuple[Impacted, ...]
    total: int


def resolve_target(
    argument: str, session: Session, view: View, graph: Graph, referencing_steps: ReferencingSteps
) -> ImpactTarget:
    """Return what a PATH means: what is or was there, else the only file whose path ends so.

    `referencing_steps` returns the steps to the documents that name a path, a folder around it, a
    file below it, or a glob that matches it, as their source. After a `#` a symbol, a heading or
    lines narrow the path to that part of the file.

    Raises:
        PageNotFoundError: several files end so.
    """
    path = path_from_root(argument, session.repository)
    if part_at(view, path):
        file, _, fragment = argument.partition("#")
        whole = resolve_target(file, session, view, graph, referencing_steps)
        return _narrow(whole, fragment, session, view, graph, referencing_steps)
    target = _target_at(path, session, view, graph, referencing_steps)
    if target.exists or target.first or session.is_hidden(path):
        return target
    if is_doc_id(argument):
        path = select_page(argument, view, session.repository)
        return _target_at(path, session, view, graph, referencing_steps)
    ending = "/" + argument.strip("/")
    endings = [path for path, _ in view.files() if path.endswith(ending)]
    files = [path for path in endings if not session.is_hidden(path)]
    if len(files) > 1:
        raise PageNotFoundError(
            f"{argument} matches {len(files)} files.",
            near=tuple(files[:MAX_SIMILAR_FILES]),
            cause="Exactly one page or source is expected.",
            hint=f"Choose one, for example {quote(path_argument(files[0]))}.",
        )
    return _target_at(files[0], session, view, graph, referencing_steps) if files else target


def _target_at(
    path: FilePath, session: Session, view: View, graph: Graph, referencing_steps: ReferencingSteps
) -> ImpactTarget:
    if session.is_hidden(path):
        return ImpactTarget(path, "source", exists=False)
    path = view.true_path(path) or path
    entry = view.entry(path)
    if entry and entry.is_directory:
        prefix = f"{path}/" if path else ""
        pages = tuple(page for page in view.document_paths() if page.startswith(prefix))
    else:
        pages = (path,) if view.page(path) else ()
    is_page = is_document(session.config, path) and not (entry and not pages)
    edges = graph.links_to_missing(path)
    first = (*referencing_steps(path), *(link_step(edge, path) for edge in edges))
    return ImpactTarget(path, "page" if is_page else "source", entry is not None, pages, first)


def _narrow(  # noqa: PLR0913, PLR0917  # what a target is resolved by
    whole: ImpactTarget,
    fragment: str,
    session: Session,
    view: View,
    graph: Graph,
    referencing_steps: ReferencingSteps,
) -> ImpactTarget:
    """Return a part of a file: the documents that describe it, and those that link to it."""
    path = FilePath(f"{whole.path}#{fragment}")
    part = part_at(view, path)
    if part is None or session.is_hidden(whole.path):
        return ImpactTarget(path, whole.kind, exists=False)
    edges = graph.backlinks_of([whole.path])[whole.path] if part.kind == "section" else ()
    anchored = [
        (edge, PartSource(part.path, "section", edge.link.anchor))
        for edge in edges
        if edge.link.anchor
    ]
    lines = part_lines(view, [part, *(section for _, section in anchored)])
    links = [
        link_step(edge, path)
        for edge, section in anchored
        if any(a <= d and c <= b for a, b in lines[part] for c, d in lines[section])
    ]
    # Without a parser it is unknown whether the file has the symbol.
    exists = whole.exists and (bool(lines[part]) or not is_readable(part))
    return ImpactTarget(path, whole.kind, exists, (), (*referencing_steps(path), *links))


def find_impact(
    graph: Graph,
    target: ImpactTarget,
    referencing_steps: ReferencingSteps,
    depth: int,
    limit: int,
) -> Impact:
    """Return the documents at most `depth` steps away, the first `limit` of them.

    Documents reached by a chain of firm steps (source references, `depends_on`, `implements`,
    `extends`) come first, then nearer ones, then those that name the part. `referencing_steps`
    returns the steps to the documents that name a document as their source.
    """
    cache: dict[FilePath, Sequence[ImpactStep]] = {}
    if target.path not in target.pages:
        cache[target.path] = target.first

    def steps_to(paths: Sequence[FilePath]) -> list[ImpactStep]:
        new = [path for path in paths if path not in cache]
        for path, edges in with_checkpoints(graph.backlinks_of(new).items()):
            first = target.first if path == target.path else ()
            links = (link_step(edge, path) for edge in edges)
            references = (step for step in referencing_steps(path) if step.path != path)
            cache[path] = (*first, *links, *references)
        return [step for path in paths for step in cache[path]]

    chains: dict[FilePath, Chain] = dict.fromkeys([target.path, *target.pages], ())
    # First all chains of firm steps, however long; then the others, which may continue those.
    for reasons in (FIRM, frozenset(REASONS)):
        chains = _extend_chains(chains, reasons, steps_to, depth)
    found = [chain for chain in chains.values() if chain]
    ranked = sorted(found, key=partial(_importance, target))[:limit]
    documents = graph.documents_at([chain[-1].path for chain in ranked])
    impacted = (
        Impacted(documents[chain[-1].path], chain)
        for chain in ranked
        if chain[-1].path in documents
    )
    return Impact(target, tuple(impacted), len(found))


def link_step(edge: GraphEdge, target: FilePath) -> ImpactStep:
    """Return the step that a link to `target` makes."""
    return ImpactStep(edge.source, target, edge.link.link_type, edge.link.line)


def _extend_chains(
    chains: Mapping[FilePath, Chain],
    reasons: frozenset[Reason],
    steps_to: Callable[[Sequence[FilePath]], Iterable[ImpactStep]],
    depth: int,
) -> dict[FilePath, Chain]:
    """Return these chains and the shortest ones that continue them with steps of these reasons."""

    def expand(
        frontier: Sequence[FilePath], _: int, reached: Mapping[FilePath, Chain]
    ) -> Mapping[FilePath, Chain]:
        found: dict[FilePath, Chain] = {}
        for step in with_checkpoints(sorted(steps_to(frontier), key=_strength)):
            if step.reason in reasons and step.path not in chains and step.path not in found:
                chain = chains[step.target] if step.target in chains else reached[step.target]
                found[step.path] = (*chain, step)
        return found

    start = {path: len(chain) for path, chain in chains.items()}
    return {**chains, **traverse(start, depth, expand)}


def _strength(step: ImpactStep) -> tuple[int, FilePath, FilePath, int]:
    return REASON_RANKS[step.reason], step.target, step.path, step.line


def _importance(
    target: ImpactTarget, chain: Chain
) -> tuple[bool, int, list[int], bool, bool, FilePath]:
    ranks = [REASON_RANKS[step.reason] for step in chain]
    is_loose = any(step.reason not in FIRM for step in chain)
    path = chain[-1].path
    return (
        is_loose,
        len(chain),
        ranks,
        path not in target.listing,
        path not in target.naming,
        path,
    )
