"""How long `ubp stale` takes, warm and cold: medians of CPU, beside git and bare Python.

python benchmarks/staleness/stale_speed.py [--repeat 15] [--long]
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.common.measure import (
    UBP,
    Cost,
    Shape,
    cost,
    forget_index,
    generate,
    median,
    print_table,
)

WARM = Shape(pages=300, references=3, sources=2000, commits=300)
LONG = Shape(pages=200, references=3, sources=2000, commits=14_000)

BARE = [sys.executable, "-c", "pass"]

# An option that the small dispatcher leaves to cyclopts.
THROUGH_CYCLOPTS = "--verbose"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--long", action="store_true", help="14,000 commits as well (a minute)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        warm(Path(folder) / "warm", options.repeat)
        if options.long:
            long(Path(folder) / "long")


def warm(root: Path, repeat: int) -> None:
    """300 pages, 900 references, 2,000 sources."""
    generate(root, WARM)
    first = cost([UBP, "stale"], root)
    reference = median([cost(BARE, root) for _ in range(repeat)])
    status = ["git", "--no-optional-locks", "status", "--porcelain=v2", "-z"]
    rows = [
        row("bare Python", reference, reference),
        row("git status", median([cost(status, root) for _ in range(repeat)]), reference),
        row("first `ubp stale`", first, reference),
    ]
    cases: list[tuple[str, list[str], Callable[[Path, int], None]]] = [
        ("nothing changed", [], nothing),
        ("5 sources edited", [], edit_sources),
        ("5 sources staged", ["--staged"], stage_sources),
        ("1 page edited", [], edit_page),
        ("1 page staged", ["--staged"], stage_page),
        ("1 new commit of 5 sources", [], commit_sources),
        ("1 new commit of 5 sources and a page", [], commit_all),
        ("1 new commit of 5 sources, 5 others staged", ["--staged"], commit_and_stage),
    ]
    for name, options, prepare in cases:
        for through in ([], [THROUGH_CYCLOPTS]):
            costs, bare = [], []
            for number in range(repeat):
                prepare(root, number)
                bare.append(cost(BARE, root))  # beside each run: a shared machine has slow minutes
                costs.append(cost([UBP, "stale", *options, *through], root))
                reset(root)
            label = f"`ubp stale{' --staged' if options else ''}`, {name}"
            rows.append(
                row(label + (", through cyclopts" if through else ""), median(costs), median(bare))
            )
    print_table(
        "300 pages, 900 references, 2,000 sources, 300 commits",
        ["", "CPU ms", "of bare Python", "wall ms", "peak MB"],
        rows,
    )


def long(root: Path) -> None:
    """14,000 commits, 200 pages, 600 references."""
    generate(root, LONG)
    log = cost(["git", "log", "--format=%H", "--name-only"], root)
    rows = [row("git log --name-only (the whole history)", log, log)]
    rows.append(row("first `ubp stale`", cost([UBP, "stale"], root), log))
    rows.append(row("again", median([cost([UBP, "stale"], root) for _ in range(5)]), log))
    forget_index(root)
    rows.append(row("after deleting the index", cost([UBP, "stale"], root), log))
    print_table(
        "14,000 commits, 200 pages, 600 references, 2,000 sources",
        ["", "CPU ms", "of git log", "wall ms", "peak MB"],
        rows,
    )
    shutil.rmtree(root)


def row(name: str, value: Cost, reference: Cost) -> list[str]:
    """One line of a table."""
    ratio = value.cpu_ms / reference.cpu_ms
    return [
        name,
        f"{value.cpu_ms:.0f}",
        f"{ratio:.1f}",
        f"{value.wall_ms:.0f}",
        f"{value.peak_mb:.0f}",
    ]


def nothing(root: Path, number: int) -> None:
    """Leave everything as it is."""


def edit_sources(root: Path, number: int) -> None:
    """Change five sources in the work tree."""
    for path in sorted((root / "src").rglob("*.py"))[number * 5 : number * 5 + 5]:
        path.write_text(f"edited = {time.time_ns()}\n")


def stage_sources(root: Path, number: int) -> None:
    """Change and stage five sources."""
    edit_sources(root, number)
    git(root, "add", "--all")


def edit_page(root: Path, number: int) -> None:
    """Change one page."""
    page = sorted((root / "docs").rglob("*.md"))[number]
    page.write_text(page.read_text() + f"edited {time.time_ns()}\n")


def stage_page(root: Path, number: int) -> None:
    """Change and stage one page."""
    edit_page(root, number)
    git(root, "add", "--all")


def commit_sources(root: Path, number: int) -> None:
    """Commit five sources without their pages."""
    edit_sources(root, number)
    git(root, "commit", "-qam", f"bench {number}")


def commit_all(root: Path, number: int) -> None:
    """Commit five sources and a page."""
    edit_page(root, number)
    commit_sources(root, number)


def commit_and_stage(root: Path, number: int) -> None:
    """Commit, then stage the next change: what a hook meets."""
    commit_sources(root, number)
    stage_sources(root, number + 50)


def reset(root: Path) -> None:
    """Forget what is not committed."""
    git(root, "reset", "-q", "--hard")


def git(root: Path, *args: str) -> None:
    """Run git."""
    subprocess.run(["git", *args], cwd=root, check=True)


if __name__ == "__main__":
    main()
