"""Words in the names of files: a fact of paths, which the full text, keyed by blobs, has not. Pure.

All names stand in one text, so that a term is looked for once, not once a page: 26,000 Japanese
names take 20 ms to lay out and 1 ms a term.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import log

from ubp.model import FilePath
from ubp.search.folding import find_term, fold_text
from ubp.search.terms import Term

# What such a file is about, the folder's name tells.
FOLDER_PAGES = frozenset({"readme", "index"})

# A word in more names than that share of them tells nothing, and takes long.
COMMON, MIN_COMMON = 0.05, 50


class FileNames:
    """The names of pages, to be asked for terms."""

    def __init__(self, paths: Iterable[FilePath]) -> None:
        self.paths = list(paths)
        text = "\n".join(_LINE_ENDS.sub(" ", name_of(path)) for path in self.paths)
        self._text = fold_text(text)
        lines = self._text.split("\n")
        self._lengths = [max(1, len(line)) for line in lines]
        self._starts = [0, *accumulate(len(line) + 1 for line in lines)]

    def score(self, terms: Sequence[Term]) -> dict[FilePath, float]:
        """For each page with a term in its name, how telling that is.

        As in BM25 a rare term tells more: log(1 + (N - n + ½) / (n + ½)), for n of N names that
        have it. It counts by the share of the name that it makes up.
        """
        scores: dict[FilePath, float] = {}
        most = max(MIN_COMMON, int(len(self.paths) * COMMON))
        for term in terms:
            found = self._lines(term, most)
            weight = log(1 + (len(self.paths) - len(found) + 0.5) / (len(found) + 0.5))
            for line, length in found.items():
                path = self.paths[line]
                share = min(1.0, length / self._lengths[line])
                scores[path] = scores.get(path, 0.0) + weight * share
        return scores

    def holding(self, terms: Iterable[Term]) -> set[FilePath]:
        """The pages with one of these terms in their names."""
        lines = (line for term in terms for line in self._lines(term, len(self.paths)))
        return {self.paths[line] for line in lines}

    def _lines(self, term: Term, most: int) -> dict[int, int]:
        """The lines that hold a term, and how long it is there; none if more than `most` do."""
        found: dict[int, int] = {}
        for start, end in find_term(self._text, term):
            line = bisect_right(self._starts, start) - 1
            if end <= self._starts[line] + self._lengths[line]:
                found.setdefault(line, end - start)
            if len(found) > most:
                return {}
        return found


def name_of(path: FilePath) -> str:
    """What the name of a page's file says it is about."""
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    return folder.rpartition("/")[2] or stem if stem.lower() in FOLDER_PAGES else stem


_LINE_ENDS = re.compile(r"[\r\n]")
