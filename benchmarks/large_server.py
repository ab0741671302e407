"""How long calls wait for each other on a large repository: made-up pages, one server, one client.

    python benchmarks/large_server.py [--pages 100000] [--root FOLDER]

A long call (missing links between all pages, the graph, the list of all pages) is sent first and a
short one (a page) 0.3 s later. What the short one waits for is its time less its time alone. A long
call is then cancelled: what counts is how long the server goes on to use the processor for it.
`--root` keeps the repository and its index for the next run.
"""

import argparse
import itertools
import os
import random
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measure import print_table
from served import Client

WORDS, SOURCES = 8000, 200
SECONDS_BEFORE = 0.3
ROUNDS = 3
PAGE = {"filepath": "docs/a01/b0/page-1.md"}
LONG_CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "missing links of all pages": ("ubp_suggest_links", {}),
    "graph of all pages": ("ubp_get_graph", {}),
    "list of all pages": ("ubp_list_pages", {}),
    "impact of a source": ("ubp_get_impact", {"path": "src/m0.py"}),
}


def main() -> None:
    """Make the repository, and measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--root", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = options.root or Path(folder)
        if not (root / ".git").exists():
            make_repository(root, options.pages)
            subprocess.run(["ubp", "-C", root, "reindex"], check=True, stdout=subprocess.DEVNULL)
        with Client(root) as client:
            measure(client)


def measure(client: Client) -> None:
    """Print how long a short call waits for each long one, and how cancelled ones end."""
    memory = Memory(client.process.pid)
    for _ in range(2):  # the first call opens the index
        alone = statistics.median(timed(client) for _ in range(ROUNDS))
    rows = []
    for name, (tool, arguments) in LONG_CALLS.items():
        started = time.perf_counter()
        client.call(tool, **arguments)
        whole = time.perf_counter() - started
        waits = [wait_behind(client, tool, arguments, alone) for _ in range(ROUNDS)]
        ends = [cancel(client, tool, arguments) for _ in range(ROUNDS)]
        cells = (whole, statistics.median(waits), max(waits), max(ends))
        rows.append((name, *(f"{seconds * 1000:.0f} ms" for seconds in cells)))
        print(*rows[-1], flush=True)
    header = (
        "long call",
        "alone",
        "wait of a page, median",
        "most",
        "end after a cancellation, most",
    )
    print_table(f"A page alone: {alone * 1000:.0f} ms", header, rows)
    print(f"Most memory: {memory.stop() / 1e6:.0f} MB")


def timed(client: Client) -> float:
    """Return the seconds of a short call."""
    started = time.perf_counter()
    client.call("ubp_get_page", **PAGE)
    return time.perf_counter() - started


def wait_behind(client: Client, tool: str, arguments: dict[str, Any], alone: float) -> float:
    """Return by how many seconds a short call takes longer while a long one runs."""
    number = f"long-{next(NUMBERS)}"
    client.say(request(number, tool, arguments))
    time.sleep(SECONDS_BEFORE)
    short = f"short-{next(NUMBERS)}"
    started = time.perf_counter()
    client.say(request(short, "ubp_get_page", PAGE))
    answered: set[Any] = set()
    waited = 0.0
    while not {number, short} <= answered:
        answered.add(client.hear().get("id"))
        if short in answered and not waited:
            waited = time.perf_counter() - started
    return max(0.0, waited - alone)


def cancel(client: Client, tool: str, arguments: dict[str, Any]) -> float:
    """Return for how many seconds the server works on after a call was cancelled."""
    number = f"cancelled-{next(NUMBERS)}"
    client.say(request(number, tool, arguments))
    time.sleep(SECONDS_BEFORE)
    params = {"requestId": number}
    client.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
    cancelled, last, used = time.perf_counter(), time.perf_counter(), cpu_ticks(client.process.pid)
    while time.perf_counter() - last < 0.15:  # a tick takes 0.01 s
        time.sleep(0.01)
        if (now := cpu_ticks(client.process.pid)) > used:
            last, used = time.perf_counter(), now
    return last - cancelled


def request(number: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a request for a tool."""
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def cpu_ticks(pid: int) -> int:
    """Return the processor time of a process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15]))


class Memory:
    """The most memory that a process uses, sampled in a thread."""

    def __init__(self, pid: int) -> None:
        """Begin to sample."""
        self._statm = Path(f"/proc/{pid}/statm")
        self._most = 0
        self._is_stopped = False
        self._thread = threading.Thread(target=self._sample)
        self._thread.start()

    def stop(self) -> int:
        """Return the most bytes so far."""
        self._is_stopped = True
        self._thread.join()
        return self._most

    def _sample(self) -> None:
        page = os.sysconf("SC_PAGE_SIZE")
        while not self._is_stopped:
            self._most = max(self._most, int(self._statm.read_text().split()[1]) * page)
            time.sleep(0.05)


def make_repository(root: Path, pages: int) -> None:
    """Write a repository of made-up pages: three links each, every twentieth with a source."""
    rng = random.Random(7)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(rng.choices(letters, k=rng.randint(3, 10))) for _ in range(WORDS)]
    weights = list(itertools.accumulate(1 / (rank + 5) for rank in range(WORDS)))

    def text(count: int) -> str:
        return " ".join(rng.choices(words, cum_weights=weights, k=count))

    def files() -> Iterator[tuple[str, str]]:
        for number in range(SOURCES):
            yield f"src/m{number}.py", f"def f{number}(): pass\n"
        for number in range(pages):
            source = f"---\nsource_refs:\n  - src/m{number % SOURCES}.py\n---\n"
            near, far = (number + rng.randint(1, 9)) % pages, rng.randrange(pages)
            links = " ".join(
                f"[{text(1)}](/{page_path(target)})" for target in (near, far, far // 2)
            )
            body = f"# {text(3)} {number}\n\n{text(40)}. {links}\n\n## {text(2)}\n\n{text(50)}.\n"
            yield page_path(number), (source if number % 20 == 0 else "") + body

    root.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", root], check=True)
    importer = subprocess.Popen(
        ["git", "-C", root, "fast-import", "--quiet"], stdin=subprocess.PIPE, text=True
    )
    assert importer.stdin
    importer.stdin.write("commit refs/heads/main\ncommitter A <a@example.com> 1700000000 +0000\n")
    importer.stdin.write("data 5\nfirst\n")
    for path, content in files():
        importer.stdin.write(f"M 100644 inline {path}\ndata {len(content)}\n{content}\n")
    importer.stdin.close()
    importer.wait()
    subprocess.run(["git", "-C", root, "reset", "--quiet", "--hard", "main"], check=True)


def page_path(number: int) -> str:
    """Return the path of a page."""
    return f"docs/a{number % 100:02}/b{number // 100 % 10}/page-{number}.md"


NUMBERS = itertools.count()

if __name__ == "__main__":
    main()
