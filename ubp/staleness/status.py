"""The status of a repository: what there is, how much of it is verified, where the index is."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ubp.core.model import FilePath, Problem, Snapshot
from ubp.core.running import RunningServer, find_running
from ubp.index.model_status import ModelStatus, model_status
from ubp.index.session import Session
from ubp.index.store.store import Statistics
from ubp.staleness.assess import assess
from ubp.staleness.model import StalenessContext, Summary
from ubp.staleness.state import build_stale_report, open_context

# The buckets of `ubp.markdown.resolve` in the order in which they are shown; `ubp stale` must not
# load that module.
BUCKETS = ("resolved", "ambiguous", "missing", "within_page", "not_a_page", "out_of_scope")


class Unparsed(NamedTuple):
    """A page whose front matter has problems."""

    filepath: FilePath
    problems: tuple[Problem, ...]


class LinkCounts(NamedTuple):
    """How many links are in each bucket, and how many the rule broken-link reports.

    `broken` is None where they were not counted.
    """

    buckets: Mapping[str, int]
    broken: int | None


class Status(NamedTuple):
    """The state of a repository and its index; `root` is None in a bare repository."""

    root: str | None
    snapshot: Snapshot
    summary: Summary
    unparsed: tuple[Unparsed, ...]
    statistics: Statistics
    keys: tuple[str, ...]
    threshold_days: float
    links: LinkCounts
    servers: tuple[RunningServer, ...]
    model: ModelStatus


def read_status(
    session: Session, count_broken: Callable[[StalenessContext], int] | None = None
) -> Status:
    """Return what there is and how much of it is verified, in the work tree.

    `count_broken` counts the links that the rule broken-link reports.
    """
    view = session.view()
    context = open_context(session, view)
    pages = view.bound_pages()
    report = build_stale_report(context, pages, assess(pages, context))
    buckets = {str(name): count for name, count in view.link_graph().buckets().items()}
    return Status(
        root=session.repository.root,
        snapshot=report.snapshot,
        summary=report.summary,
        unparsed=tuple(
            Unparsed(page.filepath, page.facts.problems) for page in pages if page.facts.problems
        ),
        statistics=session.store.statistics(),
        keys=session.config.keys,
        threshold_days=report.threshold_days,
        links=LinkCounts(buckets, count_broken(context) if count_broken else None),
        servers=find_running(session.repository.data_dir),
        model=model_status(session, view),
    )
