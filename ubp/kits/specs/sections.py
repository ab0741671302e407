"""Sections of specifications: found by a question, read by their ids, and planned for learning.

A specification is a few long pages, so that sections are ranked, not pages: the chunks that words
and meaning find, each for the heading that it belongs to.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from ubp.core.errors import SectionNotFoundError
from ubp.core.model import FilePath, Page
from ubp.core.paths import is_within
from ubp.frame.records import title_of
from ubp.index.view import View
from ubp.markdown.outline import HeadingSpan, find_section, read_beginning, read_headings
from ubp.search.fusion import WEAK_SCORE, Ranking
from ubp.search.lexical import Corpus, find_words
from ubp.search.match import find_terms
from ubp.search.pages import CHUNKS, SearchContext
from ubp.search.query import Query, read_query
from ubp.search.scope import find_scope
from ubp.search.searched import Scope
from ubp.search.semantic import find_meaning
from ubp.search.terms import Term

SNIPPET_CHARACTERS = 300
MINUTE_CHARACTERS = 800  # read in a minute
MEANING_SHARE = 0.5
"""Of a chunk's score: the rest is that of its words."""
HEADING_SHARE = 0.3
"""What a heading adds that has all words of a question, next to a best chunk's 1."""
SECTION_SHARE = 0.5
"""What the cosine of a section's beginning adds: a chunk may have several short sections.

Of 115 questions (benchmarks/kits/spec_search.py) a right section is among the first five for 103
with it and 101 without, and first for 70 and 72; of 60 others (docs/measurements.md) 43 and 41 of
54, and first for 26 and 21.
"""
MAX_READ_CHUNKS = 40
MAX_COMPARED, COMPARED_CHARACTERS = 40, 800  # sections, and of each its first characters


class SectionSnippet(NamedTuple):
    """A part of a section's text, in characters of it, around the first word of a question."""

    text: str
    start: int
    end: int


class FoundSection(NamedTuple):
    """A section of a page; `score` is 1 for the best chunk of both rankings, and at most 1.3."""

    page: Page
    heading: HeadingSpan
    score: float
    snippet: SectionSnippet


class ReadSection(NamedTuple):
    """A section with everything below its heading."""

    page: Page
    heading: HeadingSpan
    text: str


class PlannedSection(NamedTuple):
    """A section of a plan with its own text, without the sections below it."""

    page: Page
    heading: HeadingSpan
    topic: str
    characters: int


class Week(NamedTuple):
    """A week of a plan: its topics, and its sections in order."""

    number: int
    topics: tuple[str, ...]
    sections: tuple[PlannedSection, ...]

    @property
    def minutes(self) -> int:
        """How long reading takes."""
        return minutes(sum(section.characters for section in self.sections))


def find_spec_sections(
    view: View,
    text: str,
    limit: int,
    context: SearchContext,
    *,
    is_wanted: Callable[[HeadingSpan], bool] | None = None,
) -> tuple[FoundSection, ...]:
    """Return the sections that answer a question best, best first; with `is_wanted`, only such.

    Of a question that consists of filters these are the first ones of the pages that match.

    Raises:
        UsageError: a filter on a field of front matter cannot be read.
    """
    query = read_query(text, field_names=view.field_names)
    scope = find_scope(query, context.names)
    if query.tree is None:
        matching = _read_pages(view, sorted(scope or ()))
        return tuple(
            FoundSection(page.page, heading, 1.0, _snippet(page.own_text(heading), ()))
            for page in matching.values()
            for heading in islice(filter(is_wanted, page.headings), 1)
        )[:limit]
    count, wanted = CHUNKS, None
    if is_wanted is not None:  # none of a specification's best chunks may be in these sections
        documents = _read_pages(view, sorted(view.document_paths() if scope is None else scope))
        wanted = {
            (path, number)
            for path, page in documents.items()
            for number in page.chunks
            if any(map(is_wanted, page.headings_in(number)))
        }
        scope = frozenset(path for path, _ in wanted)
        count = max(count, sum(len(documents[path].chunks) for path in scope))
    words, lexical = find_words(Corpus(view.full_text(), context.names, scope), query, count)
    is_unknown = not (words.places or lexical.lacks_language)
    meaning = _rank_meaning(context, query, count, scope, is_unknown=is_unknown)
    chunks = _chunk_scores(words, meaning)
    chosen = [chunk for chunk in chunks if wanted is None or chunk in wanted]
    best = sorted(chosen, key=lambda chunk: -chunks[chunk])[:MAX_READ_CHUNKS]
    pages = _read_pages(view, sorted({path for path, _ in best}))
    found: dict[tuple[FilePath, int], FoundSection] = {}
    for path, number in best:
        if path not in pages:
            continue
        page = pages[path]
        for heading, score in page.headings_at(number, lexical.informative):
            key = path, heading.line_start
            total = chunks[path, number] * score + HEADING_SHARE * _share(
                heading.heading, lexical.informative
            )
            if is_wanted is not None and not is_wanted(heading):
                continue
            if key not in found or total > found[key].score:
                snippet = _snippet(page.own_text(heading), lexical.informative)
                found[key] = FoundSection(page.page, heading, total, snippet)
    best_sections = sorted(found.values(), key=lambda section: -section.score)
    if context.meaning is not None and query.wording:
        first = best_sections[:MAX_COMPARED]
        texts = [_text_to_compare(pages[each.page.filepath], each.heading) for each in first]
        cosines = context.meaning.similarity(query.wording, texts)
        closer = [
            section._replace(score=section.score + SECTION_SHARE * max(0.0, cosine))
            for section, cosine in zip(first, cosines, strict=True)
        ]
        first_scored = sorted(closer, key=lambda section: -section.score)
        best_sections = [*first_scored, *best_sections[MAX_COMPARED:]]
    return tuple(best_sections[:limit])


def _rank_meaning(
    context: SearchContext, query: Query, limit: int, scope: Scope, *, is_unknown: bool
) -> Ranking:
    """Return the nearest chunks; `is_unknown`: no section contains a word of the query."""
    if context.meaning is None:
        return Ranking()
    found = find_meaning(context.meaning, query, limit, scope)
    if is_unknown:  # for nonsense, too, some cosine is best
        near = tuple(chunk for chunk in found.places if chunk.score >= WEAK_SCORE)
        return found._replace(places=near)
    return found


def _text_to_compare(document: "_Document", heading: HeadingSpan) -> str:
    return "\n".join([*heading.path, document.own_text(heading)[:COMPARED_CHARACTERS]])


def read_spec_section(view: View, section_id: str) -> ReadSection:
    """Return the section with an id: `Slice_types`, or `types.md#slices` where pages are many.

    `types.md` is the text before its first heading.

    Raises:
        SectionNotFoundError: no section has it, or several have.
    """
    path, _, name = section_id.rpartition("#")
    all_paths = view.document_paths()
    pages = _read_pages(view, [FilePath(path)] if path else all_paths)
    found = [
        (page, heading)
        for page in pages.values()
        if (heading := find_section(page.headings, name)) is not None
    ]
    if not found and section_id in all_paths:
        page = pages[FilePath(section_id)]
        found = [(page, heading) for heading in page.headings if heading.level == 0]
    if len(found) != 1:
        candidates = tuple(f"{page.page.filepath}#{heading.id}" for page, heading in found)
        what = f"{len(found)} sections have" if found else "No section has"
        raise SectionNotFoundError(
            f"{what} the id {section_id}.",
            near=candidates,
            hint="Use a section_id as a search returns it.",
        )
    ((page, heading),) = found
    return ReadSection(page.page, heading, page.whole_text(heading))


def plan_learning(view: View, weeks: int, focus: Sequence[str]) -> tuple[Week, ...]:
    """Divide the sections of a specification among weeks of about equal length, by topic.

    Sections that `focus` names come first, but after the first topic, which introduces the others;
    where it names some of that topic, after its first section.
    """
    sections = _planned_sections(view)
    order = {topic: number for number, topic in enumerate(_topics(sections))}
    sections.sort(key=lambda section: order[section.topic])
    focused = {each for area in focus for each in sections_about(sections, area)}
    introduction = [section for section in sections if not order[section.topic]]
    if not focused.isdisjoint(introduction):
        introduction = introduction[:1]
    others = sections[len(introduction) :]
    sections = [*introduction, *sorted(others, key=lambda section: section not in focused)]
    target = sum(section.characters for section in sections) / weeks
    assigned: list[list[PlannedSection]] = [[]]
    done = 0
    for section in sections:
        # A section belongs to the week in which more than half of it would be read.
        if assigned[-1] and done + section.characters / 2 > target * len(assigned):
            assigned.append([])
        assigned[-1].append(section)
        done += section.characters
    return tuple(
        Week(number, _topics(week), tuple(week)) for number, week in enumerate(assigned[:weeks], 1)
    )


def _topics(sections: Iterable[PlannedSection]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(section.topic for section in sections))


def sections_about(sections: Sequence[PlannedSection], area: str) -> tuple[PlannedSection, ...]:
    """Return the sections of the topics with a word in their names.

    Where no topic has it, they are those that have it in a heading, or below such a one.
    """
    word = area.casefold()
    found = tuple(section for section in sections if word in section.topic.casefold())
    return found or tuple(
        section for section in sections if word in " ".join(section.heading.path).casefold()
    )


def minutes(characters: int) -> int:
    """Return how long reading takes, at least one minute."""
    return max(1, round(characters / MINUTE_CHARACTERS))


class _Document(NamedTuple):
    """A page with its lines, its headings, and the lines of its chunks by number.

    Text before the first heading is below one of level 0 with the page's title.
    """

    page: Page
    lines: Sequence[str]
    headings: tuple[HeadingSpan, ...]
    chunks: Mapping[int, tuple[int, int]]

    def own_text(self, heading: HeadingSpan) -> str:
        start = heading.line_start if heading.level else heading.line_start - 1
        return "\n".join(self.lines[start : heading.own_end]).strip("\n")

    def whole_text(self, heading: HeadingSpan) -> str:
        return "\n".join(self.lines[heading.line_start - 1 : heading.line_end]).strip("\n")

    def headings_in(self, chunk: int) -> list[HeadingSpan]:
        """Return the headings of whose own text a chunk has some."""
        start, end = self.chunks.get(chunk, (1, len(self.lines)))
        return [
            heading
            for heading in self.headings
            if heading.line_start <= end and heading.own_end >= start
        ]

    def headings_at(self, chunk: int, terms: Sequence[Term]) -> Iterator[tuple[HeadingSpan, float]]:
        """Yield the headings of a chunk, and how much of its score each deserves, at most 1."""
        start, end = self.chunks.get(chunk, (1, len(self.lines)))
        inside = self.headings_in(chunk)
        shares = [
            _share(
                "\n".join(
                    self.lines[max(start, heading.line_start) - 1 : min(end, heading.own_end)]
                ),
                terms,
            )
            for heading in inside
        ]
        highest = max(shares, default=0.0)
        for heading, share in zip(inside, shares, strict=True):
            yield heading, (share / highest if highest else 1 / len(inside))


def _read_pages(view: View, paths: Sequence[FilePath]) -> dict[FilePath, _Document]:
    """Read these pages; their headings are cached by blob."""
    cache: dict[str, tuple[HeadingSpan, ...]] = view.context.cache.derived("headings", dict)
    pages = view.pages_at(paths)
    contents = view.read(pages)
    chunks = view.full_text().chunks({page.blob for page in pages.values()})
    documents = {}
    for path, page in pages.items():
        data = contents.get(path) or b""
        if page.blob not in cache:
            beginning = read_beginning(data)
            cache[page.blob] = ((beginning,) if beginning else ()) + read_headings(data)
        title = title_of(page)
        numbered = enumerate(chunks.get(page.blob, ()))
        documents[path] = _Document(
            page,
            data.decode("utf-8", "replace").splitlines(),
            tuple(
                heading if heading.level else replace(heading, heading=title, path=(title,))
                for heading in cache[page.blob]
            ),
            {number: (chunk.line_start, chunk.line_end) for number, chunk in numbered},
        )
    return documents


def _chunk_scores(words: Ranking, meaning: Ranking) -> dict[tuple[FilePath, int], float]:
    scores: dict[tuple[FilePath, int], float] = {}
    share = MEANING_SHARE if meaning.places else 0.0
    for ranking, weight in ((words, 1 - share), (meaning, share)):
        best = max((chunk.score for chunk in ranking.places), default=0.0)
        for chunk in ranking.places:
            if chunk.number is not None and chunk.score > 0:
                key = chunk.path, chunk.number
                scores[key] = scores.get(key, 0.0) + weight * chunk.score / best
    return scores


def _share(text: str, terms: Sequence[Term]) -> float:
    """Return the share of these terms that a text contains."""
    return len({span.term for span in find_terms(text, terms)}) / len(terms) if terms else 0.0


def _snippet(text: str, terms: Sequence[Term]) -> SectionSnippet:
    """Return at most SNIPPET_CHARACTERS of a text around the first term."""
    if len(text) <= SNIPPET_CHARACTERS:
        return SectionSnippet(text, 0, len(text))
    spans = find_terms(text, terms)
    middle = spans[0].start if spans else 0
    start = min(max(0, middle - SNIPPET_CHARACTERS // 2), len(text) - SNIPPET_CHARACTERS)
    end = start + SNIPPET_CHARACTERS
    return SectionSnippet(text[start:end], start, end)


def _planned_sections(view: View) -> list[PlannedSection]:
    documents = _read_pages(view, _reading_order(view))
    planned = []
    for document in documents.values():
        top = _topic_depth(document.headings) if len(documents) == 1 else 0
        for heading in document.headings:
            topic = heading.path[min(top, len(heading.path) - 1)]
            size = len(document.own_text(heading))
            if size:
                planned.append(PlannedSection(document.page, heading, topic, size))
    return planned


def _topic_depth(headings: Sequence[HeadingSpan]) -> int:
    """Return how deep the topics of a single page are: below its title, if it has one."""
    headings = [heading for heading in headings if heading.level]
    lowest = min((heading.level for heading in headings), default=1)
    return 1 if sum(heading.level == lowest for heading in headings) == 1 else 0


def _reading_order(view: View) -> list[FilePath]:
    """Return the pages in the order of the table of contents, else by name; appendices last.

    Files for contributors and agreements are left out. What `SUMMARY.md` (mdBook) does not list is
    no part of the book; beside another table of contents, the other pages of its folder are.
    """
    all_paths = sorted(view.document_paths(), key=_natural)
    paths = [path for path in all_paths if not _FOR_CONTRIBUTORS.search(path)] or all_paths
    contents, listed = _find_contents(view, paths)
    if contents is None:
        order = paths
    elif _stem(contents) == "summary":
        order = listed
    else:
        folder = contents.rpartition("/")[0]
        order = [contents, *listed, *(path for path in paths if is_within(path, folder))]
    return sorted(dict.fromkeys(order), key=lambda path: _APPENDIX.search(path) is not None)


# Files of a repository that are about it, and not about what it specifies.
_FOR_CONTRIBUTORS = re.compile(
    r"(?:^|/)(?:\.|(?:signed[-_])?agreements?/|changelogs?/"
    r"|(?:\d+[-_. ]*)?(?:agents|authors|change[-_]?log|claude|code[-_]of[-_]conduct|codeowners"
    r"|contribut(?:e|ing|ors)|copying|copyright|governance|issue[-_]template|licen[cs]e|maintainers|pull[-_]request[-_]template"
    r"|releas(?:e|es|ing)|security|style[-_]?guide)\.\w+$)",
    re.IGNORECASE,
)
_APPENDIX = re.compile(
    r"(?:^|/)(?:\d+[-_. ]*)?(?:appendi(?:x|ces)|annex(?:es)?|付録)(?![a-z])", re.IGNORECASE
)
# A page is a table of contents if it links to as many others, and to such a share of its folder,
# which has such a share of all pages: the list of a chapter is none of the book. A page of another
# name has to link to more, since a long chapter refers to many others.
MIN_LISTED, MIN_LISTED_SHARE, MIN_UNNAMED_SHARE, MIN_FOLDER_SHARE = 3, 0.5, 0.7, 0.5
_CONTENTS_NAMES = ("summary", "toc", "contents", "index", "readme", "")  # "": any other


def _find_contents(view: View, paths: Sequence[FilePath]) -> tuple[FilePath | None, list[FilePath]]:
    """Return the table of contents and the pages that it lists, in order; None: there is none.

    It is mdBook's, else by its name, else the page that lists most.
    """
    known, docc = set(paths), _docc_links(view, paths)
    best: tuple[tuple[int, int, int], FilePath, list[FilePath]] | None = None
    for path, edges in view.link_graph().out(paths).items():
        targets = [edge.resolution.target for edge in edges] + docc.get(path, [])
        listed = list(dict.fromkeys(each for each in targets if each in known and each != path))
        name = _stem(path)
        rank = _CONTENTS_NAMES.index(name if name in _CONTENTS_NAMES else "")
        folder = path.rpartition("/")[0]
        below = [each for each in paths if is_within(each, folder) and each != path]
        is_of_all = len(below) + 1 >= MIN_FOLDER_SHARE * len(paths)
        share = MIN_LISTED_SHARE if name in _CONTENTS_NAMES else MIN_UNNAMED_SHARE
        is_complete = len(listed) >= max(MIN_LISTED, share * len(below))
        if listed and is_of_all and (name == "summary" or is_complete):
            key = (rank if name in {"summary", "toc", "contents"} else 3, -len(listed), rank)
            if best is None or key < best[0]:
                best = key, path, listed
    return (best[1], best[2]) if best else (None, [])


def _docc_links(view: View, paths: Sequence[FilePath]) -> dict[FilePath, list[FilePath]]:
    """Return the pages of a DocC catalogue that each of its pages names: `<doc:TheBasics>`."""
    pages = {_stem(path): path for path in paths if ".docc/" in path}
    return {
        path: [pages[name] for name in map(str.casefold, _DOCC.findall(text)) if name in pages]
        for path, data in view.read(list(pages.values())).items()
        if (text := (data or b"").decode("utf-8", "replace"))
    }


_DOCC = re.compile(r"<doc:([\w-]{1,100})>")


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0].casefold()


def _natural(path: str) -> list[tuple[str, int]]:
    """Return a key that sorts "Section 2" before "Section 10"."""
    return [(words, int(digits or 0)) for words, digits in re.findall(r"(\D*)(\d*)", path)]
