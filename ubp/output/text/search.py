"""Texts of `ubp search` for people: pages, or with `--fulltext` sections."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ubp.core.model import QUIET_LEVELS
from ubp.frame.wording import ARROWS, Style, count, joined, printable
from ubp.output.relevance import RANKINGS, ranking_scores, relevance_text
from ubp.output.text.pages import unreadable_line
from ubp.search.pages import PageAnswer
from ubp.search.query import Cut, Query
from ubp.search.results import LinkedPage, PageHit, SectionHit
from ubp.search.run import FoundPages, own_path
from ubp.search.sections import Hit, SectionAnswer
from ubp.staleness.wording import LEVEL_WORDS


def quote_query(query: Query) -> str:
    """Return the query in quotation marks, unless it contains some."""
    text = printable(query.text)
    return text if '"' in text else f'"{text}"'


def cut_notes(query: Query, cuts: Iterable[Cut]) -> list[str]:
    """Return notes on words that were not searched as typed."""
    notes = [
        f"No section contains {printable(cut.run)} as a whole;"
        f" searched for {printable(', '.join(cut.pieces))}."
        for cut in cuts
    ]
    if query.is_shortened:
        notes.append("The query is too long; only its beginning was searched for.")
    notes += [
        f"{name}: has no value, so it was searched for as a word; try {name}:NAME."
        for name in dict.fromkeys(_EMPTY_FILTER.findall(query.text))
    ]
    notes += [
        f"No page has a field for {printable(written)}; it was searched for as words."
        + (f" Did you mean {printable(closest)}?" if closest else "")
        for written, closest in query.unknown_fields
    ]
    if _NEAR.search(query.text):
        notes.append("NEAR() is not supported; its words were searched for.")
    return notes


_EMPTY_FILTER = re.compile(r"(?:^|[\s(-])(tag|type|path):(?=[\s)]|$)", re.IGNORECASE)
_NEAR = re.compile(r"\bNEAR\s*\(")


def no_results(query: Query, style: Style) -> Sequence[str]:
    """Return that nothing was found, and a hint."""
    if query.tree is None and not any(query.filters):
        return [
            style.yellow(f"No searchable words in {quote_query(query)}."),
            "Hint: Search for letters or digits.",
        ]
    if any(query.filters):
        hint = (
            "Filters (tag:, type:, path:, fields of front matter) must all match;"
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
    return [style.yellow(f"No results for {quote_query(query)}."), f"Hint: {hint}"]


def highlighted(text: str, highlights: Iterable[tuple[int, int]], style: Style) -> str:
    """Return a text with its highlights in color."""
    pieces, position = [], 0
    for start, end in highlights:
        pieces.append(printable(text[position:start]))
        pieces.append(style.green(printable(text[start:end])))
        position = end
    return "".join([*pieces, printable(text[position:])])


INDENT = "   "


class SearchTextOptions(NamedTuple):
    """What a text of results contains: places only, passages, all scores."""

    style: Style
    is_quiet: bool = False
    has_content: bool = True
    is_explained: bool = False


def pages_text(results: FoundPages, options: SearchTextOptions) -> str:
    """Return the pages, best first, with their best sections."""
    answer = results.answer
    if options.is_quiet:
        lines = [_place(hit, hit.sections[0], options.style) for hit in answer.pages]
        return joined(lines)
    found = _found(len(answer.pages), answer.total, "page", is_exact=answer.is_exact)
    lines = [f"Results for {quote_query(answer.query)} ({found}):", ""] if answer.pages else []
    if answer.is_weak:
        lines[1:1] = [options.style.yellow(weak_answer(answer))]
    for number, hit in enumerate(answer.pages, 1):
        lines += [*_page(number, hit, results, options), ""]
    lines += _notes(results, options.style)
    if options.is_explained:
        lines += _explanation(results)
    return joined(lines)


def weak_answer(answer: PageAnswer) -> str:
    """Return that probably no page answers a query."""
    score = max(hit.score for hit in answer.pages)
    return f"Probably no page answers this: the best score is {score:.2f}."


def _found(shown: int, total: int, noun: str, *, is_exact: bool) -> str:
    """Return how many results there are, and how many of them are shown if not all are."""
    if not is_exact:
        return f"{shown} of at least {count(total, noun)}"
    return f"{shown} of {count(total, noun)}" if shown < total else count(total, noun)


def _page(
    number: int, hit: PageHit, results: FoundPages, options: SearchTextOptions
) -> Iterator[str]:
    style, path = options.style, hit.page.filepath
    best, *others = hit.sections
    assessment = results.assessments[path]
    level = assessment.level
    mark = "" if level in QUIET_LEVELS else f"  {style.yellow(LEVEL_WORDS[level])}"
    yield f"{number}. {_place(hit, best, style)}  score: {hit.score:.2f}{mark}"
    yield from unreadable_line(INDENT, assessment, style)
    if options.has_content and best.passage and not _repeats_heading(best):
        yield f"{INDENT}{highlighted(best.passage.content, best.passage.highlights, style)}"
    if hit.link_path is not None:
        yield f"{INDENT}{style.dim(printable(hit.link_path.link.context))}"
    yield f"{INDENT}{style.dim(printable(relevance_text(hit)))}"
    if others:
        places = dict.fromkeys(
            f":{section.line} {_heading(section)}".rstrip() for section in others
        )
        yield f"{INDENT}{style.dim('Also at ' + '; '.join(places))}"
    if translations := results.answer.translations.get(path):
        yield f"{INDENT}{style.dim('Also as ' + ', '.join(map(printable, translations)))}"
    if ends := results.linked.get(path):
        yield f"{INDENT}Links: {', '.join(_linked_page(end) for end in ends)}"
    if options.is_explained:
        yield f"{INDENT}{_scores(hit, results.answer)}"


def _place(hit: PageHit, section: SectionHit, style: Style) -> str:
    place = style.bold(printable(f"{hit.page.filepath}:{section.line}"))
    return f"{place}  {_heading(section)}".rstrip()


def _repeats_heading(hit: SectionHit) -> bool:
    """Return whether a passage has nothing that the line above it, its heading, has not."""
    path = hit.section.heading_path if hit.section else ()
    return hit.passage is None or hit.passage.content.strip() in {"", *path[-1:]}


def _heading(hit: SectionHit) -> str:
    return printable(" > ".join(hit.section.heading_path)) if hit.section else ""


def _linked_page(linked: LinkedPage) -> str:
    link_type = "" if linked.link.link_type == "references" else f" ({linked.link.link_type})"
    return f"{ARROWS[linked.direction]} {printable(linked.page.filepath)}{link_type}"


def _notes(results: FoundPages, style: Style) -> list[str]:
    answer = results.answer
    notes = cut_notes(answer.query, answer.cuts)
    if not answer.pages:
        notes += no_results(answer.query, style)
    if results.fallback:
        notes.append(style.dim(f"Keyword and link search only: {results.fallback.reason}"))
        notes.append(style.dim(f"Hint: {results.fallback.hint}"))
    return notes


def _explanation(results: FoundPages) -> Sequence[str]:
    answer = results.answer
    terms = printable(", ".join(term.written for term in answer.terms)) or "no words"
    forms = " with their inflected forms" if answer.query.is_stemmed else ""
    rankings = zip(RANKINGS, answer.rankings, strict=True)
    candidates = (
        f"{name} {count(len(ranking.scores), 'page')} in {count(len(ranking.places), 'place')}"
        for name, ranking in rankings
    )
    times = (f"{name} {milliseconds:.1f}" for name, milliseconds in results.milliseconds.items())
    return [
        f"Terms: {terms}{forms}; words make up {answer.words_share:.2f} of a direct score.",
        f"Candidates: {'; '.join(candidates)}.",
        f"Milliseconds: {', '.join(times)}.",
    ]


def _scores(hit: PageHit, answer: PageAnswer) -> str:
    scores = ranking_scores(answer, own_path(hit.page.filepath, hit.collection))
    texts = (
        f"{name} #{score.place} {score.raw:.4g} -> {score.normalised or 0:.3f}"
        if score
        else f"{name} -"
        for name, score in scores.items()
    )
    return "; ".join(texts)


def sections_text(answer: SectionAnswer, options: SearchTextOptions) -> str:
    """Return the sections, best first."""
    if options.is_quiet:
        return "".join(f"{_section_place(hit, options.style)}\n" for hit in answer.hits)
    found = _found(len(answer.hits), answer.total, "place", is_exact=answer.is_exact)
    lines = [f"Results for {quote_query(answer.query)} ({found}):", ""] if answer.hits else []
    for number, hit in enumerate(answer.hits, 1):
        lines += [f"{number}. {_section_place(hit, options.style)}", *_snippet(hit, options), ""]
    lines += cut_notes(answer.query, answer.ranking.cuts)
    if not answer.hits:
        lines += no_results(answer.query, options.style)
    return joined(lines)


def _section_place(hit: Hit, style: Style) -> str:
    place = style.bold(printable(f"{hit.page.filepath}:{hit.line}"))
    path = hit.section.heading_path if hit.section else ()
    return f"{place}  {printable(' > '.join(path))}".rstrip()


def _snippet(hit: Hit, options: SearchTextOptions) -> Iterator[str]:
    snippet = hit.snippet
    if options.has_content and snippet.text:
        yield f"{INDENT}{highlighted(snippet.text, snippet.highlights, options.style)}"
