"""Headings as queries over several repositories: one search beside the merge of one in each.

    python benchmarks/search/several.py CLONE… [--each 80] [--limit 500]

From each clone headings of 2 to 12 words, or of 8 and more characters beyond ASCII, are drawn with
a fixed seed, of those that exist once in all clones. MRR@10 of the page with the heading, whose
other pages are the rest of all clones: of one search, whose documents' words are counted over all
of them, and of a search in each clone, sorted by score. In brackets: the 95 % interval of the
difference, by bootstrap over the headings.
"""

import argparse
import random
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from benchmarks.common.measure import print_table
from benchmarks.search.retrieval import interval
from ubp.core.model import plain_path, repository_of
from ubp.index.session import Session
from ubp.search.pages import PageQuery
from ubp.search.run import name_repositories, search_pages

SEED = 5
DEPTH = 10
Place = tuple[str, str]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("clones", nargs="+", type=Path)
    parser.add_argument("--each", type=int, default=80)
    parser.add_argument("--limit", type=int, default=500)
    options = parser.parse_args()
    with ExitStack() as stack:
        sessions = [stack.enter_context(Session.open(str(clone))) for clone in options.clones]
        for session in sessions[1:]:
            session.share_model(sessions[0])
        named = name_repositories(sessions)
        items = draw(named, options.each, options.limit)
        together, merged = [], []
        for heading, place in items:
            together.append(rank(search_together(sessions, heading), place))
            merged.append(rank(search_each(named, heading), place))
    rows = [
        [name, *(f"{value:.3f}" for value in (np.mean(ranks), np.mean(np.array(ranks) > 0)))]
        for name, ranks in (("one search", together), ("merge", merged))
    ]
    title = f"{len(items)} headings of {len(sessions)} repositories"
    print_table(title, ["", "MRR@10", "found"], rows)
    low, high = interval(np.array(together) - np.array(merged))
    print(f"difference of MRR@10: [{low:+.3f}, {high:+.3f}]")


def draw(sessions: dict[str, Session], each: int, limit: int) -> list[tuple[str, Place]]:
    """Return headings, each with the repository and the page that has it."""
    found: list[tuple[str, Place]] = []
    for name, session in sessions.items():
        view = session.view()
        for path, sections in view.link_graph().sections_of(view.document_paths()).items():
            found += [(s.heading, (name, path)) for s in sections if s.heading and s.level > 1]
    counts = Counter(heading for heading, _ in found)
    chance = random.Random(SEED)
    drawn: list[tuple[str, Place]] = []
    for name in sessions:
        own = [
            (heading, place)
            for heading, place in found
            if place[0] == name and counts[heading] == 1 and is_telling(heading)
        ]
        drawn += chance.sample(own, min(each, len(own)))
    return chance.sample(drawn, min(limit, len(drawn)))


def is_telling(heading: str) -> bool:
    """Return whether a heading has enough words to be asked."""
    return 2 <= len(heading.split()) <= 12 or (len(heading) >= 8 and not heading.isascii())


def search_together(sessions: Sequence[Session], query: str) -> list[Place]:
    """Return what one search finds."""
    first, *others = sessions
    found = search_pages(first, PageQuery(query, limit=DEPTH), others=others)
    paths = [hit.page.filepath for hit in found.answer.pages]
    return [(repository_of(path), plain_path(path)) for path in paths]


def search_each(sessions: dict[str, Session], query: str) -> list[Place]:
    """Return what a search in each repository finds, sorted by score."""
    asked = PageQuery(query, limit=DEPTH, is_absolute=True)
    found = [
        (-hit.score, (name, hit.page.filepath))
        for name, session in sessions.items()
        for hit in search_pages(session, asked).answer.pages
    ]
    return [place for _, place in sorted(found)[:DEPTH]]


def rank(found: Sequence[Place], place: Place) -> float:
    """Return the reciprocal rank of a page, 0 if it is not found."""
    return 1 / (found.index(place) + 1) if place in found else 0.0


if __name__ == "__main__":
    main()
