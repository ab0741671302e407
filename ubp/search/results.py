"""Found documents as they are shown: the reason, the best sections, the links to them.

Only the documents that are shown are read, in one batch.
"""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

from ubp.core.model import Chunk, FilePath, Link, LinkType, ObjectId, Page, PageFields, Section
from ubp.core.text import estimate_tokens, summarize
from ubp.index.store.links import Neighbor, Neighborhood
from ubp.markdown.chunks import MIN_TOKENS
from ubp.markdown.document import labels_of
from ubp.search.choose import choose_parts
from ubp.search.excerpt import Passage, cut_passage
from ubp.search.fusion import Fused, Ranking
from ubp.search.match import find_terms
from ubp.search.named import Named
from ubp.search.proximity import MAX_LINKS, paths_around
from ubp.search.searched import Searched
from ubp.search.terms import Term
from ubp.search.traverse import LINK_TYPE_RANKS, Direction, Path

# A document that contains the terms everywhere shows its best sections.
SECTIONS_PER_PAGE = 3

# A longer section, or one that is hardly more than a heading, is shown as the chunk that matches.
MAX_WHOLE_TOKENS = 400
# Of a longer section, or part of one, the parts that answer are shown; of the best page's best
# section all. The fact was in the first answer to 42 of 55 questions about five repositories
# without choosing (benchmarks/search/first_answers.py), to 40 with 150 tokens of each section, to
# 43 with 150 and 44 with 200 where the best one is whole.
CHOSEN_TOKENS = 200
# In five repositories one of 5,300 sections with so few tokens is larger: a line of JSON. Words are
# counted only in smaller ones.
MAX_WHOLE_BYTES = 6000
# Of so many documents not only the best section has a text: agents read the best sections of all.
PAGES_WITH_TEXTS = 5

LINKED_PER_PAGE = 3
SUMMARY_CHARACTERS = 120
MAX_SUMMARIES = 20_000  # 5 MB

# To read a document, its sections and its chunks takes 0.2 ms, and the next search often shows the
# same ones: this many bytes of documents are cached, a section and a chunk counting as
# BYTES_PER_PART each.
MAX_CACHED_BYTES, BYTES_PER_PART = 8 << 20, 500

Reason = Literal["direct_match", "direct_link", "2hop", "graph_proximity"]
REASON_BY_DEPTH: Mapping[int, Reason] = {1: "direct_link", 2: "2hop"}


NOTHING_NAMED = Named()
NO_WEIGHTS: Mapping[Term, float] = MappingProxyType({})
EMPTY: Mapping[FilePath, Path] = MappingProxyType({})


class Rankings(NamedTuple):
    """What each ranker has found."""

    words: Ranking = Ranking()
    meaning: Ranking = Ranking()
    links: Ranking = Ranking()


class Breakdown(NamedTuple):
    """A document's score in each ranking, None if it is not in it.

    `words`: its BM25 as a share of the possible score, or of the best document's in a search for
    words only; `meaning`: the cosine of its closest chunk, for a document without a title plus a
    share for its file's name; `links`: its proximity to another of the best documents.
    """

    words: float | None
    meaning: float | None
    links: float | None


class Extract(NamedTuple):
    """The text of a section, or of a long or tiny one the chunk; lines count from 1."""

    text: str
    line_start: int
    line_end: int


class SectionHit(NamedTuple):
    """A section that matches; only the best one of a document has a passage.

    `section` is None if the document has none. `line`, from 1, is the line of the passage's first
    highlight, or the first line of the section. `score` is the document's for its best section,
    less for others.
    """

    section: Section | None
    score: float
    line: int
    passage: Passage | None = None
    extract: Extract | None = None


class PageHit(NamedTuple):
    """A document that was found; `score` is between 0 and 1.

    `matched` are the terms in its best section, title, headings, aliases and path. A document that
    matches only because of its links has a `link_path` from the document `near`. `name` is what the
    query is of the document (`ubp.search.named`), None if it is not a name of it.
    """

    page: Page
    score: float
    breakdown: Breakdown
    reason: Reason
    matched: tuple[str, ...]
    sections: tuple[SectionHit, ...]
    link_path: Path | None = None
    near: Page | None = None
    name: int | None = None


class LinkedPage(NamedTuple):
    """A document at the other end of a link (`outlink`: of the found document's), and a summary."""

    page: Page
    link: Link | Neighbor
    direction: Direction
    summary: str


class DocumentText(NamedTuple):
    """A document and its parts; `data` are its bytes, empty if unreadable."""

    page: Page
    sections: Sequence[Section]
    chunks: Sequence[Chunk]
    data: bytes

    def cut(self, part: Section | Chunk) -> str:
        """Return the text of a part."""
        return self.data[part.byte_start : part.byte_end].decode("utf-8", "replace")

    def section_at(self, line: int) -> int | None:
        """Return the number of the section that contains a line."""
        for number, section in enumerate(self.sections):
            if section.line_start <= line <= section.line_end:
                return number
        return None


def is_found(path: FilePath, rankings: Rankings) -> bool:
    """Return whether a document contains the words, or is near by meaning or by links."""
    return _is_direct(path, rankings) or path in rankings.links.scores


def build_hits(  # noqa: PLR0913  # two of them are not in every search
    view: Searched,
    found: Sequence[Fused],
    texts: Mapping[FilePath, DocumentText],
    rankings: Rankings,
    terms: Sequence[Term],
    *,
    weights: Mapping[Term, float] = NO_WEIGHTS,
    link_paths: Mapping[FilePath, Path] = EMPTY,
    named: Named = NOTHING_NAMED,
) -> tuple[PageHit, ...]:
    """Return what is shown of these documents, of which `texts` has those that still exist."""
    reached = {
        fused.path: link_paths[fused.path]
        for fused in found
        if fused.path in link_paths
        and not _is_direct(fused.path, rankings)
        and fused.path not in named.kinds
    }
    pages = view.pages_at({link_path.via for link_path in reached.values()} - texts.keys())
    pages |= {path: text.page for path, text in texts.items()}
    scores = _chunk_scores(rankings, texts.keys())
    fields = view.fields(texts.keys())
    hits: list[PageHit] = []
    for fused in found:
        if fused.path not in texts:
            continue
        text, link_path = texts[fused.path], reached.get(fused.path)
        chunk_scores = _with_heading(scores.get(fused.path, {}), text, named.sections)
        has_texts = len(hits) < PAGES_WITH_TEXTS
        sections = best_sections(
            text, chunk_scores, fused.score, terms, weights, has_texts=has_texts, is_first=not hits
        )
        cosine = rankings.meaning.scores.get(fused.path)
        breakdown = Breakdown(
            fused.words,
            None if cosine is None else min(1.0, max(0.0, cosine)),
            rankings.links.scores.get(fused.path),
        )
        hit = PageHit(
            text.page,
            fused.score,
            breakdown,
            REASON_BY_DEPTH.get(link_path.depth, "graph_proximity")
            if link_path
            else "direct_match",
            _matched_terms(text.page, sections, terms, fields.get(fused.path, {})),
            sections,
            link_path,
            pages.get(link_path.via) if link_path else None,
            named.kinds.get(fused.path),
        )
        hits.append(hit)
    return tuple(hits)


def best_sections(  # noqa: PLR0913  # an answer depends on as many
    text: DocumentText,
    chunk_scores: Mapping[int, float],
    page_score: float,
    terms: Sequence[Term],
    weights: Mapping[Term, float] = NO_WEIGHTS,
    *,
    has_texts: bool = False,
    is_first: bool = False,
) -> tuple[SectionHit, ...]:
    """Return the best sections of a document; its beginning if none of its chunks has a score.

    `chunk_scores` are by the chunks' numbers. A section found by two chunks, or by both words and
    meaning, is listed once. The best one has an extract; with `has_texts` all have, and a long
    section is listed with each of its chunks.
    """
    numbers = sorted(chunk_scores, key=lambda number: (-chunk_scores[number], number))
    parts: list[tuple[Section | Chunk, float]] = [
        (text.chunks[number], chunk_scores[number])
        for number in numbers
        if number < len(text.chunks)
    ] or [(section, 1.0) for section in text.sections[:1]]
    if not parts:
        return (SectionHit(None, page_score, 1),)
    best_part, best_score = parts[0]
    passage = cut_passage(text.cut(best_part), terms)
    line = best_part.line_start + passage.line
    number = text.section_at(line)
    section = None if number is None else text.sections[number]
    extract = _extract(text, section, best_part, {} if is_first else weights)
    hits = {(number, extract.line_start): SectionHit(section, page_score, line, passage, extract)}
    for part, score in parts[1:]:
        if len(hits) == SECTIONS_PER_PAGE:
            break
        number = _section_of(text, part, terms)
        section = None if number is None else text.sections[number]
        if not has_texts and any(number == other for other, _ in hits):
            continue
        shown = _extract(text, section, part, weights) if has_texts else None
        key = (number, shown.line_start if shown else part.line_start)
        if key not in hits:
            share = max(0.0, score) / best_score if best_score > 0 else 0.0
            line = part.line_start if section is None else section.line_start
            hits[key] = SectionHit(section, page_score * share, line, None, shown)
    return tuple(hits.values())


def _extract(
    text: DocumentText,
    section: Section | None,
    part: Section | Chunk,
    weights: Mapping[Term, float],
) -> Extract:
    is_whole = (
        section is not None
        and section.byte_end - section.byte_start <= MAX_WHOLE_BYTES
        and MIN_TOKENS <= estimate_tokens(text.cut(section)) <= MAX_WHOLE_TOKENS
    )
    shown = section if section and is_whole else part
    chosen = choose_parts(text.cut(shown), weights, CHOSEN_TOKENS)
    return Extract(chosen.text, shown.line_start + chosen.first, shown.line_start + chosen.last)


def best_text(hit: PageHit) -> str:
    """Return a document's title, the headings of its best section, and what is shown of it."""
    best = hit.sections[0]
    headings = best.section.heading_path if best.section else ()
    body = best.extract.text if best.extract else ""
    return "\n".join([hit.page.facts.title or "", *headings, body])


def coverage(hit: PageHit, weights: Mapping[Term, float]) -> float:
    """Return the share of the terms' weights that a document's best section contains, or titles."""
    text = f"{hit.page.filepath}\n{best_text(hit)}"
    terms = tuple(weights)
    worths = tuple(weights.values())
    contained = {span.term for span in find_terms(text, terms)}  # numbers: they have one order
    return sum(worths[term] for term in contained) / (sum(worths) or 1.0)


def find_linked(
    view: Searched, found: Sequence[FilePath], link_types: Collection[LinkType] = ()
) -> dict[FilePath, tuple[LinkedPage, ...]]:
    """Return the documents that each found document is linked with, the strongest links first.

    Documents that are not among the found ones come first, and outlinks before backlinks.
    """
    neighborhoods = view.adjacency().neighbors(found, MAX_LINKS)
    chosen = {path: _strongest(path, neighborhoods[path], found, link_types) for path in found}
    pages = view.pages_at({link.filepath for links in chosen.values() for link in links})
    summaries = summarize_pages(view, pages)
    return {
        path: tuple(
            LinkedPage(pages[link.filepath], link.link, link.direction, summaries[link.filepath])
            for link in links
            if link.filepath in pages
        )
        for path, links in chosen.items()
    }


def read_texts(view: Searched, paths: Collection[FilePath]) -> dict[FilePath, DocumentText]:
    """Read these documents; those deleted meanwhile are left out."""
    pages = view.pages_at(paths)
    cache = view.context.cache.derived("texts", _TextCache)
    cached = {path: cache.text(page) for path, page in pages.items()}
    missing = {path: page for path, page in pages.items() if not cached[path]}
    read: dict[FilePath, DocumentText] = {}
    if missing:
        sections = view.link_graph().sections_of(missing)
        chunks = view.full_text().chunks({page.blob for page in missing.values()})
        contents = view.read(missing)
        for path, page in missing.items():
            data = contents.get(path) or b""
            read[path] = DocumentText(page, sections.get(path, ()), chunks.get(page.blob, ()), data)
    for path, text in read.items():
        # Git's filters may have changed the bytes of a file that differs from the commit.
        if text.data and text.chunks and not view.is_changed(path):
            cache.add(text)
    return {path: cached[path] or read[path] for path in pages}


def _is_direct(path: FilePath, rankings: Rankings) -> bool:
    """Return whether a document contains the words, or is near enough in meaning."""
    meaning = rankings.meaning
    return path in rankings.words.scores or meaning.scores.get(path, -1.0) >= meaning.min_score


def _chunk_scores(
    rankings: Rankings, paths: Collection[FilePath]
) -> dict[FilePath, dict[int, float]]:
    """Return the score of each chunk by words and meaning, as shares of the best of each."""
    scores: dict[FilePath, dict[int, float]] = {}
    for ranking, min_score in (
        (rankings.words, 0.0),
        (rankings.meaning, rankings.meaning.min_score),
    ):
        best = max(ranking.scores.values(), default=0.0)
        for chunk in ranking.places:
            if chunk.path in paths and chunk.number is not None and chunk.score >= min_score < best:
                by_number = scores.setdefault(chunk.path, {})
                by_number[chunk.number] = by_number.get(chunk.number, 0.0) + chunk.score / best
    return scores


def _with_heading(
    scores: dict[int, float], text: DocumentText, sections: Mapping[FilePath, int]
) -> dict[int, float]:
    """Return the scores, the best for the section whose heading is the query."""
    wanted = sections.get(text.page.filepath)
    if wanted is None:
        return scores
    first = next(
        (number for number, chunk in enumerate(text.chunks) if chunk.section == wanted), None
    )
    if first is None:  # joined with the chunk before it
        line = text.sections[wanted].line_start
        first = next(number for number, chunk in enumerate(text.chunks) if chunk.line_end >= line)
    return scores | {first: max(scores.values(), default=0.0) + 1.0}


def _section_of(text: DocumentText, part: Section | Chunk, terms: Sequence[Term]) -> int | None:
    """Return the section of a part; for a chunk of several sections that of its first term."""
    number = text.section_at(part.line_start)
    if number is None or part.line_end <= text.sections[number].line_end:
        return number
    body = text.cut(part)
    spans = find_terms(body, terms)
    return text.section_at(part.line_start + (body.count("\n", 0, spans[0].start) if spans else 0))


def _matched_terms(
    page: Page, sections: Sequence[SectionHit], terms: Sequence[Term], fields: PageFields
) -> tuple[str, ...]:
    facts = page.facts
    headings = (heading for hit in sections if hit.section for heading in hit.section.heading_path)
    named = (facts.title or "", page.filepath, *facts.aliases, *facts.tags)
    searched = "\n".join([*named, *labels_of(fields), *headings])
    matched = {span.term for span in find_terms(searched, terms)}
    for hit in sections:
        matched |= set(hit.passage.matched) if hit.passage else set()
    written = (term.written for number, term in enumerate(terms) if number in matched)
    return tuple(dict.fromkeys(written))


def _strongest(
    path: FilePath,
    around: Neighborhood,
    found: Collection[FilePath],
    link_types: Collection[LinkType],
) -> list[Path]:
    links = sorted(
        paths_around(path, around, 1, link_types),
        key=lambda link: (link.filepath in found, LINK_TYPE_RANKS[link.link.link_type]),
    )
    strongest: dict[FilePath, Path] = {}
    for link in links:
        strongest.setdefault(link.filepath, link)
    return list(strongest.values())[:LINKED_PER_PAGE]


def summarize_pages(view: Searched, pages: Mapping[FilePath, Page]) -> dict[FilePath, str]:
    """Summarize documents; the results for committed ones are cached by blob."""
    cache: dict[ObjectId, str] = view.context.cache.derived("summaries", dict)
    if len(cache) > MAX_SUMMARIES:
        cache.clear()
    blobs = {path: page.blob for path, page in pages.items() if not view.is_changed(path)}
    new = [path for path in pages if blobs.get(path) not in cache]
    contents, sections = view.read(new), view.link_graph().sections_of(new)
    summaries: dict[FilePath, str] = {}
    for path in new:
        first = sections.get(path, ())[:1]
        text = (contents.get(path) or b"")[first[0].byte_start :] if first else b""
        summaries[path] = summarize(text.decode("utf-8", "replace"), SUMMARY_CHARACTERS)
    cache |= {blobs[path]: summaries[path] for path in new if path in blobs and contents.get(path)}
    return {path: summaries[path] if path in summaries else cache[blobs[path]] for path in pages}


class _TextCache:
    """The documents read last, by their blobs."""

    def __init__(self) -> None:
        self._texts: dict[ObjectId, DocumentText] = {}
        self._size = 0

    def text(self, page: Page) -> DocumentText | None:
        text = self._texts.pop(page.blob, None)
        if text is None:
            return None
        self._texts[page.blob] = text
        return text if text.page == page else text._replace(page=page)

    def add(self, text: DocumentText) -> None:
        if text.page.blob in self._texts:
            return
        self._texts[text.page.blob] = text
        self._size += _size(text)
        while self._size > MAX_CACHED_BYTES:
            self._size -= _size(self._texts.pop(next(iter(self._texts))))


def _size(text: DocumentText) -> int:
    return len(text.data) + BYTES_PER_PART * (len(text.sections) + len(text.chunks))
