"""What an agent waits for an answer: every tool over stdio, on top of one that does nothing.

    python benchmarks/mcp_speed.py [REPOSITORY] [--rounds 200]

Without a repository one is made: 1,000 pages of 2 KB with three links each, a third of them naming
sources, 50 commits. The goals (p95, on top of the empty tool) are: search 25 ms, full text 10,
page 8, context 15, graph 15, list 15; after an edit the next answer is right within 60 ms. Wall
times are what a client measures; CPU (the server's, with git) tells what a busy machine hides.
"""

import argparse
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from measure import print_table
from search_speed import run, word
from served import EMPTY, Client, Failed

PAGES, LINKS, SECTIONS, WORDS, COMMITS, SOURCES = 1_000, 3, 4, 42, 50, 200
EDITS = 30
GOALS = {
    "ubp_search": 25,
    "ubp_fulltext_search": 10,
    "ubp_get_page": 8,
    "ubp_get_context": 15,
    "ubp_get_graph": 15,
    "ubp_list_pages": 15,
}
GOAL_AFTER_EDIT = 60

Arguments = dict[str, Any]


class Spent(NamedTuple):
    """Milliseconds of one tool's calls, and the mean CPU of one."""

    wall: Sequence[float]
    cpu: float


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("repository", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=200)
    given = parser.parse_args()
    if given.repository:
        measure(given.repository, given.rounds, may_edit=False)
        return
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder) / "pages")
        measure(Path(folder) / "pages", given.rounds, may_edit=True)


def measure(root: Path, rounds: int, *, may_edit: bool) -> None:
    """Ask everything, warm."""
    begun = time.perf_counter()
    with Client(root) as client:
        ready = time.perf_counter() - begun
        cpu = client.cpu_ms() / 1000
        print(f"ready after {ready:.2f} s, {cpu:.2f} s of CPU")
        warm_up(client)
        listed = client.call("ubp_list_pages", limit=1000)
        warm = time.perf_counter() - begun
        print(f"{listed['total']} pages; every answer is warm after {warm:.1f} s")
        paths = [page["filepath"] for page in listed["pages"]]
        ask = questions(random.Random(7), paths)
        base = spend(client, EMPTY, dict, rounds)
        rows = [row(EMPTY, base, base)]
        rows += [row(tool, spend(client, tool, make, rounds), base) for tool, make in ask.items()]
        header = ("tool", "p50 ms", "p95 ms", "p95 on top", "goal", "CPU ms")
        print_table(f"{rounds} calls each", header, rows)
        if may_edit:
            edit(client, root, paths)
        print(f"\nmemory {client.memory_mb():.0f} MB")


def warm_up(client: Client) -> None:
    """Wait until a search asks vectors too, or says that there will be none."""
    for _ in range(600):
        with suppress(Failed):  # the index is not ready
            if client.call("ubp_search", query="warm")["search_type"] == "hybrid":
                return
        time.sleep(0.5)


def questions(chance: random.Random, paths: Sequence[str]) -> dict[str, Callable[[], Arguments]]:
    """For each tool what makes arguments of a call."""
    return {
        "ubp_search": lambda: {"query": query(chance)},
        "ubp_fulltext_search": lambda: {"query": query(chance)},
        "ubp_get_page": lambda: {"filepath": chance.choice(paths)},
        "ubp_get_context": lambda: {"filepath": chance.choice(paths), "depth": 2},
        "ubp_get_graph": lambda: {"center": chance.choice(paths), "depth": 2},
        "ubp_list_pages": dict,
        "ubp_check_staleness": lambda: {"filepath": chance.choice(paths)},
        "ubp_get_impact": lambda: {"path": chance.choice(paths)},
    }


def query(chance: random.Random) -> str:
    """One to four words, English or Japanese."""
    if chance.random() < 0.3:
        return run(chance, 2)
    return " ".join(word(chance, is_asked=True) for _ in range(chance.randint(1, 4)))


def spend(client: Client, tool: str, make: Callable[[], Arguments], rounds: int) -> Spent:
    """Call a tool so many times, after a few that do not count."""
    for _ in range(5):
        client.call(tool, **make())
    wall = []
    before = client.cpu_ms()
    for _ in range(rounds):
        arguments = make()
        begun = time.perf_counter()
        client.call(tool, **arguments)
        wall.append((time.perf_counter() - begun) * 1000)
    return Spent(wall, (client.cpu_ms() - before) / rounds)


def row(tool: str, spent: Spent, base: Spent) -> Sequence[str]:
    """A line of the table."""
    above = p95(spent.wall) - p95(base.wall)
    goal = GOALS.get(tool)
    return (
        tool,
        f"{statistics.median(spent.wall):.1f}",
        f"{p95(spent.wall):.1f}",
        f"{above:.1f}",
        f"{goal or ''}",
        f"{spent.cpu:.1f}",
    )


def edit(client: Client, root: Path, paths: Sequence[str]) -> None:
    """Save a page, ask at once, and see that the answer knows it."""
    asks: dict[str, Callable[[str, str], Arguments]] = {
        "ubp_get_page": lambda path, _: {"filepath": path},
        "ubp_fulltext_search": lambda _, word: {"query": word},
        "ubp_search": lambda _, word: {"query": word},
    }
    rows = []
    for tool, make in asks.items():
        wall = []
        for number in range(EDITS):
            path, new = paths[number * 7 % len(paths)], f"{tool[4:7]}edited{number}"
            file = root / path
            file.write_text(file.read_text("utf-8") + f"\n{new}\n", "utf-8")
            begun = time.perf_counter()
            answer = client.call(tool, **make(path, new))
            wall.append((time.perf_counter() - begun) * 1000)
            if path not in answer["text"] or (tool == "ubp_get_page" and new not in str(answer)):
                raise SystemExit(f"{tool} does not know {new} in {path}")
        rows.append((tool, f"{statistics.median(wall):.1f}", f"{p95(wall):.1f}"))
        subprocess.run(["git", "checkout", "--quiet", "."], cwd=root, check=True)
    title = f"After an edit, {EDITS} times each (goal: {GOAL_AFTER_EDIT} ms)"
    print_table(title, ("tool", "p50 ms", "p95 ms"), rows)


def generate(root: Path) -> None:
    """Write the pages and their sources, and change some in each commit."""
    chance = random.Random(7)
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    (root / "src").mkdir()
    for source in range(SOURCES):
        (root / f"src/module_{source}.py").write_text(f"value = {source}\n")
    for page in range(PAGES):
        write(root, page, chance)
    commit(root, 0)
    for number in range(1, COMMITS):
        for _ in range(3):
            write(root, chance.randrange(PAGES), chance)
        (root / f"src/module_{chance.randrange(SOURCES)}.py").write_text(f"value = -{number}\n")
        commit(root, number)
    # Git reads files again that are as young as its index.
    time.sleep(1.1)
    subprocess.run(["git", "status", "--short"], cwd=root, check=True)


def write(root: Path, page: int, chance: random.Random) -> None:
    """Write a page of 2 KB."""
    lines = ["---", f"title: {word(chance)} {word(chance)} {page}"]
    if page % 3 == 0:
        lines += ["source_refs:", f"  - src/module_{page % SOURCES}.py"]
    lines += ["---", f"# {word(chance)} {page}", ""]
    for section in range(SECTIONS):
        lines += [f"## {word(chance)} {run(chance, 3)}", ""]
        lines += [" ".join(word(chance) for _ in range(WORDS)), "", run(chance, WORDS), ""]
        if section < LINKS:
            lines += [f"See [[page_{chance.randrange(PAGES)}|references]].", ""]
    file = root / f"docs/area{page % 20}/page_{page}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines), "utf-8")


def p95(times: Sequence[float]) -> float:
    """What 95 % of the times do not exceed."""
    return statistics.quantiles(times, n=20)[-1]


def commit(root: Path, number: int) -> None:
    """Commit everything, an hour after the last commit."""
    author = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    date = f"--date={1_700_000_000 + number * 3600} +0000"
    subprocess.run(["git", "add", "."], cwd=root, check=True)
    command = ["git", *author, "commit", "--quiet", "--allow-empty", date, "-m", f"Commit {number}"]
    subprocess.run(command, cwd=root, check=True)


if __name__ == "__main__":
    main()
