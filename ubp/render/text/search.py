"""`ubp search` for people."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ubp.render.ansi import Style
from ubp.render.text.levels import WORDS
from ubp.render.wording import printable
from ubp.search.answers import PageAnswer, PageHit, SectionAnswer
from ubp.search.hits import Hit
from ubp.search.snippet import Snippet
from ubp.searching import FoundPages

INDENT = "   "
AT_REST = ("fresh", "untracked")


class Telling(NamedTuple):
    """How hits are told: in colour or not, only their places, with what they say or without."""

    style: Style
    is_quiet: bool = False
    has_content: bool = True


def pages_text(found: FoundPages, telling: Telling) -> str:
    """Pages, best first, with their best sections."""
    answer = found.answer
    if telling.is_quiet:
        return _lines([_place(hit, telling.style) for one in answer.pages for hit in one.hits])
    lines = _head(answer, sum(len(one.hits) for one in answer.pages))
    for number, one in enumerate(answer.pages, 1):
        level = found.assessments[one.page.filepath].level
        lines += _page(number, one, "" if level in AT_REST else WORDS[level], telling)
    return _lines([*lines, *_notes(answer, telling.style)])


def sections_text(answer: SectionAnswer, telling: Telling) -> str:
    """Sections, best first."""
    if telling.is_quiet:
        return _lines([_place(hit, telling.style) for hit in answer.hits])
    lines = _head(answer, len(answer.hits))
    for number, hit in enumerate(answer.hits, 1):
        lines += [f"{number}. {_place(hit, telling.style)}", *_snippet(hit, telling), ""]
    return _lines([*lines, *_notes(answer, telling.style)])


def _head(answer: PageAnswer | SectionAnswer, shown: int) -> list[str]:
    if not shown:
        return []
    ranking = answer.ranking
    total = f"{ranking.total} {'match' if ranking.total == 1 else 'matches'}"
    if not ranking.is_exact:
        total = f"{shown} of at least {total}"
    elif shown < ranking.total:
        total = f"{shown} of {total}"
    return [f"Results for {_asked(answer)} ({total}):", ""]


def _page(number: int, one: PageHit, level: str, telling: Telling) -> Iterator[str]:
    style = telling.style
    for index, hit in enumerate(one.hits):
        start = INDENT if index else f"{number}. "
        end = "" if index else f"  score: {one.score:.2f}"
        mark = f"  {style.yellow(level)}" if level and not index else ""
        yield f"{start}{_place(hit, style)}{end}{mark}"
        yield from _snippet(hit, telling)
    yield ""


def _place(hit: Hit, style: Style) -> str:
    place = style.bold(printable(f"{hit.page.filepath}:{hit.line}"))
    path = hit.section.heading_path if hit.section else ()
    return f"{place}  {printable(' > '.join(path))}".rstrip()


def _snippet(hit: Hit, telling: Telling) -> Iterator[str]:
    if telling.has_content and hit.snippet.text:
        yield f"{INDENT}{_highlighted(hit.snippet, telling.style)}"


def _highlighted(snippet: Snippet, style: Style) -> str:
    pieces, at = [], 0
    for start, end in snippet.highlights:
        pieces.append(printable(snippet.text[at:start]))
        pieces.append(style.green(printable(snippet.text[start:end])))
        at = end
    return "".join([*pieces, printable(snippet.text[at:])])


def _notes(answer: PageAnswer | SectionAnswer, style: Style) -> list[str]:
    notes = [
        f"No section holds {printable(cut.run)} whole:"
        f" looked for {printable(', '.join(cut.pieces))}."
        for cut in answer.ranking.cuts
    ]
    if answer.query.is_shortened:
        notes.append("The query is too long: only its beginning was looked for.")
    if not answer.ranking.places:
        notes += _nothing(answer, style)
    elif isinstance(answer, PageAnswer):
        notes.append(style.dim("Ranked by words alone (fulltext_fallback)."))
    return notes


def _nothing(answer: PageAnswer | SectionAnswer, style: Style) -> Sequence[str]:
    query = answer.query
    asked = _asked(answer)
    if query.tree is None:
        return [
            style.yellow(f"There is no word in {asked}."),
            "Hint: Look for letters or digits.",
        ]
    if query.is_boolean:
        hint = "AND, OR and NOT in capitals are operators; without them any of the words will do."
    elif '"' in query.text:
        hint = "What is quoted is looked for as it stands; without the marks any word will do."
    else:
        hint = "Try other words, or the beginning of one with a star: auth*"
    return [style.yellow(f"No section holds {asked}."), f"Hint: {hint}"]


def _asked(answer: PageAnswer | SectionAnswer) -> str:
    text = printable(answer.query.text)
    return text if '"' in text else f'"{text}"'


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
