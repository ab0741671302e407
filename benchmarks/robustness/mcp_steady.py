"""Whether servers stay right and lean: many calls of four clients while the ground moves.

    python benchmarks/robustness/mcp_steady.py [--calls 10000]

Each client has a server of its own on one repository. Meanwhile pages are edited and committed,
branches switched, the index is deleted. An answer is wrong if it tells what stood nowhere between
question and answer, or does not tell what stood there all the while. Every tenth call is malformed.
Memory may grow by 20 % after the first tenth of the calls; open files may not be more than any of
the servers had then.
"""

import argparse
import os
import random
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.common.measure import index_of, print_table
from benchmarks.common.served import Client, Failed

CLIENTS, PAGES = 4, 120
SECONDS_BETWEEN_EDITS = 0.05
# Now and then nothing happens for so long that a server may trust what it saw.
SECONDS_OF_QUIET, MOVES_BETWEEN = 3.0, 70
BRANCHES = ("main", "other")
MOST_GROWTH = 1.2
NOT_FOUND, INVALID = -32003, -32602


class Wrong(Exception):  # noqa: N818 - an answer, not a fault of this program
    """An answer that is not true."""


class Told(NamedTuple):
    """A version of a page, and when it stood there."""

    version: str
    since: float
    until: float


class Truth:
    """What stood where, and when: each change has a moment in which both versions are true."""

    def __init__(self, root: Path) -> None:
        """Pages are read from here."""
        self.root = root
        self._told: dict[int, list[Told]] = {page: [] for page in range(PAGES)}
        self._lock = threading.Lock()

    def begin(self, page: int, version: str) -> None:
        """A version is about to appear."""
        with self._lock:
            self._told[page].append(Told(version, time.monotonic(), float("inf")))

    def end(self, page: int) -> None:
        """All but the last version have gone."""
        with self._lock:
            now = time.monotonic()
            *old, last = self._told[page]
            self._told[page] = [
                text._replace(until=min(text.until, now)) for text in old if text.until > now - 60
            ] + [last]

    def during(self, page: int, since: float) -> set[str]:
        """The versions that stood there at some time since then."""
        with self._lock:
            return {text.version for text in self._told[page] if text.until >= since}


class Ground:
    """The repository, and what is done to it."""

    def __init__(self, root: Path, seed: int) -> None:
        """Make it: two branches on which every page says something else."""
        self.root = root
        self.truth = Truth(root)
        self.counts = dict.fromkeys(("edits", "commits", "switches", "deletions"), 0)
        self._chance = random.Random(seed)
        self._number = 0
        self._branch = BRANCHES[0]
        self._versions: dict[str, dict[int, str]] = {}
        git(root, "init", "-q", "-b", BRANCHES[0])
        for branch in BRANCHES:
            if branch != BRANCHES[0]:
                git(root, "switch", "-q", "-c", branch)
            self._versions[branch] = {page: f"v{page}{branch}0" for page in range(PAGES)}
            for page, version in self._versions[branch].items():
                self._write(page, version)
            git(root, "add", ".")
            git(root, "commit", "-qm", branch)
        git(root, "switch", "-q", BRANCHES[0])
        for page, version in self._versions[BRANCHES[0]].items():
            self.truth.begin(page, version)

    def move(self) -> None:
        """Do something."""
        self._number += 1
        if self._number % 200 == 0:
            self.delete_index()
        elif self._number % 60 == 0:
            self.commit()
            self.switch()
        elif self._number % 15 == 0:
            self.commit()
        else:
            self.edit()

    def edit(self) -> None:
        """Save another version of a page."""
        page = self._chance.randrange(PAGES)
        version = f"v{page}{self._branch}{self._number}"
        self._versions[self._branch][page] = version
        with self._changing({page: version}):
            self._write(page, version)
        self.counts["edits"] += 1

    def commit(self) -> None:
        """Commit what was edited."""
        git(self.root, "commit", "-qam", f"Move {self._number}")
        self.counts["commits"] += 1

    def switch(self) -> None:
        """Go to the other branch."""
        self._branch = BRANCHES[1 - BRANCHES.index(self._branch)]
        with self._changing(self._versions[self._branch]):
            git(self.root, "switch", "-q", self._branch)
        self.counts["switches"] += 1

    def delete_index(self) -> None:
        """Take the index away from under all servers."""
        for file in index_of(self.root).parent.glob("index-*"):
            with suppress(FileNotFoundError):
                file.unlink()
        self.counts["deletions"] += 1

    @contextmanager
    def _changing(self, versions: dict[int, str]) -> Iterator[None]:
        for page, version in versions.items():
            self.truth.begin(page, version)
        yield
        for page in versions:
            self.truth.end(page)

    def _write(self, page: int, version: str) -> None:
        file = self.root / path_of(page)
        file.parent.mkdir(exist_ok=True)
        new = file.with_suffix(".new")
        new.write_text(f"# Page {page}\n\n## Now\n\n{version} [[page{(page + 1) % PAGES}]]\n")
        os.replace(new, file)


class Asker(threading.Thread):
    """A client that asks at random and knows what is true."""

    def __init__(self, truth: Truth, calls: int, seed: int, errors: Path) -> None:
        """`calls` is how many it makes."""
        super().__init__()
        self.wrong: list[str] = []
        self.counts: dict[str, int] = {}
        self.before = self.after = (0.0, 0)
        self._truth = truth
        self._calls = calls
        self._chance = random.Random(seed)
        self._errors = errors

    def run(self) -> None:
        """Ask, and compare."""
        with Client(self._truth.root, self._errors) as client:
            for number in range(self._calls):
                ask = self._malformed if number % 10 == 9 else self._chance.choice(ASKS)
                self.counts[ask.__name__] = self.counts.get(ask.__name__, 0) + 1
                try:
                    ask(self, client) if ask in ASKS else self._malformed(client)
                except Wrong as wrong:
                    self.wrong.append(f"{ask.__name__}: {wrong}")
                except Failed as failed:
                    self.wrong.append(f"{ask.__name__}: {failed}")
                if number == self._calls // 10:
                    self.before = client.memory_mb(), client.descriptors()
            self.after = client.memory_mb(), client.descriptors()

    def _page(self, client: Client) -> None:
        page = self._chance.randrange(PAGES)
        begun = time.monotonic()
        try:
            answer = client.call("ubp_get_page", filepath=path_of(page))
        except Failed as failed:
            # While Git switches branches a file is gone for a moment.
            if failed.args[0] == NOT_FOUND and len(self._truth.during(page, begun)) > 1:
                return
            raise
        true = self._truth.during(page, begun)
        if not answer.get("content") and len(true) > 1:
            return  # Git has created the file anew, and not written it yet
        version = answer["content"].split("## Now")[1].split()[0]
        if version not in true:
            raise Wrong(f"page {page} is told as {version}, and was {true}")

    def _words(self, client: Client) -> None:
        self._find(client, "ubp_fulltext_search")

    def _search(self, client: Client) -> None:
        self._find(client, "ubp_search")

    def _find(self, client: Client, tool: str) -> None:
        page = self._chance.randrange(PAGES)
        (version, *_) = self._truth.during(page, time.monotonic())
        begun = time.monotonic()
        found = {page["filepath"] for page in client.call(tool, query=version)["results"]}
        if self._truth.during(page, begun) == {version} and path_of(page) not in found:
            raise Wrong(f"{tool} does not find {version} on page {page}")

    def _list(self, client: Client) -> None:
        begun = time.monotonic()
        total = client.call("ubp_list_pages", limit=5)["total"]
        if total != PAGES and not self._is_switching(begun):
            raise Wrong(f"{total} pages are listed")

    def _context(self, client: Client) -> None:
        page = self._chance.randrange(PAGES)
        begun = time.monotonic()
        try:
            answer = client.call("ubp_get_context", filepath=path_of(page), depth=1)
        except Failed:
            if self._is_switching(begun):
                return
            raise
        near = {page["filepath"] for page in answer["related"]}
        true = {path_of((page + step) % PAGES) for step in (1, -1)}
        if near != true and not self._is_switching(begun):
            raise Wrong(f"around page {page} stand {near}")

    def _is_switching(self, since: float) -> bool:
        several = [page for page in range(PAGES) if len(self._truth.during(page, since)) > 1]
        return len(several) > PAGES // 2

    def _malformed(self, client: Client) -> None:
        kind = self._chance.randrange(4)
        if kind == 0:
            client.say(self._chance.choice([b"{", b"[]", b"\xff", b'{"id": {}}']))
            answer = client.hear()
            if answer["error"]["code"] not in {-32700, -32600}:
                raise Wrong(str(answer))
            return
        calls: list[Callable[[], Any]] = [
            lambda: client.call("nope"),
            lambda: client.call("ubp_get_page", filepath="../../etc/passwd"),
            lambda: client.call("ubp_search", query="", limit="many"),
        ]
        try:
            calls[kind - 1]()
        except Failed as failed:
            if failed.args[0] == INVALID:
                return
            raise
        raise Wrong("a malformed call was answered")


ASKS = (Asker._page, Asker._words, Asker._search, Asker._list, Asker._context)  # noqa: SLF001  # its own


def main() -> None:
    """Print what was counted; exit 1 where something was wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "ground"
        root.mkdir()
        errors = Path(folder) / "stderr"
        ground = Ground(root, given.seed)
        askers = [
            Asker(ground.truth, given.calls // CLIENTS, given.seed + number, errors)
            for number in range(CLIENTS)
        ]
        for asker in askers:
            asker.start()
        begun = time.monotonic()
        while any(asker.is_alive() for asker in askers):
            ground.move()
            is_quiet = sum(ground.counts.values()) % MOVES_BETWEEN == 0
            time.sleep(SECONDS_OF_QUIET if is_quiet else SECONDS_BETWEEN_EDITS)
        seconds = time.monotonic() - begun
        defects = errors.read_text().count(" ERROR ")
    told = ", ".join(f"{number} {name}" for name, number in ground.counts.items())
    print(f"{given.calls} calls in {seconds:.0f} s; meanwhile {told}; {defects} errors logged")
    rows = [line(number, asker) for number, asker in enumerate(askers)]
    print_table("Servers", ("client", "calls", "wrong", "MB", "files"), rows)
    wrong = [error for asker in askers for error in asker.wrong]
    print("\n".join(wrong[:20]))
    most_files = max(asker.before[1] for asker in askers)
    if wrong or defects or any(has_grown(asker, most_files) for asker in askers):
        raise SystemExit(1)


def line(number: int, asker: Asker) -> tuple[str, ...]:
    """A row of the table."""
    (mb, files), (later_mb, later_files) = asker.before, asker.after
    return (
        str(number),
        ", ".join(f"{count} {name.strip('_')}" for name, count in sorted(asker.counts.items())),
        str(len(asker.wrong)),
        f"{mb:.0f} -> {later_mb:.0f} ({later_mb / mb - 1:+.0%})",
        f"{files} -> {later_files}",
    )


def has_grown(asker: Asker, most_files: int) -> bool:
    """Whether a server holds more than it should; `most_files` is what any of them had open."""
    (mb, _), (later_mb, later_files) = asker.before, asker.after
    return later_mb > mb * MOST_GROWTH or later_files > most_files


def path_of(page: int) -> str:
    """Where a page stands."""
    return f"docs/page{page}.md"


def git(root: Path, *arguments: str) -> None:
    """Run git."""
    author = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", *author, *arguments], cwd=root, check=True)


if __name__ == "__main__":
    main()
