"""What an agent waits for an answer: every tool over stdio, on top of one that does nothing.

    python benchmarks/agents/mcp_speed.py [REPOSITORY] [--rounds 200]
    python benchmarks/agents/mcp_speed.py [REPOSITORY] --start

Without a repository one is made: 1,000 pages of 2 KB with three links each, a third of them naming
sources, 50 commits. The goals (p95, on top of the empty tool) are: search 25 ms, full text 10,
page 8, context 15, graph 15, list 15; after an edit the next answer is right within 60 ms. Wall
times are what a client measures; CPU (the server's, with git) tells what a busy machine hides.
`--start`: the CPU of a process up to its first answer, beside `import mcp`, in turn.
"""

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.common.measure import cost, print_table
from benchmarks.common.served import EMPTY, Client, Failed
from benchmarks.search.search_speed import run, word

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
GOAL_START, STARTS = 400, 7

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
    parser.add_argument("--start", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = given.repository or Path(folder) / "pages"
        if not given.repository:
            generate(root)
        if given.start:
            start(root)
        else:
            measure(root, given.rounds, may_edit=not given.repository)


def start(root: Path) -> None:
    """Measure the first answer of a process, once all pages are indexed."""
    with Client(root) as client:
        warm_up(client)
        path = client.call("ubp_list_pages", limit=1)["pages"][0]["filepath"]
    importing = [sys.executable, "-c", "import mcp"]
    questions: dict[str, Arguments] = {
        EMPTY: {},
        "ubp_get_page": {"filepath": path},
        "ubp_list_pages": {},
        "ubp_fulltext_search": {"query": "token"},
        "ubp_search": {"query": "token"},
    }
    imports: list[float] = []
    spent: dict[str, list[float]] = {tool: [] for tool in questions}
    for _ in range(STARTS):
        imports.append(cost(importing, root).cpu_ms)
        for tool, arguments in questions.items():
            with Client(root) as client:
                client.call(tool, **arguments)
                spent[tool].append(client.cpu_ms())
    base = statistics.median(imports)
    rows = [("import mcp", f"{base:.0f}", "")]
    for tool, times in spent.items():
        median = statistics.median(times)
        rows.append(
            (tool, f"{median:.0f}", f"{median - base:.0f} ({min(times) - min(imports):.0f})")
        )
    title = (
        f"Until the first answer of a process, {STARTS} times each (goal: {GOAL_START} ms above)"
    )
    print_table(title, ("first call", "CPU ms", "above import mcp (of the least)"), rows)


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
        before = client.cpu_ms()
        for number in range(EDITS):
            path, new = paths[number * 7 % len(paths)], f"{tool[4:7]}edited{number}"
            file = root / path
            file.write_text(file.read_text("utf-8") + f"\n{new}\n", "utf-8")
            begun = time.perf_counter()
            answer = client.call(tool, **make(path, new))
            wall.append((time.perf_counter() - begun) * 1000)
            if path not in answer["text"] or (tool == "ubp_get_page" and new not in str(answer)):
                raise SystemExit(f"{tool} does not know {new} in {path}")
        cpu = (client.cpu_ms() - before) / EDITS
        rows.append((tool, f"{statistics.median(wall):.1f}", f"{p95(wall):.1f}", f"{cpu:.1f}"))
        subprocess.run(["git", "checkout", "--quiet", "."], cwd=root, check=True)
    title = f"After an edit, {EDITS} times each (goal: {GOAL_AFTER_EDIT} ms)"
    print_table(title, ("tool", "p50 ms", "p95 ms", "CPU ms"), rows)


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
