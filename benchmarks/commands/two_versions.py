"""CPU of UBP's commands in two versions, run in turn on one repository: medians and ratios.

Both versions are copies of their package, compiled, started by this Python with its dependencies:
an editable installation, or one without bytecode, would start slower. Each version works on a clone
of its own, so that neither reads the other's index.

Run: python benchmarks/commands/two_versions.py REVISION REPOSITORY [--key KEY] [--repeat 25]
where REVISION is a commit of UBP; what is measured against it is the work tree. With --instructions
valgrind counts the instructions of the Python process instead: hardly any difference from run to
run, whatever else the machine does, but git's are not counted.
"""

import argparse
import compileall
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common.measure import cost, print_table

ROOT = Path(__file__).parents[2]
LONG_AGO = 1_600_000_000
START = "from ubp.__main__ import run\n\nrun()\n"
COMMANDS = (
    ("stale",),
    ("stale", "--staged"),
    ("check", "--staged"),
    ("status",),
    ("list-pages",),
    ("get-page", "{page}"),
    ("search", "{word}", "--mode", "fulltext"),
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("revision")
    parser.add_argument("repository", type=Path)
    parser.add_argument("--key", action="append", default=[], help="front matter key of sources")
    parser.add_argument("--word", default="session token")
    parser.add_argument("--repeat", type=int, default=25)
    parser.add_argument("--only", help="commands that begin so")
    parser.add_argument("--instructions", action="store_true", help="count them by valgrind")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        programs = [
            copy_package(folder / "old", options.revision),
            copy_package(folder / "new", None),
        ]
        clones = [prepare(options, folder / name) for name in ("old-clone", "new-clone")]
        page = list_files(clones[1], "*/*.md")[0]
        rows = []
        for command in COMMANDS:
            if options.only and not " ".join(command).startswith(options.only):
                continue
            arguments = [part.format(page=page, word=options.word) for part in command]
            if options.instructions:
                rows.append(count_both(programs, clones, arguments))
            else:
                rows.append(compare(programs, clones, arguments, options.repeat))
    columns = ["", options.revision[:10], "work tree", "ratio"]
    if options.instructions:
        print_table("Millions of instructions", columns, rows)
    else:
        columns += ["of the least", "quartiles"]
        print_table("CPU in milliseconds, medians", columns, rows)


def copy_package(folder: Path, revision: str | None) -> list[str]:
    """Copy the package of a revision (None: the work tree); return the command that starts it."""
    folder.mkdir()
    if revision is None:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "ubp", folder / "ubp", ignore=ignored)
    else:
        archive = folder / "ubp.tar"
        command = ["git", "archive", "-o", str(archive), revision, "ubp"]
        subprocess.run(command, cwd=ROOT, check=True)
        shutil.unpack_archive(archive, folder, filter="data")
    compileall.compile_dir(folder / "ubp", quiet=1)
    program = folder / "start.py"
    program.write_text(START, encoding="utf-8")
    return [sys.executable, str(program)]


def prepare(options: argparse.Namespace, clone: Path) -> Path:
    """Clone the repository, name its key, and stage a change of some sources."""
    subprocess.run(["git", "clone", "-q", options.repository, clone], check=True)
    if options.key:
        (clone / ".ubp").mkdir(exist_ok=True)
        settings = {"staleness": {"keys": options.key}}
        (clone / ".ubp" / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    for source in list_files(clone, "src/*.py")[::40]:
        with (clone / source).open("a", encoding="utf-8") as file:
            file.write("\n# end\n")
    subprocess.run(["git", "add", "-u"], cwd=clone, check=True)
    # Git reads a file again in each run if its index was written in the same second: that would be
    # most of one clone, and few of the other.
    for name in list_files(clone, "."):
        os.utime(clone / name, (LONG_AGO, LONG_AGO), follow_symlinks=False)
    subprocess.run(["git", "update-index", "-q", "--refresh"], cwd=clone, check=True)
    return clone


def list_files(clone: Path, pattern: str) -> list[str]:
    """The tracked files that a pattern matches."""
    listed = subprocess.run(
        ["git", "ls-files", pattern], cwd=clone, check=True, capture_output=True, text=True
    )
    return listed.stdout.splitlines()


def compare(
    programs: Sequence[list[str]], clones: Sequence[Path], arguments: list[str], repeat: int
) -> list[str]:
    """Run both versions in turn, each first every other time, and once unmeasured."""
    costs: tuple[list[float], list[float]] = [], []
    for number in range(-1, repeat):
        for version in (0, 1) if number % 2 else (1, 0):
            spent = cost([*programs[version], *arguments], clones[version]).cpu_ms
            if number >= 0:
                costs[version].append(spent)
    old, new = map(statistics.median, costs)
    ratios = [after / before for before, after in zip(*costs, strict=True)]
    low, _, high = statistics.quantiles(ratios, n=4)
    return [
        f"`ubp {' '.join(arguments)}`",
        f"{old:.0f}",
        f"{new:.0f}",
        f"{new / old:.2f}",
        f"{min(costs[1]) / min(costs[0]):.2f}",
        f"{low:.2f} to {high:.2f}",
    ]


def count_both(
    programs: Sequence[list[str]], clones: Sequence[Path], arguments: list[str]
) -> list[str]:
    """Count the instructions of both versions, once they have indexed the repository."""
    counts = []
    for program, clone in zip(programs, clones, strict=True):
        command = [*program, *arguments]
        cost(command, clone)
        counts.append(count_instructions(command, clone) / 1e6)
    old, new = counts
    return [f"`ubp {' '.join(arguments)}`", f"{old:.0f}", f"{new:.0f}", f"{new / old:.2f}"]


def count_instructions(command: Sequence[str], cwd: Path) -> int:
    """Return how many instructions a process executes, its children's left out."""
    valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no"]
    run = subprocess.run(
        [*valgrind, "--cachegrind-out-file=/dev/null", *command],
        cwd=cwd,
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.search(r"I +refs: +([\d,]+)", run.stderr)
    if not found:
        raise SystemExit(run.stderr)
    return int(found[1].replace(",", ""))


if __name__ == "__main__":
    main()
