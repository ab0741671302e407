"""Clients save bookmarks, ask and propose notes while they are killed: is anything wrong?

    python benchmarks/robustness/notes_steady.py --calls 4000 --clients 4 --kills 80

All clients import into one collection, each from an export of its own: it adds, changes and removes
bookmarks, synchronizes, and calls the tools of `notes`. A bookmark has a word that no other one
has: a search and a question for it find this one or nothing, and the trends of a client's category
count exactly its bookmarks. In a repository of its own a client also proposes notes, as agents do,
and accepts them, as people do; none is found before. Processes are killed (SIGKILL) at random
moments and start again from their journals. In the end all that was confirmed is there. Prints the
counts as JSON; exit status 1 if anything was wrong.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.robustness import steady
from ubp.core.errors import UbpError
from ubp.core.model import ignore_progress
from ubp.edits.model import Agent
from ubp.edits.review import accept
from ubp.index.collections import CollectionReference, SyncResult
from ubp.kits.notes.note import day_of
from ubp.server.tools.registry import load_rows
from ubp.sync.repositories import Context
from ubp.sync.run import AddRequest, add_collection, plan_collection, sync_collections
from ubp.workspace import Workspace

NOTES = "saved"
BOOKMARKS = 40  # that a client saves again and again
WORDS = ["apple", "bridge", "cloud", "door", "engine", "forest", "garden", "harbor", "island"]
TOOLS = {tool.name: tool for tool in (*load_rows("notes"), *load_rows("edit"))}
BUSY = "is being changed by another process"


class Bookmark(NamedTuple):
    """What a bookmark was confirmed to be; `saved` in seconds."""

    word: str
    saved: int


class Client(steady.Client):
    """One client, its bookmarks and its proposed notes."""

    operations = {  # noqa: RUF012  # a constant
        "search": 30,
        "search absent": 12,
        "ask": 14,
        "trends": 8,
        "recommend": 8,
        "save": 16,
        "remove": 4,
        "sync": 3,
        "propose": 5,
    }

    def __init__(self, folder: Path, number: int, options: argparse.Namespace) -> None:
        self.bookmarks: dict[int, Bookmark] = {}
        self.accepted: list[str] = []
        super().__init__(folder, number, options)

    @property
    def root(self) -> Path:
        """The repository that is served."""
        return self.folder / f"served-{self.number}"

    @property
    def category(self) -> str:
        """The folder of its bookmarks."""
        return f"c{self.number}"

    def apply(self, entry: Mapping[str, Any]) -> None:
        """Remember what was confirmed."""
        number = entry.get("bookmark")
        if entry["operation"] == "save":
            if old := self.bookmarks.get(number):
                self.former.append(old.word)
            self.bookmarks[number] = Bookmark(entry["word"], entry["saved"])
        elif entry["operation"] == "remove":
            self.former.append(self.bookmarks.pop(number).word)
        elif entry["operation"] == "accept":
            self.accepted.append(entry["word"])

    def begin(self) -> None:
        """Synchronize what a killed process exported, and clean up as a person would."""
        for lock in (self.root / ".git").rglob("*.lock"):
            lock.unlink()
        subprocess.run(["git", "-C", str(self.root), "reset", "-q", "--hard"], check=True)
        self._synchronize()

    def resolve(self, entry: Mapping[str, Any]) -> None:
        """Find out what became of a call that was not confirmed: it happened, or it did not."""
        facts = {key: entry[key] for key in ("bookmark", "word", "saved") if key in entry}
        old = self.bookmarks.get(entry.get("bookmark", -1))
        if entry["operation"] == "accept":
            is_done = bool(self._find(self.workspace, entry["word"]))
        elif entry["operation"] == "save":
            is_done = bool(self._find_saved(entry["word"]))
            if not is_done and old and not self._find_saved(old.word):
                self.wrong("a killed import removed the version before", word=old.word)
        else:
            is_done = old is not None and not self._find_saved(old.word)
        if is_done:
            self.log("confirmed", operation=entry["operation"], **facts)
        elif "word" in entry:
            self.former.append(entry["word"])

    def _notes(self) -> Workspace:
        return self.workspace.kept_collection(NOTES)

    def _find(self, workspace: Workspace, word: str, **filters: str) -> list[Any]:
        found = self.call(TOOLS["search"], workspace, query=f'"{word}"', filters=filters)
        return list(found["results"])

    def _find_saved(self, word: str) -> list[Any]:
        return self._find(self._notes(), word)

    def _url(self, number: int) -> str:
        return f"https://{self.category}.example/{number}"

    def _export(self, bookmarks: Mapping[int, Bookmark]) -> None:
        """Write an export, in place of the one before at once."""
        lines = [
            f'<DT><A HREF="{self._url(number)}" ADD_DATE="{saved}" TAGS="{self.category},all">'
            f"{escape(f'About {word}')}</A>\n<DD>{' '.join(WORDS[: number % 9 + 1])} {word}\n"
            for number, (word, saved) in bookmarks.items()
        ]
        text = (
            "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<H1>Bookmarks</H1>\n<DL><p>\n"
            f"<DT><H3>{self.category}</H3>\n<DL><p>\n{''.join(lines)}</DL><p>\n</DL><p>\n"
        )
        file = self.folder / "exports" / f"{self.number}.html"
        new = file.with_suffix(".new")
        new.write_text(text)
        new.replace(file)

    def _synchronize(self) -> None:
        context = context_at(self.folder)

        def synchronize() -> SyncResult:
            references = [CollectionReference(NOTES, "")]
            while True:
                (result,) = sync_collections(
                    references, (), context, is_updating=True, is_dry=False
                )
                if not any(BUSY in problem.reason for problem in result.problems):
                    return result
                time.sleep(0.05)

        result = self.timed("sync", synchronize)
        reasons = [problem.reason for problem in result.problems]
        if result.outcome not in {"updated", "unchanged"}:
            self.wrong("not synchronized", outcome=result.outcome, reasons=reasons)

    def do_save(self) -> None:
        """Save a bookmark, new or changed, and import the export."""
        number = self.random.randrange(BOOKMARKS)
        word = steady.word_of(self.number, number, self.done, self.lines)
        bookmark = Bookmark(word, int(self.clock()))
        entry = {"operation": "save", "bookmark": number, **bookmark._asdict()}
        self.log("begun", **entry)
        self._export({**self.bookmarks, number: bookmark})
        self._synchronize()
        self.log("confirmed", **entry)

    def do_remove(self) -> None:
        """Remove a bookmark, and import the export."""
        if len(self.bookmarks) < 2:  # an export without bookmarks is none
            return
        number = self.random.choice(list(self.bookmarks))
        entry = {"operation": "remove", "bookmark": number}
        self.log("begun", **entry)
        self._export({key: value for key, value in self.bookmarks.items() if key != number})
        self._synchronize()
        self.log("confirmed", **entry)

    def do_sync(self) -> None:
        """Synchronize without a change of one's own."""
        self._synchronize()

    def do_search(self) -> None:
        """Search for a bookmark that is there, in its category."""
        if self.bookmarks:
            number, (word, _) = self.random.choice(list(self.bookmarks.items()))
            found = self._find(self._notes(), word, category=self.category)
            if [note["url"] for note in found] != [self._url(number)]:
                self.wrong("a confirmed bookmark is not found", word=word)
            if self._find(self._notes(), word, category="other"):
                self.wrong("a bookmark of another category is found", word=word)

    def do_search_absent(self) -> None:
        """Search for what was replaced or removed, and for what was never accepted."""
        if self.former:
            word = self.random.choice(self.former)
            if self._find_saved(word) or self._find(self.workspace, word):
                self.wrong("a deleted note is found", word=word)

    def do_ask(self) -> None:
        """Ask about a bookmark: its text is the best passage."""
        if self.bookmarks:
            number, (word, _) = self.random.choice(list(self.bookmarks.items()))
            answer = self.call(TOOLS["ask"], self._notes(), question=f"What is {word} about?")
            urls = [source["url"] for source in answer["sources"]]
            if urls[:1] != [self._url(number)]:
                self.wrong("another answer", word=word, own=self._url(number), urls=urls)
            gone = {*self.former}.intersection(
                part for source in answer["sources"] for part in source["text"].split()
            )
            if gone:
                self.wrong("an answer quotes a deleted note", words=sorted(gone))

    def do_trends(self) -> None:
        """Count the bookmarks of a period in one's own category."""
        found = self.call(TOOLS["trends"], self._notes(), period="1w", category=self.category)
        first, last = found["dateRange"]["from"], found["dateRange"]["to"]
        own = sum(first <= day_of(saved) <= last for _, saved in self.bookmarks.values())
        if found["notes"] != own:
            self.wrong("another number of notes", found=found["notes"], own=own)

    def do_recommend(self) -> None:
        """Ask for what meets a need that one bookmark meets."""
        if self.bookmarks:
            number, (word, _) = self.random.choice(list(self.bookmarks.items()))
            found = self.call(
                TOOLS["recommend"], self._notes(), project_context="A project", needs=[word]
            )
            if self._url(number) not in {each.get("url") for each in found["recommendations"]}:
                self.wrong("not recommended", word=word)

    def do_propose(self) -> None:
        """Propose a note, and accept it."""
        word = steady.word_of("proposed", self.number, self.done, self.lines)
        entry = {"operation": "accept", "word": word}
        self.log("begun", **entry)
        self.workspace.agent = Agent("benchmark", str(self.number))
        try:
            proposed = self.call(
                TOOLS["ubp_create_page"],
                self.workspace,
                filepath=f"{word}.md",
                content=f"# About {word}\n\n{word} {' '.join(WORDS)}\n",
                reason="A note",
            )
            if self._find(self.workspace, word):
                self.wrong("a proposal is found before it is accepted", word=word)
            number = proposed["proposal"]["id"]
            self.timed("accept", lambda: accept(self.workspace.session, number))
        except UbpError as error:
            self.wrong("a note cannot be proposed", error=error.message, cause=error.cause)
            return
        if not self._find(self.workspace, word):
            self.wrong("an accepted note is not found", word=word)
        self.log("confirmed", **entry)

    def check_all(self) -> None:
        """Look for everything that was confirmed, and for everything that is gone."""
        for number, (word, _) in self.bookmarks.items():
            if [note["url"] for note in self._find_saved(word)] != [self._url(number)]:
                self.wrong("lost at the end", word=word)
        for word in self.accepted:
            if not self._find(self.workspace, word):
                self.wrong("an accepted note is lost at the end", word=word)
        for word in {*self.former}:
            if self._find_saved(word) or self._find(self.workspace, word):
                self.wrong("a deleted note is found at the end", word=word)


def context_at(folder: Path) -> Context:
    """Return how the collection is written."""
    return Context(
        str(folder / "collections"), os.environ, ignore_progress, steady.SharedClock(folder)
    )


def report(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Run everything and return the counts."""
    os.environ["UBP_COLLECTIONS"] = str(folder / "collections")
    exports = folder / "exports"
    exports.mkdir()
    for number in range(options.clients + 1):
        steady.make_repository(folder / f"served-{number}", "README.md", "# Notes\n")
    first = Client(folder, options.clients, options)
    first._export({0: Bookmark(steady.word_of("first"), int(steady.START))})  # noqa: SLF001  # ours
    context = context_at(folder)
    collection = plan_collection(AddRequest(NOTES, str(exports), include=("*.html",)), context)
    add_collection(collection, "", context)
    counts = steady.run_clients(folder, options)
    clients = [Client(folder, number, options) for number in range(options.clients)]
    for client in clients:
        client.run()  # completes what was begun
    for client in clients:
        client.check_all()
    root = folder / "collections" / f"{NOTES}.git"
    subprocess.run(["git", "--git-dir", str(root), "fsck", "--no-dangling"], check=True)
    return {
        **counts,
        **steady.counts_of(folder, "search"),
        "bookmarks": sum(len(client.bookmarks) for client in clients),
        "accepted_notes": sum(len(client.accepted) for client in clients),
        "gone": sum(len(client.former) for client in clients),
    }


if __name__ == "__main__":
    sys.exit(steady.main(Client, __doc__ or "", report))
