"""How long calls wait for each other on a large repository: made-up pages, one server, one client.

    python benchmarks/agents/large_server.py [--pages 100000] [--root FOLDER] [--pairs [CALL]]

A long call (missing links, the graph, lists of all pages, all that is stale) is sent first and a
short one (a page) 0.3 s later. What the short one waits for is its time less its time alone. A long
call is then cancelled: what counts is what CPU time the server uses until it is idle.

Waits depend on what else the machine does. What does not is the CPU time between two checkpoints of
a call, at which it can be cancelled and gives way: it is measured in this process. `--root` keeps
the repository and its index for the next run.

`--pairs` measures memory instead: missing links of all pages and each of the long calls run at
once, in a server that waits until both have ended, however busy the machine is. With the name of a
call, only that pair runs.
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
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.common.measure import print_table
from benchmarks.common.served import TICKS, Client
from ubp.core.interruption import interruptible
from ubp.server.tools.registry import select_tools
from ubp.server.tools.tool import call_tool
from ubp.workspace import Workspace

WORDS, SOURCES = 8000, 200
SECONDS_BEFORE = 0.3
ROUNDS = 5
SECONDS_IDLE = 0.2
SECONDS_TO_END = 3600.0
PAGE = {"filepath": "docs/a01/b0/page-1.md"}
LONG_CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "list of all pages": ("ubp_list_pages", {}),
    "the same by date": ("ubp_list_pages", {"sort": "created_at"}),
    "search": ("ubp_search", {"query": "payment of an invoice"}),
    "graph of all pages": ("ubp_get_graph", {}),
    "what is stale": ("ubp_check_staleness", {}),
    "impact of a source": ("ubp_get_impact", {"path": "src/m0.py"}),
    "missing links of a page": ("ubp_suggest_links", PAGE),
    "missing links of all pages": ("ubp_suggest_links", {}),
}
LONGEST = "missing links of all pages"


def main() -> None:
    """Make the repository, and measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--root", type=Path)
    parser.add_argument(
        "--pairs",
        nargs="?",
        const="all",
        choices=("all", *LONG_CALLS),
        help="measure memory of two calls at once",
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = options.root or Path(folder)
        if not (root / ".git").exists():
            make_repository(root, options.pages)
            subprocess.run(["ubp", "-C", root, "reindex"], check=True, stdout=subprocess.DEVNULL)
        if options.pairs:
            with Client(root, seconds_to_wait=SECONDS_TO_END) as client:
                measure_pairs(client, LONG_CALLS if options.pairs == "all" else (options.pairs,))
            return
        print_stretches(root)
        with Client(root) as client:
            measure(client)


def print_stretches(root: Path) -> None:
    """Print the longest CPU time between two checkpoints of each call, first and repeated."""
    tools = {tool.name: tool for tool in select_tools()}
    rows = []
    with Workspace.open(str(root)) as workspace:
        for name, (tool, arguments) in LONG_CALLS.items():
            cells = []
            for _ in range(2):
                stretches = Stretches()
                with interruptible(stretches.end_one):
                    started = time.thread_time()
                    call_tool(tools[tool], workspace, arguments)
                stretches.end_one()
                cells += [time.thread_time() - started, stretches.longest]
            rows.append((name, *(f"{seconds * 1000:.0f} ms" for seconds in cells)))
            print(*rows[-1], flush=True)
    header = ("call", "first: CPU", "longest stretch", "again: CPU", "longest stretch")
    print_table("CPU between two checkpoints, in one process", header, rows)


class Stretches:
    """The longest CPU time of this thread between two calls of `end_one`."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._began = time.thread_time()

    def end_one(self) -> None:
        """Begin the next one."""
        now = time.thread_time()
        self.longest = max(self.longest, now - self._began)
        self._began = now


def measure(client: Client) -> None:
    """Print how long a short call waits for each long one, and how cancelled ones end."""
    memory = Memory(client.process.pid)
    timed(client)
    wait_until_idle(client, 2.0)  # the server reads all vectors and dates
    alone = statistics.median(timed(client) for _ in range(ROUNDS))
    rows = []
    for name, (tool, arguments) in LONG_CALLS.items():
        waits = [wait_behind(client, tool, arguments) - alone for _ in range(ROUNDS)]
        ends = [cancel(client, tool, arguments) for _ in range(ROUNDS)]
        cells = (statistics.median(waits), max(waits), max(ends))
        rows.append((name, *(f"{max(0, seconds) * 1000:.0f} ms" for seconds in cells)))
        print(*rows[-1], flush=True)
    header = ("long call", "wait of a page, median", "longest", "CPU after a cancellation, most")
    print_table(f"A page alone: {alone * 1000:.0f} ms", header, rows)
    print(f"Most memory: {memory.stop() / 1e6:.0f} MB")


def measure_pairs(client: Client, names: Iterable[str]) -> None:
    """Print the memory of the server while the longest call and another one run to their ends."""
    memory = Memory(client.process.pid)
    timed(client)
    wait_until_idle(client, 2.0)  # the server reads all vectors and dates
    print(f"Ready: {memory.take_most() / 1e6:.0f} MB", flush=True)
    rows = []
    for name in names:
        tool, arguments = LONG_CALLS[name]
        started = time.perf_counter()
        longest, other = f"longest-{next(NUMBERS)}", f"other-{next(NUMBERS)}"
        client.say(request(longest, *LONG_CALLS[LONGEST]))
        time.sleep(SECONDS_BEFORE)
        client.say(request(other, tool, arguments))
        seconds = {}
        while len(seconds) < len((longest, other)):
            message = client.hear()
            if message.get("id") in {longest, other}:
                if "error" in message or message["result"].get("isError"):
                    raise SystemExit(f"{name}: {message}")
                seconds[message["id"]] = time.perf_counter() - started
        ends = (f"{seconds[other]:.1f} s", f"{seconds[longest]:.1f} s")
        rows.append((name, *ends, f"{memory.take_most() / 1e6:.0f} MB"))
        print(*rows[-1], flush=True)
    header = ("call", "ended after", f"{LONGEST} after", "most memory")
    print_table(f"Two calls at once: {LONGEST}, and", header, rows)
    print(f"Most memory: {memory.stop() / 1e6:.0f} MB")


def timed(client: Client) -> float:
    """Return the seconds of a short call."""
    started = time.perf_counter()
    client.call("ubp_get_page", **PAGE)
    return time.perf_counter() - started


def wait_behind(client: Client, tool: str, arguments: dict[str, Any]) -> float:
    """Return the seconds of a short call while a long one runs, which is then cancelled."""
    number, short = f"long-{next(NUMBERS)}", f"short-{next(NUMBERS)}"
    client.say(request(number, tool, arguments))
    time.sleep(SECONDS_BEFORE)
    started = time.perf_counter()
    client.say(request(short, "ubp_get_page", PAGE))
    hear_until(client, short)
    waited = time.perf_counter() - started
    end(client, number)
    return waited


def cancel(client: Client, tool: str, arguments: dict[str, Any]) -> float:
    """Return for how many CPU seconds the server works on after a call was cancelled."""
    number = f"cancelled-{next(NUMBERS)}"
    client.say(request(number, tool, arguments))
    time.sleep(SECONDS_BEFORE)
    return end(client, number)


def end(client: Client, number: str) -> float:
    """Cancel a call, and return what CPU seconds the server uses until it is idle."""
    params = {"requestId": number}
    client.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
    before = own_cpu_ms(client)
    used = wait_until_idle(client, SECONDS_IDLE) - before
    ping = f"ping-{next(NUMBERS)}"
    client.say({"jsonrpc": "2.0", "id": ping, "method": "ping"})
    hear_until(client, ping)  # the call may have been answered just before
    return used / 1000


def wait_until_idle(client: Client, seconds: float) -> float:
    """Return the server's CPU milliseconds when it has used none for so many seconds."""
    used, last = own_cpu_ms(client), time.perf_counter()
    while time.perf_counter() - last < seconds:
        time.sleep(0.01)
        if (now := own_cpu_ms(client)) > used:
            last, used = time.perf_counter(), now
    return used


def own_cpu_ms(client: Client) -> float:
    """Return the server's CPU time without git's, which counts as a whole when git has ended."""
    fields = Path(f"/proc/{client.process.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) * 1000 / TICKS


def hear_until(client: Client, number: str) -> None:
    """Read messages up to an answer."""
    while client.hear().get("id") != number:
        pass


def request(number: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a request for a tool."""
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


class Memory:
    """The most memory that a process uses, sampled in a thread."""

    def __init__(self, pid: int) -> None:
        """Begin to sample."""
        self._statm = Path(f"/proc/{pid}/statm")
        self._most = 0
        self._latest_most = 0
        self._is_stopped = False
        self._thread = threading.Thread(target=self._sample)
        self._thread.start()

    def take_most(self) -> int:
        """Return the most bytes since the last time."""
        latest, self._latest_most = self._latest_most, 0
        return latest

    def stop(self) -> int:
        """Return the most bytes so far."""
        self._is_stopped = True
        self._thread.join()
        return self._most

    def _sample(self) -> None:
        page = os.sysconf("SC_PAGE_SIZE")
        while not self._is_stopped:
            with suppress(OSError):  # the process has ended
                used = int(self._statm.read_text().split()[1]) * page
                self._most, self._latest_most = (
                    max(self._most, used),
                    max(self._latest_most, used),
                )
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
