"""The workspace's questions about what stands around a page, and what depends on it.

What answers them is imported when they are asked: `ubp stale` needs none of it.
"""

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ubp.config import is_document
from ubp.errors import PageNotFoundError
from ubp.index import View
from ubp.model import Assessment, FilePath, LinkType
from ubp.rooms import Question
from ubp.searching import Searching

if TYPE_CHECKING:  # modules that `ubp stale` must not load
    from ubp.graph.context import Context
    from ubp.graph.impact import Impact, Step, Subject
    from ubp.graph.neighbours import Neighbourhood
    from ubp.graph.view import DocumentRow, Graph
    from ubp.search.suggest import Suggestions
    from ubp.staleness.naming import Naming, Namings

MAX_SIZE = 50_000
MOST_IMPACTED = 100
MIN_SCORE = 0.8
MOST_SUGGESTED = 10
MOST_NEAR = 3  # names that an error offers


class PageContext(NamedTuple):
    """A page with what stands around it, and what became of the sources of all of them."""

    context: "Context"
    assessments: Mapping[FilePath, Assessment]


class PageGraph(NamedTuple):
    """Pages, the links between them, and what became of their sources."""

    near: "Neighbourhood"
    assessments: Mapping[FilePath, Assessment]


class PageImpact(NamedTuple):
    """The pages that depend on something, and what became of their sources."""

    impact: "Impact"
    assessments: Mapping[FilePath, Assessment]


class LinkSuggestions(NamedTuple):
    """Pairs of pages that may want a link, the documents, and what became of their sources."""

    suggestions: "Suggestions"
    documents: "Mapping[FilePath, DocumentRow]"
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
            PageNotFoundError: there is no such page, or more than one.
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

    def graph(
        self,
        *,
        center: str | None = None,
        depth: int = 2,
        link_types: Collection[LinkType] = (),
        limit: int | None = None,
        ref: str | None = None,
    ) -> PageGraph:
        """The pages around a page (given as in `page`), or all pages; and the links between them.

        Of more than `limit` pages the nearest are told, and of these those with the most links.

        Raises:
            PageNotFoundError: there is no such page, or more than one.
        """
        from ubp.graph.neighbours import neighbourhood
        from ubp.graph.view import open_graph

        view = self.view(Question(ref))
        name = None if center is None else self._one(view, center)
        near = neighbourhood(open_graph(view), name, depth, link_types, limit)
        paths = [document.path for document in near.documents]
        return PageGraph(near, self._assessments(view, paths))

    def impact(
        self,
        path: str,
        *,
        depth: int = 3,
        limit: int = MOST_IMPACTED,
        ref: str | None = None,
    ) -> PageImpact:
        """The pages that depend on a page or a source, at most `depth` steps away.

        The path is that of a file or folder, which need not exist any more, or the unique end of
        one, or a page's `doc_id`; a hidden one is as if it were not there.

        Raises:
            PageNotFoundError: several files are meant.
        """
        from ubp.graph.impact import find_impact
        from ubp.graph.view import open_graph
        from ubp.staleness.naming import read_namings

        view = self.view(Question(ref))
        graph = open_graph(view)
        judge = partial(self._assessments, view)
        namings = view.derived("namings", lambda: read_namings(view, self.is_hidden, judge))
        subject = self._subject(path, view, graph, namings)
        found = find_impact(graph, subject, partial(_covering, namings), depth, limit)
        paths = [one.document.path for one in found.impacted]
        return PageImpact(found, self._assessments(view, paths))

    def suggest_links(
        self,
        page: str | None = None,
        *,
        min_score: float = MIN_SCORE,
        limit: int = MOST_SUGGESTED,
        ref: str | None = None,
    ) -> LinkSuggestions:
        """Pairs of pages close in meaning without a link, of all or with one page (as in `page`).

        Of the pairs with a score of 0.8 and more four in five are worth a link, at 0.5 three.

        Raises:
            PageNotFoundError: there is no such page, or more than one.
            ModelNeededError: there is no embedding model.
            ModelError: the configured model is not there, or cannot be used.
        """
        from ubp.graph.view import open_graph
        from ubp.search.suggest import suggest_links

        model = self.required_model()
        view = self.view(Question(ref))
        name = None if page is None else self._one(view, page)
        found = suggest_links(view, view.meaning(model), name, min_score, limit)
        told = (*found.links, *found.duplicates)
        paths = sorted({hit.path for one in told for hit in (one.first, one.second)})
        documents = open_graph(view).documents_at(paths)
        return LinkSuggestions(found, documents, self._assessments(view, paths))

    def _subject(self, argument: str, view: View, graph: "Graph", namings: "Namings") -> "Subject":
        """What a PATH means: what stands there, or was named there, else what ends so."""
        from ubp.selection import path_from_root

        path = path_from_root(argument, self.repository)
        found = self._at(path, view, graph, namings)
        if found.exists or found.first or self.is_hidden(path):
            return found
        meant = self._meant(argument, view)
        return self._at(meant, view, graph, namings) if meant else found

    def _at(self, path: FilePath, view: View, graph: "Graph", namings: "Namings") -> "Subject":
        from ubp.graph.impact import Subject, link_step

        if self.is_hidden(path):
            return Subject(path, "source", exists=False)
        path = view.true_path(path) or path
        entry = view.entry(path)
        if entry and entry.is_directory:
            inside = f"{path}/" if path else ""
            pages = tuple(one for one in view.document_paths() if one.startswith(inside))
        else:
            pages = (path,) if view.page(path) else ()
        is_page = is_document(self.config, path) and not (entry and not pages)
        links = (link_step(edge, path) for edge in graph.asking_for(path, self.config.link_roots))
        first = (*(_step(one, path) for one in namings.meeting(path)), *links)
        return Subject(path, "page" if is_page else "source", entry is not None, pages, first)

    def _meant(self, argument: str, view: View) -> FilePath | None:
        """The only file whose path ends so, or the page of this `doc_id`."""
        from ubp.selection import is_doc_id

        if is_doc_id(argument):
            return self._one(view, argument)
        ending = "/" + argument.strip("/")
        files = [path for path, _ in view.files() if path.endswith(ending)]
        found = [path for path in files if not self.is_hidden(path)]
        if len(found) > 1:
            raise PageNotFoundError(
                f"{argument} names {len(found)} files.",
                near=tuple(found[:MOST_NEAR]),
                cause="This command is about one page or source.",
                hint=f"Name one of them, as in {found[0]}.",
            )
        return found[0] if found else None


def _covering(namings: "Namings", path: FilePath) -> Iterator["Step"]:
    return (_step(one, path) for one in namings.covering(path))


def _step(one: "Naming", target: FilePath) -> "Step":
    from ubp.graph.impact import Step

    line = one.reference.line
    return Step(one.page, target, "source_reference", line, one.source.name, one.moved_to)
