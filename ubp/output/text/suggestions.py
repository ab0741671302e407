"""`ubp suggest-links` for people."""

from collections.abc import Iterator, Sequence

from ubp.index.vectors import SemanticHit
from ubp.output.wording import Style, count, joined, printable
from ubp.search.suggest_links import LinkSuggestions, Suggestion

MAX_DUPLICATES = 3
INDENT = "      "


def suggestions_text(found: LinkSuggestions, style: Style, *, is_quiet: bool) -> str:
    """Two lines a pair, and the words that both have; quietly both places on a line."""
    links, duplicates = found.suggestions.links, found.suggestions.duplicates
    if is_quiet:
        return joined([f"{_place(one.first)} {_place(one.second)}" for one in links])
    lines = [line for one in links for line in _pair(one, style)]
    lines += _duplicates(duplicates)
    if pending := found.suggestions.pending:
        lines += [style.yellow(f"{count(pending, 'section')} could not be read."), ""]
    if not links:
        lines.append(style.yellow("No pair of pages without a link stands out so much."))
        lines.append("Hint: A lower --min-score shows pairs that are less alike.")
    else:
        verb = "is" if len(links) == 1 else "are"
        lines.append(f"{count(len(links), 'pair')} of pages {verb} close and not linked.")
    return joined(lines)


def _pair(one: Suggestion, style: Style) -> Iterator[str]:
    yield f"{one.score:.2f}  {_part(one.first, style)}"
    yield f"{INDENT}{_part(one.second, style)}"
    if one.terms:
        shared = printable(", ".join(one.terms))
        yield f"{INDENT}{style.dim(f'both say {shared}')}"
    yield ""


def _duplicates(duplicates: Sequence[Suggestion]) -> Iterator[str]:
    if not duplicates:
        return
    yield "The same text:"
    for one in duplicates[:MAX_DUPLICATES]:
        yield f"  {_place(one.first)}  {_place(one.second)}"
    if (more := len(duplicates) - MAX_DUPLICATES) > 0:
        yield f"  and {more} more, which --json tells"
    yield ""


def _part(hit: SemanticHit, style: Style) -> str:
    return f"{style.bold(_place(hit))}  {printable(' > '.join(hit.heading_path))}".rstrip()


def _place(hit: SemanticHit) -> str:
    return printable(f"{hit.path}:{hit.line_start}")
