"""How a query was understood, and what was found of it, in words."""

from collections.abc import Iterable, Sequence

from ubp.render.ansi import Style
from ubp.render.wording import printable
from ubp.search.query import Cut, Query


def asked(query: Query) -> str:
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


def found_nothing(query: Query, style: Style) -> Sequence[str]:
    """That there is nothing, and what may help."""
    if query.tree is None and not any(query.filters):
        return [
            style.yellow(f"There is no word in {asked(query)}."),
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
    return [style.yellow(f"No page answers {asked(query)}."), f"Hint: {hint}"]


def highlighted(text: str, highlights: Iterable[tuple[int, int]], style: Style) -> str:
    """A text with its highlights in colour."""
    pieces, at = [], 0
    for start, end in highlights:
        pieces.append(printable(text[at:start]))
        pieces.append(style.green(printable(text[start:end])))
        at = end
    return "".join([*pieces, printable(text[at:])])
