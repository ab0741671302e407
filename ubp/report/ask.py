"""Asks the rooms for all that a report tells."""

import os
from contextlib import suppress

from ubp.binding.coverage import Coverage, measure_coverage
from ubp.binding.review import BindingReview
from ubp.check.run import Terms, check_state, choose_rules
from ubp.check.table import VERIFYING
from ubp.errors import RepositoryError
from ubp.git.repository import Repository
from ubp.graph.view import open_graph
from ubp.history import History
from ubp.index import build_view
from ubp.model import ObjectId, Snapshot
from ubp.report.make import ORPHAN, Trend, make_report
from ubp.report.trend import PassingHeads, find_trend
from ubp.report.values import Report, Span
from ubp.reviewing import review
from ubp.rooms import Rooms
from ubp.staleness.court import Court
from ubp.staleness.diff import diff_pages
from ubp.staleness.naming import read_namings
from ubp.staleness.report import StaleReport

# A quarter of a year shows where things go; thirteen points cost as much as the rest of a report.
DEFAULT_SPAN = Span("weeks", 12)


def ask_report(
    rooms: Rooms, court: Court, stale: StaleReport, terms: Terms, span: Span | None
) -> Report:
    """Put a report together; `stale` tells of every page of the court's view."""
    wanted = span or DEFAULT_SPAN
    heads = PassingHeads()
    history = History(rooms.repository, rooms.store, heads)

    def open_court(commit: ObjectId, at: int) -> Court:
        rules = court.rules._replace(now=at)
        snapshot = Snapshot("commit", commit, {})
        view = build_view(rooms.repository, rooms.store, rooms.config, snapshot, rooms.progress)
        return Court(view, rooms.repository, history, rules)

    links = open_graph(court.view).link_counts()
    return make_report(
        stale,
        diff_pages(stale.pages, court.view, rooms.repository, rooms.is_hidden),
        check_state(court, terms._replace(names=_rules(terms))),
        name=_name(rooms.repository),
        now=int(rooms.clock()),
        links_in={path: incoming for path, (_, incoming) in links.items()},
        trend=Trend(wanted, find_trend(court, wanted, open_court, heads, rooms.progress)),
        coverage=_coverage(rooms, court, stale),
        review=_review(court, stale),
    )


def _coverage(rooms: Rooms, court: Court, stale: StaleReport) -> Coverage | None:
    """Which sources pages describe; None: history cannot be read."""
    judged = {one.page.filepath: one for one in stale.pages}
    namings = read_namings(court.view, rooms.is_hidden, lambda _: judged)
    with suppress(RepositoryError):
        return measure_coverage(rooms, court.view, namings.is_described)
    return None


def _review(court: Court, stale: StaleReport) -> BindingReview | None:
    """What history says of the bindings; None: it cannot be read."""
    with suppress(RepositoryError):
        return review(stale.pages, court)
    return None


def _name(repository: Repository) -> str:
    """What people call a repository: its folder's name."""
    place = (repository.root or repository.git_dir).replace(os.sep, "/").removesuffix("/.git")
    return place.rstrip("/").rpartition("/")[2].removesuffix(".git") or "repository"


def _rules(terms: Terms) -> tuple[str, ...]:
    """What is on, but for sources, of which a report tells more; and orphans, on or not."""
    names = [rule.name for rule in choose_rules(terms) if rule.name not in VERIFYING]
    return tuple(dict.fromkeys([*names, ORPHAN]))
