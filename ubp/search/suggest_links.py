"""Which pages are the same one again: in another language, of another version, of another year.

Nobody needs a link from a page to its translation's neighbour where the original's is at hand, or
from a report to last year's.

Pairs of pages close in meaning that do not know of each other: links that are missing.
"""

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

from ubp.core.model import Assessment, FilePath
from ubp.core.text import estimate_tokens, segment_cjk
from ubp.index.vectors import SemanticHit, SemanticIndex
from ubp.index.view import View
from ubp.search.graph import DocumentRow
from ubp.search.terms import Term

# Pages that are alike everywhere and about nothing in particular.
BOILERPLATE = frozenset(
    {"changelog", "changes", "history", "releases", "release_notes", "release-notes"}
    | {"license", "licence", "copying", "notice", "code_of_conduct", "code-of-conduct"}
)


def is_boilerplate(path: FilePath) -> bool:
    """Whether a page is a changelog, a licence, a template, a test's data, and the like."""
    *folders, name = path.casefold().split("/")
    stem = _stem(name)
    return (
        stem.split(".")[0] in BOILERPLATE
        or bool(_TEMPLATE.search(stem))
        or any(_NO_DOCUMENTATION.fullmatch(folder) for folder in folders)
    )


def is_changelog(path: FilePath) -> bool:
    """Whether a path is dated: minutes, a plan, a newsletter, one of many."""
    return bool(_DATE.search(path))


def sibling_key(path: FilePath) -> str:
    """What the paths of a page's translations, versions and years have in common."""
    *folders, name = path.casefold().split("/")
    kept = [one for one in folders if not (_LANGUAGE.fullmatch(one) or _VERSION.fullmatch(one))]
    stem = _LANGUAGE_AT_END.sub("", _stem(name))
    return _DATE.sub("#", "/".join([*kept, stem]))


def language_of(path: FilePath) -> str | None:
    """The language that a path tells of its page; None: it tells none."""
    *folders, name = path.casefold().split("/")
    if at_end := _LANGUAGE_AT_END.search(_stem(name)):
        return at_end[1]
    return next((one for one in folders if _LANGUAGE.fullmatch(one)), None)


def _stem(name: str) -> str:
    return name.removesuffix(".md").removesuffix(".markdown")


# ISO 639-1, those that documentation is translated into, with a country or a script perhaps.
_CODE = (
    r"(?:ar|az|bg|bn|ca|cs|da|de|el|en|es|et|fa|fi|fr|he|hi|hr|hu|hy|id|it|ja|ka|kk|ko|lt|lv|ms"
    r"|nb|nl|no|pl|pt|ro|ru|sk|sl|sq|sr|sv|ta|te|th|tr|uk|ur|uz|vi|zh)"
    r"(?:[-_](?:[a-z]{2}|hans|hant|latn|cyrl))?"
)
_LANGUAGE = re.compile(_CODE)
# Behind a hyphen stands a word of English as well: sign-in, check-it, by-id.
_LANGUAGE_AT_END = re.compile(
    rf"(?:[._]|-(?=(?:de|en|es|fr|ja|ko|pl|pt|ru|tr|uk|vi|zh)(?![a-z])))({_CODE})$"
)
_VERSION = re.compile(r"v?\d+(?:[._]\d+)*(?:[._]x)?|latest|stable|next")
_TEMPLATE = re.compile(r".[-_. ]?template$")
_NO_DOCUMENTATION = re.compile(
    r"[\d\s._-]*(?:[\w.]+[-_ ])?templates?|(?:issue|pull_request|discussion)_template"
    r"|testdata|(?:__)?(?:fixtures|snapshots)(?:__)?|approved_files"
)
_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d(?:[-_.]?\d\d){0,2}(?!\d)")


# How far a pair must stand out for what score. Of 243 pairs of nine repositories that were read, a
# quarter is worth a link at margins below 0.04, three in five from there to 0.14, four in five
# beyond; of 40 pairs beyond it from other repositories 0.82: benchmarks/suggest_calibration.py.
MIDDLE, STEEPNESS = 0.07, 20.0
SHOWN_TERMS = 5
# A term in more of the chunks says nothing about two of them.
COMMON = 1 / 8
# A part of a page with fewer words is a heading, a picture, a list of links.
FEWEST_WORDS = 6
# So many of the triples of words of the shorter part stand in the other: it is the same text.
SAME = 0.6
# Pages with so many headings in common, and half of the shorter one's, are parallel: filled from
# one template, like two programs' manuals. Of 26 such pairs that were judged none was worth a link.
PARALLEL, PARALLEL_SHARE = 3, 0.5


class Suggestion(NamedTuple):
    """Two parts of pages; `score` from 0 to 1, `terms` are the rarest words that both have.

    `texts` are those of the two parts.
    """

    first: SemanticHit
    second: SemanticHit
    score: float
    terms: tuple[str, ...]
    texts: tuple[str, str]


class Suggestions(NamedTuple):
    """Links that may be missing, and parts that say the same word for word; the best first."""

    links: tuple[Suggestion, ...]
    duplicates: tuple[Suggestion, ...]
    pending: int

    @property
    def paths(self) -> list[FilePath]:
        """The pages of all pairs, in order."""
        pairs = (*self.links, *self.duplicates)
        return sorted({hit.path for pair in pairs for hit in (pair.first, pair.second)})


class LinkSuggestions(NamedTuple):
    """Pairs of pages that may want a link, the documents, and what became of their sources."""

    suggestions: Suggestions
    documents: Mapping[FilePath, DocumentRow]
    assessments: Mapping[FilePath, Assessment]


def suggest_links(
    view: View, meaning: SemanticIndex, page: FilePath | None, min_score: float, limit: int
) -> Suggestions:
    """The best pairs of pages without a link in either direction; with `page` its own.

    Translations, versions and years of a page count as one with it: they are not told as each
    other's partners, and a link of one of them is a link of all. Nor are boilerplate, and parts
    without prose.
    """
    found = _Found(view, page)
    asked = None if page is None else {page}
    close = meaning.similar_pairs(sibling_key, margin_of(min_score), asked)
    links: list[Suggestion] = []
    duplicates: list[Suggestion] = []
    for first, second, margin in close:
        if len(links) == limit:
            break
        if not found.is_new(first.path, second.path) or found.is_parallel(first, second):
            continue
        texts = found.text(first), found.text(second)
        if min(map(_count_words, texts)) < FEWEST_WORDS:
            continue
        found.tell(first.path, second.path)
        one = _put_in_order(Suggestion(first, second, score_of(margin), (), texts), page)
        if _is_same(*texts):
            duplicates.append(one)
        else:
            links.append(one._replace(terms=_shared_terms(view, texts)))
    return Suggestions(tuple(links), tuple(duplicates[:limit]), meaning.pending)


def score_of(margin: float) -> float:
    """How likely two parts that stand out so much should be linked, by people's judgement."""
    return 1 / (1 + math.exp(STEEPNESS * (MIDDLE - margin)))


def margin_of(score: float) -> float:
    """The margin that has this score."""
    inside = min(max(score, 1e-6), 1 - 1e-6)
    return MIDDLE + math.log(inside / (1 - inside)) / STEEPNESS


def _put_in_order(one: Suggestion, page: FilePath | None) -> Suggestion:
    """The page that was asked about comes first, else the alphabet decides."""
    if one.second.path == page or (one.first.path != page and one.second.path < one.first.path):
        return one._replace(first=one.second, second=one.first, texts=one.texts[::-1])
    return one


class _Found:
    """What is linked, what has been told, and the texts of the pages."""

    def __init__(self, view: View, page: FilePath | None) -> None:
        self._view = view
        self._page = page
        paths = view.document_paths()
        self._languages: dict[str, set[str | None]] = {}
        for path in paths:
            self._languages.setdefault(sibling_key(path), set()).add(language_of(path))
        linked = view.link_graph()
        if page is None:
            pairs = linked.pairs()
        else:
            key = sibling_key(page)
            pairs = linked.pairs_at([path for path in paths if sibling_key(path) == key])
        self._pairs = {_key(source, target) for source, target in pairs}
        self._texts: dict[FilePath, bytes] = {}
        self._headings: dict[FilePath, set[str]] = {}

    def is_new(self, first: FilePath, second: FilePath) -> bool:
        """Whether a pair of pages may be told; where one was asked about, not that of its copy."""
        if self._page is not None and self._page not in {first, second}:
            return False
        if _key(first, second) in self._pairs or is_boilerplate(first) or is_boilerplate(second):
            return False
        if is_changelog(first) and is_changelog(second):
            return False
        languages = language_of(first), language_of(second)
        return languages[0] == languages[1] or not (
            languages[1] in self._languages[sibling_key(first)]
            or languages[0] in self._languages[sibling_key(second)]
        )

    def is_parallel(self, first: SemanticHit, second: SemanticHit) -> bool:
        """Whether two pages have the same headings."""
        one, other = self._headings_of(first.path), self._headings_of(second.path)
        shared = len(one & other)
        return shared >= PARALLEL and shared >= PARALLEL_SHARE * min(len(one), len(other))

    def tell(self, first: FilePath, second: FilePath) -> None:
        """Remember that a pair was told."""
        self._pairs.add(_key(first, second))

    def text(self, hit: SemanticHit) -> str:
        """The text of a part; of a page that cannot be had none."""
        if hit.path not in self._texts:
            self._texts[hit.path] = self._view.read([hit.path]).get(hit.path) or b""
        data = self._texts[hit.path][hit.byte_start : hit.byte_end]
        return data.decode("utf-8", "replace")

    def _headings_of(self, path: FilePath) -> set[str]:
        if path not in self._headings:
            sections = self._view.link_graph().sections(path)
            self._headings[path] = {one.heading.casefold() for one in sections if one.heading}
        return self._headings[path]


def _shared_terms(view: View, texts: tuple[str, str]) -> tuple[str, ...]:
    """The words of both texts that are in the fewest chunks, the rarest first."""
    first, second = ({word.casefold() for word in _TERM.findall(_plain(text))} for text in texts)
    full_text = view.full_text()
    most = full_text.size() * COMMON
    counts = {word: full_text.frequency(Term(word).expression) for word in first & second}
    rare = sorted(counts, key=lambda word: (counts[word], -len(word), word))
    return tuple(word for word in rare if 0 < counts[word] <= max(most, 2))[:SHOWN_TERMS]


def _count_words(text: str) -> int:
    return estimate_tokens(_LINK.sub(" ", _plain(text)))


def _is_same(first: str, second: str) -> bool:
    one, other = _triples(first), _triples(second)
    return len(one & other) >= SAME * max(min(len(one), len(other)), 1)


def _triples(text: str) -> set[tuple[str, ...]]:
    words = segment_cjk(text.casefold()).split()
    return set(zip(words, words[1:], words[2:], strict=False))


def _plain(text: str) -> str:
    """A part of a page without headings, diagrams, comments and tags, which are alike anywhere."""
    return _ASIDE.sub(" ", text)


def _key(first: FilePath, second: FilePath) -> tuple[str, str]:
    one, other = sibling_key(first), sibling_key(second)
    return (one, other) if one <= other else (other, one)


_ASIDE = re.compile(
    r"^\s*```+\s*(?:mermaid|plantuml|puml|dot|graphviz|d2)\b.*?(?:^\s*```+\s*$|\Z)"
    r"|^\#{1,6}\s.*?$|<!--.*?(?:-->|\Z)|</?[A-Za-z][^<>]{0,500}>",
    re.DOTALL | re.MULTILINE,
)
_LINK = re.compile(r"\[\[[^\]]{0,500}\]\]|\[[^\[\]]{0,500}\]\([^)]{0,500}\)|https?://\S+")
# Words of three letters and more, and runs of kanji or katakana: hiragana tell little.
_TERM = re.compile(
    r"[A-Za-z\u00c0-\u024f][A-Za-z0-9_\u00c0-\u024f]{2,}"
    r"|[\u3400-\u4dbf\u4e00-\u9fff\u3005]{2,}|[\u30a1-\u30fa\u30fc]{2,}"
)
