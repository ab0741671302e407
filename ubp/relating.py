"""The workspace's questions about what stands around a page, and what hangs on it.

What answers them is imported when they are asked: `ubp stale` needs none of it.
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ubp.model import Assessment, FilePath, LinkType
from ubp.rooms import Question
from ubp.searching import Searching

if TYPE_CHECKING:  # modules that `ubp stale` must not load
    from ubp.graph.context import Context

MAX_SIZE = 50_000


class PageContext(NamedTuple):
    """A page with what stands around it, and what became of the sources of all of them."""

    context: "Context"
    assessments: Mapping[FilePath, Assessment]


class Relating(Searching):
    """The part of a workspace that tells how pages hang together."""

    def context(  # noqa: PLR0913  # the API's options, all of them named
        self,
        page: str,
        *,
        depth: int = 2,
        link_types: Collection[LinkType] = (),
        max_size: int | None = MAX_SIZE,
        max_tokens: int | None = None,
        ref: str | None = None,
    ) -> PageContext:
        """A page (given as in `page`) and those within `depth` links of it, in short.

        Where `max_size` characters or `max_tokens` estimated tokens do not suffice for their
        texts, what matters least is left out. `link_types` are the links that are followed, none
        named: all are.

        Raises:
            UsageError: there is no such page, or more than one.
        """
        from ubp.cutting import Budget
        from ubp.graph.context import read_context
        from ubp.graph.view import open_graph

        view = self.view(Question(ref))
        budget = Budget(max_size, max_tokens)
        name = self._one(view, page)
        found = read_context(open_graph(view), name, depth, budget, link_types)
        paths = [name, *(one.document.path for one in found.related)]
        return PageContext(found, self._assessments(view, paths))
