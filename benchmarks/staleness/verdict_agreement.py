"""Hold every verdict of `ubp stale` against the git command line, on real repositories.

    python benchmarks/staleness/verdict_agreement.py REPOSITORY[:KEY,KEY…]…

For each unpinned reference of each page of a clean checkout, `git log -1 -- PAGE` names the commit
and `git rev-parse COMMIT:SOURCE HEAD:SOURCE` the ids that decide. Pages that a pure rename or a
change of mode touched last are UBP's two exceptions: they are counted, and compared at the commit
that git names when it is told to look past them. Globs and parts of files (`path#symbol`) have no
id in git and are only counted; `symbol_agreement.py` compares symbols. Exits 1 where a verdict
differs.
"""

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from benchmarks.common.measure import UBP, print_table


def main() -> int:
    """Print a line for each repository and every difference."""
    rows, differences = [], []
    for argument in sys.argv[1:]:
        path, _, keys = argument.partition(":")
        row, found = compare(Path(path), keys.split(",") if keys else [])
        rows.append(row)
        differences += found
    header = ["repository", "pages", "references", "agree", "renamed or mode", "differ", "ubp s"]
    print_table("Verdicts against git", header, rows)
    for line in differences:
        print(line)
    return 1 if differences else 0


def compare(root: Path, keys: list[str]) -> tuple[list[str], list[str]]:
    """Compare one repository."""
    options = [word for key in keys for word in ("--key", key)]
    begun = time.perf_counter()
    done = subprocess.run(
        [UBP, "stale", "--all", "--json", *options], cwd=root, check=False, capture_output=True
    )
    seconds = time.perf_counter() - begun
    pages = [page for page in json.loads(done.stdout)["documents"] if page["references"]]
    counts: Counter[str] = Counter()
    differences = []
    for page in pages:
        commit = git(root, "log", "-1", "--format=%H", "--", page["filepath"])
        for reference in page["references"]:
            if reference["baseline"] != "history":
                continue
            counts["references"] += 1
            source = reference["source_path"]
            if is_glob(source) or reference["fragment"]:
                counts["glob" if is_glob(source) else "part"] += 1
                continue
            expected = verdict(root, commit, source)
            told = "deleted" if reference["verdict"] == "moved" else reference["verdict"]
            if told == expected:
                counts["agree"] += 1
            elif reference["baseline_commit"] != commit and is_exception(root, page, commit):
                counts["exception"] += 1
            else:
                differences.append(
                    f"{root.name}: {page['filepath']} → {source}: {told}, git says {expected}"
                )
    row = [
        root.name,
        str(len(pages)),
        f"{counts['references']} ({counts['glob']} globs, {counts['part']} parts)",
        str(counts["agree"]),
        str(counts["exception"]),
        str(len(differences)),
        f"{seconds:.2f}",
    ]
    return row, differences


def verdict(root: Path, commit: str, source: str) -> str:
    """What two ids decide."""
    before = git(root, "rev-parse", "--verify", "--quiet", f"{commit}:{source}")
    now = git(root, "rev-parse", "--verify", "--quiet", f"HEAD:{source}")
    if before and now:
        return "fresh" if before == now else "modified"
    if before:
        return "deleted"
    return "created" if now else "not_found"


def is_exception(root: Path, page: dict[str, str], commit: str) -> bool:
    """Whether git's commit only renamed the page, or changed nothing but its mode."""
    path = page["filepath"]
    raw = git(root, "log", "-1", "-m", "--raw", "--no-renames", "--no-abbrev", "--format=", commit)
    changes = [line.split("\t") for line in raw.splitlines()]
    ids = {name: fields.split()[2:4] for fields, name in changes}
    before, after = ids.get(path, ["", ""])
    if before == after:
        return True
    removed = [old for old, new in ids.values() if set(new) == {"0"}]
    return set(before) == {"0"} and after in removed


def is_glob(source: str) -> bool:
    """Whether the reference was judged as a glob: git has no id for one."""
    return any(letter in source for letter in "*?")


def git(root: Path, *args: str) -> str:
    """Git's answer, empty where it has none."""
    done = subprocess.run(["git", *args], cwd=root, check=False, capture_output=True, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
