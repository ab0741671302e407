"""Missing links: pairs of documents that are close in meaning and not linked.

Documents that differ only in language, version or year count as one: nobody needs a link to the
translation of a linked document, or from a report to last year's.
"""

import math
import re
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ubp.core.interruption import with_checkpoints
from ubp.core.languages import LANGUAGE_CODE
from ubp.core.model import FilePath
from ubp.core.paths import without_page_suffix
from ubp.core.text import estimate_tokens, segment_cjk
from ubp.core.versions import read_version, recency
from ubp.index.semantic_hits import SemanticHit
from ubp.index.view import View
from ubp.search.terms import Term

if TYPE_CHECKING:
    from ubp.index.vectors import SemanticIndex

# The score of a margin. Of 243 pairs of nine repositories that were judged by reading, a quarter is
# worth a link at margins below 0.04, three in five from there to 0.14, four in five above; of 40
# pairs above it from other repositories 0.82: benchmarks/search/suggest_calibration.py.
MIDDLE, STEEPNESS = 0.07, 20.0
MAX_SHOWN_TERMS = 5
# A term in a larger share of the chunks says nothing about two of them.
COMMON_SHARE = 1 / 8
# Pairs are looked for in one of so many parts, which takes 5 µs where there are 300,000.
PAIR_PARTS = 1021
# A part of a document with fewer words is a heading, a picture, a list of links.
MIN_WORDS = 6
# Two parts are the same text if this share of the shorter one's triples of words is in the other.
DUPLICATE_SHARE = 0.6
# Documents with this many headings in common, and half of the shorter one's, are parallel: written
# from one template, like two programs' manuals. Of 26 such pairs that were judged none was worth a
# link.
PARALLEL_HEADINGS, PARALLEL_SHARE = 3, 0.5
# Documents that are alike everywhere and about nothing in particular.
BOILERPLATE = frozenset(
    {"changelog", "changes", "history", "releases", "release_notes", "release-notes"}
    | {"license", "licence", "copying", "notice", "code_of_conduct", "code-of-conduct"}
)


Variant = tuple[str | None, str]
"""The language and the version of a document."""


class Suggestion(NamedTuple):
    """Two parts of documents; `score` from 0 to 1, `terms` are the rarest words in both.

    `texts` are those of the two parts.
    """

    first: SemanticHit
    second: SemanticHit
    score: float
    terms: tuple[str, ...]
    texts: tuple[str, str]


class Suggestions(NamedTuple):
    """Links that may be missing, and parts with the same text; best first."""

    links: tuple[Suggestion, ...]
    duplicates: tuple[Suggestion, ...]
    pending: int

    @property
    def paths(self) -> list[FilePath]:
        """The pages of all pairs, in order."""
        pairs = (*self.links, *self.duplicates)
        return sorted({hit.path for pair in pairs for hit in (pair.first, pair.second)})


def suggest_links(
    view: View, meaning: "SemanticIndex", page: FilePath | None, min_score: float, limit: int
) -> Suggestions:
    """Return the best pairs of documents without a link in either direction; of `page` if given.

    Translations, versions and years of a document count as one with it: they are not suggested for
    each other, and a link of one of them is a link of all. Of the versions of a pair the newest
    with both parts is suggested. Boilerplate and parts without prose are left out.
    """
    candidates = _Candidates(view, page)
    pages = None if page is None else {page}
    links: list[Suggestion] = []
    duplicates: list[Suggestion] = []
    pairs = meaning.similar_pairs(candidates.group, margin_of(min_score), pages)
    for first, second, margin in pairs:
        if len(links) == limit:
            break
        if not candidates.is_new(first.path, second.path):
            continue
        if candidates.is_parallel(first.path, second.path):
            continue
        texts = candidates.text(first), candidates.text(second)
        if min(map(_count_words, texts)) < MIN_WORDS:
            continue
        candidates.mark(first.path, second.path)
        if page is None:
            first, second = candidates.newest(first, second)  # noqa: PLW2901  # the same parts
            texts = candidates.text(first), candidates.text(second)
        suggestion = Suggestion(first, second, score_of(margin), (), texts)
        # The requested document comes first, else the first path.
        if second.path == page or (first.path != page and second.path < first.path):
            suggestion = suggestion._replace(first=second, second=first, texts=texts[::-1])
        if _is_duplicate(*texts):
            duplicates.append(suggestion)
        else:
            links.append(suggestion._replace(terms=_shared_terms(view, texts)))
    return Suggestions(tuple(links), tuple(duplicates[:limit]), meaning.pending)


def score_of(margin: float) -> float:
    """Return the probability that parts with this margin should be linked, as people judge it."""
    return 1 / (1 + math.exp(STEEPNESS * (MIDDLE - margin)))


def margin_of(score: float) -> float:
    """Return the margin with this score."""
    clamped = min(max(score, 1e-6), 1 - 1e-6)
    return MIDDLE + math.log(clamped / (1 - clamped)) / STEEPNESS


def is_boilerplate(path: FilePath) -> bool:
    """Return whether a document is a changelog, a license, a template, test data, or the like."""
    *folders, name = path.casefold().split("/")
    stem = without_page_suffix(name)
    return (
        stem.split(".")[0] in BOILERPLATE
        or bool(_TEMPLATE.search(stem))
        or any(_NO_DOCUMENTATION.fullmatch(folder) for folder in folders)
    )


def is_changelog(path: FilePath) -> bool:
    """Return whether a path contains a date: minutes, a plan, a newsletter, one of many."""
    return bool(_DATE.search(path))


def sibling_key(path: FilePath) -> str:
    """Return what the paths of a document's translations, versions and years have in common."""
    *folders, name = read_version(path).family.casefold().split("/")
    common = [
        folder
        for folder in folders
        if not (_LANGUAGE.fullmatch(folder) or _VERSION.fullmatch(folder))
    ]
    stem = _LANGUAGE_AT_END.sub("", without_page_suffix(name))
    return _DATE.sub("#", "/".join([*common, stem]))


def language_of(path: FilePath) -> str | None:
    """Return the language in a document's path; None if there is none."""
    *folders, name = path.casefold().split("/")
    if at_end := _LANGUAGE_AT_END.search(without_page_suffix(name)):
        return at_end[1]
    return next((folder for folder in folders if _LANGUAGE.fullmatch(folder)), None)


def variant_of(path: FilePath) -> Variant:
    """Return the language and the version in a document's path."""
    folders = path.casefold().split("/")[:-1]
    number = next((folder for folder in folders if _VERSION.fullmatch(folder)), "")
    return language_of(path), read_version(path).version or number


class _PairSet:
    """Unordered pairs of numbers: 300,000 take 3 MB, in a set 45."""

    def __init__(self) -> None:
        self._parts = [array("Q") for _ in range(PAIR_PARTS)]

    def add(self, pair: tuple[int, int]) -> None:
        """Add a pair."""
        self._parts[_code(pair) % PAIR_PARTS].append(_code(pair))

    def __contains__(self, pair: tuple[int, int]) -> bool:
        return _code(pair) in self._parts[_code(pair) % PAIR_PARTS]


def _code(pair: tuple[int, int]) -> int:
    return min(pair) << 32 | max(pair)


class _Candidates:
    """The pairs of documents that are not linked and not yet suggested, and their texts."""

    def __init__(self, view: View, page: FilePath | None) -> None:
        self._view = view
        self._page = page
        numbers: dict[str, int] = {}
        self._groups = {
            path: numbers.setdefault(sibling_key(path), len(numbers))
            for path in with_checkpoints(view.document_paths())
        }
        self._variants: list[tuple[Variant, ...]] = [()] * len(numbers)
        same: dict[tuple[Variant, ...], tuple[Variant, ...]] = {}
        for path, group in with_checkpoints(self._groups.items()):
            known, variant = self._variants[group], variant_of(path)
            if variant not in known:
                variants = (*known, variant)
                self._variants[group] = same.setdefault(variants, variants)
        graph = view.link_graph()
        if page is None:
            pairs = graph.pairs()
        else:
            own = self.group(page)
            siblings = with_checkpoints(self._groups.items())
            pairs = graph.pairs_at([path for path, group in siblings if group == own])
        self._excluded = _PairSet()
        for source, target in with_checkpoints(pairs):
            self.mark(source, target)
        self._texts: dict[FilePath, bytes] = {}
        self._headings: dict[FilePath, set[str]] = {}

    def group(self, path: FilePath) -> int:
        """Return the number of a document and its siblings: all that have its `sibling_key`."""
        return self._groups[path]

    def is_new(self, first: FilePath, second: FilePath) -> bool:
        """Return whether a pair may be suggested."""
        if self._page is not None and self._page not in {first, second}:
            return False
        if (self.group(first), self.group(second)) in self._excluded:
            return False
        if is_boilerplate(first) or is_boilerplate(second):
            return False
        if is_changelog(first) and is_changelog(second):
            return False
        return not self._has_nearer(first, second)

    def _has_nearer(self, first: FilePath, second: FilePath) -> bool:
        """Return whether one of two documents exists in the language or version of the other."""
        known = [self._variants[self.group(path)] for path in (first, second)]
        parts = zip(variant_of(first), variant_of(second), strict=True)
        return any(
            own != other
            and (
                other in {variant[kind] for variant in known[0]}
                or own in {variant[kind] for variant in known[1]}
            )
            for kind, (own, other) in enumerate(parts)
        )

    def is_parallel(self, first: FilePath, second: FilePath) -> bool:
        """Return whether two documents have the same headings."""
        headings = self._headings_of(first), self._headings_of(second)
        shared = len(headings[0] & headings[1])
        return shared >= PARALLEL_HEADINGS and shared >= PARALLEL_SHARE * min(map(len, headings))

    def mark(self, first: FilePath, second: FilePath) -> None:
        """Do not suggest a pair again."""
        self._excluded.add((self.group(first), self.group(second)))

    def newest(self, first: SemanticHit, second: SemanticHit) -> tuple[SemanticHit, SemanticHit]:
        """Return two parts in the newest version that has both, in the languages that they are in.

        That is the version to come, which people edit.
        """
        versions = self._versions_of(first.path), self._versions_of(second.path)
        for version in sorted(versions[0].keys() & versions[1].keys(), key=_age):
            moved = [
                self._find(hit, paths[version])
                for hit, paths in zip((first, second), versions, strict=True)
            ]
            if moved[0] and moved[1]:
                return moved[0], moved[1]
        return first, second

    def _versions_of(self, path: FilePath) -> dict[str, FilePath]:
        """Return the paths of a document in its language by version."""
        language, version = variant_of(path)
        if len(self._variants[self.group(path)]) == 1:
            return {version: path}
        paths = self._siblings[self.group(path)]
        variants = {sibling: variant_of(sibling) for sibling in paths}
        counts = Counter(variants.values())
        return {
            variant[1]: sibling
            for sibling, variant in variants.items()
            if variant[0] == language and counts[variant] == 1
        } | {version: path}

    @cached_property
    def _siblings(self) -> Mapping[int, Sequence[FilePath]]:
        """The documents of each group with versions or languages."""
        siblings: dict[int, list[FilePath]] = {}
        for path, group in with_checkpoints(self._groups.items()):
            if len(self._variants[group]) > 1:
                siblings.setdefault(group, []).append(path)
        return siblings

    def _find(self, hit: SemanticHit, path: FilePath) -> SemanticHit | None:
        """Return the same part of another version of its document; None: it has none."""
        if path == hit.path:
            return hit
        data, part = self._read(path), self._read(hit.path)[hit.byte_start : hit.byte_end]
        start = data.find(part)
        if start >= 0:
            line = data.count(b"\n", 0, start) + 1
            lines = hit.line_end - hit.line_start
            return hit._replace(
                path=path,
                line_start=line,
                line_end=line + lines,
                byte_start=start,
                byte_end=start + len(part),
            )
        for section in self._view.link_graph().sections(path):
            moved = hit._replace(
                path=path,
                line_start=section.line_start,
                line_end=section.line_end,
                byte_start=section.byte_start,
                byte_end=section.byte_end,
            )
            if section.heading_path == hit.heading_path and _is_duplicate(
                self.text(hit), self.text(moved)
            ):
                return moved
        return None

    def text(self, hit: SemanticHit) -> str:
        """Return the text of a part; empty if the document is unreadable."""
        return self._read(hit.path)[hit.byte_start : hit.byte_end].decode("utf-8", "replace")

    def _read(self, path: FilePath) -> bytes:
        if path not in self._texts:
            self._texts[path] = self._view.read([path]).get(path) or b""
        return self._texts[path]

    def _headings_of(self, path: FilePath) -> set[str]:
        if path not in self._headings:
            sections = self._view.link_graph().sections(path)
            self._headings[path] = {
                section.heading.casefold() for section in sections if section.heading
            }
        return self._headings[path]


def _age(version: str) -> tuple[bool, int, list[int]]:
    """Return what versions are sorted by: the version to come, the latest, others from the last."""
    kind, numbers = recency(version)
    return kind > 0, -kind, [-number for number in numbers]


def _shared_terms(view: View, texts: tuple[str, str]) -> tuple[str, ...]:
    """Return the words in both texts that are in the fewest chunks, the rarest first."""
    first, second = ({word.casefold() for word in _TERM.findall(_prose(text))} for text in texts)
    full_text = view.full_text()
    max_chunks = max(full_text.size() * COMMON_SHARE, 2)
    counts = {word: full_text.frequency(Term(word).phrase) for word in first & second}
    by_rarity = sorted(counts, key=lambda word: (counts[word], -len(word), word))
    return tuple(word for word in by_rarity if 0 < counts[word] <= max_chunks)[:MAX_SHOWN_TERMS]


def _count_words(text: str) -> int:
    return estimate_tokens(_LINK.sub(" ", _prose(text)))


def _is_duplicate(first: str, second: str) -> bool:
    triples = _triples(first), _triples(second)
    shorter = max(min(map(len, triples)), 1)
    return len(triples[0] & triples[1]) >= DUPLICATE_SHARE * shorter


def _triples(text: str) -> set[tuple[str, ...]]:
    words = segment_cjk(text.casefold()).split()
    return set(zip(words, words[1:], words[2:], strict=False))


def _prose(text: str) -> str:
    """Return a text without headings, diagrams, comments and tags, which are alike anywhere."""
    return _NO_PROSE.sub(" ", text)


_LANGUAGE = re.compile(LANGUAGE_CODE)
# After a hyphen some codes are English words as well: sign-in, check-it, by-id.
_LANGUAGE_AT_END = re.compile(
    rf"(?:[._]|-(?=(?:de|en|es|fr|ja|ko|pl|pt|ru|tr|uk|vi|zh)(?![a-z])))({LANGUAGE_CODE})$"
)
_VERSION = re.compile(r"v?\d+(?:[._]\d+)*(?:[._]x)?|latest|stable|next")
_TEMPLATE = re.compile(r".[-_. ]?template$")
_NO_DOCUMENTATION = re.compile(
    r"[\d\s._-]*(?:[\w.]+[-_ ])?templates?|(?:issue|pull_request|discussion)_template"
    r"|testdata|(?:__)?(?:fixtures|snapshots)(?:__)?|approved_files|changelogs?|release[-_]notes"
)
_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d(?:[-_.]?\d\d){0,2}(?!\d)")
_NO_PROSE = re.compile(
    r"^\s*```+\s*(?:mermaid|plantuml|puml|dot|graphviz|d2)\b.*?(?:^\s*```+\s*$|\Z)"
    r"|^\#{1,6}\s.*?$|<!--.*?(?:-->|\Z)|</?[A-Za-z][^<>]{0,500}>",
    re.DOTALL | re.MULTILINE,
)
_LINK = re.compile(r"\[\[[^\]]{0,500}\]\]|\[[^\[\]]{0,500}\]\([^)]{0,500}\)|https?://\S+")
# Words of at least three letters, and runs of kanji or katakana: hiragana say little.
_TERM = re.compile(
    r"[A-Za-z\u00c0-\u024f][A-Za-z0-9_\u00c0-\u024f]{2,}"
    r"|[\u3400-\u4dbf\u4e00-\u9fff\u3005]{2,}|[\u30a1-\u30fa\u30fc]{2,}"
)
