"""Clients that are killed at random moments and start again: what `*_steady.py` benchmarks share.

Each client is a process that keeps a journal of what was confirmed. All share a clock, which they
advance. What is written has a word that nothing else has, so that a search has one right answer.
"""

import argparse
import hashlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from ubp.server.tools.registry import AnyTool
from ubp.server.tools.tool import call_tool
from ubp.workspace import Workspace

START = 1_800_000_000.0


class SharedClock:
    """A clock in a file, which any client advances."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock"
        self._file.touch()

    def __call__(self) -> float:
        """Each byte of the file is a minute: appending one is atomic."""
        return START + self._file.stat().st_size * 60.0

    def advance(self, minutes: int) -> None:
        """Let time pass."""
        with self._file.open("ab") as file:
            file.write(b"." * minutes)


def word_of(*parts: object) -> str:
    """Return a word that nothing else contains."""
    digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:20]
    return "q" + digest.translate(str.maketrans("0123456789", "ghijklmnop"))


class Client(ABC):
    """One client: its journal, and the checks of what it is answered.

    `operations` are the names of its methods `do_NAME`, and how often each is called.
    """

    operations: ClassVar[Mapping[str, int]]

    def __init__(self, folder: Path, number: int, options: argparse.Namespace) -> None:
        self.folder = folder
        self.number = number
        self.clock = SharedClock(folder)
        self.former: list[str] = []  # words that are nowhere any more
        self.done = 0
        self.lines = 0
        self._journal = folder / f"journal-{number}"
        self._calls = options.calls // options.clients
        self._unsure: dict[str, Any] | None = None
        self._read_journal()
        self.random = random.Random(f"{options.seed} {number} {self.done} {self.lines}")
        self.workspace = Workspace.open(str(self.root), clock=self.clock)

    @property
    @abstractmethod
    def root(self) -> Path:
        """The repository that is served."""

    @abstractmethod
    def apply(self, entry: Mapping[str, Any]) -> None:
        """Remember what was confirmed."""

    @abstractmethod
    def begin(self) -> None:
        """Wait for what a killed process began."""

    @abstractmethod
    def resolve(self, entry: Mapping[str, Any]) -> None:
        """Find out what became of a call that was not confirmed: it happened, or it did not."""

    @abstractmethod
    def check_all(self) -> None:
        """Look for everything that was confirmed, and for everything that is gone."""

    def _read_journal(self) -> None:
        if not self._journal.exists():
            return
        for line in self._journal.read_text().splitlines():
            self.lines += 1
            try:
                entry = json.loads(line)
            except ValueError:  # cut off by a kill
                continue
            if entry["state"] == "begun":
                self._unsure = entry
            else:
                self.apply(entry)
                self._unsure = None
                self.done = entry["done"]

    def log(self, state: str, **entry: Any) -> None:
        """Write to the journal what was begun or confirmed."""
        entry = {"state": state, "done": self.done, **entry}
        with self._journal.open("a") as file:
            file.write(json.dumps(entry) + "\n")
        if state == "confirmed":
            self.apply(entry)

    def call(self, tool: AnyTool, workspace: Workspace, /, **arguments: Any) -> Mapping[str, Any]:
        """Call a tool, timed."""
        return self.timed(
            tool.name, lambda: call_tool(tool, workspace, arguments, agent=workspace.agent).record
        )

    def timed(self, name: str, act: Callable[[], Any]) -> Any:
        """Return what a call returns, and record how long it took."""
        started = time.perf_counter()
        value = act()
        with (self.folder / f"times-{self.number}").open("a") as file:
            file.write(f"{name} {(time.perf_counter() - started) * 1000:.1f}\n")
        return value

    def wrong(self, what: str, **facts: Any) -> None:
        """Record a wrong answer."""
        with (self.folder / f"wrong-{self.number}").open("a") as file:
            file.write(json.dumps({"what": what, "client": self.number, **facts}) + "\n")

    def run(self) -> None:
        """Complete what was begun, and make all calls that are left."""
        self.begin()
        if self._unsure is not None:
            self.resolve(self._unsure)
            self._unsure = None
        names, weights = list(self.operations), list(self.operations.values())
        while self.done < self._calls:
            (name,) = self.random.choices(names, weights)
            if self.random.random() < 0.15:
                self.clock.advance(self.random.randrange(1, 40))
            getattr(self, "do_" + name.replace(" ", "_"))()
            self.done += 1
            if self.done % 10 == 0:
                self.log("confirmed", operation="count")


def make_repository(root: Path, path: str, text: str) -> None:
    """Make a repository with a page."""
    root.mkdir()
    (root / path).write_text(text)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    git = ["git", "-C", str(root)]
    for name, value in (("user.name", "a"), ("user.email", "a@b")):
        subprocess.run([*git, "config", name, value], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "Begin"], check=True)


def run_clients(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Run the clients to their end, killing some; return what was counted."""
    chooser = random.Random(options.seed)

    def start(number: int) -> subprocess.Popen[bytes]:
        command = [sys.executable, sys.argv[0], "--folder", str(folder), "--client", str(number)]
        command += ["--calls", str(options.calls), "--clients", str(options.clients)]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        return subprocess.Popen(
            [*command, "--seed", str(options.seed)], start_new_session=True, env=environment
        )

    running = {number: start(number) for number in range(options.clients)}
    killed, crashes = 0, []
    while running and len(crashes) <= options.clients:
        time.sleep(chooser.uniform(0.05, options.pause))
        for number, process in list(running.items()):
            status = process.poll()
            if status == 0:
                del running[number]
            elif status is not None and status != -signal.SIGKILL:
                crashes.append(f"client {number} ended with {status}")
                running[number] = start(number)
        if killed < options.kills and running:
            number = chooser.choice(list(running))
            if running[number].poll() is None:
                os.kill(running[number].pid, signal.SIGKILL)
                running[number].wait()
                killed += 1
                running[number] = start(number)
    return {"killed": killed, "crashes": crashes}


def read_lines(folder: Path, prefix: str) -> list[str]:
    """Return the lines of all clients' files of one kind."""
    files = sorted(folder.glob(f"{prefix}-*"))
    return [line for file in files for line in file.read_text().splitlines()]


def counts_of(folder: Path, search: str) -> dict[str, Any]:
    """Return how many calls there were, what was wrong, and the times of one tool."""
    times = [line.split() for line in read_lines(folder, "times")]
    searches = sorted(float(spent) for tool, spent in times if tool == search)
    wrong = [json.loads(line) for line in read_lines(folder, "wrong")]
    return {
        "calls": len(times),
        "wrong": len(wrong),
        "first_wrong": wrong[:5],
        "search_p50_ms": statistics.median(searches) if searches else None,
        "search_p95_ms": searches[int(len(searches) * 0.95)] if searches else None,
    }


def main(
    client: type[Client],
    description: str,
    report: Callable[[Path, argparse.Namespace], dict[str, Any]],
) -> int:
    """Run the clients, or one of them, and return the exit status."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--pause", type=float, default=1.5, help="longest pause between kills")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="of a client")
    parser.add_argument("--client", type=int, help="which client this process is")
    options = parser.parse_args()
    if options.client is not None:
        client(options.folder, options.client, options).run()
        return 0
    with tempfile.TemporaryDirectory(prefix="steady-") as folder:
        counts = report(Path(folder), options)
    print(json.dumps(counts, indent=1))
    return int(bool(counts["wrong"] or counts["crashes"] or counts.get("purged_but_found")))
