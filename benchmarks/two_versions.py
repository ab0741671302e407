"""CPU of UBP's commands in two versions, run in turn on one repository: medians and ratios.

Each version works on a clone of its own, so that neither reads the other's index.

Run: python benchmarks/two_versions.py OTHER_UBP REPOSITORY [--key KEY] [--repeat 25]
where OTHER_UBP is the command of the other version (installed, not editable); the version measured
against it is this environment's, or `--ubp COMMAND`.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

from measure import UBP, cost, print_table

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
    parser.add_argument("other")
    parser.add_argument("repository", type=Path)
    parser.add_argument("--ubp", default=UBP)
    parser.add_argument("--key", action="append", default=[], help="front matter key of sources")
    parser.add_argument("--word", default="session token")
    parser.add_argument("--repeat", type=int, default=25)
    parser.add_argument("--only", help="commands that begin so")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        clones = [prepare(options, Path(folder) / name) for name in ("other", "this")]
        page = list_files(clones[1], "*/*.md")[0]
        rows = []
        for command in COMMANDS:
            if options.only and not " ".join(command).startswith(options.only):
                continue
            arguments = [part.format(page=page, word=options.word) for part in command]
            rows.append(compare(options, clones, arguments))
    print_table("CPU in milliseconds, medians", ["", "other", "this", "ratio", "quartiles"], rows)


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
    return clone


def list_files(clone: Path, pattern: str) -> list[str]:
    """The tracked files that a pattern matches."""
    listed = subprocess.run(
        ["git", "ls-files", pattern], cwd=clone, check=True, capture_output=True, text=True
    )
    return listed.stdout.splitlines()


def compare(options: argparse.Namespace, clones: list[Path], arguments: list[str]) -> list[str]:
    """Run both versions in turn, once unmeasured."""
    commands = [[options.other, *arguments], [options.ubp, *arguments]]
    for command, clone in zip(commands, clones, strict=True):
        cost(command, clone)
    other, this = [], []
    for _ in range(options.repeat):
        other.append(cost(commands[0], clones[0]).cpu_ms)
        this.append(cost(commands[1], clones[1]).cpu_ms)
    before, after = statistics.median(other), statistics.median(this)
    low, _, high = statistics.quantiles([a / b for a, b in zip(this, other, strict=True)], n=4)
    name = f"`ubp {' '.join(arguments)}`"
    return [
        name,
        f"{before:.0f}",
        f"{after:.0f}",
        f"{after / before:.2f}",
        f"{low:.2f} to {high:.2f}",
    ]


if __name__ == "__main__":
    main()
