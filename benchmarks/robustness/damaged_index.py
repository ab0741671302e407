"""What a damaged index does to the answers: flipped bytes, cut files and swapped pages.

python benchmarks/robustness/damaged_index.py [--rounds 2000] [--seed 7] [--silent]

In each round a sound index is damaged and ten questions are asked, in every fourth round by a
workspace that had it open. Each answer is compared with that of the sound index; afterwards an
eleventh question, to a new workspace, must be right without a warning. Damage that a program writes
is noticed by the file's times; --silent hides it from that check, as a failing disk would, so that
only the checksums of rows are left.
Exits 1 where a verdict, a link or a text was wrong, or a failure lasted.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.common.measure import Shape, generate, index_of, print_table
from ubp.answers.checks.check import CheckRequest
from ubp.answers.pages.get_context import ContextRequest
from ubp.answers.pages.get_graph import GraphRequest
from ubp.answers.pages.get_page import PageRequest
from ubp.answers.pages.impact import ImpactRequest
from ubp.answers.pages.list_pages import ListPagesRequest
from ubp.answers.staleness.stale import report_stale
from ubp.core.errors import ask_again_if_damaged
from ubp.index.session import Target
from ubp.index.store.file import write_stamp
from ubp.search.pages import PageQuery
from ubp.search.run import search_pages
from ubp.workspace import Workspace

NOW = 1_700_000_000.0
PAGES, LINKS = 40, 4
SERVED_EVERY = 4
TOPICS = (
    "account archive balance branch bucket cache channel cluster column commit cursor database "
    "deploy event filter folder gateway header index invoice journal kernel ledger lookup "
    "message metric mirror network object packet parser payment policy queue record region "
    "report request schema script secret server session signal socket storage stream table "
    "tenant thread token "
)
Ask = Callable[[Workspace], Any]

QUESTIONS: dict[str, Ask] = {
    "stale": lambda workspace: report_stale(workspace.session, Target(), every=True).pages,
    "stale at HEAD~3": lambda workspace: report_stale(workspace.session, Target("HEAD~3")).pages,
    "check": lambda workspace: workspace.ask(CheckRequest()).findings,
    "page and its links": lambda workspace: workspace.ask(PageRequest("page_0003.md")),
    "context": lambda workspace: workspace.ask(ContextRequest("page_0005.md")),
    "graph": lambda workspace: workspace.ask(GraphRequest()),
    "impact": lambda workspace: workspace.ask(ImpactRequest("docs/area07/page_0007.md")),
    "list of pages": lambda workspace: workspace.ask(ListPagesRequest()),
    "search by words": lambda workspace: [
        found_pages(workspace, word, "fulltext") for word in ("ledger", '"payment policy"', "token")
    ],
    "search by meaning": lambda workspace: found_pages(workspace, "money transfer", "semantic"),
}
# A search may miss a hit; anything else must be right.
SEARCHES = frozenset({"search by words", "search by meaning"})


class Outcome(NamedTuple):
    """What came of one damage: the questions with another answer, and what was noticed."""

    wrong: tuple[str, ...]
    noticed: bool
    lasting: bool


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--silent", action="store_true", help="hide the damage from file times")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        write_project(root)
        bench = Bench(root, is_silent=options.silent)
        outcomes: dict[str, list[Outcome]] = {name: [] for name in DAMAGES}
        begun = time.monotonic()
        with suppress(KeyboardInterrupt):  # the rounds until then count
            for number in range(options.rounds):
                name = chance.choices(list(DAMAGES), weights=[3, 1, 1])[0]
                damaged = DAMAGES[name](bench.content, chance)
                outcome = bench.round(damaged, is_served=number % SERVED_EVERY == 0)
                outcomes[name].append(outcome)
                if outcome.lasting or set(outcome.wrong) - SEARCHES:
                    print(f"round {number}, {name}: {outcome}", file=sys.stderr, flush=True)
    print_table(
        f"{sum(map(len, outcomes.values()))} damages, {len(QUESTIONS)} questions each,"
        f" {time.monotonic() - begun:.0f} s, {len(bench.content) // 1024} KB",
        ["damage", "times", "noticed", "wrong verdict, link, text", "search missed", "lasting"],
        [row(name, found) for name, found in outcomes.items()],
    )
    wrong = Counter(
        name for found in outcomes.values() for outcome in found for name in outcome.wrong
    )
    print("\nBy question:", dict(wrong) or "none")
    failed = any(
        outcome.lasting or set(outcome.wrong) - SEARCHES
        for found in outcomes.values()
        for outcome in found
    )
    sys.exit(failed)


def row(name: str, outcomes: Sequence[Outcome]) -> list[str]:
    """One line of the table: of how many damages which was true."""
    return [
        name,
        str(len(outcomes)),
        str(sum(outcome.noticed for outcome in outcomes)),
        str(sum(bool(set(outcome.wrong) - SEARCHES) for outcome in outcomes)),
        str(sum(bool(set(outcome.wrong) & SEARCHES) for outcome in outcomes)),
        str(sum(outcome.lasting for outcome in outcomes)),
    ]


class Bench:
    """A project, its sound index, and the right answers."""

    def __init__(self, root: Path, *, is_silent: bool) -> None:
        self._root = root
        self._is_silent = is_silent
        self._index = index_of(root)
        self._warnings: list[str] = []
        with self._open() as workspace:
            self._right = {name: plain(ask(workspace)) for name, ask in QUESTIONS.items()}
        with self._open() as workspace:
            self._model = workspace.session.model()  # held, so that it is loaded only once
            assert self._right == {name: plain(ask(workspace)) for name, ask in QUESTIONS.items()}
        self._files = {path.name: path.read_bytes() for path in self._index.parent.iterdir()}
        self.content = self._files[self._index.name]

    def round(self, damaged: bytes, *, is_served: bool) -> Outcome:
        """Damage the index and ask."""
        self._restore()
        self._warnings.clear()
        workspace = self._open()
        if is_served:
            QUESTIONS["stale"](workspace)
        else:
            workspace.close()
        self._damage(damaged)
        asker = Asker(self._open, workspace if is_served else None)
        wrong = [name for name, ask in QUESTIONS.items() if asker.ask(ask) != self._right[name]]
        asker.close()
        noticed = bool(self._warnings)
        for _ in range(2):  # what served the old pages from memory is noticed by the next process
            self._warnings.clear()
            asker = Asker(self._open, None)
            answer = asker.ask(QUESTIONS["stale"])
            asker.close()
        lasting = answer != self._right["stale"] or bool(self._warnings)
        return Outcome(tuple(wrong), noticed, lasting)

    def _open(self) -> Workspace:
        return Workspace.open(str(self._root), warn=self._warnings.append, clock=lambda: NOW)

    def _restore(self) -> None:
        for path in self._index.parent.iterdir():
            path.unlink()
        for name, content in self._files.items():
            (self._index.parent / name).write_bytes(content)
        hide(self._index)

    def _damage(self, damaged: bytes) -> None:
        with self._index.open("r+b") as file:
            file.write(damaged)
            file.truncate(len(damaged))
        if self._is_silent:
            hide(self._index)


class Asker:
    """Asks as the command line and the server do: again after damage, in a new workspace."""

    def __init__(self, open_one: Callable[[], Workspace], workspace: Workspace | None) -> None:
        self._open = open_one
        self._workspace = workspace

    def ask(self, ask: Ask) -> Any:
        """Return the answer in plain values, or the error's text."""
        try:
            return ask_again_if_damaged(lambda: plain(ask(self._current())), self.close)
        except Exception:  # noqa: BLE001  # a wrong answer, too
            return traceback.format_exc()

    def close(self) -> None:
        """Close the workspace."""
        if self._workspace is not None:
            self._workspace.close()
            self._workspace = None

    def _current(self) -> Workspace:
        if self._workspace is not None and self._workspace.session.is_outdated():
            self.close()
        if self._workspace is None:
            self._workspace = self._open()
        return self._workspace


def hide(index: Path) -> None:
    """Make the index look as UBP left it."""
    write_stamp(str(index))


def flip(content: bytes, chance: random.Random) -> bytes:
    """Change one byte."""
    place = chance.randrange(len(content))
    return b"".join(
        [content[:place], bytes([content[place] ^ chance.randrange(1, 256)]), content[place + 1 :]]
    )


def cut(content: bytes, chance: random.Random) -> bytes:
    """Cut the end off, at the end of a page or anywhere."""
    size = chance.randrange(len(content))
    return content[: size // 4096 * 4096 if chance.random() < 0.5 else size]


def swap(content: bytes, chance: random.Random) -> bytes:
    """Exchange two pages."""
    pages = [content[start : start + 4096] for start in range(0, len(content), 4096)]
    first, second = chance.sample(range(len(pages)), 2)
    pages[first], pages[second] = pages[second], pages[first]
    return b"".join(pages)


DAMAGES = {"flipped byte": flip, "cut off": cut, "swapped pages": swap}


def found_pages(workspace: Workspace, query: str, mode: Any) -> list[Any]:
    """Which pages a search finds, with their sections."""
    return search_pages(workspace.session, PageQuery(query, mode, 5)).answer.pages


def plain(value: Any) -> str:
    """An answer as text: sets sorted, objects by their fields."""
    return json.dumps(value, default=simplify, sort_keys=True)


def simplify(value: Any) -> Any:
    """Return what JSON can represent."""
    if isinstance(value, (set, frozenset)):
        return sorted(map(plain, value))
    if isinstance(value, bytes):
        return value.hex()
    if hasattr(value, "__dict__"):
        return {k: v for k, v in vars(value).items() if not k.startswith("_")}
    return {name: getattr(value, name) for name in value.__slots__}


def write_project(root: Path) -> None:
    """Generate a repository whose pages link to each other and are about different things."""
    generate(root, Shape(PAGES, references=2, sources=60, commits=25))
    chance, topics = random.Random(7), TOPICS.split()
    pages = sorted(root.glob("docs/*/*.md"))
    for page in pages:
        words = " ".join(chance.choices(topics, k=60))
        links = " ".join(f"[[{other.stem}]]" for other in chance.sample(pages, LINKS))
        text = f"\n## About {chance.choice(topics)}\n\n{words}.\n\nSee {links} and [[nowhere]].\n"
        page.write_text(page.read_text() + text)
    commit = ["git", "commit", "--quiet", "--all", "--no-verify", "-m", "Link the pages"]
    subprocess.run(commit, cwd=root, check=True)
    pages[0].write_text(pages[0].read_text() + "\nNot committed.\n")


if __name__ == "__main__":
    main()
