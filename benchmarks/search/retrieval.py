"""How well is the right page found? Tables over labelled sets, by the product's own search.

    python benchmarks/search/retrieval.py SET… [--queries 300] [--documents N] [--modes …]
        [--compact]

A set is a folder with docs.jsonl {id, title, text}, queries.jsonl {id, text}, and qrels.tsv
(query_id, doc_id, relevance; one header line); benchmarks/search/retrieval_sets.py makes some of
any repository. It is written as a repository of Markdown, one page a document, and asked through
`Workspace.search`. `rrf` is what the plainest fusion would make of the first hundred pages of the
other two, for comparison. In brackets: 95 % intervals by bootstrap over the queries. `gain` is
hybrid minus the better of its two legs, query by query; + and - mark where that is clear.
`--compact` prints one table, of Recall@5 and MRR@10, with hybrid's intervals and marks.
"""

import argparse
import math
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.common.measure import print_table
from benchmarks.search.retrieval_data import SEED, Labelled, read_set, sample, write_repository
from ubp.search.pages import PageQuery
from ubp.search.run import search_pages
from ubp.workspace import Workspace

LEGS = ("fulltext", "semantic")
MODES = (*LEGS, "rrf", "hybrid")
METRICS = ("Recall@5", "MRR@10", "nDCG@10", "nDCG@5")
DEPTH = 10
RRF_DEPTH, RRF_K = 100, 60
RESAMPLES = 2000

Numbers = npt.NDArray[np.float64]


class Measured(NamedTuple):
    """A set's name and size, and for each mode a row a query, a column a metric."""

    name: str
    documents: int
    modes: Mapping[str, Numbers]


def main() -> None:
    """Print a table for each metric."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--documents", type=int, help="answers, and others up to so many")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--compact", action="store_true")
    options = parser.parse_args()
    modes = options.modes.split(",")
    found = []
    for folder in options.sets:
        name = "-".join(folder.resolve().parts[-2:])
        found.append(
            measure(name, sample(read_set(folder), options.queries, options.documents), modes)
        )
        print(f"{name}: done", flush=True)
    if options.compact:
        tell_compactly(found, modes)
        return
    for metric, title in enumerate(METRICS):
        tell(title, metric, found, modes)


def measure(name: str, chosen: Labelled, modes: Sequence[str]) -> Measured:
    """Ask a set's queries in each mode."""
    with tempfile.TemporaryDirectory() as folder:
        write_repository(chosen.documents, Path(folder))
        paths = {document.id: document.path for document in chosen.documents}
        asked = {
            text: {paths[document]: grade for document, grade in grades.items()}
            for text, grades in chosen.answers.items()
        }
        with Workspace.open(folder) as workspace:
            rows = {
                mode: np.array([judge(ask(workspace, q, mode), asked[q]) for q in asked])
                for mode in modes
            }
    return Measured(name, len(chosen.documents), rows)


def ask(workspace: Workspace, query: str, mode: str, limit: int = DEPTH) -> list[str]:
    """The paths of the pages that are found, the best first."""
    if mode != "rrf":
        found = search_pages(workspace.session, PageQuery(query, mode, limit))  # type: ignore[arg-type]
        return [hit.page.filepath for hit in found.answer.pages]
    scores: dict[str, float] = {}
    for leg in LEGS:
        for place, path in enumerate(ask(workspace, query, leg, RRF_DEPTH), 1):
            scores[path] = scores.get(path, 0.0) + 1 / (RRF_K + place)
    return sorted(scores, key=lambda path: (-scores[path], path))[:limit]


def judge(found: Sequence[str], grades: Mapping[str, float]) -> tuple[float, ...]:
    """The metrics of one answer."""
    first = found[:DEPTH]
    places = [place for place, path in enumerate(first, 1) if path in grades]
    recall = sum(path in grades for path in first[:5]) / min(5, len(grades))
    given = [grades.get(path, 0.0) for path in first]
    best = sorted(grades.values(), reverse=True)
    gains = (_discounted(given[:most]) / _discounted(best[:most]) for most in (DEPTH, 5))
    return recall, 1 / places[0] if places else 0.0, *gains


def interval(values: Numbers) -> tuple[float, float]:
    """Between which bounds the mean lies, in 95 of 100 cases."""
    drawn = np.random.default_rng(SEED).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.percentile(values[drawn].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def tell(title: str, metric: int, found: Sequence[Measured], modes: Sequence[str]) -> None:
    """Print a metric's table, and how often hybrid is clearly better or worse than both legs."""
    is_compared = {*LEGS, "hybrid"} <= set(modes)
    rows, marks = [], []
    for result in found:
        means = {mode: float(result.modes[mode][:, metric].mean()) for mode in modes}
        row = [result.name, str(result.documents), str(len(result.modes[modes[0]]))]
        row += [f"{means[mode]:.3f}" for mode in modes]
        if is_compared:
            gain, mark = compare(result, metric)
            marks.append(mark)
            row += [_bounds(interval(result.modes["hybrid"][:, metric])), gain, mark]
        rows.append(row)
    overall = [
        np.mean([result.modes[mode][:, metric].mean() for result in found]) for mode in modes
    ]
    rows.append(["mean", "", "", *(f"{mean:.3f}" for mean in overall)])
    header = ["set", "pages", "queries", *modes]
    print_table(title, header + ["hybrid's", "gain", ""] * is_compared, rows)
    if marks:
        tell_marks(marks)


def tell_compactly(found: Sequence[Measured], modes: Sequence[str]) -> None:
    """Print one table of the two metrics that matter most."""
    rows, marks = [], []
    for result in found:
        pair = [values[:, :2] for values in (result.modes[mode] for mode in modes)]
        row = [result.name, f"{result.documents}, {len(pair[0])}"]
        row += [" ".join(f"{mean:.2f}" for mean in values.mean(axis=0)) for values in pair]
        row.append(
            " ".join(_bounds(interval(result.modes["hybrid"][:, metric]), 2) for metric in (0, 1))
        )
        marks += [compare(result, metric)[1] for metric in (0, 1)]
        rows.append([*row, " ".join(marks[-2:])])
    means = [
        np.mean([result.modes[mode][:, :2].mean(axis=0) for result in found], axis=0)
        for mode in modes
    ]
    rows.append(["mean", "", *(" ".join(f"{mean:.3f}" for mean in two) for two in means), "", ""])
    print_table("Recall@5, MRR@10", ["set", "pages, queries", *modes, "hybrid's", ""], rows)
    tell_marks(marks)
    for metric in (0, 1):
        gains = np.concatenate([gains_of(result, metric) for result in found])
        print(f"{METRICS[metric]}, all queries: {gains.mean():+.3f} {_bounds(interval(gains))}")


def compare(result: Measured, metric: int) -> tuple[str, str]:
    """What hybrid gains over the better of its legs, and whether that is clear."""
    gains = gains_of(result, metric)
    low, high = interval(gains)
    mark = "+" if low > 0 else "-" if high < 0 else "="
    return f"{gains.mean():+.3f} {_bounds((low, high))}", mark


def gains_of(result: Measured, metric: int) -> Numbers:
    """What hybrid gains over the better of its legs, query by query."""
    better = max(LEGS, key=lambda leg: float(result.modes[leg][:, metric].mean()))
    gains: Numbers = result.modes["hybrid"][:, metric] - result.modes[better][:, metric]
    return gains


def tell_marks(marks: Sequence[str]) -> None:
    """Print how often hybrid is clearly better and worse."""
    counted = ", ".join(f"{marks.count(mark)} {name}" for mark, name in VERDICTS.items())
    print(f"\nHybrid against the better of its legs: {counted}")


VERDICTS = {"+": "clearly better", "=": "as good", "-": "clearly worse"}


def _bounds(bounds: tuple[float, float], digits: int = 3) -> str:
    return f"[{bounds[0]:.{digits}f}, {bounds[1]:.{digits}f}]"


def _discounted(grades: Sequence[float]) -> float:
    return sum(grade / math.log2(place + 1) for place, grade in enumerate(grades, 1))


if __name__ == "__main__":
    main()
