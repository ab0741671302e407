"""Diffs for people: the words that differ between removed lines and the added lines below them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import NamedTuple

from ubp.core.text import CJK_RANGES
from ubp.frame.wording import Style, printable_line
from ubp.git.diff import changed_spans

_WORD = re.compile(rf"[{CJK_RANGES}]|(?:(?![{CJK_RANGES}])\w)+|\s+|[^\w\s]")
# Below it a block is another text rather than the same one with other words, and none are marked.
MIN_EQUAL = 0.3
# Longer blocks are moved or generated text, which nobody compares word by word.
MAX_WORDS = 5000


class DiffLine(NamedTuple):
    """A line of a diff that can be printed: its sign, and its parts with whether they differ.

    The sign is "+", "-" or " ", "@" for the head of a hunk, "" for any other line.
    """

    sign: str
    parts: tuple[tuple[str, bool], ...]

    @property
    def text(self) -> str:
        """The line, with its sign."""
        return "".join(part for part, _ in self.parts)


def compare_words(lines: Iterable[str]) -> Iterator[DiffLine]:
    """Yield the lines of a unified diff, in their order, with the words that differ.

    Removed lines are compared with the added ones below them as one text, so that a paragraph
    that was only wrapped anew has no words that differ.
    """
    known = list(lines)
    bodies = [line for line in known if line[:1] in {"+", "-", " "}]
    if all(line.endswith("\r") for line in bodies):
        known = [line.removesuffix("\r") for line in known]
    shown = [printable_line(line) for line in known]
    removed: list[str] = []
    added: list[str] = []
    ends: list[str] = []  # `\ No newline at end of file`, after the lines that it is about
    for number, line in enumerate(shown):
        sign = _sign(line, shown[number + 1] if number + 1 < len(shown) else "")
        if sign == "-" and not added:
            removed.append(line)
        elif sign == "+" and removed:
            added.append(line)
        elif line.startswith("\\") and removed:
            ends.append(line)
        else:
            yield from _block(removed, added, ends)
            removed, added, ends = [line] if sign == "-" else [], [], []
            if sign != "-":
                yield DiffLine(sign, ((line, False),))
    yield from _block(removed, added, ends)


def paint_diff(text: str, style: Style) -> Iterator[str]:
    """Yield the lines of a diff in colors; the words that differ are bold and underlined."""
    lines = text.removesuffix("\n").split("\n") if text else []
    if not style.is_on:
        yield from (printable_line(line.removesuffix("\r")) for line in lines)
        return
    colors = {"+": style.green, "-": style.red, "@": style.cyan}
    for line in compare_words(lines):
        paint = colors.get(line.sign, str)
        yield "".join(
            style.strong(paint(part)) if is_changed else paint(part)
            for part, is_changed in line.parts
        )


def _sign(line: str, following: str) -> str:
    """Return the sign of a line; those that name the files have none, nor has their context."""
    is_name = line.startswith("--- ") and following.startswith(("+++ ", "@@"))
    if is_name or line.startswith(("+++ b/", "+++ /dev/null")):
        return ""
    return line[:1] if line[:1] in {"+", "-", "@", " "} else ""


def _block(removed: Sequence[str], added: Sequence[str], ends: Sequence[str]) -> Iterator[DiffLine]:
    """Yield removed lines, then the added ones that took their place."""
    sides = [_words(removed), _words(added)]
    changed: list[set[int]] = [set(), set()]
    if removed and added and all(len(words) <= MAX_WORDS for words in sides):
        plain = [[word if word.strip() else " " for word in words] for words in sides]
        spans = _merged(changed_spans(*plain), sides[0])
        changed = [set(chain(*(span[side] for span in spans))) for side in (0, 1)]
        equal = _count(word for number, word in enumerate(sides[0]) if number not in changed[0])
        if equal < MIN_EQUAL * max(map(_count, sides)):
            changed = [set(), set()]
    yield from _lines("-", removed, sides[0], changed[0])
    yield from (DiffLine("", ((line, False),)) for line in ends[: bool(removed)])
    yield from _lines("+", added, sides[1], changed[1])
    yield from (DiffLine("", ((line, False),)) for line in ends[1:])


def _words(lines: Sequence[str]) -> list[str]:
    """Return the words of lines, without their signs, and what is between them."""
    return [word for line in lines for word in (*_WORD.findall(line[1:]), "\n")][:-1]


def _count(words: Iterable[str]) -> int:
    return sum(1 for word in words if re.search(r"\w", word))


def _merged(spans: Sequence[tuple[range, range]], old: Sequence[str]) -> list[tuple[range, range]]:
    """Return spans that differ; what is between two of them has a letter or a digit, or is none."""
    merged: list[tuple[range, range]] = []
    for before, after in spans:
        if merged:
            last_before, last_after = merged[-1]
            between = "".join(old[last_before.stop : before.start])
            if not re.search(r"\w", between):
                merged[-1] = (
                    range(last_before.start, before.stop),
                    range(last_after.start, after.stop),
                )
                continue
        merged.append((before, after))
    return merged


def _lines(
    sign: str, lines: Sequence[str], words: Sequence[str], changed: set[int]
) -> Iterator[DiffLine]:
    start = 0
    for line in lines:
        end = start + len(_WORD.findall(line[1:]))
        runs = groupby(range(start, end), key=changed.__contains__)
        parts = [("".join(words[number] for number in run), is_new) for is_new, run in runs]
        if parts and not parts[0][1]:
            parts[0] = (sign + parts[0][0], False)
        else:
            parts.insert(0, (sign, False))
        yield DiffLine(sign, tuple(parts))
        start = end + 1  # after the break
