"""Compare the sections that changed between two versions with Git's word diff.

    python benchmarks/kits/section_changes.py CLONE OLD NEW [FOLDER]

The oracle knows no Markdown: of `git diff --word-diff=porcelain --unified=0` it takes the lines of
the new version that contain an added word, or beside which one was removed, and the last line above
that begins with `#` outside of fences. Printed is how many of these headings `ubp diff` reports as
added, changed or moved, and what it reports besides; the headings of both kinds follow.
"""

import argparse
import re
import subprocess

from ubp.markdown.outline import read_headings
from ubp.search.compare import compare_versions
from ubp.workspace import Workspace

HUNK = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")


def git(clone: str, *args: str) -> str:
    """Run git."""
    done = subprocess.run(["git", "-C", clone, *args], check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace")


def changed_lines(clone: str, old: str, new: str, path: str) -> set[int]:
    """Return the lines of the new version, from 1, with a word that Git's word diff marks."""
    lines: set[int] = set()
    diff = git(clone, "diff", "--word-diff=porcelain", "--unified=0", old, new, "--", path)
    number = 0
    for line in diff.split("\n"):
        if hunk := HUNK.match(line):
            number = int(hunk[1])
        elif line == "~":
            number += 1
        elif line[:1] in {"+", "-"} and not line.startswith(("+++ ", "--- ")) and line[1:].strip():
            lines.add(number)
    return lines


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clone")
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("folder", nargs="?", default="")
    options = parser.parse_args()
    clone, old, new = options.clone, options.old, options.new
    names = git(clone, "diff", "--name-only", "--no-renames", "-z", old, new).split("\0")
    expected, sections = set(), 0
    for name in names:
        if not name.endswith(".md") or not name.startswith(options.folder):
            continue
        text = git(clone, "show", f"{new}:{name}") if git(clone, "ls-tree", new, name) else ""
        headings = read_headings(text.encode())
        sections += len(headings)
        starts = [(heading.line_start, heading.own_end, heading.id) for heading in headings]
        for line in changed_lines(clone, old, new, name):
            found = [key for start, end, key in starts if start <= line <= end]
            expected.update((name, key) for key in found)
    with Workspace.open(clone) as workspace:
        comparison = compare_versions(workspace.session, old, new)
    reported = {
        (str(change.new.filepath), change.new.id)
        for change in comparison.changes
        if change.new and change.new.filepath.startswith(options.folder) and change.new.id
    }
    print(
        f"{sections} sections of changed pages; word diff {len(expected)}, ubp diff {len(reported)}"
        f", both {len(expected & reported)}"
    )
    for title, keys in (
        ("only word diff", expected - reported),
        ("only ubp diff", reported - expected),
    ):
        print(f"{title}:")
        for name, key in sorted(keys):
            print(f"  {name}#{key}")


if __name__ == "__main__":
    main()
