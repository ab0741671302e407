"""`ubp suggest-links` and `ubp_suggest_links`: similar pages that are not linked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from ubp.core.model import QUIET_LEVELS
from ubp.core.text import summarize
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import MaxTokens, Ref, between
from ubp.frame.budget import TokenLimit
from ubp.frame.encoding import Json
from ubp.frame.fields import (
    NO_ROOM,
    REVISION,
    Count,
    DocId,
    DocType,
    Fraction,
    Keyword,
    Line,
    Option,
    PageLevel,
    PagePath,
    Title,
)
from ubp.frame.wording import count
from ubp.frame.writer import Writer
from ubp.index.embed.locate import require_extra
from ubp.index.select import select_page
from ubp.index.semantic_hits import SemanticHit
from ubp.index.session import Session, Target
from ubp.search.graph import open_graph
from ubp.search.suggest_links import Suggestion, suggest_links
from ubp.staleness.state import assess_paths

MAX_LIMIT = 50
PASSAGE_CHARACTERS = 240
# The passages of ten pairs take 4,000 characters in a text; the record has longer ones.
SHOWN_CHARACTERS = 110
MAX_DUPLICATES = 3  # that people see
INDENT = "      "
SPARE = ("doc_id", "doc_type", "heading_path")

PairScore = Annotated[
    Fraction,
    "from 0 to 1; at 0.8 and above four of five pairs are worth a link, at 0.5 three of five",
]
Similarity = Annotated[
    float,
    "cosine similarity of the two passages; the score rates how unusual it is",
    Keyword("minimum", -1),
    Keyword("maximum", 1),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageRecord:
    """A passage of one of two similar pages."""

    doc_id: Annotated[DocId | None, NO_ROOM] = None
    filepath: PagePath
    title: Title
    doc_type: Annotated[DocType | None, NO_ROOM] = None
    heading_path: Annotated[
        tuple[str, ...], "headings above the passage, starting with the page's H1"
    ] = ()
    line_start: Annotated[Line, "first line of the passage in the page, from 1"]
    line_end: Annotated[Line, "last line"]
    content: Annotated[
        str, "first prose of the page, at most 240 characters; empty if there is none"
    ] = ""
    staleness: PageLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRecord:
    """Two pages without a link."""

    score: PairScore
    similarity: Similarity
    first: Annotated[PassageRecord, "passage of the first page (the requested page, if any)"]
    second: Annotated[PassageRecord, "passage of the second page"]
    shared_terms: Annotated[tuple[str, ...], "rarest words in both passages"] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateRecord:
    """Two pages with identical text."""

    score: PairScore
    similarity: Similarity
    first: Annotated[PassageRecord, "passage of the first page (the requested page, if any)"]
    second: Annotated[PassageRecord, "passage of the second page"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionsRecord:
    """Similar pages that are not linked."""

    suggestions: Annotated[
        tuple[PairRecord, ...],
        "pairs of pages without a link in either direction, best first; translations and versions"
        " of a page count as one page",
    ]
    duplicates: Annotated[tuple[DuplicateRecord, ...], "pairs with identical text"] = ()
    pending_sections: Annotated[
        Count,
        "number of sections that could not be compared, because their content is missing from this"
        " clone",
    ] = 0
    truncated_count: Annotated[Count, "number of pairs omitted"] = 0


@dataclass(frozen=True, slots=True)
class SuggestLinksRequest(Request[SuggestionsRecord]):
    """The page to find links for, and how similar the others must be.

    Of the pairs with a score of 0.8 and more four in five are worth a link, at 0.5 three.
    """

    filepath: (
        Annotated[
            str,
            "default: all pages",
            Option(
                "Only pairs with this page: path, unique path suffix, or `doc_id`.",
                name="page",
                is_argument=True,
            ),
        ]
        | None
    ) = None
    min_score: Annotated[
        Fraction,
        "minimum similarity",
        Option(
            "Minimum score, from 0 to 1 (0.8); at 0.8, four in five pairs deserve a link.",
            metavar="N",
            why="At 0.8, four pairs in five deserve a link; at 0.5, three in five.",
        ),
    ] = 0.8
    limit: Annotated[
        int, *between(1, MAX_LIMIT), Option("Maximum number of pairs (10).", metavar="N")
    ] = 10
    max_tokens: MaxTokens | None = None
    ref: Annotated[Ref, REVISION] | None = None


def run(session: Session, request: SuggestLinksRequest) -> SuggestionsRecord:
    """Return the best pairs of all pages, or of one page with the others.

    Raises:
        PageNotFoundError: there is no such page, or more than one.
        ModelNeededError: there is no embedding model.
        ModelError: the configured model does not exist, or cannot be used.
    """
    require_extra()
    model = session.required_model()
    view = session.view(Target(request.ref))
    page = request.filepath
    name = None if page is None else select_page(page, view, session.repository)
    meaning = view.semantic_index(model)
    found = suggest_links(view, meaning, name, request.min_score, request.limit)
    documents = open_graph(view).documents_at(found.paths)
    assessments = assess_paths(session, view, found.paths)

    def passage(hit: SemanticHit, text: str) -> PassageRecord:
        document = documents[hit.path]
        return PassageRecord(
            doc_id=document.doc_id,
            filepath=document.path,
            title=document.title,
            doc_type=document.doc_type,
            heading_path=tuple(hit.heading_path),
            line_start=hit.line_start,
            line_end=hit.line_end,
            content=summarize(text, PASSAGE_CHARACTERS),
            staleness=assessments[hit.path].level,
        )

    def pair(suggestion: Suggestion) -> PairRecord:
        return PairRecord(
            score=round(suggestion.score, 3),
            similarity=round(suggestion.first.score, 3),
            first=passage(suggestion.first, suggestion.texts[0]),
            second=passage(suggestion.second, suggestion.texts[1]),
            shared_terms=tuple(suggestion.terms),
        )

    def duplicate(suggestion: Suggestion) -> DuplicateRecord:
        same = pair(suggestion)
        return DuplicateRecord(
            score=same.score, similarity=same.similarity, first=same.first, second=same.second
        )

    return SuggestionsRecord(
        suggestions=tuple(map(pair, found.links)),
        duplicates=tuple(map(duplicate, found.duplicates)),
        pending_sections=found.pending,
    )


def fit_suggestions(record: Json, limit: TokenLimit) -> None:
    """Drop duplicates, then the worst pairs, and of the best one what its places do not need."""
    pairs = record["suggestions"]
    parts = [pair[side] for pair in pairs[:1] for side in ("first", "second")]
    if not (
        limit.drop(record, _last_pairs(record))
        or limit.drop(record, (limit.clear(part, key) for key in SPARE for part in parts))
        or limit.shorten(record, pairs)
    ):
        limit.drop(record, (limit.clear(part, "content") for part in parts))


def _last_pairs(record: Json) -> Iterator[Any]:
    suggestions, duplicates = record["suggestions"], record.get("duplicates", [])
    while duplicates or len(suggestions) > 1:
        record["truncated_count"] = record.get("truncated_count", 0) + 1
        yield (duplicates or suggestions).pop()


def text(record: SuggestionsRecord, write: Writer) -> Iterator[str]:
    """Yield some lines a pair, then the pairs with the same text; quietly places alone."""
    if write.is_quiet:
        for pair in record.suggestions:
            yield f"{_start(pair.first, write)} {_start(pair.second, write)}"
    elif write.is_agent:
        yield from _agents_text(record, write)
    else:
        yield from _peoples_text(record, write)


def _agents_text(record: SuggestionsRecord, write: Writer) -> Iterator[str]:
    number = len(record.suggestions)
    counted = (
        _counted(number)
        if number
        else ("No unlinked pages are this similar. Use a lower min_score to see more.")
    )
    yield f"{counted} {write.notice()}"
    for pair in record.suggestions:
        terms = ", ".join(map(write.name, pair.shared_terms))
        yield f"{pair.score:.2f}{f' shared terms: {terms}' if terms else ''}"
        for part in (pair.first, pair.second):
            stale = "" if part.staleness in QUIET_LEVELS else f" ({part.staleness})"
            headings = " > ".join(map(write.title, part.heading_path))
            yield f"  {_place(part, write)} {headings}{stale}".rstrip()
            if part.content:
                passage = summarize(part.content, SHOWN_CHARACTERS)
                yield f"    {write.quote(passage or part.content[:SHOWN_CHARACTERS])}"
    if record.duplicates:
        yield "Duplicate text, not suggested as links:"
        for same in record.duplicates:
            yield f"  {_place(same.first, write)} and {_place(same.second, write)}"
    if record.pending_sections:
        yield f"[{count(record.pending_sections, 'section')} could not be compared]"
    if record.truncated_count:
        yield f"[{count(record.truncated_count, 'more pair')}: use a larger max_tokens]"


def _peoples_text(record: SuggestionsRecord, write: Writer) -> Iterator[str]:
    for pair in record.suggestions:
        yield f"{pair.score:.2f}  {_part(pair.first, write)}"
        yield f"{INDENT}{_part(pair.second, write)}"
        if pair.shared_terms:
            terms = ", ".join(map(write.name, pair.shared_terms))
            yield f"{INDENT}{write.style.dim(f'common terms: {terms}')}"
        yield ""
    yield from _duplicates(record.duplicates, write)
    if record.pending_sections:
        pending = count(record.pending_sections, "section")
        yield from (write.style.yellow(f"{pending} could not be read."), "")
    if record.suggestions:
        yield _counted(len(record.suggestions))
    else:
        yield write.style.yellow("No unlinked pages are this similar.")
        yield "Hint: Use a lower --min-score to show less similar pairs."


def _duplicates(duplicates: Sequence[DuplicateRecord], write: Writer) -> Iterator[str]:
    if not duplicates:
        return
    yield "Identical text:"
    for same in duplicates[:MAX_DUPLICATES]:
        yield f"  {_start(same.first, write)}  {_start(same.second, write)}"
    if (more := len(duplicates) - MAX_DUPLICATES) > 0:
        yield f"  and {more} more (see --json)"
    yield ""


def _counted(number: int) -> str:
    return f"{count(number, 'pair')} of similar pages {'is' if number == 1 else 'are'} not linked."


def _part(part: PassageRecord, write: Writer) -> str:
    headings = write.quote(" > ".join(part.heading_path))
    return f"{write.path(f'{part.filepath}:{part.line_start}')}  {headings}".rstrip()


def _start(part: PassageRecord, write: Writer) -> str:
    return write.name(f"{part.filepath}:{part.line_start}")


def _place(part: PassageRecord, write: Writer) -> str:
    return f"{write.name(part.filepath)}:{part.line_start}-{part.line_end}"


SUGGEST_LINKS = Answer(
    request=SuggestLinksRequest,
    record=SuggestionsRecord,
    run=run,
    text=text,
    fit=fit_suggestions,
    reads_collections=True,
    tool=ToolTraits(
        title="Suggest links",
        description=(
            "Find pairs of documentation pages that are similar in meaning but not linked, with "
            "the matching sections. Use it after writing a page; read both before adding a "
            "link."
        ),
    ),
)
