"""Ask questions whose pages somebody has chosen, in each mode.

    python benchmarks/search/judged.py FOLDER [FILE…] [--misses]

FOLDER holds clones of the repositories that the files (benchmarks/data/*.json) name, each as
OWNER+NAME, bare or not. Told are the share of the questions of which a right page is first, among
the first three, and among the first five, and the mean reciprocal rank of the first right one; in
brackets, for hybrid, 95 % intervals of the last two by bootstrap over the questions. `--misses`
tells the questions of which none is among the first five.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.common.measure import print_table
from benchmarks.search.retrieval import DEPTH, ask, interval
from benchmarks.search.retrieval_sets import check_out_pages
from ubp.workspace import Workspace

MODES = ("fulltext", "semantic", "hybrid")
DATA = Path(__file__).parents[1] / "data"


class Asked(NamedTuple):
    """A question, its pages, and where each mode finds the first of them, None: not at all."""

    repository: str
    kind: str
    text: str
    pages: Sequence[str]
    places: dict[str, int | None]


def main() -> None:
    """Print a table of all files: by kind of question, and by repository."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("clones", type=Path)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    rows, misses = [], []
    for file in options.files or sorted(DATA.glob("*.json")):
        asked = [
            question
            for part in json.loads(file.read_text("utf-8"))
            for question in ask_part(options.clones, part)
        ]
        rows += [row(file.stem, name, some) for name, some in grouped(asked).items()]
        misses += [question for question in asked if question.places["hybrid"] not in range(1, 6)]
    header = ["file", "part", "questions", *(f"{mode}: 1, 3, 5, MRR" for mode in MODES)]
    print_table("Judged questions", [*header, "hybrid's 5, MRR"], rows)
    for question in misses if options.misses else ():
        print(f"{question.kind} {question.places} {question.text} → {' '.join(question.pages)}")


def ask_part(clones: Path, part: dict[str, Any]) -> Iterator[Asked]:
    """Ask the questions about one repository."""
    clone = clones / part["repository"].replace("/", "+")
    clone = clone / "repo" if (clone / "repo").exists() else clone
    with tempfile.TemporaryDirectory() as root:
        check_out_pages(clone, part["commit"], part["globs"], Path(root))
        with Workspace.open(root) as workspace:
            for question in part["questions"]:
                places = {
                    mode: find(ask(workspace, question["text"], mode), question["pages"])
                    for mode in MODES
                }
                yield Asked(
                    part["repository"],
                    question["kind"],
                    question["text"],
                    question["pages"],
                    places,
                )


def find(paths: Sequence[str], pages: Sequence[str]) -> int | None:
    """The place of the first right page."""
    return next((place for place, path in enumerate(paths, 1) if path in pages), None)


def grouped(asked: Sequence[Asked]) -> dict[str, list[Asked]]:
    """Questions of a kind, about a repository, and all of them; what is one group stands once."""
    groups: dict[str, list[Asked]] = {}
    for question in asked:
        groups.setdefault(question.kind, []).append(question)
    for question in asked:
        groups.setdefault(question.repository, []).append(question)
    groups = {name: some for name, some in groups.items() if len(some) < len(asked)}
    return {**groups, "all": list(asked)}


def row(name: str, part: str, asked: Sequence[Asked]) -> list[str]:
    """What a table tells of some questions."""
    cells, bounds = [], []
    for mode in MODES:
        places = np.array([question.places[mode] or DEPTH + 1 for question in asked])
        ranks = np.where(places <= DEPTH, 1 / places, 0.0)
        values = [*(np.where(places <= most, 1.0, 0.0) for most in (1, 3, 5)), ranks]
        cells.append(" ".join(f"{value.mean():.2f}" for value in values))
        bounds = [interval(value) for value in values[-2:]]
    told = ", ".join(f"[{low:.2f}, {high:.2f}]" for low, high in bounds)
    return [name, part, str(len(asked)), *cells, told]


if __name__ == "__main__":
    main()
