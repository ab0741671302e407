"""How a query was understood, and what was found of it, in words.

`ubp search` for people: pages; `text/sections.py` has `--fulltext`.

`ubp search --fulltext` for people.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ubp.core.model import QUIET_LEVELS
from ubp.output.records.search import RANKINGS, ranking_scores, relevance_text
from ubp.output.wording import ARROWS, Style, count, joined, printable
from ubp.search.pages import PageAnswer
from ubp.search.query import Cut, Query
from ubp.search.results import LinkedPage, PageHit, SectionHit
from ubp.search.run import FoundPages
from ubp.search.sections import Hit, SectionAnswer
from ubp.staleness.wording import LEVEL_WORDS


def quote_query(query: Query) -> str:
    """The query in quotation marks, unless it has some."""
    text = printable(query.text)
    return text if '"' in text else f'"{text}"'


def cut_notes(query: Query, cuts: Iterable[Cut]) -> list[str]:
    """What was not looked for as it was typed."""
    notes = [
        f"No section holds {printable(cut.run)} whole:"
        f" looked for {printable(', '.join(cut.pieces))}."
        for cut in cuts
    ]
    if query.is_shortened:
        notes.append("The query is too long: only its beginning was looked for.")
    return notes


def no_results(query: Query, style: Style) -> Sequence[str]:
    """That there is nothing, and what may help."""
    if query.tree is None and not any(query.filters):
        return [
            style.yellow(f"There is no word in {quote_query(query)}."),
            "Hint: Look for letters or digits.",
        ]
    if any(query.filters):
        hint = "Filters (tag:, type:, path:) must all fit; `ubp list-pages` tells what there is."
    elif query.is_boolean:
        hint = "AND, OR and NOT in capitals are operators; without them any of the words will do."
    elif '"' in query.text:
        hint = "What is quoted is looked for as it stands; without the marks any word will do."
    else:
        hint = "Try other words, or the beginning of one with a star: auth*"
    return [style.yellow(f"No page answers {quote_query(query)}."), f"Hint: {hint}"]


def highlighted(text: str, highlights: Iterable[tuple[int, int]], style: Style) -> str:
    """A text with its highlights in colour."""
    pieces, at = [], 0
    for start, end in highlights:
        pieces.append(printable(text[at:start]))
        pieces.append(style.green(printable(text[start:end])))
        at = end
    return "".join([*pieces, printable(text[at:])])


INDENT = "   "


class SearchTextOptions(NamedTuple):
    """How hits are told: in colour, only their places, with what they say, with every score."""

    style: Style
    is_quiet: bool = False
    has_content: bool = True
    is_explained: bool = False


def pages_text(found: FoundPages, telling: SearchTextOptions) -> str:
    """Pages, best first, with their best sections."""
    answer = found.answer
    if telling.is_quiet:
        lines = [_place(one, one.sections[0], telling.style) for one in answer.pages]
        return joined(lines)
    lines = [_head(answer), ""] if answer.pages else []
    for number, one in enumerate(answer.pages, 1):
        lines += [*_page(number, one, found, telling), ""]
    lines += _notes(found, telling.style)
    if telling.is_explained:
        lines += _explanation(found)
    return joined(lines)


def _head(answer: PageAnswer) -> str:
    shown, total = len(answer.pages), count(answer.total, "page")
    if not answer.is_exact:
        total = f"{shown} of at least {total}"
    elif shown < answer.total:
        total = f"{shown} of {total}"
    return f"Results for {quote_query(answer.query)} ({total}):"


def _page(
    number: int, hit: PageHit, found: FoundPages, telling: SearchTextOptions
) -> Iterator[str]:
    style, path = telling.style, hit.page.filepath
    best, *others = hit.sections
    level = found.assessments[path].level
    mark = "" if level in QUIET_LEVELS else f"  {style.yellow(LEVEL_WORDS[level])}"
    yield f"{number}. {_place(hit, best, style)}  score: {hit.score:.2f}{mark}"
    if telling.has_content and best.passage and best.passage.content:
        yield f"{INDENT}{highlighted(best.passage.content, best.passage.highlights, style)}"
    if hit.link_path is not None:
        yield f"{INDENT}{style.dim(printable(hit.link_path.link.context))}"
    yield f"{INDENT}{style.dim(printable(relevance_text(hit)))}"
    if others:
        places = (f":{one.line} {_heading(one)}".rstrip() for one in others)
        yield f"{INDENT}{style.dim('Also at ' + '; '.join(places))}"
    if ends := found.linked.get(path):
        yield f"{INDENT}Links: {', '.join(_end(end) for end in ends)}"
    if telling.is_explained:
        yield f"{INDENT}{_legs(hit, found.answer)}"


def _place(hit: PageHit, section: SectionHit, style: Style) -> str:
    place = style.bold(printable(f"{hit.page.filepath}:{section.line}"))
    return f"{place}  {_heading(section)}".rstrip()


def _heading(hit: SectionHit) -> str:
    return printable(" > ".join(hit.section.heading_path)) if hit.section else ""


def _end(end: LinkedPage) -> str:
    kind = "" if end.link.link_type == "references" else f" ({end.link.link_type})"
    return f"{ARROWS[end.direction]} {printable(end.page.filepath)}{kind}"


def _notes(found: FoundPages, style: Style) -> list[str]:
    answer = found.answer
    notes = cut_notes(answer.query, answer.cuts)
    if not answer.pages:
        notes += no_results(answer.query, style)
    if found.fallback:
        notes.append(style.dim(f"By words and links alone: {found.fallback.reason}"))
        notes.append(style.dim(f"Hint: {found.fallback.hint}"))
    return notes


def _explanation(found: FoundPages) -> Sequence[str]:
    answer = found.answer
    terms = printable(", ".join(term.written for term in answer.terms)) or "no words"
    forms = " in all their forms" if answer.query.is_stemmed else ""
    legs = zip(RANKINGS, answer.rankings, strict=True)
    asked_for = (
        f"{name} {count(len(leg.scores), 'page')} in {count(len(leg.places), 'place')}"
        for name, leg in legs
    )
    spent = (f"{name} {took:.1f}" for name, took in found.milliseconds.items())
    return [
        f"Looked for: {terms}{forms}; words count {answer.words_share:.2f} of a direct score.",
        f"Candidates: {'; '.join(asked_for)}.",
        f"Milliseconds: {', '.join(spent)}.",
    ]


def _legs(hit: PageHit, answer: PageAnswer) -> str:
    told = ranking_scores(answer, hit.page.filepath)
    said = (
        f"{name} #{one.place} {one.raw:.4g} -> {one.normalised or 0:.3f}" if one else f"{name} -"
        for name, one in told.items()
    )
    return "; ".join(said)


def sections_text(answer: SectionAnswer, telling: SearchTextOptions) -> str:
    """Sections, best first."""
    if telling.is_quiet:
        return "".join(f"{_section_place(hit, telling.style)}\n" for hit in answer.hits)
    lines = [_section_head(answer), ""] if answer.hits else []
    for number, hit in enumerate(answer.hits, 1):
        lines += [f"{number}. {_section_place(hit, telling.style)}", *_snippet(hit, telling), ""]
    lines += cut_notes(answer.query, answer.ranking.cuts)
    if not answer.hits:
        lines += no_results(answer.query, telling.style)
    return joined(lines)


def _section_head(answer: SectionAnswer) -> str:
    shown, total = len(answer.hits), count(answer.total, "place")
    if not answer.is_exact:
        total = f"{shown} of at least {total}"
    elif shown < answer.total:
        total = f"{shown} of {total}"
    return f"Results for {quote_query(answer.query)} ({total}):"


def _section_place(hit: Hit, style: Style) -> str:
    place = style.bold(printable(f"{hit.page.filepath}:{hit.line}"))
    path = hit.section.heading_path if hit.section else ()
    return f"{place}  {printable(' > '.join(path))}".rstrip()


def _snippet(hit: Hit, telling: SearchTextOptions) -> Iterator[str]:
    snippet = hit.snippet
    if telling.has_content and snippet.text:
        yield f"{INDENT}{highlighted(snippet.text, snippet.highlights, telling.style)}"
