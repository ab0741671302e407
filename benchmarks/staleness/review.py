"""Whether `ubp review` finds the pages that a commit edits, where no page lists a source.

`python benchmarks/staleness/review.py OUT CLONE…` draws of each clone COMMITS commits of the last
LAST on its main line that edit sources and one to MAX_PAGES pages that describe the present, and
takes their edits of pages out (a commit object is added to the clone). It reviews what is left and
writes to OUT a line for each commit: the pages found, with their features and probabilities, and
the rank of the first one that the commit really edits. It prints for each clone how many commits
have it among the first five, and how probability and truth agree.

A page that the commit edits counts as right, any other as wrong, although some of those may have
had to change, too.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ubp.bindings.path_words import is_test
from ubp.checks.removed_names import describes_present, is_source
from ubp.code.definitions import language_of
from ubp.core.model import FilePath
from ubp.core.paths import PAGE_SUFFIXES
from ubp.index.session import Session, Target
from ubp.review.changed_files import ChangedFiles
from ubp.review.run import find_candidates, find_findings
from ubp.staleness.state import open_change

COMMITS, LAST, SEED = 15, 1_500, 7
MAX_FILES, MAX_PAGES = 30, 6
FIRST = 5
BINS = ((0.0, 0.02), (0.02, 0.05), (0.05, 0.1), (0.1, 0.3), (0.3, 1.0))
AUTHOR = {
    f"GIT_{who}_{what}": "benchmark"
    for who in ("AUTHOR", "COMMITTER")
    for what in ("NAME", "EMAIL")
}


def git(clone: Path, *args: str, env: dict[str, str] | None = None) -> str:
    """Return what git prints."""
    run = ["git", "-C", str(clone), *args]
    done = subprocess.run(run, check=True, capture_output=True, env={**os.environ, **(env or {})})
    return done.stdout.decode("utf-8", "surrogateescape")


def is_page(path: str) -> bool:
    """Return whether a file is a page."""
    return path.lower().endswith(tuple(PAGE_SUFFIXES))


def draw(clone: Path) -> list[tuple[str, list[str]]]:
    """Return commits, each with the pages that it edits."""
    options = ("--first-parent", "--no-renames", "--name-status", "--format=%x01%H", f"-{LAST}")
    found = []
    for block in git(clone, "log", *options).split("\x01")[1:]:
        commit, *lines = block.strip().split("\n")
        files = [line.split("\t") for line in lines if "\t" in line]
        pages = [
            path
            for status, path in files
            if status == "M" and is_page(path) and describes_present(path)
        ]
        has_source = any(
            not is_page(path) and is_source(path) and not is_test(path) and language_of(path)
            for _, path in files
        )
        if has_source and 0 < len(pages) <= MAX_PAGES and len(files) <= MAX_FILES:
            found.append((commit, pages))
    random.Random(SEED).shuffle(found)
    return found[:COMMITS]


def without_pages(clone: Path, commit: str) -> str:
    """Return a commit like this one whose pages are those of its parent."""
    with tempfile.TemporaryDirectory() as folder:
        env = {"GIT_INDEX_FILE": f"{folder}/index", "GIT_WORK_TREE": folder}
        git(clone, "read-tree", commit, env=env)
        names = git(
            clone, "diff-tree", "-r", "--no-renames", "--name-only", "-z", f"{commit}^", commit
        )
        for path in filter(is_page, names.split("\0")):
            entry = git(clone, "ls-tree", f"{commit}^", "--", path).split()
            if entry:
                info = f"{entry[0]},{entry[2]},{path}"
                git(clone, "update-index", "--add", "--cacheinfo", info, env=env)
            else:
                git(clone, "update-index", "--force-remove", path, env=env)
        tree = git(clone, "write-tree", env=env).strip()
    made = git(clone, "commit-tree", tree, "-p", f"{commit}^", "-m", "benchmark", env=AUTHOR)
    return made.strip()


def review(clone: Path, commit: str, pages: Sequence[str]) -> dict[str, Any]:
    """Return what is found for a commit without its pages."""
    with Session.open(str(clone)) as session:
        change = open_change(session, Target(without_pages(clone, commit), base=f"{commit}^"))
        files = ChangedFiles(change, session.is_hidden)
        findings, _ = find_findings(session, change, None)
        candidates = find_candidates(session, change, files, findings, None)
    best: dict[FilePath, Any] = {}
    for candidate in candidates:
        known = best.get(candidate.page)
        if known is None or candidate.probability > known.probability:
            best[candidate.page] = candidate
    ranked = sorted(best.values(), key=lambda found: (-found.probability, found.page))
    rank = next((number for number, found in enumerate(ranked, 1) if found.page in pages), None)
    return {
        "repository": clone.name,
        "commit": commit,
        "pages": list(pages),
        "rank": rank,
        "found": [
            {
                "page": found.page,
                "is_right": found.page in pages,
                "kind": found.reason.kind,
                "probability": round(found.probability, 4),
                "features": found.features._asdict(),
            }
            for found in ranked
        ],
    }


def calibration(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield for each bin of probabilities how many pages there are, and how many are right."""
    found = [page for result in results for page in result["found"]]
    for low, high in BINS:
        pages = [page for page in found if low <= page["probability"] < high]
        if pages:
            mean = sum(page["probability"] for page in pages) / len(pages)
            right = sum(page["is_right"] for page in pages)
            share = right / len(pages)
            yield f"{low:.2f} to {high:.2f}: {len(pages)} pages, {mean:.3f} expected, {share:.3f}"


def main(out: str, *clones: str) -> None:
    """Review, and print what came of it."""
    results = []
    with Path(out).open("w", encoding="utf-8") as file:
        for clone in map(Path, clones):
            ranks = []
            for commit, pages in draw(clone):
                result = review(clone, commit, pages)
                results.append(result)
                ranks.append(result["rank"])
                file.write(json.dumps(result) + "\n")
            first = sum(rank is not None and rank <= FIRST for rank in ranks)
            print(f"{clone.name}: {first} of {len(ranks)} among the first {FIRST}; {ranks}")
    first = sum(result["rank"] is not None and result["rank"] <= FIRST for result in results)
    print(f"all: {first} of {len(results)}")
    print(*calibration(results), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
