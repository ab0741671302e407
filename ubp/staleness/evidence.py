"""Evidence that a drift affects a page: names of changed lines that the page contains.

Both versions of a source are read, and its page, only for pages that fire. A line that is moved, or
spaced in another way, is not a changed one.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from ubp.core.model import Assessment, Evidence, FilePath, ReferenceVerdict
from ubp.staleness.diff import DRIFTED, ChangedLines, read_changed_lines
from ubp.staleness.model import StalenessContext

MAX_EVIDENCE = 5  # a reference; texts show fewer
MAX_LINE_CHARACTERS = 1_000  # longer lines are generated
SHORTEST_NAME = 4  # `id` and `run` are words of everybody's prose
SHORTEST_NUMBER = 2  # 0 to 9 occur everywhere

_OPTION = r"(?<![\w-])--[a-zA-Z][\w-]+"
_PATH = r"(?<![\w./@-])/?(?:[\w.@~-]+/)+[\w.@-]*\w"
_NAME = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"
_NUMBER = r"(?<![\w.])\d+(?:\.\d+)*(?![\w.]*\w)"
_QUOTED = r"\"([^\"`\n]{4,80})\"|'([^'`\n]{4,80})'"
_IN_CODE = r"`([A-Za-z_]\w*)(?:\([^`\n]*)?`"
# `def login(`, `fn login`, `const login`, and `login = `, `"login": ` at the beginning of a line.
_DEFINITION = (
    r"\b(?:class|const|def|enum|fn|func|function|interface|let|module|struct|trait|type|val|var)\s+"
    r"([A-Za-z_]\w*)|^[\"']?([A-Za-z_][\w-]*)[\"']?\s*[:=]"
)


class _Names(NamedTuple):
    """What lines contain: names that are unlikely in prose, plain words, numbers.

    `defined` are the names, of both kinds, whose definition the lines begin.
    """

    distinct: frozenset[str]
    plain: frozenset[str]
    numbers: frozenset[str]
    defined: frozenset[str]


def add_evidence(
    assessments: Sequence[Assessment], context: StalenessContext
) -> tuple[Assessment, ...]:
    """Return the assessments with the evidence for each reference that drifted and is no debt."""
    rules = context.rules
    drifted = [
        (assessment.page.filepath, reference)
        for assessment in assessments
        for reference in assessment.references
        if reference.verdict in DRIFTED
        and not reference.is_debt
        and not rules.is_hidden(reference.source_path)
    ]
    if not drifted:
        return tuple(assessments)
    changes = read_changed_lines([reference for _, reference in drifted], context)
    pages: dict[FilePath, _Page] = {}
    names: dict[ChangedLines, tuple[_Names, _Names]] = {}  # a source has many pages
    found = {}
    contents = context.view.read({path for path, _ in drifted})
    for (path, reference), changed in zip(drifted, changes, strict=True):
        if path not in pages:
            pages[path] = _Page(contents.get(path) or b"")
        if changed not in names:
            names[changed] = _names(changed.removed), _names(changed.added)
        evidence = tuple(pages[path].find(*names[changed]))[:MAX_EVIDENCE]
        found[path, reference.reference.literal] = reference._replace(
            evidence=evidence, is_unread=changed.is_incomplete and not evidence
        )

    def replaced(assessment: Assessment) -> Iterator[ReferenceVerdict]:
        for reference in assessment.references:
            key = assessment.page.filepath, reference.reference.literal
            yield found.get(key, reference) if reference.verdict in DRIFTED else reference

    return tuple(
        assessment._replace(references=tuple(replaced(assessment))) for assessment in assessments
    )


def names_in_code(lines: Collection[str]) -> frozenset[str]:
    """Return the names in lines of code that are unlikely in prose: `read_all`, `--dry-run`."""
    return _names(lines).distinct


def _names(lines: Collection[str]) -> _Names:
    distinct: set[str] = set()
    plain: set[str] = set()
    numbers: set[str] = set()
    defined: set[str] = set()
    for line in lines:
        text = line[:MAX_LINE_CHARACTERS]
        distinct.update(re.findall(_OPTION, text, re.ASCII))
        distinct.update(filter(_is_path, re.findall(_PATH, text, re.ASCII)))
        numbers.update(re.findall(_NUMBER, text, re.ASCII))
        for dotted in re.findall(_NAME, text, re.ASCII):
            for word in {dotted, *dotted.split(".")}:
                (distinct if _is_distinct(word) else plain).add(word)
        for pair in re.findall(_QUOTED, text):
            words = pair[0] or pair[1]
            if re.fullmatch(r"[\w/-].*\W.*[\w)/.%]", words) and re.search(r"[^\W\d_]{3}", words):
                distinct.add(words)
        for pair in re.findall(_DEFINITION, text, re.ASCII):
            defined.add(pair[0] or pair[1])
    return _Names(
        frozenset(name for name in distinct if len(name) >= SHORTEST_NAME),
        frozenset(word for word in plain if len(word) >= SHORTEST_NAME),
        frozenset(number for number in numbers if len(number) >= SHORTEST_NUMBER),
        frozenset(name for name in defined if len(name) >= SHORTEST_NAME),
    )


def _is_path(path: str) -> bool:
    return "." in path or path.count("/") > 1


def _is_distinct(word: str) -> bool:
    """Return whether a word is a name in code, not one of prose: `read_all`, `readAll`, `utf8`."""
    if word.startswith("__") and word.endswith("__"):
        return False
    return bool(re.search(r"\w_\w|[a-z][A-Z]|[A-Za-z]\d|\.", word, re.ASCII))


class _Page:
    """A page's text without its front matter, and what it contains, each with its first line."""

    def __init__(self, data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        self._lines = text.splitlines()
        self._first = _front_matter_lines(self._lines)
        self._text = "\n".join(self._lines[self._first :])

    @cached_property
    def _words(self) -> dict[str, int]:
        words: dict[str, int] = {}
        token = re.compile(f"{_OPTION}|{_PATH}|{_NAME}|{_NUMBER}", re.ASCII)
        for number, line in enumerate(self._lines[self._first :], self._first + 1):
            for word in token.findall(line):
                words.setdefault(word, number)
                for part in re.split(r"[./]", word) if "." in word or "/" in word else ():
                    words.setdefault(part, number)
        return words

    @cached_property
    def _coded(self) -> dict[str, int]:
        coded: dict[str, int] = {}
        for number, line in enumerate(self._lines[self._first :], self._first + 1):
            for word in re.findall(_IN_CODE, line, re.ASCII):
                coded.setdefault(word, number)
        return coded

    def find(self, before: _Names, after: _Names) -> Iterator[Evidence]:
        """Yield names that the change removed, then those it added or defines in another way."""
        redefined = before.defined & after.defined
        yield from _evidence(before.distinct - after.distinct, self._line_of)
        yield from _evidence(before.plain - after.plain, self._line_in_code)
        yield from _evidence(before.numbers - after.numbers, self._line_of)
        yield from _evidence(after.distinct - before.distinct, self._line_of)
        yield from _evidence(redefined & before.distinct, self._line_of)
        yield from _evidence(redefined - before.distinct, self._line_in_code)

    def _line_in_code(self, name: str) -> int | None:
        return self._coded.get(name) if name in self._text else None

    def _line_of(self, name: str) -> int | None:
        if name not in self._text:  # of most pages: their words need not be found
            return None
        if name in self._words:
            return self._words[name]
        if re.fullmatch(r"[\w./-]+", name, re.ASCII):
            return None
        return self._first + self._text.count("\n", 0, self._text.index(name)) + 1


def _evidence(names: Iterable[str], line_of: Callable[[str], int | None]) -> list[Evidence]:
    """Return the names that a page contains, in the order of their lines."""
    found = [Evidence(name, line) for name in names if (line := line_of(name))]
    found.sort(key=lambda evidence: (evidence.line, -len(evidence.name), evidence.name))
    longest: list[Evidence] = []
    for evidence in found:  # `options.timeout` says more than `timeout`
        if not any(
            evidence.line == other.line and evidence.name in other.name for other in longest
        ):
            longest.append(evidence)
    return longest


def _front_matter_lines(lines: Sequence[str]) -> int:
    if not lines or lines[0].rstrip() not in {"---", "+++"}:
        return 0
    end = lines[0].rstrip()
    return next((n + 1 for n, line in enumerate(lines) if n and line.rstrip() == end), 0)
