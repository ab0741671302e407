"""What a score of `ubp suggest-links` means, and why it is not a cosine.

    python benchmarks/search/suggest_calibration.py [REPOSITORY...]

`benchmarks/data/suggest_judged.tsv` holds pairs of sections of 17 repositories, drawn evenly from
ranges of the margin (how far their cosine stands out) and read one by one: would somebody who
maintains these pages want a link between them? Printed is the share that is worth one, by margin,
beside the score; then what the rules leave out, and the pairs held out: other repositories, drawn
once the score was set. Of each REPOSITORY: how many of the first pairs, by margin and by cosine,
are linked already, among as many as there are linked ones.
"""

import csv
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from ubp.search.suggest_links import margin_of, score_of, sibling_key
from ubp.workspace import Workspace

JUDGED = Path(__file__).parents[1] / "data" / "suggest_judged.tsv"
RANGES = (-0.04, 0.0, 0.04, 0.08, 0.11, 0.14, 0.17, 0.2, 0.25, 1.0)


class Judged(NamedTuple):
    """A pair that was read; `rule` is what leaves it out, "-" what nothing does."""

    set: str
    margin: float
    rule: str
    is_worth: bool


def main() -> None:
    """Print what was judged, and what is linked."""
    with JUDGED.open(encoding="utf-8", newline="") as file:
        judged = [
            Judged(row["set"], float(row["margin"]), row["rule"], row["worth"] == "yes")
            for row in csv.DictReader(file, delimiter="\t")
        ]
    chosen_on = [pair for pair in judged if pair.set == "chosen on"]
    tell_ranges([pair for pair in chosen_on if pair.rule == "-"])
    tell_rules(chosen_on)
    tell_held_out([pair for pair in judged if pair.set == "held out"])
    for root in sys.argv[1:]:
        tell_linked(root)


def tell_ranges(judged: list[Judged]) -> None:
    """Print the share that is worth a link, by margin."""
    print("| margin | score | pairs | worth a link | at this margin and above |")
    print("|---|---|---|---|---|")
    for low, high in pairwise(RANGES):
        here = [pair for pair in judged if low <= pair.margin < high]
        above = [pair for pair in judged if pair.margin >= low]
        scores = f"{score_of(low):.2f} to {score_of(high):.2f}"
        print(f"| {low:.2f} | {scores} | {len(here)} | {share(here)} | {share(above)} |")


def tell_rules(judged: list[Judged]) -> None:
    """Print what each rule leaves out."""
    print("\n| left out as | pairs | worth a link |\n|---|---|---|")
    for rule in sorted({pair.rule for pair in judged} - {"-"}):
        here = [pair for pair in judged if pair.rule == rule]
        print(f"| {rule} | {len(here)} | {share(here)} |")


def tell_held_out(judged: list[Judged]) -> None:
    """Print how good the default is on repositories that nothing was chosen on."""
    here = [pair for pair in judged if pair.margin >= margin_of(0.8)]
    print(f"\nHeld out, score 0.8 and above: {share(here)} of {len(here)} pairs are worth a link.")


def tell_linked(root: str) -> None:
    """Print how many of a repository's first pairs are linked."""
    with Workspace.open(root) as workspace:
        view = workspace.session.view()
        pairs = {key(*pair) for pair in view.link_graph().pairs()}
        linked = {pair for pair in pairs if len(pair) > 1}
        meaning = view.semantic_index(workspace.session.required_model())
        margins: dict[frozenset[str], float] = {}
        cosines: dict[frozenset[str], float] = {}
        for first, second, margin in meaning.similar_pairs(sibling_key, -1):
            pair = key(first.path, second.path)
            margins.setdefault(pair, margin)
            cosines[pair] = max(first.score, cosines.get(pair, -1))
    told = []
    for name, scores in (("margin", margins), ("cosine", cosines)):
        best = sorted(scores, key=lambda pair: -scores[pair])[: len(linked)]
        told.append(f"{len(linked.intersection(best)) / max(len(best), 1):.3f} by {name}")
    print(
        f"{root}: {len(linked)} linked pairs; of as many first pairs are linked {', '.join(told)}"
    )


def key(first: str, second: str) -> frozenset[str]:
    """A pair of pages, translations and versions taken as one."""
    return frozenset({sibling_key(first), sibling_key(second)})


def share(judged: list[Judged]) -> str:
    """How many of them are worth a link."""
    return f"{sum(one.is_worth for one in judged) / len(judged):.2f}" if judged else ""


if __name__ == "__main__":
    main()
