"""Clients write, search, delete and purge in one project while they are killed: is anything wrong?

    python benchmarks/robustness/rag_steady.py --calls 10000 --clients 4 --kills 200

Each client is a process that calls the tools of `rag` and keeps a journal of what was confirmed.
All share a project and a clock, which they advance. A text has a word that no other version has, so
that a search for it has one right answer: the document, if it is there and has not expired, or
nothing. Processes are killed (SIGKILL) at random moments and start again from their journals. In
the end all that was confirmed is there, and no byte of what was purged is in any file or object of
the project. Prints the counts as JSON; exit status 1 if anything was wrong.
"""

import argparse
import calendar
import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.robustness import steady
from ubp.core.errors import UbpError
from ubp.core.paths import doc_id
from ubp.kits.rag.resources import read
from ubp.server.tools.registry import load_rows
from ubp.sync.documents import prefix_of

PROJECT = "kb"
DOCUMENTS = 40  # that a client writes again and again
WORDS = ["apple", "bridge", "cloud", "door", "engine", "forest", "garden", "harbor", "island"]
TOOLS = {tool.name: tool for tool in load_rows("rag")}
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


class Client(steady.Client):
    """One client and its documents."""

    operations = OPERATIONS

    def __init__(self, folder: Path, number: int, options: argparse.Namespace) -> None:
        self.versions: dict[int, Version] = {}
        self.purged: list[str] = []
        super().__init__(folder, number, options)

    @property
    def root(self) -> Path:
        """The repository that is served."""
        return self.folder / "repository"

    def apply(self, entry: Mapping[str, Any]) -> None:
        """Remember what was confirmed."""
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

    def ask(self, tool: str, **arguments: Any) -> Mapping[str, Any]:
        """Call a tool of the project."""
        return self.call(TOOLS[tool], self.workspace, **arguments)

    def begin(self) -> None:
        """Wait for what a killed process began."""
        self.ask("rag_sync", project=PROJECT)

    def resolve(self, entry: Mapping[str, Any]) -> None:
        """Find out what became of a call that was not confirmed: it happened, or it did not."""
        document = entry["document"]
        old = self.versions.get(document)
        if entry["operation"] == "put" and self._find(entry["word"]):
            fields = self._find(entry["word"])[0]["metadata"]
            expires = fields.get("expires_at")
            named = {"document": document, "word": entry["word"], "kind": entry["kind"]}
            self.log("confirmed", operation="put", **named, expires=seconds(expires))
        elif old is not None and not self._find(old.word) and self._is_alive(old):
            if entry["operation"] == "put":
                self.wrong("a killed write removed the version before", document=document)
            self.log("confirmed", operation="delete", document=document)
        elif entry["operation"] == "put":
            self.former.append(entry["word"])

    def _find(self, word: str) -> list[Any]:
        found = self.ask("rag_search", query=f'"{word}"', project=PROJECT, search_type="keyword")
        return list(found["results"])

    def _is_alive(self, version: Version) -> bool:
        return version.expires is None or version.expires > self.clock()

    def _id(self, document: int, kind: str) -> str:
        return doc_id(self._path(document, kind), PROJECT)

    def _path(self, document: int, kind: str) -> Any:
        if kind == "import":
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
        word = steady.word_of(self.number, document, self.done, self.lines)
        ttl = self.random.choice([None, None, 1, 2, 8])
        entry = {"operation": "put", "document": document, "word": word, "kind": "external"}
        self.log("begun", **entry)
        metadata = {"source_url": self._url(document), "client": f"c{self.number}"}
        if ttl:
            metadata["ttl_hours"] = ttl
        record = self.ask(
            "rag_external",
            source_type="web",
            content=self._text(word),
            project=PROJECT,
            metadata=metadata,
        )
        if record["document_id"] != self._id(document, "external"):
            self.wrong("another id", document=document)
        self.log("confirmed", **entry, expires=seconds(record.get("expires_at")))

    def do_import(self) -> None:
        """Write a file and index it."""
        document = self.random.randrange(1, DOCUMENTS, 2)
        word = steady.word_of(self.number, document, self.done, self.lines)
        file = self.folder / "papers" / str(self.number) / f"{document}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        entry = {"operation": "put", "document": document, "word": word, "kind": "import"}
        self.log("begun", **entry)
        new = file.with_suffix(".new")
        new.write_text(self._text(word))
        new.replace(file)
        record = self.ask("rag_index", path=str(file), project=PROJECT, update=True)
        if record["indexed_files"] != [self._path(document, "import")]:
            self.wrong("another path", document=document, record=record)
        self.log("confirmed", **entry, expires=None)

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
        self.log("begun", **entry)
        wanted = self._id(document, version.kind)
        try:
            record = self.ask("rag_delete", document_id=wanted, project=PROJECT, purge=purge)
        except UbpError as error:
            if self._is_alive(version):
                self.wrong("a confirmed document cannot be deleted", error=error.message)
            return
        if not record["deleted_ids"] and not self._is_alive(version):
            return  # it has expired, and another client's synchronization removed it
        if record["deleted_ids"] != [wanted]:
            self.wrong("something else was deleted", record=record)
        self.log("confirmed", **entry)

    def do_sync(self) -> None:
        """Synchronize, which removes what has expired."""
        self.ask("rag_sync", project=PROJECT, remove_deleted=True)

    def do_suggest(self) -> None:
        """Ask for what belongs to a text."""
        self.ask("rag_suggest", context=" ".join(self.random.choices(WORDS, k=12)), project=PROJECT)

    def do_document(self) -> None:
        """Read a document by its id."""
        alive = [item for item in self.versions.items() if self._is_alive(item[1])]
        if not alive:
            return
        document, version = self.random.choice(alive)
        try:
            uri = f"rag://document/{self._id(document, version.kind)}"
            record = read(self.workspace.session, uri)
        except UbpError as error:
            if self._is_alive(version):
                self.wrong("a confirmed document cannot be read", error=error.message)
            return
        if version.word not in getattr(record, "content", ""):
            self.wrong("another content", document=document)

    def do_stats(self) -> None:
        """Count the project."""
        read(self.workspace.session, f"rag://stats/{PROJECT}")

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
    return None if not stamp else calendar.timegm(time.strptime(stamp, "%Y-%m-%dT%H:%M:%SZ"))


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


def report(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Run everything and return the counts."""
    (folder / "papers").mkdir()
    config = folder / "rag.yaml"
    config.write_text("roots: [papers]\n")
    os.environ |= {
        "UBP_COLLECTIONS": str(folder / "collections"),
        "RAG_CONFIG_PATH": str(config),
    }
    steady.make_repository(folder / "repository", "README.md", "# Served\n")
    creator = Client(folder, options.clients, options)
    creator.do_external()
    counts = steady.run_clients(folder, options)
    clients = [Client(folder, number, options) for number in range(options.clients)]
    for client in clients:
        client.run()  # completes what was begun
    for client in clients:
        client.check_all()
    purged = [word for client in clients for word in client.purged]
    left = list(find_bytes(folder, purged))
    root = folder / "collections" / f"{PROJECT}.git"
    subprocess.run(["git", "--git-dir", str(root), "fsck", "--no-dangling"], check=True)
    return {
        **counts,
        **steady.counts_of(folder, "rag_search"),
        "confirmed_documents": sum(len(client.versions) for client in clients),
        "gone_documents": sum(len(client.former) for client in clients),
        "purged": len(purged),
        "purged_but_found": left,
    }


if __name__ == "__main__":
    sys.exit(steady.main(Client, __doc__ or "", report))
