"""Whether each page with a run of Japanese characters is found, and no other.

    python benchmarks/search/japanese_runs.py CLONE… [--each 200]

From the pages of each clone, `--each` runs of 1, 2, 3, 6 and 12 characters are drawn with a fixed
seed. The pages that the full text finds are compared with those whose chunks have the run, by
brute force: their titles, headings and texts are read as sequences of characters, without what is
between them. Missed and false are pairs of a run and a page.
"""

import argparse
import random
import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.common.measure import print_table
from ubp.core.model import FilePath
from ubp.index.view import View
from ubp.search.terms import Term
from ubp.workspace import Workspace

SEED = 11
LENGTHS = (1, 2, 3, 6, 12)
RUN = re.compile("[\u3041-\u3096\u30a1-\u30fa\u30fc\u3005\u4e00-\u9fff]+")
WORD = re.compile(r"[^\W_]")


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("clones", nargs="+", type=Path)
    parser.add_argument("--each", type=int, default=200)
    options = parser.parse_args()
    rows = []
    for clone in options.clones:
        with Workspace.open(str(clone)) as workspace:
            view = workspace.session.view()
            texts = {path: [*read_texts(view, path)] for path in view.document_paths()}
            for length, runs in draw(texts, options.each).items():
                pages, missed, false = compare(view, texts, runs)
                rows.append([clone.name, str(length), str(len(runs)), str(pages), missed, false])
    head = ["", "characters", "runs", "pages with them", "missed", "false"]
    print_table("runs of Japanese characters", head, rows)


def read_texts(view: View, path: FilePath) -> Iterator[str]:
    """Yield the title, headings and texts of a page's chunks, as characters alone."""
    (page,) = view.pages_at([path]).values()
    data = view.read([path])[path] or b""
    sections = view.link_graph().sections_of([path])[path]
    yield characters(page.facts.title or "")
    for chunk in view.full_text().chunks([page.blob]).get(page.blob, ()):
        yield characters(data[chunk.byte_start : chunk.byte_end].decode("utf-8", "replace"))
        yield from map(characters, sections[chunk.section].heading_path)


def characters(text: str) -> str:
    """Return the letters and digits of a text, widths and case apart."""
    return "".join(WORD.findall(unicodedata.normalize("NFKC", text).lower()))


def draw(texts: dict[FilePath, list[str]], each: int) -> dict[int, list[str]]:
    """Return runs of each length, of texts that have one."""
    chance = random.Random(SEED)
    found = [run for some in texts.values() for text in some for run in RUN.findall(text)]
    drawn: dict[int, list[str]] = {}
    for length in LENGTHS:
        long_enough = [run for run in found if len(run) >= length]
        runs = set()
        for run in chance.choices(long_enough, k=each):
            start = chance.randint(0, len(run) - length)
            runs.add(run[start : start + length])
        drawn[length] = sorted(runs)
    return drawn


def compare(
    view: View, texts: dict[FilePath, list[str]], runs: Sequence[str]
) -> tuple[int, str, str]:
    """Return how many pages have these runs, how many are missed, and how many falsely found."""
    pages = missed = false = 0
    examples = []
    for run in runs:
        found = view.full_text().holding(Term(run).phrase)
        expected = {path for path, some in texts.items() if any(run in text for text in some)}
        pages += len(expected)
        missed += len(expected - found)
        false += len(found - expected)
        examples += [(run, path) for path in sorted(expected ^ found)[:1]]
    for run, path in examples[:3]:
        print(f"{run}: {path}")
    return pages, str(missed), str(false)


if __name__ == "__main__":
    main()
