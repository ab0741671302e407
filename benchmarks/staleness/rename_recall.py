"""Which renames `removed-name` reports: names that pages mention, renamed in all other files.

`python benchmarks/staleness/rename_recall.py CLONES OUT NAMES NAME ...` copies the tip of each
clone, draws NAMES names with a fixed seed and renames each of them, by itself, in every file but
pages, in all its spellings: an option is often made from a field. Drawn are names of several words,
and options, that are a code span of a page and a word in a source; no rule of UBP decides which.
`... table OUT` prints the shares, and the names not reported.
"""

import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.common.measure import wilson
from benchmarks.staleness.removed_events import NO_SOURCE, PAGE, PAST
from ubp.answers.checks.check import CheckRequest
from ubp.workspace import Workspace

SEED = 20261124
SPAN = re.compile(r"`(--[a-z][\w-]+|[A-Za-z]\w*)(?:\(\))?`")
WORDS = re.compile(r"--|[a-z0-9]_[a-z0-9]|[A-Z]_[A-Z]|[a-z0-9][A-Z]")
FENCED = re.compile(r"(?ms)^\s*(```|~~~).*?^\s*\1")


def measure(clone: Path, count: int) -> list[dict[str, object]]:
    """Return each drawn name, how many files had it, and the pages that were reported."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "clone"
        subprocess.run(["git", "clone", "-q", str(clone), str(root)], check=True)
        files = _git(root, "ls-files", "-z").split("\0")[:-1]
        paths = [
            path for path in files if (root / path).is_file() and not (root / path).is_symlink()
        ]
        pages = [path for path in paths if PAGE.search(path) and not PAST.search(path)]
        names: set[str] = set()
        for path in pages:
            text = FENCED.sub("", (root / path).read_text(errors="replace"))
            names.update(name for name in SPAN.findall(text) if WORDS.search(name))
        with Workspace.open(str(root)) as workspace:
            workspace.ask(CheckRequest(rules=("removed-name",)))
        results: list[dict[str, object]] = []
        for name in random.Random(SEED).sample(sorted(names), len(names)):
            holders = _holders(root, name.removeprefix("--"))
            if any(not NO_SOURCE.search(path) for path in holders):
                reported = _rename(root, name.removeprefix("--"), holders)
                results.append({"name": name, "files": len(holders), "reported": reported})
                if len(results) == count:
                    break
        return results


def _holders(root: Path, name: str) -> list[str]:
    files = _git(root, "ls-files", "-z", "--", ":!*.md", ":!*.mdx", ":!*.markdown").split("\0")
    paths = [path for path in files if (root / path).is_file() and not (root / path).is_symlink()]
    word = _spellings(name)
    return [path for path in paths if word.search((root / path).read_bytes())]


def _spellings(name: str) -> re.Pattern[bytes]:
    """Return a pattern of a name in all its spellings: `--read-timeout`, `ReadTimeout`."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return re.compile(rf"(?i)(?<![a-z0-9])(?:{'[-_]?'.join(words)})(?![a-z0-9])".encode())


def _rename(root: Path, name: str, holders: list[str]) -> list[str]:
    """Rename a name in files, and return the pages that the rule reports; undo it."""
    word = _spellings(name)
    for path in holders:
        data = (root / path).read_bytes()
        (root / path).write_bytes(word.sub(lambda found: found[0] + b"Qx", data))
    _git(root, "add", "-u")
    with Workspace.open(str(root)) as workspace:
        report = workspace.ask(CheckRequest(rules=("removed-name",), staged=True))
    _git(root, "reset", "-q", "--hard")
    return sorted({finding.filepath for finding in report.findings})


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def table(out: Path) -> None:
    """Print how many of the renamed names are reported in each repository."""
    found = total = 0
    for path in sorted(out.glob("*.json")):
        results = json.loads(path.read_text())
        silent = [result["name"] for result in results if not result["reported"]]
        print(f"{path.stem}: {len(results) - len(silent)} of {len(results)}; silent: {silent}")
        total, found = total + len(results), found + len(results) - len(silent)
    low, high = wilson(found, total)
    print(f"all: {found} of {total} ({found / max(1, total):.2f}, {low:.2f} to {high:.2f})")


if __name__ == "__main__":
    if sys.argv[1] == "table":
        table(Path(sys.argv[2]))
    else:
        clones, out = Path(sys.argv[1]), Path(sys.argv[2])
        out.mkdir(parents=True, exist_ok=True)
        for name in sys.argv[4:]:
            results = measure(clones / name / "repo", int(sys.argv[3]))
            (out / f"{name}.json").write_text(json.dumps(results, indent=1))
            print(
                name, sum(bool(result["reported"]) for result in results), len(results), flush=True
            )
