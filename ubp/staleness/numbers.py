"""Numbers that a change replaces, and the lines of pages that still give the old one.

And paths of Go modules, with the lines that import or install them.

Of 12,500 commits of 14 repositories, 15 replaced a number that pages give beside its name, in 19
places. Of these 16 were edited, with the commit or later; the other three are outdated still.

Of 44 lines in pages of 22 repositories that required a version of a language, or a later one, when
a manifest raised it, 39 became wrong by it; 29 were edited later, and 7 deleted.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from ubp.core.names import name_words

MAX_LINE = 1_000  # longer lines are generated
MAX_SHAPES = 200  # more lines that differ in numbers were made by a machine
SHORTEST_NAME = 5  # letters
MAX_BEFORE = 3  # lines of a statement above the number

# `30`, `5s`, `1.85.1`, `v2.1`, `80%`; no part of a date, a time or a range. And what is on or off.
_VALUE = re.compile(
    r"(?<![\w.])(?<![\d:]-)v?\d[\d_]*+(?:\.\d++)*+(?:[A-Za-z]{1,3}|%)?(?![\w.]*\w)(?!-\d)"
    r"|\b(?:[Tt]rue|[Ff]alse)\b",
    re.ASCII,
)
_NAME = re.compile(r"[A-Za-z_][\w-]*(?![\w(-])")  # what is called has an argument, and no value
_QUOTED_NAME = re.compile(r"[\"'](?:[\w.-]*\.|--)?([A-Za-z_][\w-]*)[\"']")
_CONTINUED = re.compile(r"[,.(\\]\s*$")  # the statement goes on in the next line
_ANNOTATION = re.compile(r"\s*(?:#\[|@\w)")  # is about the next line
_UNITS = r"(?:[ -]?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|[KMG]i?B?|%))?"
_DEFAULT = re.compile(r"\bdefault|既定|デフォルト|默认|預設", re.IGNORECASE)
_HEADING = re.compile(r"#{1,6}\s")
# The lines of manifests with the least version of a language, and its name in pages.
_REQUIREMENTS = (
    (r"\s*(?:requires-python|python_requires|python)\s*=\s*[\"']?[~^>]", r"Python"),
    (r"\s*\"node\"\s*:\s*\"[~^>]", r"Node(?:\.?js)?"),
    (r"\s*\"php\"\s*:\s*\"[~^>]", r"PHP"),
    (r"\s*elixir:\s*\"[~>]", r"Elixir"),
    (r".*\brequired_ruby_version\b.*[~>]", r"Ruby"),
    (r"\s*rust-version\s*=", r"Rust|rustc"),
    (r"go\s+\d", r"Go(?:lang)?"),
)
_AT_LEAST = r"\b(?:at least|minimum(?: supported)?|needs?|requires?)[\s`*_]+"
# The version may be marked, and the text of a link: `[Go 1.21](https://go.dev) or later`
_OR_LATER = (
    r"[`*_]*(?:\](?:\([^)\s]*\)|\[[^\]\n]*\]))?[`*_]*"
    r"(?:\+|,?\s+(?:or|and)\s+(?:above|greater|higher|later|newer|up)\b|\s*(?:以上|以降|及以上))"
)
# Of what a line or section is about: `Reader 2.x works with PHP 7.1 or above`
_OTHER_VERSION = re.compile(r"\d\.(?:\d|x)", re.IGNORECASE)
# What precedes the path of a module where a page imports or installs it. An address of its
# repository may be the same text.
_BEFORE_MODULE = (
    r"(?:(?<![\w-])go[ ]+(?:get|install|mod|run)\b[^`)\]]*?"
    r"|\b[Ii]mport(?:s|ed|ing)?\b[^\n]{0,40}?[\"`]"
    r"|^\s*(?:[\w.]+[ \t]+)?\"(?=[^\"\n]+\"\s*(?://.*)?$)"  # in `import (…)`
    r"|^\s*(?:(?:require|replace)[ \t]+)?(?=\S+[ \t]+(?:v\d+\.\d|=>)))"
)
# The path of a Go module, in `go.mod`.
_MODULE = re.compile(r"module\s+([\w-]+(?:\.[\w-]+)+/[\w./~-]+)\s*(?://.*)?$")
# Words of a name that a page leaves out: `DEFAULT_READ_TIMEOUT`
_OF_DEFAULTS = frozenset({"default", "defaults"})


class Replaced(NamedTuple):
    """A number that another takes the place of, on a line that differs in nothing else.

    `names` are those of several words on the line, or else of its statement. Where it is the least
    version of a language, there are none, and `language` is the pattern of the language. With
    neither it is the path of a module: `example.com/reader/v2`.
    """

    names: tuple[str, ...]
    old: str
    new: str
    language: str = ""


class Given(NamedTuple):
    """A line of a page (from 1) that gives a number beside a name, spelt as in the page.

    Or that has a module's path, which is the name.
    """

    line: int
    name: str


def replaced_numbers(
    removed: Collection[str], added: Collection[str], before: str
) -> Iterator[Replaced]:
    """Yield the numbers with which alone a removed line differs from an added one.

    And the path of a Go module that another takes the place of.

    `before` is the source that the removed lines are of.
    """
    old_paths, new_paths = _module_paths(removed), _module_paths(added)
    if len(old_paths) == len(new_paths) == 1 and old_paths != new_paths:
        yield Replaced((), old_paths[0], new_paths[0])
    old, new = _by_shape(removed), _by_shape(added)
    shapes = old.keys() & new.keys()
    for shape in sorted(shapes) if len(shapes) <= MAX_SHAPES else ():
        if len(old[shape]) > 1 or len(new[shape]) > 1:
            continue
        (line,), (replacement,) = old[shape], new[shape]
        values = [*zip(_VALUE.findall(line), _VALUE.findall(replacement), strict=True)]
        changed = [pair for pair in values if pair[0] != pair[1]]
        if len(changed) != 1:
            continue
        if language := _required_language(line):
            if changed[0] == values[0]:  # `3.8` of `>=3.8,<4`
                yield from _replaced_requirement(*changed[0], language)
        # A page that says 3.14 is right about 3.14.7.
        elif changed[0][1].startswith(f"{changed[0][0]}."):
            continue
        elif names := _compound(_NAME.findall(_VALUE.sub(" ", line))) or _names_around(
            line, before
        ):
            yield Replaced(names, *changed[0])


def _module_paths(lines: Collection[str]) -> list[str]:
    return [match[1] for line in lines if len(line) <= MAX_LINE and (match := _MODULE.match(line))]


def _required_language(line: str) -> str:
    """Return the pattern of the language of which a manifest's line has the least version."""
    return next((name for pattern, name in _REQUIREMENTS if re.match(pattern, line)), "")


def _replaced_requirement(old: str, new: str, language: str) -> Iterator[Replaced]:
    old, new = (re.sub(r"(?:\.0)+$", "", version) for version in (old, new))
    if not f"{new}.".startswith(f"{old}."):
        yield Replaced((), old, new, language)


def _by_shape(lines: Collection[str]) -> dict[str, list[str]]:
    """Return lines with a value by what else they have."""
    found: dict[str, list[str]] = {}
    for line in lines:
        if len(line) <= MAX_LINE and (shape := _VALUE.sub("\0", line)) != line:
            found.setdefault(" ".join(shape.split()), []).append(line)
    return found


def _names_around(line: str, before: str) -> tuple[str, ...]:
    """Return the names in quotes above a line in its statement, or what it is an annotation of."""
    words = line.split()
    lines = before.splitlines()
    places = [number for number, text in enumerate(lines) if text.split() == words]
    if len(places) != 1:
        return ()
    (place,) = places
    if _ANNOTATION.match(line):
        return _compound(_NAME.findall("".join(lines[place + 1 : place + 2])))
    for number in range(place - 1, max(place - 1 - MAX_BEFORE, -1), -1):
        if not _CONTINUED.search(lines[number]):
            break
        if names := _compound(_QUOTED_NAME.findall(lines[number])):
            return names
    return ()


def _compound(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            name
            for name in names
            if len(words := _words(name)) > 1 and len("".join(words)) >= SHORTEST_NAME
        )
    )


def _words(name: str) -> list[str]:
    return [word for word in name_words(name) if word.isalpha() and word not in _OF_DEFAULTS]


def find_given(text: str, replaced: Replaced) -> Given | None:
    """Return the first line of a page that gives the old number beside a name of it.

    Or that imports or installs a module by its old path.

    A single digit, and what is on or off, count only where the line also says that it is a default;
    there the name may be in the heading, too.
    """
    if replaced.old not in text:
        return None
    if replaced.language:
        return _find_required(text, replaced)
    if not replaced.names:
        return _find_module(text, replaced)
    value, new = _occurrence(replaced.old), _occurrence(replaced.new)
    is_distinct = len(replaced.old) > 1 and re.search(r"\d", replaced.old)
    names = re.compile("|".join(map(_pattern, replaced.names)), re.IGNORECASE)
    heading = ""
    for number, line in enumerate(text.split("\n"), 1):
        if _HEADING.match(line):
            heading = line
        if len(line) > MAX_LINE or not value.search(line) or new.search(line):
            continue
        is_default = _DEFAULT.search(line) is not None
        if is_distinct or is_default:
            place = f"{heading}\n{line}" if is_default else line
            if name := names.search(place):
                return Given(number, name[0])
    return None


def _find_required(text: str, replaced: Replaced) -> Given | None:
    """Return the first line of a page that requires the old version of a language, or a later one.

    One that has, or whose heading has, another version before it may be about an earlier release.
    """
    name = rf"\b(?P<name>(?:{replaced.language})(?:[ ]version)?)"
    version = rf"v?{re.escape(replaced.old)}(?:\.0|\.x)*(?![\w-]|\.\w)"
    places = [
        re.compile(pattern, re.IGNORECASE)
        for pattern in (
            rf"{name}[^\w\n]{{1,6}}{version}{_OR_LATER}",
            rf"{name}[^\w\n]{{0,6}}[>≥][^\w\n]{{0,3}}{version}",
            rf"{_AT_LEAST}{name}[^\w\n]{{1,6}}(?:is[ ])?{version}",
        )
    ]
    new = _occurrence(replaced.new)
    heading = ""
    for number, line in enumerate(text.split("\n"), 1):
        if _HEADING.match(line):
            heading = line
        if len(line) > MAX_LINE or replaced.old not in line or new.search(line):
            continue
        place = next(filter(None, (pattern.search(line) for pattern in places)), None)
        if place and not _OTHER_VERSION.search(f"{heading} {line[: place.start()]}"):
            return Given(number, place["name"])
    return None


def _find_module(text: str, replaced: Replaced) -> Given | None:
    """Return the first line of a page that imports or installs a module by its old path.

    An address (`https://…`) is not a module, nor is another major version of it, nor what only
    names its repository.
    """
    old, new = (rf"(?<![\w./-]){re.escape(path)}" for path in (replaced.old, replaced.new))
    path = re.compile(rf"{_BEFORE_MODULE}{old}(?:/(?!v\d+\b)[\w./-]+)?(?![\w/-]|\.\w)")
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) <= MAX_LINE and path.search(line) and not re.search(rf"{new}(?![\w-])", line):
            return Given(number, replaced.old)
    return None


def _occurrence(value: str) -> re.Pattern[str]:
    units = _UNITS if value.isdigit() else ""
    return re.compile(rf"(?<![\w.-]){re.escape(value)}{units}(?![\w-]|\.\w)", re.ASCII)


def _pattern(name: str) -> str:
    """Return the pattern of a name in any spelling: `readTimeout`, `--read-timeout`."""
    words = r"[ _.-]*".join(map(re.escape, _words(name)))
    return rf"(?<![a-z\d]){words}(?![a-z\d])"
