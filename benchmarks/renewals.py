"""Edits of pages that renewed an unpinned reference without naming anything of what had changed.

    python benchmarks/renewals.py draw [--each 15] [--seed 8] GIT_DIR[:KEY,KEY…]…
    python benchmarks/renewals.py show GIT_DIR ID…
    python benchmarks/renewals.py count [data/renewals.tsv]

`draw` replays the last 500 commits of each main line as `replay.py` does, and draws of the
*unrelated* edits that ended drift the same number in each repository, at most one for each edit of
a page; it prints a line for each, with an id. `show` prints what a reader needs to judge one: the
diff of the page, and that of the source from what the page described. `count` reads the judgements:

- *verified*: the edit, or the page as it left it, shows that the source was looked at;
- *unaffected*: the page was right all the same, because the drift concerns nothing that it says;
- *hidden*: after the edit the page was wrong or lacked something because of the drift.

It prints the share that hid staleness, with a 95 % interval (Wilson), and what rules that do not
take every edit for a renewal would have kept: of the hidden ones (kept as stale, as they should),
and of the others (kept as stale, in vain).
"""

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from replay import Misses, Renewal, clone, read_states, read_steps, repository_name

from ubp.workspace import Workspace

DATA = Path(__file__).parent / "data" / "renewals.tsv"
COLUMNS = ("repository", "commit", "page", "source", "described", "current", "when")


class Drawn(NamedTuple):
    """A renewal in a repository; the ids are those of the source before and after its drift."""

    repository: str
    commit: str
    renewal: Renewal

    @property
    def row(self) -> tuple[str, ...]:
        """The columns of the table."""
        page, source = self.renewal.key
        when = "at once" if self.renewal.is_at_once else "later"
        described, current = (
            (blob or "-")[:12] for blob in (self.renewal.described, self.renewal.current)
        )
        return self.repository, self.commit[:12], page, source, described, current, when


def main() -> None:
    """Draw, show, or count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    draw = commands.add_parser("draw")
    draw.add_argument("--each", type=int, default=15)
    draw.add_argument("--seed", type=int, default=8)
    draw.add_argument("--commits", type=int, default=500)
    draw.add_argument("repository", nargs="+", metavar="GIT_DIR[:KEY,KEY…]")
    show = commands.add_parser("show")
    show.add_argument("git_dir", type=Path)
    show.add_argument("file", type=Path)
    options = parser.parse_args()
    if options.command == "draw":
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
                        yield Drawn(name, step.commit, renewal)
                before = now


if __name__ == "__main__":
    main()
