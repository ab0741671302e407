"""Colours for terminals: nine lines of ANSI instead of a library of 75 ms.

How names, numbers and times are written for a reader; nothing from a repository gets out raw.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping

from ubp.core.model import FilePath
from ubp.core.shell import FIRST_BYTE_SURROGATE, LAST_BYTE_SURROGATE, UNPRINTABLE


class Style:
    """Paints text, or leaves it as it is where `is_on` is False."""

    __slots__ = ("is_on",)

    def __init__(self, *, is_on: bool = False) -> None:
        self.is_on = is_on

    def red(self, text: str) -> str:
        """An error, a stale page, a removed line."""
        return self._paint("31", text)

    def green(self, text: str) -> str:
        """Success, an added line."""
        return self._paint("32", text)

    def yellow(self, text: str) -> str:
        """A warning, a page that may be stale."""
        return self._paint("33", text)

    def cyan(self, text: str) -> str:
        """A hint, something to type."""
        return self._paint("36", text)

    def bold(self, text: str) -> str:
        """A heading."""
        return self._paint("1", text)

    def dim(self, text: str) -> str:
        """What matters least."""
        return self._paint("2", text)

    def diff(self, text: str) -> Iterator[str]:
        """Yield the lines of a diff, added and removed ones in their colors."""
        colors = {"+": self.green, "-": self.red, "@": self.cyan}
        for line in text.splitlines():
            yield colors.get(line[:1], str)(printable_line(line))

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.is_on and text else text


_UNPRINTABLE_BUT_TAB = UNPRINTABLE.replace("\x00-\x1f", "\x00-\x08\x0a-\x1f")
_NAMED = {"\t": r"\t", "\n": r"\n", "\r": r"\r", "\x1b": r"\e"}

SHORT_ID = 10  # digits: as long as Git's own short ids grow in the largest repositories
# A command that is printed names at most this many pages; more make it unreadable.
MAX_PAGES = 5
# The level of a page that a change makes stale.
NOW_STALE = "now stale"
# Of a drift the commit that began it and the two after it are listed; others are counted.
MAX_COMMITS = 3
# Where a link leads, seen from the page that is shown.
ARROWS: Mapping[str, str] = {"outlink": "->", "backlink": "<-"}
LAST_SECOND = 253_402_300_799  # of the year 9999: commits may claim any date


def printable(text: str) -> str:
    r"""Escape what a terminal must not see, as git does: a byte that is no UTF-8 becomes \xff."""
    return text if text.isprintable() else re.sub(UNPRINTABLE, _escape, text)


def printable_line(text: str) -> str:
    """The same for a line of a file: its tabs stay."""
    return text if text.isprintable() else re.sub(_UNPRINTABLE_BUT_TAB, _escape, text)


def joined(lines: Iterable[str]) -> str:
    """Return lines as a text, each with a newline."""
    return "".join(f"{line}\n" for line in lines)


def count(number: int, noun: str) -> str:
    """`1 page`, `2 pages`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def and_more(number: int) -> str:
    """What follows a command that names some of many pages: ` (and 3 more)`, or nothing."""
    return f" (and {number} more)" if number > 0 else ""


def left_out(ignored: int, accepted: int) -> str:
    """What was found and does not count, in brackets: ` (3 ignored, 12 old ones accepted)`."""
    old = f"{accepted} old {'one' if accepted == 1 else 'ones'} accepted" if accepted else ""
    told = ", ".join(filter(None, (f"{ignored} ignored" if ignored else "", old)))
    return f" ({told})" if told else ""


def change_name(base: str | None, quote: Callable[[str], str] = printable) -> str:
    """Return the subject of a sentence about a change; `quote` writes the name of the revision."""
    if base is None:
        return "This commit"
    return f"This branch, since {quote(revision(base))},"


def stale_change_sentence(change: str, stale: int, verified: int, bound: str = "") -> str:
    """Return how many pages a change makes stale; `bound` says how many pages name sources."""
    if stale:
        return f"{change} makes {count(stale, 'page')} stale."
    if not verified:
        return f"{change} touches no source of a page{f' ({bound})' if bound else ''}."
    return f"{change} makes no page stale ({verified} verified)."


def revision(name: str) -> str:
    """A revision as people read it: a whole id is cut short."""
    return name[:SHORT_ID] if re.fullmatch("[0-9a-f]{40}", name) else name


def day(seconds: int) -> str:
    """The UTC day of a moment: 2026-11-08."""
    return time.strftime("%Y-%m-%d", _utc(seconds))


def moment(seconds: int) -> str:
    """A moment in ISO 8601, UTC: 2026-11-08T09:30:00Z."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", _utc(seconds))


def clock(seconds: int) -> str:
    """A moment as people read it: 2026-11-08 09:30:00."""
    return time.strftime("%Y-%m-%d %H:%M:%S", _utc(seconds))


def size(size_bytes: int) -> str:
    """`512 bytes`, `4.2 MB`."""
    if size_bytes < 1000:  # noqa: PLR2004 - a kilobyte
        return count(size_bytes, "byte")
    amount, unit = float(size_bytes), ""
    for unit in ("kB", "MB", "GB"):  # noqa: B007 - the last one is used
        amount /= 1000
        if amount < 1000:  # noqa: PLR2004 - the next unit's turn
            break
    return f"{amount:.1f} {unit}"


def stem(path: FilePath) -> str:
    """What a page is called whose text gives it no title: its file name without the ending."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name


def _utc(seconds: int) -> time.struct_time:
    return time.gmtime(min(max(seconds, 0), LAST_SECOND))


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if FIRST_BYTE_SURROGATE <= code <= LAST_BYTE_SURROGATE:
        return f"\\x{code - FIRST_BYTE_SURROGATE + 0x80:02x}"
    return _NAMED.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")  # noqa: PLR2004
