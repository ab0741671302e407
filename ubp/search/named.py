"""The documents that a query names: it is their title, an alias, their file or a heading.

Case, width, punctuation and plural do not matter. Names are compared exactly; the full text only
finds the few documents whose names are worth reading.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ubp.core.model import FilePath, Page, Section
from ubp.core.text import is_cjk, segment_cjk
from ubp.index.match import AnyOf, Match, Phrase
from ubp.index.store.tokenizer import Table
from ubp.search.lexical import name_of
from ubp.search.match import normalize_text, strip_plural, words_of
from ubp.search.query import Query
from ubp.search.searched import Names, Scope, Searched

MAX_WORDS = 12  # a longer query is a sentence
# A name that more documents begin with, or whose words more aliases contain, names none of them.
MAX_READ = 64
# A heading that more documents have ("Installation") names none of them.
MAX_WITH_HEADING = 3

TITLE, ALIAS, FILE_NAME, HEADING = range(4)
"""What a query is of a document: the lower, the more certain it is meant."""

Key = tuple[str, ...]


class Named(NamedTuple):
    """The documents that a query names, each with the kind of the name.

    `sections` are the numbers of the sections whose headings the query is.
    """

    kinds: Mapping[FilePath, int] = {}
    sections: Mapping[FilePath, int] = {}


@lru_cache(maxsize=16_384)
def name_key(name: str) -> Key:
    """Return the words of a name without differences of case, width, punctuation and plural."""
    return tuple(map(strip_plural, words_of(segment_cjk(normalize_text(name)))))


def find_named(view: Searched, query: Query, names: Names, scope: Scope) -> Named:
    """Return the documents of the scope whose title, alias, file name or path is the query."""
    key = name_key(query.wording)
    if not 0 < len(key) <= MAX_WORDS or query.is_boolean:
        return Named()
    in_names, _, table = name_matches(query)
    titled = view.full_text().some_holding(in_names, MAX_READ + 1, table, scope)
    kinds: dict[FilePath, int] = {}
    # The text of a document need not contain the name of its file.
    for path in () if query.is_literal else _with_file(query.wording, key, names):
        kinds[path] = FILE_NAME
    if len(titled) <= MAX_READ:
        for path, page in view.pages_at(titled).items():
            kind = _kind_of(page, key)
            if kind is not None:
                kinds[path] = kind
    return Named({path: kind for path, kind in kinds.items() if scope is None or path in scope})


def find_headed(view: Searched, query: Query, scope: Scope) -> set[FilePath]:
    """Return documents of the scope in which the query may be a heading; {} if too many are."""
    if not 0 < len(name_key(query.wording)) <= MAX_WORDS or query.is_boolean:
        return set()
    _, in_headings, table = name_matches(query)
    headed = view.full_text().some_holding(in_headings, MAX_READ + 1, table, scope)
    return headed if len(headed) <= MAX_READ else set()


def add_headings(
    query: Query,
    named: Named,
    documents: Mapping[FilePath, Sequence[Section]],
    family_of: Callable[[FilePath], str],
) -> Named:
    """Return what is named, with those of these documents that have the query as a heading.

    The versions of a document are one.
    """
    key = name_key(query.wording)
    if not 0 < len(key) <= MAX_WORDS or query.is_boolean:
        return named
    sections = {
        path: number for path, some in documents.items() for number in _with_heading(some, key)
    }
    if not sections or len(set(map(family_of, sections))) > MAX_WITH_HEADING:
        return named
    return Named(dict.fromkeys(sections, HEADING) | dict(named.kinds), sections)


def name_matches(query: Query) -> tuple[Match, Match, Table]:
    """Return what documents have whose titles or aliases, or whose headings, may be the query."""
    words = " ".join(segment_cjk(normalize_text(query.wording)).split())
    in_title = Phrase(words, column="title", is_first=True)
    in_names = AnyOf((in_title, Phrase(words, column="aliases")))
    table: Table = "words" if any(map(is_cjk, words)) else "stems"
    return in_names, Phrase(words, column="headings"), table


def _with_file(wording: str, key: Key, names: Names) -> set[FilePath]:
    """Return the documents whose files have this name, or this path or its end with the suffix."""
    found = names.equal(key, name_key)
    name = name_key(name_of(FilePath(wording)))
    if name in {key, ()}:
        return found
    of_name = names.equal(name, name_key)
    return found | {path for path in of_name if name_key(path)[-len(key) :] == key}


def _kind_of(page: Page, key: Key) -> int | None:
    if page.facts.title and name_key(page.facts.title) == key:
        return TITLE
    return ALIAS if any(name_key(alias) == key for alias in page.facts.aliases) else None


def _with_heading(sections: Iterable[Section], key: Key) -> list[int]:
    """Return the number of the first section with this heading, in a list; [] if there is none."""
    for number, section in enumerate(sections):
        if section.heading and name_key(section.heading) == key:
            return [number]
    return []
