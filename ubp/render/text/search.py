"""`ubp search` for people: pages; `text/sections.py` has `--fulltext`."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ubp.render.ansi import Style
from ubp.render.relevance import relevance_text
from ubp.render.search_records import LEGS, leg_scores
from ubp.render.text.levels import WORDS
from ubp.render.text.query import asked, cut_notes, found_nothing, highlighted
from ubp.render.wording import count, printable
from ubp.search.linked import LinkedPage
from ubp.search.pages import PageAnswer
from ubp.search.results import PageHit
from ubp.search.sections import SectionHit
from ubp.searching import FoundPages

INDENT = "   "
AT_REST = ("fresh", "untracked")
ARROWS = {"outlink": "->", "backlink": "<-"}


class Telling(NamedTuple):
    """How hits are told: in colour, only their places, with what they say, with every score."""

    style: Style
    is_quiet: bool = False
    has_content: bool = True
    is_explained: bool = False


def pages_text(found: FoundPages, telling: Telling) -> str:
    """Pages, best first, with their best sections."""
    answer = found.answer
    if telling.is_quiet:
        lines = [_place(one, one.sections[0], telling.style) for one in answer.pages]
        return "".join(f"{line}\n" for line in lines)
    lines = [_head(answer), ""] if answer.pages else []
    for number, one in enumerate(answer.pages, 1):
        lines += [*_page(number, one, found, telling), ""]
    lines += _notes(found, telling.style)
    if telling.is_explained:
        lines += _explanation(found)
    return "".join(f"{line}\n" for line in lines)


def _head(answer: PageAnswer) -> str:
    shown, total = len(answer.pages), count(answer.total, "page")
    if not answer.is_exact:
        total = f"{shown} of at least {total}"
    elif shown < answer.total:
        total = f"{shown} of {total}"
    return f"Results for {asked(answer.query)} ({total}):"


def _page(number: int, hit: PageHit, found: FoundPages, telling: Telling) -> Iterator[str]:
    style, path = telling.style, hit.page.filepath
    best, *others = hit.sections
    level = found.assessments[path].level
    mark = "" if level in AT_REST else f"  {style.yellow(WORDS[level])}"
    yield f"{number}. {_place(hit, best, style)}  score: {hit.score:.2f}{mark}"
    if telling.has_content and best.passage and best.passage.content:
        yield f"{INDENT}{highlighted(best.passage.content, best.passage.highlights, style)}"
    if hit.way is not None:
        yield f"{INDENT}{style.dim(printable(hit.way.tie.context))}"
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
    kind = "" if end.tie.link_type == "references" else f" ({end.tie.link_type})"
    return f"{ARROWS[end.direction]} {printable(end.page.filepath)}{kind}"


def _notes(found: FoundPages, style: Style) -> list[str]:
    answer = found.answer
    notes = cut_notes(answer.query, answer.cuts)
    if not answer.pages:
        notes += found_nothing(answer.query, style)
    if found.fallback:
        notes.append(style.dim(f"By words and links alone: {found.fallback.reason}"))
        notes.append(style.dim(f"Hint: {found.fallback.hint}"))
    return notes


def _explanation(found: FoundPages) -> Sequence[str]:
    answer = found.answer
    terms = printable(", ".join(term.written for term in answer.terms)) or "no words"
    forms = " in all their forms" if answer.query.is_stemmed else ""
    legs = zip(LEGS, answer.legs, strict=True)
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
    told = leg_scores(answer, hit.page.filepath)
    said = (
        f"{name} #{one.place} {one.raw:.4g} -> {one.normalised or 0:.3f}" if one else f"{name} -"
        for name, one in told.items()
    )
    return "; ".join(said)
