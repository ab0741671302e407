"""What the hub finds, compared with what UBP finds over SQLite in the same repositories."""

import os
import random
import re
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field

from ubp.core.errors import UbpError
from ubp.core.model import plain_path, repository_of
from ubp.hub.database import Database
from ubp.hub.search import Searcher
from ubp.search.lexical import FileNames
from ubp.search.pages import Mode, PageQuery, SearchContext, Stopwatch, find_pages
from ubp.search.scope import ViewNames
from ubp.search.together import MeaningTogether, Together
from ubp.workspace import Workspace

WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9.]{3,}")
RUN = re.compile("[\u3041-\u30ff\u4e00-\u9fff]{14,}")
LENGTHS = (1, 2, 3, 6, 12)


@dataclass
class Parity:
    """The numbers of queries of each kind, of equal answers, and those that differ."""

    asked: Counter = field(default_factory=Counter)
    same: Counter = field(default_factory=Counter)
    same_first: Counter = field(default_factory=Counter)
    different: list = field(default_factory=list)
    statements: Counter = field(default_factory=Counter)

    @property
    def share(self) -> float:
        return sum(self.same.values()) / max(1, sum(self.asked.values()))


class Oracle:
    """Clones searched as one by UBP over SQLite."""

    def __init__(self, stack: ExitStack, clones: dict) -> None:
        self.workspaces = {
            name: stack.enter_context(Workspace.open(str(root), environment=dict(os.environ)))
            for name, root in sorted(clones.items())
        }
        sessions = {name: workspace.session for name, workspace in self.workspaces.items()}
        self.views = {name: session.view() for name, session in sessions.items()}
        models = {name: session.required_model() for name, session in sessions.items()}
        self.together = Together(self.views)
        self.names = ViewNames(self.together, FileNames(self.together.document_paths()))
        self.meaning = MeaningTogether(
            self.together,
            {name: view.semantic_index(models[name]) for name, view in self.views.items()},
        )

    def find(self, query: PageQuery):
        context = SearchContext(
            self.names,
            None if query.mode == "fulltext" else self.meaning,
            Stopwatch(time.monotonic),
        )
        return find_pages(self.together, query, context)

    def texts(self):
        paths = self.together.document_paths()
        for path, data in self.together.read(paths).items():
            yield path, (data or b"").decode("utf-8", "replace")


def make_queries(oracle: Oracle, number: int, seed: int = 38):
    """Yield queries of eleven kinds."""
    chance = random.Random(seed)
    words, runs, paths = [], [], []
    for path, text in oracle.texts():
        words += WORD.findall(text)[:80]
        runs += RUN.findall(text)[:20]
        paths.append(plain_path(path))
    sections = oracle.together.sections_of(oracle.together.document_paths())
    headings = [part.heading for parts in sections.values() for part in parts if part.heading]
    names = [word for word in words if "_" in word or "." in word] or words
    folders = sorted({path.split("/")[0] for path in paths if "/" in path}) or ["docs"]

    def word() -> str:
        return chance.choice(words)

    def phrase() -> str:
        return '"' + " ".join(chance.choice(headings).split()[:3]).replace('"', "") + '"'

    def run() -> str:
        if not runs:
            return word()
        length = chance.choice(LENGTHS)
        text = chance.choice(runs)
        start = chance.randrange(len(text) - length)
        return text[start : start + length]

    kinds = {
        "heading": lambda: chance.choice(headings),
        "two words": lambda: f"{word()} {word()}",
        "phrase": phrase,
        "prefix": lambda: word()[:4] + "*",
        "exclusion": lambda: f"{word()} -{word()}",
        "AND": lambda: f"{word()} AND {word()}",
        "NOT": lambda: f"{word()} NOT {word()}",
        "group": lambda: f"({word()} OR {word()}) AND {word()}",
        "path": lambda: f"{word()} path:{chance.choice(folders)}",
        "identifier": lambda: chance.choice(names),
        "run": run,
    }
    for kind, make in kinds.items():
        for _ in range(number):
            yield kind, make()


def places(pages):
    return [(repository_of(hit.page.filepath), str(hit.page.filepath)) for hit in pages]


def compare(
    oracle: Oracle, database: Database, searcher: Searcher, queries, mode: Mode = "hybrid"
) -> Parity:
    """Ask the same of both."""
    parity = Parity()
    for kind, text in queries:
        query = PageQuery(text, mode)
        try:
            expected = places(oracle.find(query).pages)
        except UbpError:
            continue
        with database.connection() as connection:
            organisation = searcher.open(connection, "*")
            found = places(searcher.find(organisation, query)[0].pages)
        parity.asked[kind] += 1
        parity.same[kind] += found == expected
        parity.same_first[kind] += found[:1] == expected[:1]
        parity.statements[organisation.statements + 1] += 1
        if found != expected:
            parity.different.append((kind, text, expected, found))
    return parity
