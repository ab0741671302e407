"""Edits of pages that renewed an unpinned reference without naming anything of what had changed.

    python benchmarks/staleness/renewals.py draw [--each 15] [--seed 8] GIT_DIR[:KEY,KEY…]…
    python benchmarks/staleness/renewals.py count [TABLE]

`draw` replays the last 500 commits of each main line as `replay.py` does, and draws of the
*unrelated* edits that ended drift the same number in each repository, at most one for each edit of
a page. It prints a line for each: `git diff COMMIT^ COMMIT -- PAGE` and `git diff DESCRIBED
CURRENT` show what a reader needs to judge it. The column `edit` says what the edit changed: text,
or nothing but the front matter, links or white space. `count` reads the judgements:

- *verified*: the edit shows that its author knew what had changed in the source;
- *unaffected*: it shows nothing, but the page was right all the same;
- *hidden*: after the edit the page was wrong because of the drift, and no longer stale.

It prints the share of each, with a 95 % interval (Wilson), and how many edits of each kind hid
staleness: a rule by which such edits renew nothing would have kept these stale rightly, the others
in vain.
"""

import argparse
import csv
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from math import sqrt
from pathlib import Path
from typing import NamedTuple

from benchmarks.common.measure import print_table
from benchmarks.staleness.replay import (
    Misses,
    Renewal,
    clone,
    git,
    read_states,
    read_steps,
    repository_name,
)
from ubp.markdown.document import read_head
from ubp.workspace import Workspace

DATA = Path(__file__).parents[1] / "data" / "renewals.tsv"
COLUMNS = ("repository", "commit", "page", "source", "described", "current", "when", "edit")
JUDGEMENTS = ("verified", "unaffected", "hidden")
TEXT = "text"
_LINK = re.compile(rb"\]\([^)]*\)|<https?:[^>]*>|^\[[^\]]+\]:.*$", re.MULTILINE)


class Drawn(NamedTuple):
    """A renewal in a repository; the ids are those of the source before and after its drift."""

    repository: str
    commit: str
    renewal: Renewal
    edit: str

    @property
    def row(self) -> tuple[str, ...]:
        """The columns of the table."""
        page, source = self.renewal.key
        when = "at once" if self.renewal.is_at_once else "later"
        described, current = (
            (blob or "-")[:12] for blob in (self.renewal.described, self.renewal.current)
        )
        return self.repository, self.commit[:12], page, source, described, current, when, self.edit


def main() -> None:
    """Draw, show, or count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    draw = commands.add_parser("draw")
    draw.add_argument("--each", type=int, default=15)
    draw.add_argument("--seed", type=int, default=8)
    draw.add_argument("--commits", type=int, default=500)
    draw.add_argument("repository", nargs="+", metavar="GIT_DIR[:KEY,KEY…]")
    count = commands.add_parser("count")
    count.add_argument("table", type=Path, nargs="?", default=DATA)
    options = parser.parse_args()
    if options.command == "count":
        print_counts(options.table)
        return
    print("\t".join(COLUMNS))
    for argument in options.repository:
        path, _, keys = argument.partition(":")
        renewals = list(find(Path(path), keys.split(",") if keys else [], options.commits))
        print(f"{path}: {len(renewals)} unrelated renewals", file=sys.stderr)
        by_edit: dict[tuple[str, str], list[Drawn]] = {}
        for drawn in renewals:
            by_edit.setdefault((drawn.commit, drawn.renewal.key[0]), []).append(drawn)
        chooser = random.Random(options.seed)
        edits = sorted(by_edit.items())
        for _, same_edit in chooser.sample(edits, min(options.each, len(edits))):
            print("\t".join(chooser.choice(same_edit).row), flush=True)


def find(git_dir: Path, keys: list[str], count: int) -> Iterator[Drawn]:
    """Yield the unrelated edits that ended drift in the last commits of a main line."""
    name = repository_name(git_dir)
    with tempfile.TemporaryDirectory() as folder:
        root = clone(git_dir, folder)
        steps, misses = read_steps(root, count), Misses(root)
        with Workspace.open(str(root), keys=keys) as workspace:
            before = read_states(workspace, steps[0].commit)
            for step in steps[1:]:
                now = read_states(workspace, step.commit)
                for renewal in misses.add(before, now):
                    if not renewal.edit.is_related:
                        kind = edit_kind(root, renewal)
                        yield Drawn(name, step.commit, renewal, kind)
                before = now


def edit_kind(root: Path, renewal: Renewal) -> str:
    """Return what an edit of a page changed, if not its text."""
    before, after = (read_body(root, blob) for blob in (renewal.page_before, renewal.page_after))
    if before == after:
        return "front matter"
    if before.split() == after.split():
        return "white space"
    same = _LINK.sub(b"", before).split() == _LINK.sub(b"", after).split()
    return "links" if same else TEXT


def read_body(root: Path, blob: str) -> bytes:
    """Return a page without its front matter."""
    data = git(root, "cat-file", "blob", blob).encode()
    return data[read_head(data, ()).body :]


def print_counts(table: Path) -> None:
    """Print the judgements by repository, and what a rule about kinds of edits would keep."""
    with table.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    lines = []
    for name in [*dict.fromkeys(row["repository"] for row in rows), "all"]:
        counts = Counter(row["judgement"] for row in rows if name in {row["repository"], "all"})
        shares = [share(counts[judgement], counts.total()) for judgement in JUDGEMENTS]
        lines.append([name, str(counts.total()), *shares])
    print_table("Unrelated renewals", ["repository", "judged", *JUDGEMENTS], lines)
    kinds = Counter((row["edit"], row["judgement"] == "hidden") for row in rows)
    kept = [
        [kind, str(kinds[kind, True]), str(kinds[kind, False])]
        for kind in sorted({kind for kind, _ in kinds})
    ]
    print_table("Kinds of edits", ["edit", "hidden", "not hidden"], kept)


def share(part: int, whole: int) -> str:
    """Return a share with its 95 % interval (Wilson 1927), in percent."""
    z, p = 1.96, part / whole
    middle = (p + z * z / (2 * whole)) / (1 + z * z / whole)
    spread = z / (1 + z * z / whole) * sqrt(p * (1 - p) / whole + z * z / (4 * whole**2))
    low, high = (round(100 * bound) for bound in (middle - spread, middle + spread))
    return f"{part} ({round(100 * p)} %, {max(0, low)} to {high})"


if __name__ == "__main__":
    main()
