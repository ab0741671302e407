"""Evidence that a drift affects a page: names of changed code that the page contains.

Both versions of a source are read, and its page, only for pages that fire. A line that is moved,
spaced in another way, comment or docstring is not a changed one. A literal of the language is no
name, and one that many pages contain says nothing about one of them.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import NamedTuple, Protocol

from ubp.core.languages import without_language
from ubp.core.model import Assessment, Evidence, FilePath, NameChange, Page, ReferenceVerdict
from ubp.core.names import fold_name
from ubp.core.versions import read_version
from ubp.index.view import View
from ubp.staleness.diff import DRIFTED, ChangedLines, read_changed_lines
from ubp.staleness.model import StalenessContext, is_certain
from ubp.staleness.numbers import Replaced, find_given, replaced_numbers

MAX_EVIDENCE = 5  # a reference; texts show fewer
MAX_CANDIDATES = 40  # of which some may be names of many pages
MAX_LINE_CHARACTERS = 1_000  # longer lines are generated
SHORTEST_NAME = 4  # `id` and `run` are words of everybody's prose
SHORTEST_NUMBER = 2  # 0 to 9 occur everywhere
MAX_PAGES = 30
"""More have the name of a hub. Of the judged firings with evidence in code, those that are right
have a name of 2, 2, 4, 6 and 29 pages, and of the wrong ones 4 have none of fewer than 36
(`benchmarks/staleness/firings.py`). Versions and translations of a page count as one."""
MAX_PAGES_READ = 1_000  # of a repository with more, so many drawn evenly are searched
MAX_SUBJECTS = 50  # classes of a source by which the sections about it are found

OPTION = r"(?<![\w-])--[a-zA-Z][\w-]+(?:\.[a-zA-Z][\w-]*)*"  # `--http.config`, too
_PATH = r"(?<![\w./@~-])/?(?:[\w.@~-]+/)+[\w.@~-]*\w"
_NAME = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"
# No part of a date, a time, a range or another name: `2023-11-04`, `draft-07`.
_NUMBER = r"(?<![\w.])(?<!\d[:/-])(?<![A-Za-z]-)\d++(?:\.\d++)*+(?![\w.]*\w)(?![:/-]\d)"
# Also at the start of a path: in quotes, or of three parts (`go install github.com/acme/reader`) if
# it cannot be an attribute that is divided by numbers or attributes.
_HOST = (
    r"\b[a-z][a-z+.-]*://[^/\s\"'`<>()]*"
    r"|(?<=[\"'`])[\w-]+(?:\.[\w-]+)+(?=/)"
    r"|(?<![\w./-])(?!self\.)[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,4}(?=/[A-Za-z][\w.-]*/[A-Za-z])"
)
_QUOTED = r"\"([^\"`\n]{4,80})\"|'([^'`\n]{4,80})'"
# A message for people, whose words are no names, with `f` and the like of a string before it. `&'a`
# and `<'a` of Rust begin none, nor does `don't`.
_SENTENCE = (
    r"(?:(?<![\w&<])[BFRUbfru]{0,2}(?=')|(?=\"))([\"'])(?=\w)"
    r"(?:(?!\1)[^\n])*?[a-z]{2} [a-z]{2}(?:(?!\1)[^\n])*\1"
)
_PHRASE = r"[\w/-].*\W.*[\w)/.%]"
_WORDS_OR_ADDRESS = r"[^\W\d_]{3}|\d\.\d+\.\d+:\d"  # `127.0.0.1:6379`
_QUOTED_WORD = r"[\"']([a-z](?:[\w-]|\.(?=[a-z])){3,})[\"']"
_IN_CODE = r"`([A-Za-z_]\w*)(?:\([^`\n]*)?`"
# `def login(`, `fn login`, `const login`, and `login = `, `"login": ` at the beginning of a line.
_DEFINITION = (
    r"\b(?:class|const|def|enum|fn|func|function|interface|let|module|struct|trait|type|val|var)"
    r"[ \t]+([A-Za-z_]\w*)|(?m:^)[\"']?([A-Za-z_][\w-]*)[\"']?[ \t]*[:=]"
)
_CLASS = rb"\b(?:class|enum|interface|module|struct|trait)[ \t]+([A-Za-z_]\w{3,})"
_HEADING = r"#{1,6}[ \t]"
_FENCE = r"[ \t>]*(?:```|~~~)"
# Literals, and what stands for the object itself, in any language.
_LITERALS = frozenset(
    {
        *("None", "True", "False", "Ellipsis", "NoneType", "NotImplemented", "self"),
        *("null", "true", "false", "undefined", "this", "super", "void", "nullptr", "Infinity"),
        "globalThis",
        *("NULL", "TRUE", "FALSE", "string", "number", "boolean"),
    }
)
# Types of languages, which tables of options give: no names unless the lines define or quote them.
_TYPES = frozenset(
    {
        *("array", "bool", "bytes", "dict", "double", "float", "list", "object", "tuple"),
        *("float32", "float64", "intptr_t", "isize", "ptrdiff_t", "size_t", "ssize_t"),
        *("uintptr_t", "usize", "wchar_t"),
        *(
            f"{sign}int{n}{end}"
            for sign in ("", "u")
            for n in (8, 16, 32, 64)
            for end in ("", "_t")
        ),
    }
)


class _Names(NamedTuple):
    """What lines contain: names that are unlikely in prose, plain words, numbers.

    `defined` are the names, of both kinds, whose definition the lines begin. `options` are the
    words in quotes, as the options that they may be the names of: `--password`.
    """

    distinct: frozenset[str]
    plain: frozenset[str]
    numbers: frozenset[str]
    defined: frozenset[str]
    options: frozenset[str]


class _Sides(NamedTuple):
    """The names in the lines of both versions, and the numbers that one replaced."""

    before: _Names
    after: _Names
    replaced: tuple[Replaced, ...]


class StoredEvidence(Protocol):
    """What an earlier run found; see `ubp.staleness.stored_evidence`."""

    def read(
        self, drifted: Sequence[tuple[Page, ReferenceVerdict]]
    ) -> Mapping[int, tuple[Evidence, ...]]:
        """Return the candidates of those references, by their positions, that are stored."""

    def save(
        self,
        drifted: Sequence[tuple[Page, ReferenceVerdict]],
        found: Mapping[int, tuple[Evidence, ...]],
    ) -> None:
        """Store candidates by the positions of their references."""

    def common_names(
        self, names: frozenset[str], find: Callable[[Collection[str]], frozenset[str]]
    ) -> frozenset[str]:
        """Return the common ones of these names; `find` is asked for those not stored."""


def add_evidence(
    assessments: Sequence[Assessment],
    context: StalenessContext,
    edited: Collection[FilePath] = (),
    stored: "StoredEvidence | None" = None,
) -> tuple[Assessment, ...]:
    """Return the assessments with the evidence for each reference that drifted and is not debt.

    Those without evidence are noted, where such drift is not an alarm (`staleness.alarms`).
    `edited` are the files that a change edits: by its own pages it makes no name a common one.
    `stored` is the evidence in the index, which a change does not need: most of its pairs are new.
    """
    rules = context.rules
    drifted = [
        (assessment.page, reference)
        for assessment in assessments
        for reference in assessment.references
        if reference.verdict in DRIFTED
        and not reference.is_debt
        and not rules.is_hidden(reference.source_path)
    ]
    if not any(
        reference.verdict in DRIFTED for page in assessments for reference in page.references
    ):
        return tuple(assessments)
    candidates = _find_candidates(drifted, context, stored)
    names = frozenset(found.name for some, _ in candidates for found in some)
    common = (
        stored.common_names(names, partial(_common_names, context=context))
        if stored
        else _common_names(names, context, edited)
    )
    found = {}
    for (page, reference), (some, is_unread) in zip(drifted, candidates, strict=True):
        evidence = [evidence for evidence in some if evidence.name not in common][:MAX_EVIDENCE]
        found[page.filepath, reference.reference.literal] = reference._replace(
            evidence=tuple(evidence), is_unread=is_unread and not evidence
        )

    def replaced(assessment: Assessment) -> Iterator[ReferenceVerdict]:
        for reference in assessment.references:
            key = assessment.page.filepath, reference.reference.literal
            yield note(found.get(key, reference)) if reference.verdict in DRIFTED else reference

    def note(reference: ReferenceVerdict) -> ReferenceVerdict:
        is_alarm = rules.alarms == "any" or is_certain(reference) or reference.is_unread
        return reference._replace(is_noted=not is_alarm and not reference.is_debt)

    return tuple(
        assessment._replace(references=tuple(replaced(assessment))) for assessment in assessments
    )


def _find_candidates(
    drifted: Sequence[tuple[Page, ReferenceVerdict]],
    context: StalenessContext,
    stored: "StoredEvidence | None",
) -> list[tuple[tuple[Evidence, ...], bool]]:
    """Return for each reference the names that are evidence unless they are common.

    The second value is whether a version of the source could not be read.
    """
    known = stored.read(drifted) if stored else {}
    unknown = [pair for number, pair in enumerate(drifted) if number not in known]
    changes = read_changed_lines([reference for _, reference in unknown], context)
    contents = context.view.read({page.filepath for page, _ in unknown})
    pages: dict[FilePath, _Page] = {}
    # A source has many pages.
    sides: dict[tuple[frozenset[str], frozenset[str]], _Sides] = {}
    candidates = [(known.get(number, ()), False) for number in range(len(drifted))]
    new: dict[int, tuple[Evidence, ...]] = {}
    numbers = (number for number in range(len(drifted)) if number not in known)
    for number, changed in zip(numbers, changes, strict=True):
        page, reference = drifted[number]
        path = page.filepath
        if path not in pages:
            pages[path] = _Page(contents.get(path) or b"")
        lines = changed.removed, changed.added
        if lines not in sides:
            sides[lines] = _sides(changed)
        found = pages[path].find(sides[lines], changed, reference)[:MAX_CANDIDATES]
        candidates[number] = found, changed.is_incomplete
        if changed.is_of_one_file and contents.get(path) is not None:
            new[number] = found
    if stored:
        stored.save(drifted, new)
    return candidates


def find_evidence(
    assessment: Assessment, context: StalenessContext, text: bytes
) -> tuple[Evidence, ...]:
    """Return the names of the drift of a page's sources that a text in its place contains.

    Names that left the sources come first. None is left out because there are many.
    """
    drifted = [
        reference
        for reference in assessment.references
        if reference.verdict in DRIFTED and not context.rules.is_hidden(reference.source_path)
    ]
    page = _Page(text)
    found: dict[str, Evidence] = {}
    for reference, changed in zip(drifted, read_changed_lines(drifted, context), strict=True):
        for evidence in page.find(_sides(changed), changed, reference)[:MAX_CANDIDATES]:
            found.setdefault(evidence.name, evidence)
    common = _common_names(found, context, (assessment.page.filepath,))
    remaining = [evidence for name, evidence in found.items() if name not in common]
    return tuple(sorted(remaining, key=lambda evidence: evidence.change != "removed"))


def _common_names(
    names: Collection[str], context: StalenessContext, edited: Collection[FilePath] = ()
) -> frozenset[str]:
    """Return those of these names that more than MAX_PAGES pages contain."""
    if not names:
        return frozenset()
    found: dict[str, set[str]] = {name: set() for name in names}
    texts = {name: [written.encode() for written in _written(name)] for name in names}
    patterns = {name: _occurrence(*_written(name)) for name in names}
    for path, data in _read_pages(context.view, edited):
        page = without_language(read_version(path).family)
        for name, pages in found.items():
            if len(pages) > MAX_PAGES or page in pages:
                continue
            if any(text in data for text in texts[name]) and patterns[name].search(data):
                pages.add(page)
    return frozenset(name for name, pages in found.items() if len(pages) > MAX_PAGES)


def _occurrence(*names: str) -> re.Pattern[bytes]:
    """Return the pattern of names that are not parts of longer ones."""
    # `--read-timeout` is another option than `--read`
    ends = ((name, rb"(?![.-]\w)" if name.startswith("--") else b"") for name in names)
    alternatives = b"|".join(re.escape(name.encode()) + end for name, end in ends)
    return re.compile(rb"(?<!\w)(?:%b)(?!\w)" % alternatives, re.ASCII)


def _written(name: str) -> tuple[str, ...]:
    """Return how a page may write a name: as it is, or as the option that it is the variable of."""
    if not re.fullmatch(r"[A-Za-z](?:[_-]?[A-Za-z0-9])*", name):
        return (name,)
    words = re.split(r"[_-]|(?<=[a-z0-9])(?=[A-Z])", name)
    if len(words) == 1:
        return (name,)
    return (name, *(f"--{sign.join(words).lower()}" for sign in "-_"))


def _read_pages(view: View, edited: Collection[FilePath]) -> Iterable[tuple[FilePath, bytes]]:
    """Return the pages that a change does not edit, of many so many drawn evenly."""
    paths = [path for path in view.document_paths() if path not in edited]
    if len(paths) <= MAX_PAGES:
        return ()
    drawn = paths[:: -(-len(paths) // MAX_PAGES_READ)]
    return ((path, data) for path, data in view.read(drawn).items() if data)


def names_in_code(lines: Collection[str]) -> frozenset[str]:
    """Return the names in lines of code that are unlikely in prose: `read_all`, `--dry-run`."""
    return _names(lines).distinct


def defined_names(lines: Collection[str]) -> frozenset[str]:
    """Return the names whose definitions begin in lines of code."""
    return _names(lines).defined


def _sides(changed: ChangedLines) -> _Sides:
    before = changed.before.decode("utf-8", "replace")
    replaced = tuple(replaced_numbers(changed.removed, changed.added, before))
    return _Sides(_names(changed.removed), _names(changed.added), replaced)


def _names(lines: Collection[str]) -> _Names:
    text = "\n".join(line[:MAX_LINE_CHARACTERS] for line in lines)  # no name has a line's end
    distinct = set(re.findall(OPTION, text, re.ASCII))
    distinct.update(filter(_is_path, set(re.findall(_PATH, text, re.ASCII))))
    code = re.sub(_HOST, " ", text)
    distinct.update(filter(_is_distinct, _words(code)))
    plain = {word for word in _words(re.sub(_SENTENCE, " ", code)) if not _is_distinct(word)}
    for pair in set(re.findall(_QUOTED, text)):
        words = pair[0] or pair[1]
        if re.fullmatch(_PHRASE, words) and re.search(_WORDS_OR_ADDRESS, words):
            distinct.add(words)
    numbers = set(re.findall(_NUMBER, text, re.ASCII))
    defined = {first or second for first, second in re.findall(_DEFINITION, text, re.ASCII)}
    quoted = set(re.findall(_QUOTED_WORD, text, re.ASCII))
    types = _TYPES - defined - quoted
    plain -= types
    distinct -= types
    return _Names(
        frozenset(name for name in distinct if len(name) >= SHORTEST_NAME),
        frozenset(word for word in plain if len(word) >= SHORTEST_NAME),
        frozenset(number for number in numbers if len(number) >= SHORTEST_NUMBER),
        frozenset(name for name in defined if len(name) >= SHORTEST_NAME),
        frozenset(f"--{word}" for word in quoted),
    )


def _words(text: str) -> set[str]:
    """Return the names in a text, and their parts: `options.read`, `options` and `read`."""
    names = set(re.findall(_NAME, text, re.ASCII))
    return names.union(*(name.split(".") for name in names)) - _LITERALS


def _is_path(path: str) -> bool:
    return "." in path or path.count("/") > 1


def _is_distinct(word: str) -> bool:
    """Return whether a word is a name in code, not one of prose: `read_all`, `readAll`, `utf8`."""
    if word.startswith("__") and word.endswith("__"):
        return False
    return bool(re.search(r"\w_\w|[a-z][A-Z]|[A-Za-z]\d|\.", word, re.ASCII))


class _Page:
    """A page's text without its front matter, and what it contains, each with its lines."""

    def __init__(self, data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        self._lines = text.splitlines()
        self._first = _front_matter_lines(self._lines)
        self._text = "\n".join(self._lines[self._first :])

    def find(
        self, sides: _Sides, changed: ChangedLines, reference: ReferenceVerdict
    ) -> tuple[Evidence, ...]:
        """Return names of replaced numbers, then those that left changed lines, then new ones.

        Of each, those in sections about the source come first.
        """
        before, after, replaced = sides
        redefined = before.defined & after.defined
        anywhere, in_code = self._lines_of, self._lines_in_code
        groups = (
            (before.distinct - after.distinct, anywhere),
            (before.plain - after.plain, in_code),
            (before.options - after.options, anywhere),
            (before.numbers - after.numbers, anywhere),
            (after.distinct - before.distinct, anywhere),
            (redefined & before.distinct, anywhere),
            (redefined - before.distinct, in_code),
        )
        concerned: Callable[[int], bool] | None = None
        # A variable, its option and the word in quotes are one name.
        found: dict[tuple[str, int], Evidence] = {}
        for each in replaced:
            if given := find_given(self._text, each):
                line = self._first + given.line
                found[fold_name(given.name), line] = Evidence(given.name, line, "changed")
        for names, lines_of in groups:
            places = {name: lines for name in names if (lines := lines_of(name))}
            if places and concerned is None:
                concerned = partial(_is_in, self._sections_about(reference, changed))
            if places and concerned:
                for evidence in _evidence(places, concerned, changed):
                    found.setdefault((fold_name(evidence.name), evidence.line), evidence)
        return tuple(found.values())

    @cached_property
    def _words(self) -> Mapping[str, Sequence[int]]:
        words: dict[str, list[int]] = {}
        token = re.compile(f"{OPTION}|{_PATH}|{_NAME}|{_NUMBER}", re.ASCII)
        for number, line in enumerate(self._lines[self._first :], self._first + 1):
            for word in token.findall(line):
                words.setdefault(word, []).append(number)
                is_joined = ("." in word or "/" in word) and not word.startswith("--")
                for part in re.split(r"[./]", word) if is_joined else ():
                    if not part.isdigit():
                        words.setdefault(part, []).append(number)
        return words

    @cached_property
    def _coded(self) -> Mapping[str, Sequence[int]]:
        coded: dict[str, list[int]] = {}
        for number, line in enumerate(self._lines[self._first :], self._first + 1):
            for word in re.findall(_IN_CODE, line, re.ASCII):
                coded.setdefault(word, []).append(number)
        return coded

    @cached_property
    def _sections(self) -> Sequence[range]:
        """The lines of each section, from its heading to the next one."""
        starts = [self._first + 1]
        is_code = False
        for number, line in enumerate(self._lines[self._first :], self._first + 1):
            if re.match(_FENCE, line):
                is_code = not is_code
            elif not is_code and number > starts[-1] and re.match(_HEADING, line):
                starts.append(number)
        ends = [*starts[1:], len(self._lines) + 1]
        return [range(start, end) for start, end in zip(starts, ends, strict=True)]

    def _sections_about(
        self, reference: ReferenceVerdict, changed: ChangedLines
    ) -> Sequence[range]:
        """Return the sections that contain the source's path, module, symbol or classes."""
        path, stem = reference.source_path, reference.source_path.rpartition(".")[0]
        classes = {
            name.decode()
            for text in (changed.before, changed.after)
            for name in re.findall(_CLASS, text)[:MAX_SUBJECTS]
        }
        module = stem.replace("/", ".")
        subjects = {path, path.rpartition("/")[2], (reference.reference.fragment or "")[1:], module}
        subjects.update(classes, [module.partition(".")[2]] if module.count(".") > 1 else ())
        lines = {line for name in subjects if name for line in self._lines_of(name)}
        return [section for section in self._sections if any(line in section for line in lines)]

    def _lines_in_code(self, name: str) -> Sequence[int]:
        return self._coded.get(name, ()) if name in self._text else ()

    def _lines_of(self, name: str) -> Sequence[int]:
        for written in _written(name):
            if written not in self._text:  # of most pages: their words need not be found
                continue
            if written in self._words:
                return self._words[written]
            if not re.fullmatch(r"[\w./-]+", written, re.ASCII):
                line = self._first + self._text.count("\n", 0, self._text.index(written)) + 1
                return (line,)
        return ()


def _is_in(sections: Sequence[range], line: int) -> bool:
    return any(line in section for section in sections)


def _evidence(
    places: Mapping[str, Sequence[int]], concerned: Callable[[int], bool], changed: ChangedLines
) -> list[Evidence]:
    """Return the names of a page by their lines, those in the sections concerned first."""

    def line_of(lines: Sequence[int]) -> int:
        return next(filter(concerned, lines), lines[0])

    found = [(name, line_of(lines)) for name, lines in places.items()]
    found.sort(key=lambda item: (not concerned(item[1]), item[1], -len(item[0]), item[0]))
    longest: list[tuple[str, int]] = []
    for name, line in found:  # `options.timeout` says more than `timeout`
        if not any(line == other_line and name in other for other, other_line in longest):
            longest.append((name, line))
    return [Evidence(name, line, _change_of(name, changed)) for name, line in longest]


def _change_of(name: str, changed: ChangedLines) -> NameChange:
    """Return what happened to a name in the whole code of a source.

    An option may be made of a word in quotes.
    """
    word = name.removeprefix("--")
    occurrence = _occurrence(name) if word == name else _occurrence(name, f'"{word}"', f"'{word}'")
    if not occurrence.search(changed.after):
        return "removed"
    return "changed" if occurrence.search(changed.before) else "added"


def _front_matter_lines(lines: Sequence[str]) -> int:
    if not lines or lines[0].rstrip() not in {"---", "+++"}:
        return 0
    end = lines[0].rstrip()
    return next((n + 1 for n, line in enumerate(lines) if n and line.rstrip() == end), 0)
