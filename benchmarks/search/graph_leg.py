"""Do links help to find pages, and whom do they push aside? Tables over weights of the links leg.

    python benchmarks/search/graph_leg.py SET_OR_REPOSITORY… [--queries 150]

A folder with docs.jsonl is a labelled set (benchmarks/search/retrieval_sets.py makes some: links,
places); the links that its pages have to each other still lead where they led. Of another folder, a
repository, questions are made: the heading of a section that leads to at most three pages asks for
its own page (`here`) and for those (`onward`). Whoever wrote the link holds them for worth reading,
though nothing else may say so; as the link itself stands there, `onward` tells the most that links
can give.

Told are, for each weight, Recall@5, Recall@10 and MRR@10 of all questions, and of the `far` ones:
an answer that holds little of the question's words (at most FAR_WORDS of the BM25 that a page can
have) and is not close in meaning (a cosine of at most FAR_MEANING). Then what links have moved: how
often the first place was lost and won by a right page, and how often a page that neither words nor
meaning had found was put before one of the first three without links that is not far itself.
"""

import argparse
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.common.measure import print_table
from benchmarks.search.fusing import find
from benchmarks.search.retrieval import DEPTH, interval
from benchmarks.search.retrieval_data import SEED, read_set, sample, write_repository
from benchmarks.search.retrieval_sets import check_out, is_telling, read_query
from ubp.search import fusion
from ubp.search.fusion import Fused
from ubp.search.graph import Graph, open_graph
from ubp.workspace import Workspace

WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.4)
FAR_WORDS, FAR_MEANING = 0.15, 0.35
MOST_TARGETS = 3
ASKED_DOCUMENTS = 3000

Answers = Mapping[str, frozenset[str]]


class Found(NamedTuple):
    """A question's answers, and the pages that each weight finds, the best first."""

    answers: frozenset[str]
    pages: tuple[list[Fused], ...]

    @property
    def far(self) -> frozenset[str]:
        """Those answers of which words and meaning tell little."""
        told = {page.path for page in self.pages[0] if _is_told(page)}
        return self.answers - told

    def ranks(self, answers: frozenset[str]) -> list[list[int]]:
        """The places of these answers, for each weight."""
        return [
            [place for place, page in enumerate(pages[:DEPTH], 1) if page.path in answers]
            for pages in self.pages
        ]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("places", nargs="+", type=Path)
    parser.add_argument("--queries", type=int, default=150)
    options = parser.parse_args()
    sets = dict[str, list[Found]]()
    for place in options.places:
        sets |= measure(place, options.queries)
        print(f"{place}: done", flush=True)
    if len(sets) > 1:
        sets["all"] = [question for found in sets.values() for question in found]
    right, moved = [], []
    for name, found in sets.items():
        right.append(row(name, [(question, question.answers) for question in found]))
        if any(question.far for question in found):
            right.append(
                row(
                    f"{name}, far", [(question, question.far) for question in found if question.far]
                )
            )
        weights = range(1, len(WEIGHTS))
        moved.append([name, str(len(found)), *(moves(found, number) for number in weights)])
    told = " ".join(f"{weight:g}" for weight in WEIGHTS)
    metrics = [f"{metric}: {told}" for metric in ("Recall@5", "Recall@10", "MRR@10")]
    gain = f"Recall@10, {fusion.LINKS_SHARE:g} against none"
    print_table("Right pages", ["questions", "", *metrics, gain], right)
    header = [f"{weight:g}: lost, won, pushed" for weight in WEIGHTS[1:]]
    print_table("What links moved", ["questions", "", *header], moved)


def measure(place: Path, queries: int) -> Iterator[tuple[str, list[Found]]]:
    """The sets that a place gives, asked with each weight."""
    with tempfile.TemporaryDirectory() as folder:
        root, sets = Path(folder), dict[str, Answers]()
        if (place / "docs.jsonl").exists():
            chosen = sample(read_set(place), queries)
            write_repository(chosen.documents, root)
            paths = {document.id: document.path for document in chosen.documents}
            asking = {q: frozenset(paths[a] for a in found) for q, found in chosen.answers.items()}
            sets = {place.name: asking}
            name = place.resolve().parent.name
        else:
            check_out(place, "HEAD", [], root)
            name = repository_name(place)
        with Workspace.open(folder) as workspace:
            asked = sets or make_onward(open_graph(workspace.session.view()), queries)
            for kind, answers in asked.items():
                yield f"{name} {kind}", [ask(workspace, *answer) for answer in answers.items()]


def repository_name(place: Path) -> str:
    """What a table calls a clone, or a bare one in a folder of its own."""
    return place.resolve().parent.name if place.name == "repo" else place.resolve().name


def make_onward(graph: Graph, queries: int) -> dict[str, Answers]:
    """Headings, the pages that have them, and the pages that their sections lead to."""
    documents = graph.documents()
    chance = random.Random(SEED)
    here, onward = defaultdict(set), {}
    for document in chance.sample(documents, min(ASKED_DOCUMENTS, len(documents))):
        path = document.path
        links = [
            (edge.link.byte_end, edge.resolution.target)
            for edge in graph.outlinks(path)
            if edge.resolution.target not in {None, path}
        ]
        for section in graph.sections(path):
            text = read_query(section.heading or "")
            inside = range(section.byte_start, section.byte_end + 1)
            targets = {str(target) for end, target in links if end in inside}
            here[text].add(path)
            if is_telling(text) and 1 <= len(targets) <= MOST_TARGETS:
                onward[text] = frozenset(targets)
    texts = sorted(text for text in onward if len(here[text]) == 1)
    texts = chance.sample(texts, min(queries, len(texts)))
    return {
        "here": {text: frozenset(here[text]) for text in texts},
        "onward": {text: onward[text] for text in texts},
    }


def ask(workspace: Workspace, query: str, answers: frozenset[str]) -> Found:
    """Ask, and fuse with each weight."""
    found = find(workspace, query)
    return Found(answers, tuple(found.fuse(links=weight) for weight in WEIGHTS))


def row(name: str, asked: Sequence[tuple[Found, frozenset[str]]]) -> list[str]:
    """How well some answers to each question are found."""
    ranks = [question.ranks(answers) for question, answers in asked]
    cells, recalls = [], np.zeros(0)
    for depth in (5, DEPTH):
        recalls = np.array(
            [
                [
                    sum(rank <= depth for rank in weight) / min(depth, len(answers))
                    for weight in weights
                ]
                for weights, (_, answers) in zip(ranks, asked, strict=True)
            ]
        )
        cells.append(_told(recalls))
    cells.append(
        _told(np.array([[1 / min(w) if w else 0.0 for w in weights] for weights in ranks]))
    )
    gains = recalls[:, WEIGHTS.index(fusion.LINKS_SHARE)] - recalls[:, 0]
    low, high = interval(gains)
    return [name, str(len(asked)), *cells, f"{gains.mean():+.3f} [{low:.3f}, {high:.3f}]"]


def moves(found: Sequence[Found], number: int) -> str:
    """How often a weight lost and won the first place, and pushed a direct hit."""
    lost = won = pushed = 0
    for question in found:
        before, after = question.pages[0], question.pages[number]
        first = [bool(p) and p[0].path in question.answers for p in (before, after)]
        lost += first == [True, False]
        won += first == [False, True]
        pushed += is_pushed(before, after)
    return f"{lost}, {won}, {pushed}"


def is_pushed(before: Sequence[Fused], after: Sequence[Fused]) -> bool:
    """Whether a page that only links had found now stands before one of the first three."""
    best = {page.path for page in before[:3] if _is_told(page)}
    places = [place for place, page in enumerate(after) if page.path in best]
    ahead = after[: max(places, default=0)]
    return any(page.words is None and page.meaning is None for page in ahead)


def _is_told(page: Fused) -> bool:
    return (page.words or 0.0) > FAR_WORDS or (page.meaning or 0.0) > FAR_MEANING


def _told(values: "np.typing.NDArray[np.float64]") -> str:
    return " ".join(f"{value:.3f}" for value in values.mean(axis=0))


if __name__ == "__main__":
    main()
