"""`ubp search --fulltext` for people."""

from collections.abc import Iterator

from ubp.render.ansi import Style
from ubp.render.text.query import asked, cut_notes, found_nothing, highlighted
from ubp.render.text.search import INDENT, Telling
from ubp.render.wording import count, printable
from ubp.search.answers import SectionAnswer
from ubp.search.hits import Hit


def sections_text(answer: SectionAnswer, telling: Telling) -> str:
    """Sections, best first."""
    if telling.is_quiet:
        return "".join(f"{_place(hit, telling.style)}\n" for hit in answer.hits)
    lines = [_head(answer), ""] if answer.hits else []
    for number, hit in enumerate(answer.hits, 1):
        lines += [f"{number}. {_place(hit, telling.style)}", *_snippet(hit, telling), ""]
    lines += cut_notes(answer.query, answer.ranking.cuts)
    if not answer.hits:
        lines += found_nothing(answer.query, telling.style)
    return "".join(f"{line}\n" for line in lines)


def _head(answer: SectionAnswer) -> str:
    shown, total = len(answer.hits), count(answer.total, "place")
    if not answer.is_exact:
        total = f"{shown} of at least {total}"
    elif shown < answer.total:
        total = f"{shown} of {total}"
    return f"Results for {asked(answer.query)} ({total}):"


def _place(hit: Hit, style: Style) -> str:
    place = style.bold(printable(f"{hit.page.filepath}:{hit.line}"))
    path = hit.section.heading_path if hit.section else ()
    return f"{place}  {printable(' > '.join(path))}".rstrip()


def _snippet(hit: Hit, telling: Telling) -> Iterator[str]:
    snippet = hit.snippet
    if telling.has_content and snippet.text:
        yield f"{INDENT}{highlighted(snippet.text, snippet.highlights, telling.style)}"
