"""Is it worth keeping the resolved link graph, and moving it from commit to commit?

Compares, on a copy of a clone, resolving every link again (what one packed graph a commit would
need for each new commit) with the update of the stored graph: after edits in the work tree, and
after commits of five pages.

Run: python benchmarks/search/graph_updates.py CLONE
"""

import argparse
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time

from ubp.index.store.links import EdgeTable
from ubp.search.graph import open_graph
from ubp.workspace import Workspace

REPEATS = 5
PAGES_IN_A_COMMIT = 5


def seconds(call: Callable[[], object]) -> float:
    """The CPU seconds of a call, of this process."""
    before = process_time()
    call()
    return process_time() - before


def read_graph(workspace: Workspace) -> None:
    """Make sure that every link of the work tree is resolved."""
    open_graph(workspace.session.view()).buckets()


def resolve_again(root: str) -> float:
    """Resolve and store every link as if no graph were stored; the facts of the pages are known."""
    find = EdgeTable.find
    try:
        with Workspace.open(root) as workspace:
            calls = iter([None])

            def forget_first(table: EdgeTable, git_dir: str) -> object:
                stored = find(table, git_dir)
                return next(calls, stored)

            EdgeTable.find = forget_first  # type: ignore[assignment,method-assign]
            return seconds(lambda: read_graph(workspace))
    finally:
        EdgeTable.find = find  # type: ignore[method-assign]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clone")
    clone = parser.parse_args().clone
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "clone", "-q", clone, folder], check=True)
        git = ["git", "-C", folder, "-c", "user.name=A", "-c", "user.email=a@example.org"]
        pages = sorted(Path(folder).rglob("*.md"))
        with Workspace.open(folder) as workspace:
            read_graph(workspace)
        whole = median(resolve_again(folder) for _ in range(REPEATS))
        edits = []
        with Workspace.open(folder) as workspace:
            read_graph(workspace)
            for number in range(REPEATS):
                with pages[0].open("a", encoding="utf-8") as page:
                    page.write(f"\n[[{pages[-1].stem}]] {number}\n")
                edits.append(seconds(lambda: read_graph(workspace)))
        commits = []
        for number in range(REPEATS):
            for path in pages[:PAGES_IN_A_COMMIT]:
                with path.open("a", encoding="utf-8") as page:
                    page.write(f"\n[[{pages[-1].stem}]] {number}\n")
            subprocess.run([*git, "commit", "-qam", "Edit"], check=True)
            with Workspace.open(folder) as workspace:
                commits.append(seconds(lambda: read_graph(workspace)))
    print("| pages | every link again | after an edit | after a commit of 5 pages |")
    print("|---|---|---|---|")
    print(f"| {len(pages):,} | {whole:.2f} s | {median(edits):.2f} s | {median(commits):.2f} s |")


if __name__ == "__main__":
    main()
