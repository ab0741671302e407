"""Ask questions whose page somebody has chosen, in each mode.

    python benchmarks/judged.py FOLDER [FILE…] [--misses]

FOLDER holds clones of the repositories that the files (benchmarks/data/*.json) name, each as
OWNER+NAME, bare or not. Told are the share of the questions whose page is first, among the first
three, and among the first five, and its mean reciprocal rank; `--misses` tells which are not.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from measure import print_table
from retrieval import DEPTH, ask
from retrieval_sets import check_out_pages

from ubp.workspace import Workspace

MODES = ("fulltext", "semantic", "hybrid")
DATA = Path(__file__).with_name("data")


class Asked(NamedTuple):
    """A question, its page, and the place at which each mode finds that, None: not at all."""

    kind: str
    text: str
    page: str
    places: dict[str, int | None]


def main() -> None:
    """Print a table of all kinds of questions."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("clones", type=Path)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    rows, misses = [], []
    for file in options.files or sorted(DATA.glob("*.json")):
        asked = [
            one
            for part in json.loads(file.read_text("utf-8"))
            for one in ask_part(options.clones, part)
        ]
        kinds = dict.fromkeys(one.kind for one in asked)
        rows += [row(file.stem, kind, [one for one in asked if one.kind == kind]) for kind in kinds]
        rows.append(row(file.stem, "all", asked))
        misses += [one for one in asked if one.places["hybrid"] not in range(1, 6)]
    header = ["file", "kind", "questions", *(f"{mode}: 1, 3, 5, MRR" for mode in MODES)]
    print_table("Judged questions", header, rows)
    for one in misses if options.misses else ():
        print(f"{one.places} {one.text} → {one.page}")


def ask_part(clones: Path, part: dict[str, Any]) -> Iterator[Asked]:
    """Ask the questions about one repository."""
    clone = clones / part["repository"].replace("/", "+")
    clone = clone / "repo" if (clone / "repo").exists() else clone
    with tempfile.TemporaryDirectory() as root:
        check_out_pages(clone, part["commit"], part.get("globs", ["**/*.md"]), Path(root))
        with Workspace.open(root) as workspace:
            for one in part["questions"]:
                found = {mode: ask(workspace, one["text"], mode) for mode in MODES}
                places = {
                    mode: paths.index(one["page"]) + 1 if one["page"] in paths else None
                    for mode, paths in found.items()
                }
                yield Asked(one.get("kind", part["repository"]), one["text"], one["page"], places)


def row(name: str, kind: str, asked: Sequence[Asked]) -> list[str]:
    """What a table tells of some questions."""
    cells = []
    for mode in MODES:
        places = [one.places[mode] or DEPTH + 1 for one in asked]
        shares = [sum(place <= most for place in places) / len(places) for most in (1, 3, 5)]
        mean = sum(1 / place for place in places if place <= DEPTH) / len(places)
        cells.append(" ".join(f"{value:.2f}" for value in [*shares, mean]))
    return [name, kind, str(len(asked)), *cells]


if __name__ == "__main__":
    main()
