"""The wording that all outputs share: names, numbers, times, colors and commands.

Nothing from a repository is printed raw. Colors are a few lines of ANSI instead of a library that
takes 75 ms to import.
"""

import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from ubp.core.model import FilePath
from ubp.core.shell import (
    FIRST_BYTE_SURROGATE,
    LAST_BYTE_SURROGATE,
    SUSPECT,
    UNPRINTABLE,
    path_argument,
    ubp_command,
)

PAGE_ORDER = (
    "The worst level comes first, then the pages that used to change together with their sources"
    " and share them with few other pages."
)


class Style:
    """Colors for text, or none where `is_on` is False."""

    __slots__ = ("is_on",)

    def __init__(self, *, is_on: bool = False) -> None:
        self.is_on = is_on

    def red(self, text: str) -> str:
        """Color an error, a stale page, a removed line."""
        return self._paint("31", text)

    def green(self, text: str) -> str:
        """Color a success, an added line."""
        return self._paint("32", text)

    def yellow(self, text: str) -> str:
        """Color a warning, a page that may be stale."""
        return self._paint("33", text)

    def cyan(self, text: str) -> str:
        """Color a hint, something to type."""
        return self._paint("36", text)

    def bold(self, text: str) -> str:
        """Emphasize a heading."""
        return self._paint("1", text)

    def strong(self, text: str) -> str:
        """Emphasize the words of a line that differ, which terminals without bold letters show."""
        return self._paint("1;4", text)

    def dim(self, text: str) -> str:
        """Subdue a detail."""
        return self._paint("2", text)

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.is_on and text else text


_UNPRINTABLE_BUT_TAB, _SUSPECT_BUT_TAB = (
    pattern.replace("\x00-\x1f", "\x00-\x08\x0a-\x1f") for pattern in (UNPRINTABLE, SUSPECT)
)
_UNPRINTABLE_IN_JSON, _SUSPECT_IN_JSON = (
    pattern.replace("\x00-\x1f", "")  # JSON escapes these itself
    for pattern in (UNPRINTABLE, SUSPECT)
)
_ESCAPES = {"\t": r"\t", "\n": r"\n", "\r": r"\r", "\x1b": r"\e"}

SHORT_ID = 10  # digits: as long as Git's own short ids grow in the largest repositories
# A command that is printed names at most this many pages; more make it unreadable.
MAX_PAGES = 5
# Descriptions and errors list at most so many names of repositories or collections.
MAX_NAMES = 8
# The level of a page that a change makes stale.
NOW_STALE = "now stale"
# Of a drift the commit that began it and the two after it are listed; others are counted.
MAX_COMMITS = 3
# Where a link leads, seen from the page that is shown.
ARROWS: Mapping[str, str] = {"outlink": "->", "backlink": "<-"}
LAST_SECOND = 253_402_300_799  # of the year 9999: commits may claim any date


def list_names(names: Collection[str]) -> str:
    """Return the names for a sentence: all of them, or the first and how many others there are."""
    shown = ", ".join(islice(names, MAX_NAMES))
    return f"{shown} and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else shown


def printable(text: str) -> str:
    r"""Escape what terminals act on, as git does: a byte that is not UTF-8 becomes \xff."""
    if _is_plain(text) or not re.search(SUSPECT, text):
        return text
    return re.sub(UNPRINTABLE, _escape, text)


def printable_line(text: str) -> str:
    """Escape a line of a file, except its tabs."""
    if _is_plain(text) or not re.search(_SUSPECT_BUT_TAB, text):
        return text
    return re.sub(_UNPRINTABLE_BUT_TAB, _escape, text)


def printable_json(text: str) -> str:
    """Escape what terminals act on in JSON text, which still means the same."""
    if (text.isascii() and "\x7f" not in text) or not re.search(_SUSPECT_IN_JSON, text):
        return text
    return re.sub(_UNPRINTABLE_IN_JSON, _escape_json, text)


def joined(lines: Iterable[str]) -> str:
    """Return lines as a text, each with a newline."""
    return "".join(f"{line}\n" for line in lines)


def count(number: int, noun: str) -> str:
    """Return `1 page`, `2 pages`, `3 repositories`."""
    if number == 1:
        return f"{number} {noun}"
    is_regular = not noun.endswith("y") or noun[-2:-1] in "aeiou"
    return f"{number} {noun}s" if is_regular else f"{number} {noun[:-1]}ies"


def severity_counts(errors: int, warnings: int) -> list[str]:
    """Return how many findings there are of each severity: `2 errors`, `1 warning`."""
    counts = ((errors, "error"), (warnings, "warning"))
    return [count(number, severity) for number, severity in counts if number]


def not_checked_sentences(reasons: Iterable[tuple[str, str]]) -> list[str]:
    """Return a sentence for each rule of which something was not checked, with the reason."""
    return [f"{rule} was not checked in full: {printable(reason)}" for rule, reason in reasons]


def unread_sentences(files: Mapping[str, int]) -> list[str]:
    """Return a sentence about the files, counted by suffix, whose format is not read; or none."""
    if not files:
        return []
    listed = ", ".join(f"{number} {suffix}" for suffix, number in files.items())
    return [f"Not read, as UBP reads Markdown: {listed}."]


def denied_lines(pages: Iterable[tuple[str, int, str]]) -> list[str]:
    """Return a line for each page that the judge finds accurate, given with its line and why."""
    return [
        f"{printable(f'{path}:{line}')}  judged accurate: {printable(why)}"
        for path, line, why in pages
    ]


def suppression_note(ignored: int, accepted: int) -> str:
    """Return how many findings do not count: ` (3 ignored, 12 accepted as debt)`."""
    debt = f"{accepted} accepted as debt" if accepted else ""
    parts = ", ".join(filter(None, (f"{ignored} ignored" if ignored else "", debt)))
    return f" ({parts})" if parts else ""


class ChangeWords(NamedTuple):
    """How texts name a change: a commit in the making, or everything since `base`.

    `ref` is where a past change ends, None where it is checked out. `is_amend`: the commit replaces
    HEAD; `is_unsure`: whether it does is unknown. `staging` is the command that stages what git
    would discard, where the commit fails.
    """

    base: str | None = None
    ref: str | None = None
    is_amend: bool = False
    is_unsure: bool = False
    staging: str = ""

    @property
    def is_staged(self) -> bool:
        """Return whether it is a commit in the making."""
        return self.base is None

    @property
    def options(self) -> tuple[str, ...]:
        """The options that select the change on the command line."""
        if self.base is None:
            return ("--staged", "--amend") if self.is_amend else ("--staged",)
        return ("--base", self.base, *(["--ref", self.ref] if self.ref else []))

    @property
    def note(self) -> str:
        """What to know where git does not say whether a commit is amended; mostly empty."""
        command = ubp_command("stale", "--staged", "--amend")
        return f"If you are amending a commit, judge it with: {command}" if self.is_unsure else ""

    def subject(self, quote: Callable[[str], str] = printable) -> str:
        """Return the subject of a sentence; `quote` writes the names of revisions."""
        if self.base is None:
            return "This amended commit" if self.is_amend else "This commit"
        base = quote(revision(self.base))
        if self.ref:
            return f"The change from {base} to {quote(revision(self.ref))}"
        return f"This branch (since {base})"

    def already_stale(self, pages: int, keys: Sequence[str] = ()) -> str:
        """Return the line that mentions the pages that were stale before the change."""
        verb, touched = ("was", "it or its") if pages == 1 else ("were", "them or their")
        command = ubp_command("stale", *self.options, "--all", keys=keys)
        stale = f"{count(pages, 'page')} {verb} already stale"
        return f"{stale}; this change touches {touched} sources: {command}"

    def noted(self, pages: Sequence[str], others: int, keys: Sequence[str] = ()) -> str:
        """Return the line that lists the pages that drift by the change without an alarm.

        `others` is the number of pages for which the change fails.
        """
        verb, name = ("lists", "names") if len(pages) == 1 else ("list", "name")
        shown = [printable(page) for page in pages[:MAX_PAGES]]
        if len(pages) > MAX_PAGES:
            command = ubp_command("stale", *self.options, "--alarms", "any", keys=keys)
            shown.append(f"and {len(pages) - MAX_PAGES} more ({command} shows them)")
        number = count(len(pages), "more page" if others else "page")
        return (
            f"{number} {verb} changed sources and {name} nothing that changed: {', '.join(shown)}"
        )


def acknowledge_command(
    pages: Sequence[FilePath],
    change: ChangeWords,
    *,
    prefix: str = "",
    keys: Sequence[str] = (),
    has_older: bool = True,
) -> str:
    """Return the command that pins what a change made stale in these pages, and nothing else.

    Without `has_older` nothing else is stale in these pages, so that they may be pinned as a whole.
    """
    has_many = len(pages) > MAX_PAGES
    names = ["--all"] if has_many else [path_argument(page, prefix) for page in pages]
    options = change.options if change.is_staged or has_older or has_many else ()
    command = ubp_command("ack", *options, *names, keys=keys)
    return f"{change.staging} && {command}" if change.staging else command


def fix_command(pages: Collection[FilePath], prefix: str = "", keys: Sequence[str] = ()) -> str:
    """Return the command that fixes what it can in these pages; if there are many, in all pages."""
    names = [] if len(pages) > MAX_PAGES else [path_argument(page, prefix) for page in pages]
    return ubp_command("check", "--fix", *names, keys=keys)


def stale_change_sentence(
    change: str, stale: int, verified: int, bound: str = "", noted: int = 0
) -> str:
    """Return how many pages a change makes stale; `bound` says how many pages list sources.

    `noted` pages drift by the change and name nothing of it.
    """
    if stale:
        return f"{change} makes {count(stale, 'page')} stale."
    if not verified:
        return f"{change} changes no listed source{f' ({bound})' if bound else ''}."
    if noted:
        return f"{change} changes nothing that pages name ({verified} verified)."
    return f"{change} makes no pages stale ({verified} verified)."


def revision(name: str) -> str:
    """Return the name of a revision; a whole id is shortened."""
    return name[:SHORT_ID] if re.fullmatch("[0-9a-f]{40}", name) else name


def day(seconds: int) -> str:
    """Return the UTC day of a time: 2026-11-08."""
    return time.strftime("%Y-%m-%d", _utc(seconds))


def moment(seconds: int) -> str:
    """Return a time in ISO 8601, UTC: 2026-11-08T09:30:00Z."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", _utc(seconds))


def clock(seconds: int) -> str:
    """Return a time for people: 2026-11-08 09:30:00."""
    return time.strftime("%Y-%m-%d %H:%M:%S", _utc(seconds))


def clock_of(moment: str) -> str:
    """Return a time in ISO 8601 for people: 2026-11-08 09:30:00."""
    return moment.removesuffix("Z").replace("T", " ")


def size(size_bytes: int) -> str:
    """Return `512 bytes`, `4.2 MB`."""
    if size_bytes < 1000:  # noqa: PLR2004 - a kilobyte
        return count(size_bytes, "byte")
    amount, unit = float(size_bytes), ""
    for unit in ("kB", "MB", "GB"):  # noqa: B007 - the last one is used
        amount /= 1000
        if amount < 1000:  # noqa: PLR2004 - the next unit's turn
            break
    return f"{amount:.1f} {unit}"


def file_stem(path: FilePath) -> str:
    """Return a file's name without its suffix, the title of a page that has none."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name


def text_width(text: str) -> int:
    """Return the columns that a printable text takes in a terminal."""
    from unicodedata import combining, east_asian_width

    return sum(2 if east_asian_width(c) in "WF" else not combining(c) for c in text)


def _is_plain(text: str) -> bool:
    # `isprintable` is true of invisible letters, too: of U+3164, or U+E0100.
    return text.isascii() and text.isprintable()


def _utc(seconds: int) -> time.struct_time:
    return time.gmtime(min(max(seconds, 0), LAST_SECOND))


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if FIRST_BYTE_SURROGATE <= code <= LAST_BYTE_SURROGATE:
        return f"\\x{code - FIRST_BYTE_SURROGATE + 0x80:02x}"
    if code > 0xFFFF:  # noqa: PLR2004 - beyond what four digits can write
        return f"\\U{code:08x}"
    return _ESCAPES.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")  # noqa: PLR2004


def _escape_json(match: re.Match[str]) -> str:
    data = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[at : at + 2].hex()}" for at in range(0, len(data), 2))
