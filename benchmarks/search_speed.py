"""What a search costs: warm queries over 5,000 sections, and the command as a process of its own.

    python benchmarks/search_speed.py [REPOSITORY]

Without a repository one is made: 1,000 pages of five sections, in English and in Japanese. The
queries are one to four words that stand in it, runs, prefixes, phrases, and words of no page.
"""

import random
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import accumulate
from pathlib import Path

from measure import UBP, cost, median

from ubp.search.file_names import FileNames
from ubp.search.query import read_query
from ubp.search.ranking import Corpus, rank
from ubp.workspace import Workspace

PAGES, SECTIONS, WORDS = 1000, 5, 60
QUERIES = 500
TIMES = 7
QUERY = "token expiry"
# As in English prose (Zipf, Mandelbrot): the first word is every thirtieth.
FREQUENCIES = list(accumulate(1 / (rank + 2.7) for rank in range(20_000)))
STOP_WORDS = 30
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "in", "o", "ur")]
KANJI = 3000  # those that Japanese prose uses


def main() -> None:
    """Print what was measured."""
    if len(sys.argv) > 1:
        measure(Path(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder))
        measure(Path(folder))


def measure(root: Path) -> None:
    """Ask warm, then cold."""
    with Workspace.open(str(root)) as workspace:
        view = workspace.view()
        full_text, paths = view.full_text(), view.document_paths()
        begun = time.process_time()
        names = FileNames(paths)
        print(f"{len(paths)} pages; their names are laid out in {ms(begun):.1f} ms")
        kinds = {kind: queries(random.Random(7), kind) for kind in KINDS}
        for kind, asked in kinds.items():
            times = []
            for text in asked:
                begun = time.process_time()
                rank(Corpus(full_text, names), read_query(text), 10)
                times.append(ms(begun))
            print(
                f"{kind:<10} p50 {statistics.median(times):5.1f}  p95 {p95(times):5.1f} ms of CPU"
            )
        times = []
        for text in random.Random(7).sample([q for asked in kinds.values() for q in asked], 300):
            begun = time.process_time()
            workspace.search_sections(text)
            times.append(ms(begun))
        print(
            f"git status and snippets too: p50 {statistics.median(times):.1f}  p95 {p95(times):.1f}"
        )
    for command in (["search", "--fulltext", QUERY], ["search", QUERY]):
        spent = median([cost([UBP, *command], root) for _ in range(TIMES)])
        print(f"{' '.join(command[:-1]):<18} {spent.cpu_ms:5.0f} ms of CPU, {spent.peak_mb:.0f} MB")


KINDS = ("word", "words", "stop word", "run", "sentence", "prefix", "phrase", "absent")


def queries(chance: random.Random, kind: str) -> list[str]:
    """Queries of one kind."""
    make = {
        "word": lambda: word(chance, is_asked=True),
        "words": lambda: " ".join(word(chance, is_asked=True) for _ in range(chance.randint(2, 4))),
        "stop word": lambda: word(chance),
        "run": lambda: run(chance, 2),
        "sentence": lambda: f"{run(chance, 4)}の{run(chance, 4)}はどこですか",
        "prefix": lambda: word(chance, is_asked=True)[:3] + "*",
        "phrase": lambda: f'"{word(chance)} {word(chance)}"',
        "absent": lambda: f"zz{chance.randint(0, 999)}",
    }[kind]
    return [make() for _ in range(QUERIES)]


def generate(root: Path) -> None:
    """Write and commit the pages."""
    chance = random.Random(7)
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    for page in range(PAGES):
        lines = [f"# {word(chance)} {word(chance)}", ""]
        for _ in range(SECTIONS):
            lines += [f"## {word(chance)} {run(chance, 4)}", ""]
            lines += [" ".join(word(chance) for _ in range(WORDS)), "", run(chance, WORDS), ""]
        (root / f"{page}-{word(chance)}.md").write_text("\n".join(lines), "utf-8")
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


def ms(begun: float) -> float:
    """Milliseconds of CPU since then: other programs may run."""
    return (time.process_time() - begun) * 1000


def p95(times: list[float]) -> float:
    """What 95 % of the times do not exceed."""
    return statistics.quantiles(times, n=20)[-1]


if __name__ == "__main__":
    main()
