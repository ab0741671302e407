"""A snapshot's links put together: what is needed to know and to resolve them."""

from collections.abc import Callable, Iterable, Mapping

from ubp.config import Config, scope
from ubp.indexing.base import Ground, tells_documents
from ubp.indexing.knowledge import Knowledge
from ubp.indexing.laying import Laying, Standing
from ubp.indexing.learning import Learning
from ubp.indexing.linked import Linked
from ubp.model import Entry, FilePath
from ubp.store.edges import StoredEdges
from ubp.store.graph_facts import GraphFacts


def link_snapshot(
    ground: Ground,
    config: Config,
    *,
    changes: Mapping[FilePath, Entry | None],
    all_files: Callable[[], Iterable[tuple[FilePath, Entry]]],
) -> Linked:
    """Learn what a snapshot's documents say, and resolve its links.

    `changes` are the snapshot's with its documents hashed; `all_files` is called where no links
    are stored yet.
    """
    snapshot, repository = ground.snapshot, ground.repository
    facts = GraphFacts(ground.store)
    if facts.is_outgrown():
        facts.prune()
    learning = Learning(repository, ground.store, snapshot, ground.progress)
    roots = config.link_roots
    standing = Standing(
        git_dir=repository.git_dir,
        scope="\n".join([scope(config), *roots]),
        commit=snapshot.commit,
        changes=changes,
        all_files=lambda: dict(all_files()),
        is_page=tells_documents(config),
        roots=roots,
        is_current=snapshot.kind != "commit" or snapshot.commit == repository.head(),
    )
    stored, knowledge = StoredEdges(ground.store), Knowledge(learning)
    return Linked(stored, knowledge, Laying(repository, stored, knowledge, standing))
