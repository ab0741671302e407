"""What the symbols are worth that `ubp bind --review` proposes instead of a whole file.

    python benchmarks/bindings/narrower.py [--every 100] CLONE=KEY,KEY …

Every so many commits of the main line, four times, the bindings are reviewed as they stood, and
the commits up to the next review judge the proposals of symbols: how often the file would have
fired for the page, and the symbols; and of the edits of the page that a change of the file
announced (with it, or within thirty days after it), how many one of the symbols announced, too.
"""

import argparse
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common.measure import print_table
from benchmarks.staleness.replay import git
from ubp.answers.bindings.review_bindings import BindingRecord, ReviewBindingsRequest
from ubp.bindings.narrow import MIN_CHANGES, find_part_changes, replay
from ubp.core.model import FilePath
from ubp.core.source import PartSource
from ubp.git.change_log import LoggedChange
from ubp.staleness.ranking import CommitIndex
from ubp.workspace import Workspace

PERIODS = 4


def main() -> None:
    """Print a line for each repository."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=100)
    parser.add_argument("repository", nargs="+", metavar="CLONE=KEY,KEY")
    options = parser.parse_args()
    rows = []
    for argument in options.repository:
        path, _, keys = argument.partition("=")
        rows.append(judge(Path(path), keys.split(","), options.every))
        print(" | ".join(rows[-1]), flush=True)
    header = ["repository", f"bindings with {MIN_CHANGES} changes or more", "proposals"]
    past = ["firings before the review", "edits, all announced"]
    header += [*past, "firings after it", "edits announced after it"]
    print_table("Symbols instead of files", header, rows)


def judge(clone: Path, keys: list[str], every: int) -> list[str]:
    """Review a repository's bindings at some commits; a line of the table."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "clone.git"
        run = ["git", "clone", "--quiet", "--shared", "--bare", "--", str(clone), str(root)]
        subprocess.run(run, check=True)
        line = git(root, "rev-list", "--first-parent", "HEAD").split()
        for period in range(PERIODS, 0, -1):
            if period * every >= len(line):
                continue
            start, end = line[period * every], line[(period - 1) * every]
            git(root, "update-ref", "--no-deref", "HEAD", start)
            with Workspace.open(str(root), keys=keys) as workspace:
                review = workspace.ask(ReviewBindingsRequest())
            counts["changed"] += sum(binding.changed >= MIN_CHANGES for binding in review.bindings)
            proposed = [
                binding
                for binding in review.bindings
                if binding.narrowed and "#" in binding.proposal[0]
            ]
            git(root, "update-ref", "--no-deref", "HEAD", end)
            with Workspace.open(str(root), keys=keys) as workspace:
                size = len(git(root, "rev-list", "--no-merges", f"{start}..{end}").split())
                log = workspace.session.history.change_log(size) if size else []
                for binding in proposed:
                    counts += count(binding, workspace, log)
    name = clone.parent.name.replace("+", "/")
    return [
        name,
        str(counts["changed"]),
        str(counts["proposals"]),
        f"{counts['fired']} → {counts['fired left']}",
        str(counts["edits"]),
        f"{counts['fires']} → {counts['fires left']}",
        f"{counts['announced']} → {counts['announced left']}",
    ]


def count(
    reviewed: BindingRecord, workspace: Workspace, log: Sequence[LoggedChange]
) -> Counter[str]:
    """Return what a proposal promised, and what came of it in the commits of a log."""
    page, path = FilePath(reviewed.filepath), FilePath(reviewed.source_path)
    index = CommitIndex((change.paths for change in log), {page, path})
    parts = [PartSource(path, "symbol", name.partition("#")[2]) for name in reviewed.proposal]
    view = workspace.session.view()
    changes = find_part_changes({path: parts}, {path: index.of(path)}, view, log)
    changing = frozenset[int]().union(*changes.values())
    whole = replay(index.of(path), index.of(page), log)
    narrow = replay([n for n in index.of(path) if n in changing], index.of(page), log)
    effect = reviewed.narrowed
    return Counter(
        {
            "proposals": 1,
            "fired": effect.fired if effect else 0,
            "fired left": effect.fired_left if effect else 0,
            "edits": effect.edits if effect else 0,
            "fires": whole.fired,
            "fires left": narrow.fired,
            "announced": len(whole.edits),
            "announced left": len(narrow.edits),
        }
    )


if __name__ == "__main__":
    main()
