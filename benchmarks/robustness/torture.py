"""What the index survives: `kill -9` at random moments, and eight processes at once.

python benchmarks/robustness/torture.py [--rounds 200] [--gatherings 10] [--pages 400] [--graph]
    [--meaning] [--quick]

Asked is `ubp stale --all`, or with --graph `ubp get-graph`, which learns links and words, or with
--meaning a search that embeds every section.
Each answer is compared with that of an index built from scratch. Exits 1 if one differs, or if one
of several processes takes longer than 30 s, as it would if it waited for a process that has ended.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.common.measure import Shape, forget_index, generate, index_of, print_table

UBP = [sys.executable, "-m", "ubp"]
ASK = [*UBP, "stale", "--all", "--json"]
# Both in one process, for a quick run.
BOTH = [
    sys.executable,
    "-c",
    (
        "import sys; from ubp.__main__ import main; sys.exit(max("
        "main(['stale', '--all', '--json']), main(['get-graph', '--json'])))"
    ),
]
REINDEX = [*UBP, "reindex", "--json"]
PROCESSES, PROCESSES_QUICKLY = 8, 3
LONGEST_SECONDS = 30.0  # of wall time; 3 on an idle machine, 8 on a busy one
ROUNDS_A_STATE = 5  # a state's right answer costs an index from nothing


class Answer(NamedTuple):
    """What a command said, and how long it took."""

    status: int
    output: str
    errors: str
    seconds: float


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200, help="how many runs are killed")
    parser.add_argument("--gatherings", type=int, default=10, help="how often eight run at once")
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--graph", action="store_true", help="learn links and words")
    parser.add_argument("--meaning", action="store_true", help="embed the sections")
    parser.add_argument(
        "--quick", action="store_true", help="a few of each, both questions at once"
    )
    options = parser.parse_args()
    if options.graph:
        ASK[len(UBP) :] = ["get-graph", "--json"]
    if options.meaning:
        ASK[len(UBP) :] = ["search", "--mode", "semantic", "how a module is used", "--json"]
    if options.quick:
        options.rounds, options.gatherings, options.pages = 3, 1, 40
        ASK[:] = BOTH
    # A quick run is a test, and may share its machine with others.
    limit = float("inf") if options.quick else LONGEST_SECONDS
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        generate(root, Shape(options.pages, references=3, sources=300, commits=40))
        wrong = kill(root, options.rounds, chance)
        processes = PROCESSES_QUICKLY if options.quick else PROCESSES
        wrong += gather(root, options.gatherings, processes, chance, limit)
    sys.exit(1 if wrong else 0)


def kill(root: Path, rounds: int, chance: random.Random) -> int:
    """Kill runs that have something to index; how many of the next answers were wrong."""
    starts: dict[str, Callable[[], None]] = {
        "no index": lambda: forget_index(root),
        "an older index": lambda: restore(root),
        "what the last kill left": lambda: None,
    }
    killed, finished, wrong = Counter[str](), Counter[str](), Counter[str]()
    length: dict[str, float] = {}  # of the last run that ended by itself
    expected = Answer(0, "", "", 0.0)
    for number in range(rounds):
        if number % ROUNDS_A_STATE == 0:
            keep(root)
            change(root, number, chance)
            expected = built_from_nothing(root)
        name = list(starts)[number % len(starts)]
        starts[name]()
        ended = kill_once(root, chance.uniform(0, length.get(name, expected.seconds)))
        if ended is None:
            killed[name] += 1
        else:
            finished[name] += 1
            length[name] = ended
        if complaint := differs(run(ASK, root), expected):
            wrong[name] += 1
            print(f"round {number}, from {name}: {complaint}", file=sys.stderr)
    rows = [[name, *(str(c[name]) for c in (killed, finished, wrong))] for name in starts]
    header = ["indexing from", "killed", "ended before", "next answer wrong"]
    print_table(f"{rounds} times `kill -9`", header, rows)
    return wrong.total()


def gather(root: Path, gatherings: int, processes: int, chance: random.Random, limit: float) -> int:
    """Start several at once; how many failed, answered wrongly or took longer than the limit."""
    cases: list[tuple[str, Callable[[], None], list[list[str]]]] = [
        ("all build the first index", lambda: forget_index(root), [ASK] * processes),
        ("all find a new commit", lambda: None, [ASK] * processes),
        ("one rebuilds the index", lambda: None, [REINDEX, *[ASK] * (processes - 1)]),
        ("all find a damaged index", lambda: damage(root), [ASK] * processes),
    ]
    rows, wrong = [], 0
    for name, prepare, commands in cases:
        slowest, failed = 0.0, 0
        for number in range(gatherings):
            run(ASK, root)
            change(root, number, chance)
            expected = built_from_nothing(root)
            prepare()
            answers = run_together(commands, root)
            slowest = max(slowest, *(answer.seconds for answer in answers))
            for command, answer in zip(commands, answers, strict=True):
                if complaint := differs(answer, expected if command == ASK else None):
                    failed += 1
                    print(f"{name}: {complaint}", file=sys.stderr)
        if slowest > limit:
            print(f"{name}: one took {slowest:.1f} s, more than {limit:.0f} s", file=sys.stderr)
        wrong += failed + (slowest > limit)
        rows.append([name, str(gatherings), str(failed), f"{slowest:.2f}"])
    header = ["at once", "times", "failed or wrong", "slowest s"]
    print_table(f"{processes} processes at once", header, rows)
    return wrong


def change(root: Path, number: int, chance: random.Random) -> None:
    """Give the next run something to index: a commit, and edits that are not committed."""
    pages = sorted(root.glob("docs/*/*.md"))
    sources = sorted(root.glob("src/*/*.py"))
    for page in chance.sample(pages, len(pages) // 4):
        link = f"[[{chance.choice(pages).stem}]]"
        text = f"Changed in round {number}, {chance.random()}: see {link}.\n"
        page.write_text(page.read_text() + text)
    for source in chance.sample(sources, 10):
        source.write_text(f"value = {chance.random()}\n")
    commit = ["git", "commit", "--quiet", "--all", "--no-verify", "-m", f"Round {number}"]
    subprocess.run(commit, cwd=root, check=True)
    chance.choice(sources).write_text(f"value = {chance.random()}\n")
    page = chance.choice(pages)
    page.write_text(page.read_text() + f"Not committed, {chance.random()}.\n")


def built_from_nothing(root: Path) -> Answer:
    """The right answer; the index that was there stays."""
    aside = root.parent / "aside"
    folder = index_of(root).parent
    if folder.exists():
        folder.rename(aside)
    answer = run(ASK, root)
    if answer.status or answer.errors:
        raise SystemExit(f"without an index: {differs(answer, None) or answer.errors}")
    forget_index(root)
    if aside.exists():
        aside.rename(folder)
    return answer


def differs(answer: Answer, expected: Answer | None) -> str:
    """What is wrong with an answer; nothing: it is right."""
    if answer.status:
        return f"exit {answer.status}\n{answer.output}{answer.errors}"
    if "Traceback" in answer.errors:
        return answer.errors
    if expected is not None and comparable(answer.output) != comparable(expected.output):
        return f"{answer.output[:500]}\ninstead of\n{expected.output[:500]}"
    return ""


def comparable(output: str) -> Any:
    """Answers, one a line, without what the clock moves."""
    moved = {"age_days", "query_time_ms", "token_estimate"}

    def without_moved(record: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in record.items() if key not in moved}

    return [json.loads(line, object_hook=without_moved) for line in output.splitlines()]


def kill_once(root: Path, after: float) -> float | None:
    """Start a run and kill it after so many seconds; how long it took if it ended before."""
    begun = time.monotonic()
    with subprocess.Popen(
        ASK, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            process.kill()
            return None
        return time.monotonic() - begun


def run(command: Sequence[str], root: Path) -> Answer:
    """Run one command to its end."""
    return run_together([command], root)[0]


def run_together(commands: Sequence[Sequence[str]], root: Path) -> list[Answer]:
    """Run commands at once, each with its own wall time."""
    with ExitStack() as stack:
        # Files, not pipes: nobody waits for us to read.
        outputs, errors = (
            [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in commands] for _ in range(2)
        )
        begun = time.monotonic()
        running = [
            subprocess.Popen(command, cwd=root, stdout=out, stderr=error)
            for command, out, error in zip(commands, outputs, errors, strict=True)
        ]
        ends: dict[int, float] = {}
        while len(ends) < len(running):
            time.sleep(0.002)
            for index, process in enumerate(running):
                if index not in ends and process.poll() is not None:
                    ends[index] = time.monotonic() - begun
        for file in outputs + errors:
            file.seek(0)
        return [
            Answer(process.returncode, out.read(), error.read(), ends[index])
            for index, (process, out, error) in enumerate(
                zip(running, outputs, errors, strict=True)
            )
        ]


def keep(root: Path) -> None:
    """Keep a sound index of this state, to start from later."""
    if complaint := differs(run(ASK, root), None):
        raise SystemExit(complaint)
    shutil.rmtree(root.parent / "kept", ignore_errors=True)
    shutil.copytree(index_of(root).parent, root.parent / "kept")


def restore(root: Path) -> None:
    """Put back what was kept."""
    forget_index(root)
    shutil.copytree(root.parent / "kept", index_of(root).parent)


def damage(root: Path) -> None:
    """Overwrite the beginning of the database."""
    with index_of(root).open("r+b") as file:
        file.write(b"\xff" * 8192)


if __name__ == "__main__":
    main()
