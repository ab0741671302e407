"""Queries that are one identifier: the lines of documents with it, and where code defines it.

What identifies is written as code is: `max_tokens`, `--no-lock`, `getUserById`, `Session.login`.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from ubp.code.definitions import MAX_LINE, find_definitions, language_of
from ubp.code.signatures import is_definition, signature_at
from ubp.core.interruption import checkpoint, with_checkpoints
from ubp.core.model import FilePath
from ubp.core.text import shorten
from ubp.core.versions import read_version
from ubp.git.grep import FoundLine, find_word
from ubp.index.facts import FileContents
from ubp.index.view import View
from ubp.search.suggest_links import is_boilerplate
from ubp.search.terms import Term

# A word that so many documents contain as words next to each other identifies nothing.
MAX_DOCUMENTS = 500
MAX_LINE_CHARACTERS = 200
MAX_READ = 300  # lines, for keys and options: 1.5 ms each
_NAME = r"[A-Za-z_]\w*"
_OWNER = re.compile(rf"({_NAME})(?:\.|::|->|#)")
_IDENTIFIER = re.compile(
    rf"--?[A-Za-z][\w-]+"  # an option
    rf"|(?:{_NAME}(?:\.|::|->|\#))+{_NAME}"
    r"|\w*[A-Za-z0-9]_\w+|_\w+"
    r"|[A-Za-z]*[a-z0-9][A-Z]\w*"
    r"|[a-z][a-z0-9]*(?:-[a-z0-9]+)+"
)
# `config.toml` is a file.
_FILE = re.compile(r"(?i).*\.(?:mdx?|rst|txt|toml|ya?ml|json5?|lock|cfg|ini|html?|xml|svg|png|env)")
_CALL = re.compile(r"\(.*\)$")


class NamingLine(NamedTuple):
    """A line, from 1, of a document; `copies` are other versions of the document that have it."""

    path: FilePath
    line: int
    text: str
    copies: int = 0


class Definition(NamedTuple):
    """Where a source defines a name, and how: `is_sure` with a keyword such as `class` or `fn`."""

    path: FilePath
    line: int
    signature: str
    is_sure: bool


def read_identifier(text: str) -> str | None:
    """Return the identifier that a query is, without quotes and parentheses; None: it is none."""
    name = _CALL.sub("", text.strip().strip("`\"'").strip())
    return name if _IDENTIFIER.fullmatch(name) else None


def find_lines(
    view: View, name: str, first: Collection[FilePath], within: Collection[FilePath] | None
) -> list[NamingLine]:
    """Return the lines of documents that contain a name as it is written, `first` ones first.

    Changelogs and the like come last. A line that a document has several times, or several versions
    of it have, is listed once.
    """
    holding = view.full_text().holding(Term(name).phrase, within)
    if len(holding) > MAX_DOCUMENTS:
        return []
    rank = {path: place for place, path in enumerate(first)}
    paths = sorted(
        holding,
        key=lambda path: (
            is_boilerplate(path),
            rank.get(path, len(rank)),
            bool(read_version(path).version),
            path,
        ),
    )
    pattern = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    found: dict[tuple[str, str], NamingLine] = {}
    contents = view.read(paths)
    for path in with_checkpoints(paths):
        family = read_version(path).family
        lines = (contents[path] or b"").decode("utf-8", "replace").split("\n")
        numbers = {
            shorten(" ".join(line.split()), MAX_LINE_CHARACTERS): number
            for number, line in reversed([*enumerate(lines, 1)])
            if pattern.search(line)
        }
        for text, number in sorted(numbers.items(), key=lambda item: item[1]):
            known = found.get((family, text))
            found[family, text] = (
                known._replace(copies=known.copies + 1) if known else NamingLine(path, number, text)
            )
    return list(found.values())


def find_defining(view: View, name: str, is_hidden: Callable[[FilePath], bool]) -> list[Definition]:
    """Return where sources define a name; of `Session.login`, in files with the word `Session`.

    Where a keyword defines it, keys and options of that name are left out.
    """
    if _FILE.fullmatch(name):
        return []
    *_, last = re.split(r"\.|::|->|#", name.lstrip("-"))
    owners = _OWNER.findall(name)
    spellings = dict.fromkeys((last, last.replace("-", "_"), last.replace("_", "-")))
    documents = frozenset(view.document_paths())
    lines = [
        line
        for line in with_checkpoints(
            find_word(view.context.repository, view.snapshot, list(spellings))
        )
        if len(line.text) <= MAX_LINE
        and language_of(line.path)
        and line.path not in documents
        and not is_hidden(line.path)
    ]
    defining = [line for line in lines if _has_keyword(line, spellings)]
    is_sure = bool(defining)
    if not is_sure:
        defining = [line for line in lines[:MAX_READ] if _defines(line, spellings)]
    return list(_read(view, defining, owners[-1:], is_sure=is_sure))


def _read(
    view: View, lines: Sequence[FoundLine], owner: Sequence[str], *, is_sure: bool
) -> Iterator[Definition]:
    """Yield the definitions that begin at these lines, in files that name their owner, if any."""
    by_path: dict[FilePath, list[FoundLine]] = {}
    for line in lines:
        by_path.setdefault(line.path, []).append(line)
    entries = {path: entry for path, entry in view.entries(by_path).items() if entry}
    contents = FileContents(view.context.repository, view.snapshot).read(entries)
    for path, data in with_checkpoints(contents.items()):
        text = (data or b"").decode("utf-8", "replace")
        written = text.split("\n")
        stem = path.rpartition("/")[2].partition(".")[0]
        if any(name != stem and not re.search(rf"\b{name}\b", text) for name in owner):
            continue
        for line in by_path[path]:
            # What git has read of the disk may have changed, or be behind a link.
            if written[line.line - 1 : line.line] == [line.text.decode("utf-8", "replace")]:
                signature = shorten(signature_at(text, line.line), MAX_LINE_CHARACTERS)
                yield Definition(path, line.line, signature, is_sure)


def _has_keyword(line: FoundLine, spellings: Collection[str]) -> bool:
    text = line.text.decode("utf-8", "replace")
    return any(is_definition(text, name) or _is_constant(text, name) for name in spellings)


def _defines(line: FoundLine, spellings: Collection[str]) -> bool:
    """Return whether a line defines a name, maybe as a key or an option."""
    checkpoint()
    language = language_of(line.path)
    if language is None:
        return False
    definitions = find_definitions(line.text, language)
    names = {name.lstrip("-") for name in definitions.names | definitions.keys}
    return not names.isdisjoint(spellings)


def _is_constant(text: str, name: str) -> bool:
    """Return whether a line defines a constant, which is written in capitals."""
    if not name.isupper():
        return False
    keyword = rf"\b(?:const|static|final|define)[ \t]+(?:\w+[ \t]+)?{name}\b"
    return re.search(rf"{keyword}|^{name}[ \t]*(?::[^=]*)?=(?!=)", text) is not None
