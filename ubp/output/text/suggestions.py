"""Text of `ubp suggest-links` for people."""

from collections.abc import Iterator, Sequence

from ubp.frame.wording import Style, count, joined, printable
from ubp.index.semantic_hits import SemanticHit
from ubp.search.suggest_links import LinkSuggestions, Suggestion

MAX_DUPLICATES = 3
INDENT = "      "


def suggestions_text(result: LinkSuggestions, style: Style, *, is_quiet: bool) -> str:
    """Return two lines a pair and their common words; quietly both places on a line."""
    links, duplicates = result.suggestions.links, result.suggestions.duplicates
    if is_quiet:
        return joined(
            [f"{_place(suggestion.first)} {_place(suggestion.second)}" for suggestion in links]
        )
    lines = [line for suggestion in links for line in _pair(suggestion, style)]
    lines += _duplicates(duplicates)
    if pending := result.suggestions.pending:
        lines += [style.yellow(f"{count(pending, 'section')} could not be read."), ""]
    if not links:
        lines.append(style.yellow("No unlinked pages are this similar."))
        lines.append("Hint: Use a lower --min-score to show less similar pairs.")
    else:
        verb = "is" if len(links) == 1 else "are"
        lines.append(f"{count(len(links), 'pair')} of similar pages {verb} not linked.")
    return joined(lines)


def _pair(suggestion: Suggestion, style: Style) -> Iterator[str]:
    yield f"{suggestion.score:.2f}  {_part(suggestion.first, style)}"
    yield f"{INDENT}{_part(suggestion.second, style)}"
    if suggestion.terms:
        terms = printable(", ".join(suggestion.terms))
        yield f"{INDENT}{style.dim(f'common terms: {terms}')}"
    yield ""


def _duplicates(duplicates: Sequence[Suggestion]) -> Iterator[str]:
    if not duplicates:
        return
    yield "Identical text:"
    for duplicate in duplicates[:MAX_DUPLICATES]:
        yield f"  {_place(duplicate.first)}  {_place(duplicate.second)}"
    if (more := len(duplicates) - MAX_DUPLICATES) > 0:
        yield f"  and {more} more (see --json)"
    yield ""


def _part(hit: SemanticHit, style: Style) -> str:
    return f"{style.bold(_place(hit))}  {printable(' > '.join(hit.heading_path))}".rstrip()


def _place(hit: SemanticHit) -> str:
    return printable(f"{hit.path}:{hit.line_start}")
