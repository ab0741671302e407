"""What `ubp review --staged` and `--stop-hook` cost where one source changed: medians of CPU.

    python benchmarks/staleness/review_cost.py CLONE [--repeat 7] [--old CHECKOUT]

In a work tree of the clone, added for the run. Each round changes another source, drawn with a
fixed seed from those for which a review has a case: every number in it grows by one, and the last
eighth of its lines is removed. The index is warm: one source was reviewed before. The hook reads
the JSON that Claude Code sends to its Stop hook, and remembers no case. `--old` runs another
version of UBP in turn with this one, each from its checkout.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common.measure import Cost, cost, median, print_table
from benchmarks.staleness.stale_speed import BARE, git, reset, row
from ubp.bindings.path_words import is_test
from ubp.code.definitions import language_of
from ubp.core.model import FilePath

SEED = 7
MIN_LINES = 24
HERE = Path(__file__).resolve().parents[2]
STOP = {"session_id": "s", "transcript_path": "/tmp/t.jsonl", "hook_event_name": "Stop"}
COMMANDS: Sequence[tuple[str, ...]] = (
    ("version",),
    ("review", "--staged"),
    ("review", "--staged", "--json"),
    ("review", "--stop-hook"),
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clone", type=Path)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--old", type=Path)
    options = parser.parse_args()
    versions = [path for path in (options.old, HERE) if path]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "tree"
        git(options.clone, "worktree", "add", "-q", "--detach", str(root), "HEAD")
        try:
            measure(root, versions, options.repeat)
        finally:
            git(options.clone, "worktree", "remove", "--force", str(root))


def measure(root: Path, versions: Sequence[Path], repeat: int) -> None:
    """Print what each command costs in each version."""
    stop = root.parent / "stop.json"
    stop.write_text(json.dumps({**STOP, "cwd": str(root), "stop_hook_active": False}))
    files = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True)
    sources = [
        path
        for path in files.stdout.decode("utf-8", "surrogateescape").split("\0")
        if language_of(FilePath(path)) and not is_test(path) and is_long(root / path)
    ]
    random.Random(SEED).shuffle(sources)
    costs: dict[tuple[Path, tuple[str, ...]], list[Cost]] = {}
    bare: list[Cost] = []
    cases: list[int] = []
    for source in sources:
        change(root / source)
        git(root, "add", "-A")
        if found := count_cases(root):
            cases.append(found)
            bare.append(cost(BARE, root))
            for words in COMMANDS:
                for version in versions:
                    measured = cost(command(version, words), root, stdin=stop)
                    costs.setdefault((version, words), []).append(measured)
                    shown(root).unlink(missing_ok=True)
        reset(root)
        if len(cases) == repeat:
            break
    rows = [
        row(f"{'old ' if version != HERE else ''}`ubp {' '.join(words)}`", median(each), reference)
        for (version, words), each in costs.items()
        for reference in [median(bare)]
    ]
    names = ["", "CPU ms", "of bare Python", "wall ms", "peak MB"]
    print_table(f"{len(cases)} sources, each with {min(cases)} to {max(cases)} cases", names, rows)


def command(version: Path, words: Sequence[str]) -> list[str]:
    """A command of the version in a checkout, started as the installed one."""
    code = f"import sys; sys.path.insert(0, {str(version)!r}); from ubp.__main__ import run; run()"
    return [sys.executable, "-c", code, *words]


def count_cases(root: Path) -> int:
    """How many cases this version finds; the index has the sources then."""
    run = command(HERE, ["review", "--staged", "--json"])
    done = subprocess.run(run, cwd=root, capture_output=True, check=False)
    return len(json.loads(done.stdout)["cases"])


def shown(root: Path) -> Path:
    """The file in which the hook remembers cases."""
    args = ["git", "rev-parse", "--path-format=absolute", "--git-common-dir"]
    done = subprocess.run(args, cwd=root, capture_output=True, check=True)
    return Path(done.stdout.decode().strip()) / "ubp" / "stop-hook.json"


def is_long(path: Path) -> bool:
    """Whether a file is a text with enough lines for a change to matter."""
    return not path.is_symlink() and path.read_bytes().count(b"\n") >= MIN_LINES


def change(path: Path) -> None:
    """Change a source: other numbers, and an end that is missing."""
    lines = path.read_bytes().split(b"\n")
    kept = b"\n".join(lines[: len(lines) * 7 // 8])
    path.write_bytes(re.sub(rb"\d+", lambda match: b"%d" % (int(match[0]) + 1), kept) + b"\n")


if __name__ == "__main__":
    main()
