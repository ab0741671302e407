"""How a query was read: the record, and the notes on it, that both searches have."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.frame.arguments import Query as QueryArgument
from ubp.frame.fields import Option
from ubp.frame.wording import count, printable
from ubp.frame.writer import Writer
from ubp.search.query import Cut, Node, Query, UnknownWord, read_query, terms_in

QueryText = Annotated[
    QueryArgument,
    Option(
        'Words (match any), "a phrase", -word, prefix*, AND, OR, NOT, tag:x, type:x, path:x, '
        "version:x, and fields of front matter: category:x, date>=2026-01-01.",
        is_argument=True,
        is_joined=True,
        missing="a search query",
        hint="Specify one or more words: ubp search token expiry",
    ),
]
NO_CONTENT = Option("Show only the locations of results, without excerpts.", is_only=True)

_EMPTY_FILTER = re.compile(r"(?:^|[\s(-])(tag|type|path|version):(?=[\s)]|$)", re.IGNORECASE)
_OPTION = re.compile(r"[A-Za-z0-9][\w-]*")
_NEAR = re.compile(r"\bNEAR\s*\(")


@dataclass(frozen=True, slots=True, kw_only=True)
class CutRecord:
    """A run of characters that was split."""

    run: Annotated[str, "text that no section contains as a whole"]
    pieces: Annotated[tuple[str, ...], "what was searched for instead"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownWordRecord:
    """A word that no section contains."""

    written: Annotated[str, "as typed"]
    closest: Annotated[str, "word of a section that was probably meant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownFieldRecord:
    """What looks like a filter on a field that no page has."""

    written: Annotated[str, "as typed; it was searched for as words"]
    closest: Annotated[str | None, "field of front matter that was probably meant"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRecord:
    """How the query was parsed."""

    text: Annotated[str, "the query as typed"]
    is_boolean: Annotated[bool, "whether AND, OR and NOT are operators"] = False
    is_shortened: Annotated[
        bool, "whether the query was too long and only its beginning was searched for"
    ] = False
    cuts: Annotated[
        tuple[CutRecord, ...], "runs of CJK characters and punctuated words that were split"
    ] = ()
    unknown_words: Annotated[
        tuple[UnknownWordRecord, ...], "words that no section contains, but one like it"
    ] = ()
    is_filtered: Annotated[bool, "whether only some pages were searched: filters must match"] = (
        False
    )
    unknown_fields: Annotated[
        tuple[UnknownFieldRecord, ...], "filters on fields that no page has"
    ] = ()
    unread_operators: Annotated[
        tuple[str, ...],
        "AND, OR, NOT that were searched for as words: the query does not parse, or only excludes",
    ] = ()
    excluded: Annotated[
        tuple[str, ...], "words with a hyphen before them: what has one of them was left out"
    ] = ()


def query_record(query: Query, cuts: Iterable[Cut], unknown: Iterable[UnknownWord]) -> QueryRecord:
    """Return the record of a query."""
    return QueryRecord(
        text=query.text,
        is_boolean=query.is_boolean,
        is_shortened=query.is_shortened,
        cuts=tuple(CutRecord(run=cut.run, pieces=tuple(cut.pieces)) for cut in cuts),
        unknown_words=tuple(
            UnknownWordRecord(written=word.written, closest=word.closest) for word in unknown
        ),
        is_filtered=any(query.filters),
        unknown_fields=tuple(
            UnknownFieldRecord(written=written, closest=closest)
            for written, closest in query.unknown_fields
        ),
        unread_operators=query.unread_operators,
        excluded=() if query.is_boolean else tuple(map(_written, query.excluded)),
    )


def _written(node: Node) -> str:
    return " ".join(term.written + "*" * term.is_prefix for term in terms_in(node))


def share_line(shown: int, total: int, noun: str, *, is_exact: bool) -> str:
    """Return how many of the results are shown."""
    return f"{shown} of {'' if is_exact else 'at least '}{count(total, noun)}"


def results_line(query: QueryRecord, shown: int, total: int, noun: str, *, is_exact: bool) -> str:
    """Return what was searched for, how many results there are, and how many of them are shown."""
    is_all = is_exact and shown >= total
    found = count(total, noun) if is_all else share_line(shown, total, noun, is_exact=is_exact)
    return f"Results for {_quoted(query)} ({found}):"


def query_notes(query: QueryRecord, write: Writer, *, has_results: bool) -> Iterator[str]:
    """Yield what was not searched for as typed; of nothing found also why, and a hint."""
    for cut in query.cuts:
        yield (
            f"No section contains {write.name(cut.run)} as a whole;"
            f" searched for {write.name(', '.join(cut.pieces))}."
        )
    if query.is_shortened:
        yield "The query is too long; only its beginning was searched for."
    for name in dict.fromkeys(_EMPTY_FILTER.findall(query.text)):
        yield f"{name}: has no value, so it was searched for as a word; try {name}:NAME."
    for field in query.unknown_fields:
        meant = f" Did you mean {write.name(field.closest)}?" if field.closest else ""
        written = write.name(field.written)
        yield f"No page has a field for {written}; it was searched for as words.{meant}"
    yield from word_notes(query)
    if _NEAR.search(query.text):
        yield "NEAR() is not supported; its words were searched for."
    if not has_results:
        yield from _no_results(query, write)


def word_notes(query: QueryRecord) -> Iterator[str]:
    """Yield which words no section contains, which were operators, and what was excluded."""
    for word in query.unknown_words:
        written, closest = printable(word.written), printable(word.closest)
        yield f"No section contains “{written}”. Did you mean “{closest}”?"
    if query.unread_operators:
        as_words = "as a word" if len(query.unread_operators) == 1 else "as words"
        yield (
            f"Searched for {', '.join(query.unread_operators)} {as_words}: the query does not parse"
            " as a combination, or only excludes. Example: cache AND NOT redis"
        )
    if query.excluded:
        words = " or ".join(f"“{printable(word)}”" for word in query.excluded)
        options = " ".join(f'"-{word}"' for word in query.excluded if _OPTION.fullmatch(word))
        hint = f"; to search for an option, quote it: {options}" if options else ""
        yield f"Left out what contains {words}{hint}"


def _no_results(query: QueryRecord, write: Writer) -> Iterator[str]:
    if not query.is_filtered and read_query(query.text).tree is None:
        yield write.style.yellow(f"No searchable words in {_quoted(query)}.")
        yield "Hint: Search for letters or digits."
        return
    if query.is_filtered:
        hint = (
            "Filters (tag:, type:, path:, version:, fields of front matter) must all match;"
            " `ubp list-pages` lists the pages."
        )
    elif query.is_boolean:
        hint = (
            "AND, OR and NOT in capitals are operators; without them, any of the words may match."
        )
    elif '"' in query.text:
        hint = "Quoted text must match exactly; without quotes, any of the words may match."
    else:
        hint = "Try other words, or a prefix with a star: auth*"
    yield write.style.yellow(f"No results for {_quoted(query)}.")
    yield f"Hint: {hint}"


def _quoted(query: QueryRecord) -> str:
    """Return the query in quotation marks, unless it contains some."""
    text = printable(query.text)
    return text if '"' in text else f'"{text}"'
