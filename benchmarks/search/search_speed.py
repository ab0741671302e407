"""What a search costs: warm in every mode, beside numpy and FTS5, and as a process of its own.

    python benchmarks/search/search_speed.py [REPOSITORY] [--pages 1000]

Without a repository one is made, with five sections a page, in English and in Japanese: 1,000 pages
have 5,000 sections, 20,000 have 100,000. It is asked one to four words that stand in it, runs,
sentences, prefixes, phrases, and words of no page; a repository that is given its own headings and
sentences. The references are asked the same: a plain product of as many vectors with one and the
best ten of it, and FTS5's own ranking of the same words. Milliseconds are CPU of this thread, for
other programs may run; numpy's are kept in one.
"""

import argparse
import os
import random
import resource
import sqlite3
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

from benchmarks.common.measure import UBP, cost, index_of, median, print_table
from ubp.answers.search.search import SearchRequest
from ubp.index.store.fulltext import write_fts5
from ubp.index.view import View
from ubp.search.pages import Mode, PageQuery, SearchContext, Stopwatch, find_pages
from ubp.search.query import make_match, read_query
from ubp.search.run import file_names
from ubp.workspace import Workspace

SECTIONS, WORDS = 5, 60
QUERIES = 60  # of each kind
TIMES = 5
QUERY = "token expiry"
DIMENSIONS = 256
MODES: tuple[Mode, ...] = ("fulltext", "semantic", "hybrid")
# As in English prose (Zipf, Mandelbrot): the first word is every thirtieth.
FREQUENCIES = list(accumulate(1 / (rank + 2.7) for rank in range(20_000)))
STOP_WORDS = 30
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "in", "o", "ur")]
KANJI = 3000  # those that Japanese prose uses


class Taken(NamedTuple):
    """What a number of questions took, in milliseconds."""

    times: list[float]

    @property
    def p50(self) -> float:
        """The median."""
        return statistics.median(self.times)

    @property
    def p95(self) -> float:
        """What 95 % of them do not exceed."""
        return statistics.quantiles(self.times, n=20)[-1]


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", nargs="?", type=Path)
    parser.add_argument("--pages", default=1000, type=int)
    arguments = parser.parse_args()
    if arguments.repository:
        measure(arguments.repository, is_generated=False)
        return
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder), arguments.pages)
        measure(Path(folder), is_generated=True)


def measure(root: Path, *, is_generated: bool) -> None:
    """Ask cold, then warm: a process that is started counts its parent's memory for a moment."""
    subprocess.run([UBP, "search", QUERY], cwd=root, check=True, stdout=subprocess.DEVNULL)
    print_table("As a process of its own", ["", "ms of CPU", "MB"], list(ask_cold(root)))
    with Workspace.open(str(root)) as workspace:
        view = workspace.session.view()
        print(f"\n{view.count_documents()} pages, {view.full_text().size()} sections")
        chance = random.Random(7)
        kinds = dict(made_up(chance) if is_generated else taken_from(view, chance))
        references = ask_references(root, view, kinds)
        rows = [row(name, taken) for name, taken in references.items()]
        least = references["numpy"].p95 + references["FTS5"].p95
        for mode in MODES:
            taken = ask(workspace, view, mode, kinds)
            rows += [row(f"{mode}: {kind}", timing) for kind, timing in taken.items()]
            every = Taken([time for timing in taken.values() for time in timing.times])
            rows.append([*row(f"**{mode}**", every), f"{every.p95 / least:.1f}"])
        rows.append(row("hybrid, git status and staleness too", ask_workspace(workspace, kinds)))
    head = ["warm, ten pages", "p50 ms", "p95 ms", "p95 / (numpy + FTS5)"]
    print_table("", head, [[*cells, *[""] * (4 - len(cells))] for cells in rows])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nMemory, model and both references included: {peak:.0f} MB at most")


def ask_cold(root: Path) -> Iterator[list[str]]:
    """The command as a process of its own."""
    for command in (["search"], ["search", "--mode", "fulltext"], ["search", "--fulltext"]):
        spent = median([cost([UBP, *command, QUERY], root) for _ in range(TIMES)])
        yield [" ".join(command), f"{spent.cpu_ms:.0f}", f"{spent.peak_mb:.0f}"]


def row(name: str, taken: Taken) -> list[str]:
    """A row of the table."""
    return [name, f"{taken.p50:.1f}", f"{taken.p95:.1f}"]


def ask(
    workspace: Workspace, view: View, mode: Mode, kinds: dict[str, list[str]]
) -> dict[str, Taken]:
    """Ask a view that is open."""
    meaning = (
        view.semantic_index(workspace.session.required_model()) if mode != "fulltext" else None
    )
    names = file_names(view)

    def search(text: str) -> None:
        find_pages(view, PageQuery(text, mode), SearchContext(names, meaning, Stopwatch(time.time)))

    return {kind: time_each(search, asked) for kind, asked in kinds.items()}


def ask_workspace(workspace: Workspace, kinds: dict[str, list[str]]) -> Taken:
    """Ask as the command line and agents do; git's own CPU is not this process's."""
    asked = random.Random(7).sample([text for texts in kinds.values() for text in texts], 100)
    return time_each(lambda text: workspace.ask(SearchRequest(text)), asked)


def ask_references(root: Path, view: View, kinds: dict[str, list[str]]) -> dict[str, Taken]:
    """What the same questions cost where nothing but the best ten are looked for."""
    asked = [text for texts in kinds.values() for text in texts]
    full_text = view.full_text()
    matrix = np.random.default_rng(7).random((full_text.size(), DIMENSIONS), dtype=np.float32)

    def multiply(_: str) -> None:
        cosines = matrix @ matrix[0]
        best = np.argpartition(-cosines, 10)[:10]
        best[np.argsort(-cosines[best])]

    with closing(sqlite3.connect(index_of(root))) as connection:
        connection.execute("PRAGMA mmap_size=268435456")
        expressions = []
        for text in asked:
            tree = read_query(text).tree
            if tree:
                match = make_match(tree, lambda term: full_text.has(term.phrase))
                expressions.append(write_fts5(match.match))

        def match_words(expression: str) -> None:
            sql = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 10"
            connection.execute(sql, [expression]).fetchall()

        return {
            "numpy": time_each(multiply, asked),
            "FTS5": time_each(match_words, expressions),
        }


def time_each(work: Callable[[str], object], asked: Sequence[str]) -> Taken:
    """How long each takes; the first ones are asked before, to warm up."""
    for text in asked[:5]:
        work(text)
    times = []
    for text in asked:
        begun = time.thread_time()
        work(text)
        times.append((time.thread_time() - begun) * 1000)
    return Taken(times)


def made_up(chance: random.Random) -> Iterator[tuple[str, list[str]]]:
    """Queries of each kind for a generated repository."""
    make: dict[str, Callable[[], str]] = {
        "word": lambda: word(chance, is_asked=True),
        "words": lambda: " ".join(word(chance, is_asked=True) for _ in range(chance.randint(2, 4))),
        "stop word": lambda: word(chance),
        "question": lambda: " ".join(word(chance) for _ in range(8)),
        "run": lambda: run(chance, 2),
        "sentence": lambda: f"{run(chance, 4)}の{run(chance, 4)}はどこですか",
        "prefix": lambda: word(chance, is_asked=True)[:3] + "*",
        "phrase": lambda: f'"{word(chance)} {word(chance)}"',
        "absent": lambda: f"zz{chance.randint(0, 999)}",
    }
    for kind, make_query in make.items():
        yield kind, [make_query() for _ in range(QUERIES)]


def taken_from(view: View, chance: random.Random) -> Iterator[tuple[str, list[str]]]:
    """Headings and sentences of a repository's own pages."""
    paths = chance.sample(view.document_paths(), min(500, view.count_documents()))
    sections = view.link_graph().sections_of(paths)
    headings = [
        section.heading for found in sections.values() for section in found if section.heading
    ]
    lines = [
        line.strip()
        for data in view.read(paths).values()
        for line in (data or b"").decode("utf-8", "replace").splitlines()
        if 20 < len(line) < 120
    ]
    yield "heading", chance.choices(headings, k=QUERIES)
    yield "sentence", chance.choices(lines, k=QUERIES)


def generate(root: Path, pages: int) -> None:
    """Write and commit the pages."""
    chance = random.Random(7)
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    names = [f"{page % 100}/{page}-{word(chance)}" for page in range(pages)]
    for name in names:
        lines = [f"# {word(chance)} {word(chance)}", "", f"See [[{chance.choice(names)}]].", ""]
        for _ in range(SECTIONS):
            lines += [f"## {word(chance)} {run(chance, 4)}", ""]
            lines += [" ".join(word(chance) for _ in range(WORDS)), "", run(chance, WORDS), ""]
        file = root / f"{name}.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text("\n".join(lines), "utf-8")
    subprocess.run(["git", "-C", str(root), "add", "."], check=True)
    author = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", "-C", str(root), *author, "commit", "-qm", "Begin"], check=True)


def word(chance: random.Random, *, is_asked: bool = False) -> str:
    """A word of a text, or of a query: those leave out what every text has."""
    number = chance.choices(range(len(FREQUENCIES)), cum_weights=FREQUENCIES)[0]
    while is_asked and number < STOP_WORDS:
        number = chance.choices(range(len(FREQUENCIES)), cum_weights=FREQUENCIES)[0]
    syllables = []
    while number or not syllables:
        number, syllable = divmod(number, len(SYLLABLES))
        syllables.append(SYLLABLES[syllable])
    return "".join(syllables)


def run(chance: random.Random, length: int) -> str:
    """A run of kanji."""
    numbers = chance.choices(range(KANJI), cum_weights=FREQUENCIES[:KANJI], k=length)
    return "".join(chr(0x4E00 + number) for number in numbers)


if __name__ == "__main__":
    main()
