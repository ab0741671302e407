"""The hunks of diffs in the order in which they concern a page: what decides comes first."""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from ubp.core.model import FilePath
from ubp.git.diff import DiffPart, split_hunks
from ubp.review.changed_files import read_hunks
from ubp.review.excerpt import rank_hunks
from ubp.review.model import Hunk
from ubp.staleness.evidence import defined_names

# Added to ranks, which are about 1 for each rare word that a hunk shares with the page, and 8 for
# a name of the evidence: a definition that is gone, and that the page has, outweighs two names.
REMOVED_BONUS, REMOVED_ELSEWHERE_BONUS = 20.0, 4.0
# A docstring or comment says in prose what a page may repeat.
PROSE_BONUS = 8.0
MIN_SHARED_WORDS = 3
LONG_WORD = 5  # letters; shorter ones are in any sentence
MAX_HUNKS = 1_000  # the others of a larger drift keep their order, after these

_MARKS = r"^\s*(?:#+:?|//[/!]?|/?\*+/?|--|;+|\"{3}|'{3})?\s*"
_PROSE = re.compile(r"[A-Z`]?[\w`',.:()-]+(?: [\w`'\",.:;()/-]+){3,}")
_LONG_WORDS = re.compile(rf"[A-Za-z]{{{LONG_WORD},}}")


class RankedHunk(NamedTuple):
    """A part of a diff, and how much it concerns the page."""

    part: DiffPart
    rank: float


def rank_diffs(
    diffs: Sequence[str], page: str, names: Collection[str]
) -> list[tuple[RankedHunk, ...]]:
    """Return the parts of each diff, those that concern a page with this text first.

    `names` are the names of changed code that the page has. What is not a hunk comes last.
    """
    split = [split_hunks(diff) for diff in diffs]
    hunks = [_hunk(part) for parts in split for part in parts]
    known = [hunk for hunk in hunks if hunk is not None][:MAX_HUNKS]
    ranks = iter(rank_hunks(known, page, [*names]))
    long_words = {word.lower() for word in _LONG_WORDS.findall(page)}
    remaining = iter(hunks)
    ranked = []
    for parts in split:
        own = [next(remaining) for _ in parts]
        kept = defined_names(_changed(filter(None, own), "+"))
        items = []
        for part, hunk in zip(parts, own, strict=True):
            rank = next(ranks, 0.0) if hunk else 0.0
            bonus = _bonus(hunk, kept, page, long_words) if hunk else 0.0
            items.append(RankedHunk(part, rank + bonus))
        ranked.append(tuple(sorted(items, key=lambda item: -item.rank)))
    return ranked


def _hunk(part: DiffPart) -> Hunk | None:
    return next(read_hunks(f"{part.head}\n{part.text}", FilePath("")), None) if part.text else None


def _changed(hunks: Iterator[Hunk], sign: str) -> list[str]:
    return [line[1:] for hunk in hunks for line in hunk.lines if line[:1] == sign]


def _bonus(hunk: Hunk, kept: Collection[str], page: str, long_words: Collection[str]) -> float:
    gone = defined_names(_changed(iter([hunk]), "-")) - {*kept}
    is_named = any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", page) for name in gone)
    bonus = REMOVED_BONUS if is_named else REMOVED_ELSEWHERE_BONUS if gone else 0.0
    shared = {
        word.lower()
        for line in hunk.lines
        if line[:1] in {"+", "-"} and _is_prose(line[1:])
        for word in _LONG_WORDS.findall(line)
    } & {*long_words}
    return bonus + (PROSE_BONUS if len(shared) >= MIN_SHARED_WORDS else 0.0)


def _is_prose(line: str) -> bool:
    return bool(_PROSE.fullmatch(re.sub(_MARKS, "", line).strip("\"'* ")))
