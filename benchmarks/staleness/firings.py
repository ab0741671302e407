"""Whether the firings of `ubp stale --base` are right: draw them at random, and count judgements.

`python benchmarks/staleness/firings.py draw OUT CLONE=KEY,KEY…` judges the last 500 commits of each
clone's main line against their first parents, as `replay.py` does, and writes to OUT/NAME.json each
firing (a commit and a page for which it fails with `--alarms any`), whether `--alarms named` fails
for it, too, and its sources. Finished repositories are not repeated. CLONE is `…/OWNER+NAME/repo`.

`… show OUT` prints the firings that were drawn, PER_REPOSITORY of each repository, for a reader:
the page, and what the commit changed in its sources.

`… table OUT` prints how many firings there are and, by the judgements in
`benchmarks/data/firings.tsv`, how many are right. A firing is right if the commit made something
untrue, or incomplete in what the page sets out to describe completely, whether or not anybody
edited the page afterwards.
"""

import csv
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.common.measure import wilson
from benchmarks.staleness.replay import git, read_steps
from ubp.answers.staleness.stale import report_stale
from ubp.index.session import Target
from ubp.staleness.model import GONE, is_certain
from ubp.workspace import Workspace

JUDGED = Path(__file__).parents[1] / "data" / "firings.tsv"
COMMITS = 500
PER_REPOSITORY = 15
SEED = 20
MAX_PAGE_CHARACTERS = 7_000
MAX_DIFF_CHARACTERS = 5_000

KINDS = ("all", "named", "gone")

Firing = dict[str, Any]
Id = tuple[str, str, str]  # repository, commit, page


def find_firings(clone: Path, keys: list[str]) -> Iterator[Firing]:
    """Yield the firings in the last commits of a repository."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "clone.git"
        run = ["git", "clone", "--quiet", "--shared", "--bare", "--", str(clone), str(root)]
        subprocess.run(run, check=True)
        steps = read_steps(root, COMMITS)
        with Workspace.open(str(root), keys=keys, alarms="any") as workspace:
            for base, step in pairwise(steps):
                change = report_stale(workspace.session, Target(step.commit, base=base.commit))
                for assessed in change.introduced:
                    if assessed.level == "unknown":
                        continue
                    references = [
                        reference
                        for reference in assessed.references
                        if reference.verdict != "fresh" and not reference.is_debt
                    ]
                    yield {
                        "commit": step.commit[:12],
                        "page": assessed.page.filepath,
                        "is_named": any(map(is_certain, references)),
                        "sources": {
                            reference.reference.literal: reference.verdict
                            for reference in references
                        },
                        "evidence": [
                            f"{evidence.name} (line {evidence.line})"
                            for reference in references
                            for evidence in reference.evidence
                        ],
                    }


def draw(out: Path, arguments: list[str]) -> None:
    """Replay the clones that have no result yet."""
    out.mkdir(parents=True, exist_ok=True)
    for argument in arguments:
        path, _, keys = argument.partition("=")
        clone = Path(path)
        target = out / f"{clone.parent.name}.json"
        if not target.exists():
            firings = list(find_firings(clone, keys.split(",") if keys else []))
            result = {"clone": str(clone), "firings": firings}
            target.write_text(json.dumps(result, indent=1))
            print(clone.parent.name, len(firings), flush=True)


def drawn(firings: list[Firing]) -> list[Firing]:
    """Return the firings of a repository that are to be judged."""
    found = sorted(firings, key=lambda firing: (firing["commit"], firing["page"]))
    return random.Random(SEED).sample(found, min(PER_REPOSITORY, len(found)))


def show(out: Path) -> None:
    """Print the drawn firings with their pages and changes."""
    for path in sorted(out.glob("*.json")):
        result = json.loads(path.read_text())
        for number, firing in enumerate(drawn(result["firings"]), 1):
            commit, page = firing["commit"], firing["page"]
            root = Path(result["clone"])
            subject = git(root, "log", "-1", "--format=%cs %s", commit).strip()
            print(f"=== {path.stem} {number}: {commit} {page}")
            print(subject, firing["sources"], "; ".join(firing["evidence"]), sep="\n")
            sources = [source.partition("#")[0] for source in firing["sources"]]
            base = f"{commit}^"
            diff = git(root, "diff", "-M", "--unified=1", base, commit, "--", *sources)
            print(f"--- page\n{git(root, 'show', f'{commit}:{page}')[:MAX_PAGE_CHARACTERS]}")
            print(f"--- change\n{diff[:MAX_DIFF_CHARACTERS]}")


def read_judgements() -> Mapping[Id, str]:
    """Return the verdict on each judged firing."""
    with JUDGED.open() as file:
        return {
            (row["repository"], row["commit"], row["page"]): row["verdict"]
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        }


def table(out: Path) -> None:
    """Print the table of judgements: of all, of those that are named, of missing sources."""
    verdicts = read_judgements()
    totals: Counter[str] = Counter()
    print("| repository | firings | right | with `--alarms named` | right | source gone | right |")
    print("|---|---|---|---|---|---|---|")
    for path in sorted(out.glob("*.json")):
        firings = json.loads(path.read_text())["firings"]
        counts = Counter(all=len(firings), named=sum(f["is_named"] for f in firings))
        counts["gone"] = sum(map(is_gone, firings))
        for firing in drawn(firings):
            identity = path.stem, firing["commit"], firing["page"]
            if identity not in verdicts:
                raise SystemExit(f"not judged: {identity}")
            kinds = {"all": True, "named": firing["is_named"], "gone": is_gone(firing)}
            for kind in filter(kinds.get, kinds):
                counts[f"{kind} judged"] += 1
                counts[f"{kind} right"] += verdicts[identity] == "right"
        totals += counts
        cells = [
            f"{counts[kind]} | {counts[f'{kind} right']} of {counts[f'{kind} judged']}"
            for kind in KINDS
        ]
        print(f"| {path.stem.replace('+', '/')} | {' | '.join(cells)} |")
    cells = [f"{totals[kind]} | {share(totals, kind)}" for kind in KINDS]
    print(f"| **all** | {' | '.join(cells)} |")
    for kind in ("all", "named"):
        changed = Counter(
            {
                f"{kind} {what}": totals[f"{kind} {what}"] - totals[f"gone {what}"]
                for what in ("judged", "right")
            }
        )
        print(f"{kind}, without missing sources: {share(changed, kind)}")


def is_gone(firing: Firing) -> bool:
    """Return whether a source does not exist any more, or never did."""
    return not GONE.isdisjoint(firing["sources"].values())


def share(counts: Counter[str], kind: str) -> str:
    """Return how many are right, with the 95 % interval of the share."""
    right, judged = counts[f"{kind} right"], counts[f"{kind} judged"]
    low, high = wilson(right, judged)
    return f"{right} of {judged}: {right / max(1, judged):.0%} ({low:.0%} to {high:.0%})"


if __name__ == "__main__":
    command, folder, *clones = sys.argv[1:]
    if command == "draw":
        draw(Path(folder), clones)
    elif command == "show":
        show(Path(folder))
    else:
        table(Path(folder))
