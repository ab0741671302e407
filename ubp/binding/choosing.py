"""Which of the proposals are sure enough."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ubp.binding.suggestion import BindingSuggestions, PageSuggestions, Suggestion
from ubp.model import FilePath

# Of proposals that are less sure hardly one in five is right: to look at them takes more time than
# they are worth.
WORTH_A_LOOK = 0.2


class Counted(NamedTuple):
    """Pages with a proposal worth a look, pages with a sure one, and the sure proposals."""

    proposed: int
    confident: int
    sources: int


def sure_ones(page: PageSuggestions, least: float) -> tuple[Suggestion, ...]:
    """The proposals for a page with this confidence or more, the best first."""
    return tuple(one for one in page.suggestions if one.confidence >= least)


def choose_bindings(found: BindingSuggestions, least: float) -> Mapping[FilePath, Sequence[str]]:
    """The sources to write into each page."""
    chosen = {page.filepath: sure_ones(page, least) for page in found.pages}
    return {path: [one.source_path for one in ones] for path, ones in chosen.items() if ones}


def count_bindings(found: BindingSuggestions, sure: float) -> Counted:
    """How many pages could be bound, how many of them with confidence."""
    chosen = choose_bindings(found, sure)
    return Counted(
        sum(1 for page in found.pages if sure_ones(page, min(WORTH_A_LOOK, sure))),
        len(chosen),
        sum(len(sources) for sources in chosen.values()),
    )
