"""Clients write, search, delete and purge in one project while they are killed: is anything wrong?

    python benchmarks/rag_steady.py --calls 10000 --clients 4 --kills 200

Each client is a process that calls the tools of `rag` and keeps a journal of what was confirmed.
All share a project and a clock, which they advance. A text has a word that no other version has, so
that a search for it has one right answer: the document, if it is there and has not expired, or
nothing. Processes are killed (SIGKILL) at random moments and start again from their journals. In
the end all that was confirmed is there, and no byte of what was purged is in any file or object of
the project. Prints the counts as JSON; exit status 1 if anything was wrong.
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
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ubp.core.errors import UbpError
from ubp.core.paths import doc_id
from ubp.server.projects import read_project_resource
from ubp.server.tools.registry import load_rag
from ubp.server.tools.tool import call_tool
from ubp.workspace import Workspace

PROJECT = "kb"
START = 1_800_000_000.0
DOCUMENTS = 40  # that a client writes again and again
WORDS = ["apple", "bridge", "cloud", "door", "engine", "forest", "garden", "harbor", "island"]
OPERATIONS = {
    "search": 46,
    "search absent": 14,
    "external": 20,
    "import": 5,
    "delete": 5,
    "purge": 1,
    "sync": 3,
    "suggest": 2,
    "document": 2,
    "stats": 2,
}


class Version(NamedTuple):
    """What a document was confirmed to be; `expires` in seconds, None: never."""

    word: str
    kind: str
    expires: float | None


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
    """Return a word that no other version contains."""
    digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:20]
    return "q" + digest.translate(str.maketrans("0123456789", "ghijklmnop"))


class Client:
    """One client: its documents, its journal, and the checks of what it is answered."""

    def __init__(self, folder: Path, number: int, calls: int, seed: int) -> None:
        self.folder = folder
        self.number = number
        self.calls = calls
        self.clock = SharedClock(folder)
        self.journal = folder / f"journal-{number}"
        self.tools = {tool.name: tool for tool in load_rag()}
        self.versions: dict[int, Version] = {}
        self.former: list[str] = []
        self.purged: list[str] = []
        self.done = 0
        self.unsure: dict[str, Any] | None = None
        self._read_journal()
        self.random = random.Random(f"{seed} {number} {self.done} {self._lines}")
        self.workspace = Workspace.open(str(folder / "repository"), clock=self.clock)

    def _read_journal(self) -> None:
        self._lines = 0
        if not self.journal.exists():
            return
        for line in self.journal.read_text().splitlines():
            self._lines += 1
            try:
                entry = json.loads(line)
            except ValueError:  # cut off by a kill
                continue
            if entry["state"] == "begun":
                self.unsure = entry
            else:
                self._apply(entry)
                self.unsure = None
                self.done = entry["done"]

    def _apply(self, entry: Mapping[str, Any]) -> None:
        document = entry.get("document")
        if entry["operation"] == "put":
            if (old := self.versions.get(document)) and old.word != entry["word"]:
                self.former.append(old.word)
            self.versions[document] = Version(entry["word"], entry["kind"], entry["expires"])
        elif entry["operation"] in {"delete", "purge"}:
            if old := self.versions.pop(document, None):
                self.former.append(old.word)
            if entry["operation"] == "purge":
                self.purged += entry["words"]

    def _log(self, state: str, **entry: Any) -> None:
        entry = {"state": state, "done": self.done, **entry}
        with self.journal.open("a") as file:
            file.write(json.dumps(entry) + "\n")
        if state == "confirmed":
            self._apply(entry)

    def call(self, tool: str, **arguments: Any) -> Mapping[str, Any]:
        """Call a tool, timed."""
        started = time.perf_counter()
        record = call_tool(self.tools[tool], self.workspace, arguments).record
        with (self.folder / f"times-{self.number}").open("a") as file:
            file.write(f"{tool} {(time.perf_counter() - started) * 1000:.1f}\n")
        return record

    def wrong(self, what: str, **facts: Any) -> None:
        """Record a wrong answer."""
        with (self.folder / f"wrong-{self.number}").open("a") as file:
            file.write(json.dumps({"what": what, "client": self.number, **facts}) + "\n")

    def run(self) -> None:
        """Make all calls that are left."""
        self.call("rag_sync", project=PROJECT)  # waits for what a killed process began
        if self.unsure is not None:
            self._resolve(self.unsure)
        names, weights = list(OPERATIONS), list(OPERATIONS.values())
        while self.done < self.calls:
            (name,) = self.random.choices(names, weights)
            if self.random.random() < 0.15:
                self.clock.advance(self.random.randrange(1, 40))
            getattr(self, "do_" + name.replace(" ", "_"))()
            self.done += 1
            if self.done % 10 == 0:
                self._log("confirmed", operation="count")

    def _resolve(self, entry: Mapping[str, Any]) -> None:
        """Find out what became of a call that was not confirmed: it happened, or it did not."""
        document = entry["document"]
        old = self.versions.get(document)
        if entry["operation"] == "put" and self._find(entry["word"]):
            fields = self._find(entry["word"])[0]["metadata"]
            expires = fields.get("expires_at")
            named = {"document": document, "word": entry["word"], "kind": entry["kind"]}
            self._log("confirmed", operation="put", **named, expires=seconds(expires))
        elif old is not None and not self._find(old.word) and self._is_alive(old):
            if entry["operation"] == "put":
                self.wrong("a killed write removed the version before", document=document)
            self._log("confirmed", operation="delete", document=document)
        elif entry["operation"] == "put":
            self.former.append(entry["word"])
        self.unsure = None

    def _find(self, word: str) -> list[Any]:
        found = self.call("rag_search", query=f'"{word}"', project=PROJECT, search_type="keyword")
        return list(found["results"])

    def _is_alive(self, version: Version) -> bool:
        return version.expires is None or version.expires > self.clock()

    def _id(self, document: int, kind: str) -> str:
        return doc_id(self._path(document, kind), PROJECT)

    def _path(self, document: int, kind: str) -> Any:
        if kind == "import":
            from ubp.sync.documents import prefix_of

            folder = os.path.realpath(self.folder / "papers" / str(self.number))
            return f"{prefix_of(folder)}{document}.md"
        digest = hashlib.sha1(f"{self._url(document)}\0".encode(), usedforsecurity=False)
        return f"external/web/{digest.hexdigest()[:20]}.md"

    def _url(self, document: int) -> str:
        return f"https://c{self.number}.example/{document}"

    def _text(self, word: str) -> str:
        chosen = " ".join(self.random.choices(WORDS, k=30))
        return f"# About {word}\n\n{chosen} {word}.\n\n## More\n\n{chosen}\n"

    def do_external(self) -> None:
        """Write a document, new or again, sometimes with an expiry."""
        document = self.random.randrange(0, DOCUMENTS, 2)
        word = word_of(self.number, document, self.done, self._lines)
        ttl = self.random.choice([None, None, 1, 2, 8])
        entry = {"operation": "put", "document": document, "word": word, "kind": "external"}
        self._log("begun", **entry)
        metadata = {"source_url": self._url(document), "client": f"c{self.number}"}
        if ttl:
            metadata["ttl_hours"] = ttl
        record = self.call(
            "rag_external",
            source_type="web",
            content=self._text(word),
            project=PROJECT,
            metadata=metadata,
        )
        if record["document_id"] != self._id(document, "external"):
            self.wrong("another id", document=document)
        self._log("confirmed", **entry, expires=seconds(record.get("expires_at")))

    def do_import(self) -> None:
        """Write a file and index it."""
        document = self.random.randrange(1, DOCUMENTS, 2)
        word = word_of(self.number, document, self.done, self._lines)
        file = self.folder / "papers" / str(self.number) / f"{document}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        entry = {"operation": "put", "document": document, "word": word, "kind": "import"}
        self._log("begun", **entry)
        new = file.with_suffix(".new")
        new.write_text(self._text(word))
        new.replace(file)
        record = self.call("rag_index", path=str(file), project=PROJECT, update=True)
        if record["indexed_files"] != [self._path(document, "import")]:
            self.wrong("another path", document=document, record=record)
        self._log("confirmed", **entry, expires=None)

    def do_search(self) -> None:
        """Search for a document that is there."""
        alive = [item for item in self.versions.items() if self._is_alive(item[1])]
        if not alive:
            return
        document, version = self.random.choice(alive)
        found = self._find(version.word)
        ids = {hit["document_id"] for hit in found}
        if self._is_alive(version) and ids != {self._id(document, version.kind)}:
            self.wrong("a confirmed document is not found", document=document, word=version.word)
        if any(version.word not in hit["text"] for hit in found[:1]):
            self.wrong("another text", document=document)

    def do_search_absent(self) -> None:
        """Search for what was replaced, deleted, purged, or has expired."""
        expired = [v.word for v in self.versions.values() if not self._is_alive(v)]
        absent = [*self.former, *expired]
        if absent:
            word = self.random.choice(absent)
            if self._find(word):
                self.wrong("a deleted document is found", word=word)

    def do_delete(self) -> None:
        """Delete a document."""
        self._delete(purge=False)

    def do_purge(self) -> None:
        """Delete a document from the history, too."""
        self._delete(purge=True)

    def _delete(self, *, purge: bool) -> None:
        alive = [item for item in self.versions.items() if self._is_alive(item[1])]
        if not alive:
            return
        document, version = self.random.choice(alive)
        operation = "purge" if purge else "delete"
        entry = {"operation": operation, "document": document, "words": [version.word]}
        self._log("begun", **entry)
        wanted = self._id(document, version.kind)
        try:
            record = self.call("rag_delete", document_id=wanted, project=PROJECT, purge=purge)
        except UbpError as error:
            if self._is_alive(version):
                self.wrong("a confirmed document cannot be deleted", error=error.message)
            return
        if record["deleted_ids"] != [wanted]:
            self.wrong("something else was deleted", record=record)
        self._log("confirmed", **entry)

    def do_sync(self) -> None:
        """Synchronize, which removes what has expired."""
        self.call("rag_sync", project=PROJECT, remove_deleted=True)

    def do_suggest(self) -> None:
        """Ask for what belongs to a text."""
        self.call(
            "rag_suggest", context=" ".join(self.random.choices(WORDS, k=12)), project=PROJECT
        )

    def do_document(self) -> None:
        """Read a document by its id."""
        alive = [item for item in self.versions.items() if self._is_alive(item[1])]
        if not alive:
            return
        document, version = self.random.choice(alive)
        try:
            record = read_project_resource(
                self.workspace, f"rag://document/{self._id(document, version.kind)}"
            )
        except UbpError as error:
            if self._is_alive(version):
                self.wrong("a confirmed document cannot be read", error=error.message)
            return
        if version.word not in getattr(record, "content", ""):
            self.wrong("another content", document=document)

    def do_stats(self) -> None:
        """Count the project."""
        read_project_resource(self.workspace, f"rag://stats/{PROJECT}")

    def check_all(self) -> None:
        """Search for everything that was confirmed, and for everything that is gone."""
        for document, version in self.versions.items():
            found = self._find(version.word)
            if bool(found) != self._is_alive(version):
                self.wrong("at the end", document=document, found=len(found))
        for word in set(self.former):
            if self._find(word):
                self.wrong("a deleted document is found at the end", word=word)


def seconds(stamp: str | None) -> float | None:
    """Return a time of an answer in seconds."""
    import calendar

    return None if not stamp else calendar.timegm(time.strptime(stamp, "%Y-%m-%dT%H:%M:%SZ"))


def start(folder: Path, number: int, options: argparse.Namespace) -> subprocess.Popen[bytes]:
    """Start a client's process."""
    command = [sys.executable, __file__, "--folder", str(folder), "--client", str(number)]
    command += ["--calls", str(options.calls // options.clients), "--seed", str(options.seed)]
    return subprocess.Popen(command, start_new_session=True, env=environment(folder))


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of all processes."""
    config = folder / "rag.yaml"
    config.write_text("roots: [papers]\n")
    return {
        **os.environ,
        "UBP_COLLECTIONS": str(folder / "collections"),
        "RAG_CONFIG_PATH": str(config),
        "PYTHONPATH": str(Path(__file__).parent.parent),
    }


def prepare(folder: Path) -> None:
    """Create the repository that is served, and the folder of papers."""
    (folder / "papers").mkdir()
    root = folder / "repository"
    root.mkdir()
    (root / "README.md").write_text("# Served\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "Begin"], check=True)


def run_clients(folder: Path, options: argparse.Namespace) -> tuple[int, list[str]]:
    """Run the clients to their end, killing some; return how many were killed, and crashes."""
    chooser = random.Random(options.seed)
    running = {number: start(folder, number, options) for number in range(options.clients)}
    killed, crashes = 0, []
    while running:
        time.sleep(chooser.uniform(0.05, options.pause))
        for number, process in list(running.items()):
            status = process.poll()
            if status == 0:
                del running[number]
            elif status is not None and status != -signal.SIGKILL:
                crashes.append(f"client {number} ended with {status}")
                running[number] = start(folder, number, options)
                if len(crashes) > options.clients:
                    return killed, crashes
        if killed < options.kills and running:
            number = chooser.choice(list(running))
            if running[number].poll() is None:
                os.kill(running[number].pid, signal.SIGKILL)
                running[number].wait()
                killed += 1
                running[number] = start(folder, number, options)
    return killed, crashes


def find_bytes(folder: Path, words: list[str]) -> Iterator[str]:
    """Yield the words that any file or Git object of the collection still contains."""
    root = folder / "collections" / f"{PROJECT}.git"
    contents = [path.read_bytes() for path in root.rglob("*") if path.is_file()]
    objects = subprocess.run(
        ["git", "--git-dir", str(root), "cat-file", "--batch-all-objects", "--batch"],
        capture_output=True,
        check=True,
    ).stdout
    for word in words:
        needle = word.encode()
        if needle in objects or any(needle in content for content in contents):
            yield word


def read_lines(folder: Path, prefix: str) -> list[str]:
    """Return the lines of all clients' files of one kind."""
    files = sorted(folder.glob(f"{prefix}-*"))
    return [line for file in files for line in file.read_text().splitlines()]


def report(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Run everything and return the counts."""
    prepare(folder)
    os.environ.update(environment(folder))
    creator = Client(folder, options.clients, 0, options.seed)
    creator.do_external()
    killed, crashes = run_clients(folder, options)
    clients = [Client(folder, number, 0, options.seed) for number in range(options.clients)]
    for client in clients:
        client.run()  # completes what was begun
    for client in clients:
        client.check_all()
    purged = [word for client in clients for word in client.purged]
    left = list(find_bytes(folder, purged))
    root = folder / "collections" / f"{PROJECT}.git"
    subprocess.run(["git", "--git-dir", str(root), "fsck", "--no-dangling"], check=True)
    times = [line.split() for line in read_lines(folder, "times")]
    searches = sorted(float(spent) for tool, spent in times if tool == "rag_search")
    wrong = [json.loads(line) for line in read_lines(folder, "wrong")]
    return {
        "calls": len(times),
        "killed": killed,
        "wrong": len(wrong),
        "first_wrong": wrong[:5],
        "crashes": crashes,
        "confirmed_documents": sum(len(client.versions) for client in clients),
        "gone_documents": sum(len(client.former) for client in clients),
        "purged": len(purged),
        "purged_but_found": left,
        "search_p50_ms": statistics.median(searches) if searches else None,
        "search_p95_ms": searches[int(len(searches) * 0.95)] if searches else None,
    }


def main() -> int:
    """Run the clients, or one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--pause", type=float, default=1.5, help="longest pause between kills")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="of a client")
    parser.add_argument("--client", type=int, help="which client this process is")
    options = parser.parse_args()
    if options.client is not None:
        Client(options.folder, options.client, options.calls, options.seed).run()
        return 0
    with tempfile.TemporaryDirectory(prefix="rag-steady-") as folder:
        counts = report(Path(folder), options)
    print(json.dumps(counts, indent=1))
    return int(bool(counts["wrong"] or counts["crashes"] or counts["purged_but_found"]))


if __name__ == "__main__":
    sys.exit(main())
