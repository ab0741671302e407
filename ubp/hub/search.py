"""Search the tips that a reader may see, by UBP's own ranking; read their pages."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

from ubp.answers.hub.search import (
    HubContextRecord,
    HubContextRequest,
    HubFoundRecord,
    HubFulltextRequest,
    HubSearchRecord,
    HubSearchRequest,
    HubSectionRecord,
    HubSectionsRecord,
    HubTextRecord,
    HubTextRequest,
    fit_sections,
)
from ubp.answers.search.search import relevance_text
from ubp.core.errors import BadArgumentError, ModelError
from ubp.core.model import (
    FilePath,
    in_repository,
    plain_path,
    repository_of,
)
from ubp.core.text import Budget, truncate_page
from ubp.frame.records import moment_or_none, title_of
from ubp.hub.database import Connection
from ubp.hub.frequencies import Frequencies
from ubp.hub.mirror import Mirror
from ubp.hub.models import HubModel
from ubp.hub.repositories import pushed_name
from ubp.hub.searched import Asked, HubMeaning, Organisation
from ubp.hub.tips import MirroredPage, MirroredTip
from ubp.index.match import Phrase
from ubp.index.store.tokenizer import Table
from ubp.markdown.outline import HeadingSpan, find_section, list_sections, read_headings
from ubp.markdown.source_text import SourceText
from ubp.search.filters import page_filters
from ubp.search.lexical import JAPANESE
from ubp.search.named import MAX_READ, name_matches
from ubp.search.pages import (
    CHUNKS,
    USUAL_LIMIT,
    Mode,
    PageAnswer,
    PageQuery,
    SearchContext,
    SearchType,
    Stopwatch,
    find_pages,
)
from ubp.search.query import And, Node, Not, Or, Query, read_query
from ubp.search.results import PageHit, SectionHit
from ubp.search.scope import ViewNames, matches_in
from ubp.search.sections import find_sections
from ubp.search.terms import Term

CONTEXT_PAGES = 20
THREADS = 4  # of searches by meaning beside those by words


class Searcher:
    """What the hub's processes need for a search besides the database: a model and a mirror."""

    def __init__(self, model: HubModel) -> None:
        self._model = model
        self.mirror = Mirror()
        self._frequencies = Frequencies()
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="meaning")

    def open(self, connection: Connection, reader: str, name: str | None = None) -> Organisation:
        """Return the tips that a reader may see; `name`: only this repository's.

        Raises:
            BadArgumentError: of this repository the reader may see nothing.
        """
        if name is not None:
            name = pushed_name(connection, reader, name)
        tips = self.mirror.follow(connection, reader, name, self._model.get(connection))
        return Organisation(connection, tips, self._frequencies, self.mirror.size())

    def find(self, organisation: Organisation, query: PageQuery) -> tuple[PageAnswer, SearchType]:
        """Return the best pages of an organisation.

        Raises:
            UsageError: a filter cannot be read, or meaning is asked for, and there is no model.
            ModelError: meaning is asked for, and the model cannot be used.
        """
        meaning = self._meaning(organisation, query.mode)
        read = read_query(query.text, field_names=organisation.field_names)
        asked = read._replace(filters=read.filters.joined(query.filters))
        if meaning is not None and asked.condition is None and query.limit <= USUAL_LIMIT:
            meaning.expect(read.wording, CHUNKS, self._pool)
        _prepare(organisation, read)
        names = ViewNames(organisation, organisation.tips.names)
        context = SearchContext(names, meaning, Stopwatch(time.monotonic))
        is_fallback = meaning is None and query.mode == "hybrid"
        try:
            answer = find_pages(organisation, query, context)
        except ModelError:  # its server does not answer, or cannot read this query
            if query.mode == "semantic":
                raise
            is_fallback = True
            answer = find_pages(organisation, query, context._replace(meaning=None))
        return answer, "fulltext_fallback" if is_fallback else query.mode

    def _meaning(self, organisation: Organisation, mode: Mode) -> HubMeaning | None:
        model = self._model.get(organisation.connection)
        if mode == "fulltext":
            return None
        if model is None or model.dimensions != organisation.tips.chunks.dimensions:
            if mode == "semantic":
                raise BadArgumentError("mode", "The hub has no embedding model.")
            return None
        return HubMeaning(organisation, model)

    def search(
        self, connection: Connection, reader: str, request: HubSearchRequest
    ) -> HubSearchRecord:
        """Return the best pages that a reader may see."""
        organisation = self.open(connection, reader, request.repository)
        filters = page_filters(request.doc_type, request.tags)
        query = PageQuery(request.query, request.mode, request.limit, filters)
        answer, search_type = self.find(organisation, query)
        return HubSearchRecord(
            results=tuple(
                _found(organisation, answer, hit, hit.sections[0]) for hit in answer.pages
            ),
            total=answer.total,
            is_total_exact=answer.is_exact,
            search_type=search_type,
            is_weak=answer.is_weak,
            repositories=len(organisation.tips.by_name),
        )

    def find_context(
        self, connection: Connection, reader: str, request: HubContextRequest
    ) -> HubContextRecord:
        """Return the texts of the best sections, as many as fit."""
        organisation = self.open(connection, reader, request.repository)
        answer, _ = self.find(organisation, PageQuery(request.query, limit=CONTEXT_PAGES))
        found = tuple(
            _found(organisation, answer, hit, section)
            for hit in answer.pages
            for section in hit.sections
            if section.extract is not None
        )
        found = tuple(sorted(found, key=lambda record: -record.score))
        kept, tokens = fit_sections(found, request.max_tokens)
        return HubContextRecord(
            sections=kept, tokens=tokens, is_weak=answer.is_weak, omitted=len(found) - len(kept)
        )

    def find_words(
        self, connection: Connection, reader: str, request: HubFulltextRequest
    ) -> HubSectionsRecord:
        """Return the best sections by their words."""
        organisation = self.open(connection, reader, request.repository)
        query = read_query(request.query, is_exact=True, field_names=organisation.field_names)
        _prepare(organisation, query)
        found = find_sections(
            organisation,
            request.query,
            request.limit,
            ViewNames(organisation, organisation.tips.names),
        )
        results = []
        for hit in found.hits:
            path = hit.page.filepath
            mirrored, tip = _mirrored(organisation, path)
            results.append(
                HubSectionRecord(
                    repository=repository_of(path),
                    filepath=plain_path(path),
                    title=title_of(hit.page),
                    heading=hit.section and hit.section.heading,
                    line=hit.line,
                    snippet=hit.snippet.text,
                    staleness=mirrored.level,
                    owners=mirrored.owners,
                    link=_page_link(repository_of(path), tip.tip.commit, path, hit.line),
                )
            )
        return HubSectionsRecord(
            results=tuple(results), total=found.total, is_total_exact=found.is_exact
        )

    def get_page(
        self, connection: Connection, reader: str, request: HubTextRequest
    ) -> HubTextRecord:
        """Return a page, or a section of it.

        Raises:
            BadArgumentError: there is no such page, or section, that the reader may see.
        """
        organisation = self.open(connection, reader, request.repository)
        repository = next(iter(organisation.tips.by_name), request.repository)  # its name now
        written, _, fragment = request.filepath.partition("#")
        path = _page_at(organisation, in_repository(repository, written))
        data = organisation.read([path]).get(path)
        page = organisation.pages_at([path]).get(path)
        if data is None or page is None:
            raise BadArgumentError(
                "filepath",
                "The hub has no page with that path.",
                cause="It does not exist, its repository pushes no texts, or you may not read it.",
                hint="ubp_list_pages lists the pages of a repository.",
            )
        headings = read_headings(data)
        section = _section(headings, fragment) if fragment else None
        whole = (_lines_of(data, section) if section else data).decode("utf-8", "replace")
        content = whole
        if request.max_tokens is not None:
            content = truncate_page(whole, Budget(tokens=request.max_tokens).fits)
        mirrored, tip = _mirrored(organisation, path)
        line = section.line_start if section else 1
        return HubTextRecord(
            repository=repository,
            filepath=plain_path(path),
            title=title_of(page),
            commit=tip.tip.commit,
            staleness=mirrored.level,
            owners=mirrored.owners,
            changed_at=moment_or_none(mirrored.changed_at),
            link=_page_link(repository, tip.tip.commit, path, line),
            line_start=line,
            content=content,
            is_cut=len(content) < len(whole),
            sections=tuple(part.heading for part in headings),
        )


def _page_at(organisation: Organisation, path: FilePath) -> FilePath:
    """Return the page at a path, or the only one of the repository whose path ends with it.

    Raises:
        BadArgumentError: several paths end with it.
    """
    tip = organisation.tips.by_name.get(repository_of(path))
    if tip is None or path in tip.pages:
        return path
    endings = [page for page in tip.pages if page.endswith(f"/{path.strip('/')}")]
    if len(endings) > 1:
        raise BadArgumentError(
            "filepath",
            f"{plain_path(path)} matches {len(endings)} pages.",
            cause="Exactly one page is expected.",
            hint=f"Choose one, for example {plain_path(endings[0])}.",
        )
    return endings[0] if endings else path


def _section(headings: Sequence[HeadingSpan], name: str) -> HeadingSpan:
    found = find_section(headings, name)
    if found is None:
        raise BadArgumentError(
            "filepath", f"The page has no section {name}.", hint=list_sections(headings)
        )
    return found


def _lines_of(data: bytes, section: HeadingSpan) -> bytes:
    source = SourceText(data)
    first, last = section.line_start - 1, section.line_end - 1
    return data[source.byte_at(first, 0) : source.byte_at(last, len(source.lines[last]))]


def _found(
    organisation: Organisation, answer: PageAnswer, hit: PageHit, section: SectionHit
) -> HubFoundRecord:
    path = hit.page.filepath
    mirrored, tip = _mirrored(organisation, path)
    extract = section.extract
    line = section.line if extract is None or section.passage else extract.line_start
    others = (*answer.copies.get(path, ()), *answer.translations.get(path, ()))
    return HubFoundRecord(
        repository=repository_of(path),
        filepath=plain_path(path),
        title=title_of(hit.page),
        score=round(min(1.0, max(0.0, section.score)), 4),
        reason=relevance_text(hit),
        staleness=mirrored.level,
        owners=mirrored.owners,
        changed_at=moment_or_none(mirrored.changed_at),
        link=_page_link(repository_of(path), tip.tip.commit, path, line),
        heading_path=section.section.heading_path if section.section else (),
        line=line,
        passage=section.passage.content if section.passage else "",
        text=extract.text if extract else "",
        copies=tuple(
            plain_path(other)
            if repository_of(other) == repository_of(path)
            else f"{repository_of(other)}:{other}"
            for other in others
        ),
    )


def _mirrored(organisation: Organisation, path: FilePath) -> tuple[MirroredPage, MirroredTip]:
    tip = organisation.tips.by_name[repository_of(path)]
    return tip.pages[path], tip


def _prepare(organisation: Organisation, query: Query) -> None:
    """Ask what the ranking needs to know of the words: one statement, one more for phrases."""
    table: Table = "stems" if query.is_stemmed else "words"
    words = organisation.full_text()
    counted: dict[Table, set[Phrase]] = {table: set(), "words": {term.phrase for term in JAPANESE}}
    asked: list[Asked] = []
    terms = {term.phrase for term in _terms(query.tree)} if query.tree else set()
    if terms and not query.is_boolean:
        in_names, in_headings, name_table = name_matches(query)
        asked = [(in_names, name_table, MAX_READ + 1), (in_headings, name_table, MAX_READ + 1)]
    phrases = set[Phrase]() if query.condition else words.unknown_phrases(terms, table)
    terms -= phrases
    counted[table] |= terms
    words.prepare(counted, asked, terms, None if query.is_boolean else table)
    words.find_phrases(phrases, table)
    included = query.included if query.is_boolean or query.is_literal else None
    if included is not None:
        words.expect(matches_in(included, words))
    for node in query.excluded:
        words.expect(matches_in(node, words, is_excluded=True))


def _terms(node: Node) -> Iterator[Term]:
    """Yield the terms of a tree, those that it excludes and the parts of terms, too."""
    if isinstance(node, Term):
        yield node
        for part in node.parts:
            yield from _terms(part)
    elif isinstance(node, Not):
        yield from _terms(node.included)
        for excluded in node.excluded:
            yield from _terms(excluded)
    elif isinstance(node, And | Or):
        for each in node.parts:
            yield from _terms(each)


def _page_link(repository: str, commit: str, path: str, line: int | None) -> str:
    """Return the address of a page at a commit: `https://github.com/acme/api/blob/…/docs/a.md`.

    GitLab redirects from it to its own form of it.
    """
    written = quote(path.encode("utf-8", "surrogateescape"))
    fragment = f"?plain=1#L{line}" if line and line > 1 else ""
    return f"https://{quote(repository)}/blob/{commit}/{written}{fragment}"
