"""How long links and full text take to learn, to move and to ask: CPU beside git and bare Python.

python benchmarks/search/index_speed.py [--repeat 5] [REPOSITORY ...]

A REPOSITORY is cloned first; its own folder is not touched.
"""

import argparse
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common.measure import (
    Cost,
    Shape,
    cost,
    forget_index,
    generate,
    index_of,
    median,
    print_table,
)
from ubp.core.text import segment_cjk
from ubp.index.match import Phrase
from ubp.index.session import Session
from ubp.index.store.fulltext import RowMatch

PAGES = Shape(pages=1000, references=1, sources=50, commits=2)
QUERIES = 400
LIMIT = 20

# Latin words and Japanese ones of two to four characters.
WORDS = [
    f"{first}{second}{third}"
    for first in ("se", "to", "認", "流", "ro", "設", "pa", "検")
    for second in ("ssi", "ken", "証", "れ", "ute", "定", "ge", "索", "mer", "化")
    for third in ("", "on", "の", "er", "s", "で", "ing", "者", "ed", "部")
]
random.Random(7).shuffle(WORDS)

OPEN_GRAPH = """
from ubp.search.graph import open_graph
from ubp.index.session import Session
with Session.open(".") as session:
    open_graph(session.view()).buckets()
"""
LEARN = [sys.executable, "-c", OPEN_GRAPH]
STATUS = ["git", "--no-optional-locks", "status", "--porcelain=v2", "--untracked-files=all"]
BARE = [sys.executable, "-c", "pass"]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("repositories", nargs="*", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        generated(Path(folder) / "pages", options.repeat)
        for repository in options.repositories:
            clone = Path(folder) / "clone"
            subprocess.run(["git", "clone", "-q", repository.resolve(), clone], check=True)
            real(repository.name, clone, options.repeat)
            shutil.rmtree(clone)


def generated(root: Path, repeat: int) -> None:
    """1,000 pages of 2 KB; ten of them edited, ten committed; the full text at 5,000 sections."""
    generate(root, PAGES)
    give_sections(root)
    rows = [
        reference("bare Python", BARE, root, repeat),
        reference("git status", STATUS, root, repeat),
    ]
    rows.append(row("first sight", median([cold(root) for _ in range(repeat)])))
    rows.append(reference("nothing changed", LEARN, root, repeat))
    edited, committed = [], []
    for number in range(repeat):
        edit(root, number)
        edited.append(cost(LEARN, root))
        subprocess.run(["git", "commit", "-qam", "Edit"], cwd=root, check=True)
        committed.append(cost(LEARN, root))
    rows.append(row("10 pages edited", median(edited)))
    rows.append(row("the same, then committed", median(committed)))
    table("1,000 pages of 2 KB, 5,000 sections", rows)
    queries(root)


def real(name: str, root: Path, repeat: int) -> None:
    """A clone of a real repository."""
    first = cold(root)
    rows = [
        reference("git status", STATUS, root, repeat),
        row("first sight", first),
        reference("nothing changed", LEARN, root, repeat),
    ]
    size = index_of(root).stat().st_size
    table(f"{name}: database {size / 1e6:.0f} MB", rows)
    queries(root)


def cold(root: Path) -> Cost:
    """Learn everything from nothing."""
    forget_index(root)
    return cost(LEARN, root)


def give_sections(root: Path) -> None:
    """Write pages of 2 KB with five sections each, and links between them."""
    chance = random.Random(7)
    files = sorted((root / "docs").rglob("*.md"))
    for file in files:
        sections = [
            f"## Part {part}\n\n{sentence(chance, chance.randint(20, 70))}"
            f" [[{chance.choice(files).stem}]]\n"
            for part in range(5)
        ]
        head = file.read_text("utf-8").partition("# Page")[0]
        file.write_text(f"{head}# {file.stem}\n\n" + "\n".join(sections), "utf-8")
    subprocess.run(["git", "commit", "-qam", "Sections"], cwd=root, check=True)


def sentence(chance: random.Random, length: int) -> str:
    """Words as they are spread in prose: the n-th most frequent has a share of 1/n."""
    return " ".join(WORDS[int(len(WORDS) ** chance.random()) - 1] for _ in range(length))


def edit(root: Path, number: int) -> None:
    """Change ten pages."""
    for file in sorted((root / "docs").rglob("*.md"))[number * 10 : number * 10 + 10]:
        file.write_text(file.read_text("utf-8") + f"\nEdit {number}, see [[page_0001]].\n", "utf-8")


def queries(root: Path) -> None:
    """Ask the full text, warm: one to three of a page's words, joined by OR as `ubp` joins them."""
    with Session.open(str(root)) as rooms:
        view = rooms.view()
        full_text = view.full_text()
        chance = random.Random(7)
        paths = chance.choices(view.document_paths(), k=QUERIES)
        times = []
        for data in view.read(paths).values():
            words = sorted({*re.findall(r"\w+", (data or b"").decode("utf-8", "replace")), "認証"})
            asked = [
                segment_cjk(word).strip() for word in chance.choices(words, k=chance.randint(1, 3))
            ]
            terms = [Phrase(word) for word in asked]
            begun = time.process_time()
            full_text.search(RowMatch(terms, (8, 4, 1, 6)), LIMIT)
            times.append((time.process_time() - begun) * 1000)
    centiles = statistics.quantiles(times, n=100)
    print_table(
        f"{len(times)} full text queries, warm, {LIMIT} hits",
        ["p50 CPU ms", "p95 CPU ms", "longest"],
        [[f"{centiles[49]:.2f}", f"{centiles[94]:.2f}", f"{max(times):.2f}"]],
    )


def reference(name: str, command: Sequence[str], root: Path, repeat: int) -> list[str]:
    """The row of a command."""
    return row(name, median([cost(command, root) for _ in range(repeat)]))


def row(name: str, found: Cost) -> list[str]:
    """A row."""
    return [name, f"{found.cpu_ms:.0f}", f"{found.wall_ms:.0f}", f"{found.peak_mb:.0f}"]


def table(title: str, rows: Sequence[Sequence[str]]) -> None:
    """Print a table of costs."""
    print_table(title, ["", "CPU ms", "wall ms", "peak MB of the largest process"], rows)


if __name__ == "__main__":
    main()
