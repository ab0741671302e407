"""`rag_suggest`: the documents that belong to a text or a piece of code."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from ubp.bindings.features import Evidence
from ubp.bindings.pages import explain_page, find_file, find_pages
from ubp.code.names import read_names
from ubp.core.model import FilePath
from ubp.core.paths import doc_id
from ubp.core.policy import excerpt
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import MaxTokens, between
from ubp.frame.budget import TokenLimit
from ubp.frame.encoding import Json
from ubp.frame.fields import Count, DocId, Fraction, Keyword, PagePath
from ubp.frame.wording import count
from ubp.frame.writer import Writer
from ubp.git.output import blob_id
from ubp.index.session import Session
from ubp.index.view import View
from ubp.kits.rag import projects
from ubp.kits.rag.fields import MAX_TOP_K, Project, Success
from ubp.search.pages import PageQuery
from ubp.search.results import read_texts
from ubp.search.run import search_pages

MAX_CONTEXT_CHARACTERS = 400_000


# A search decides between documents that describe a source about equally well. By the confidence
# alone the right one is among the first five for 0.81 of sources (the mean of five repositories),
# with a share of 0.3 for 0.80, by a search alone for 0.62 (benchmarks/kits/README.md).
SEARCH_SHARE = 0.1
MAX_FOUND = 30
QUERY_CHARACTERS = 990
MAX_QUERY_NAMES, MAX_QUERY_COMMENTS = 8, 12


@dataclass(frozen=True, slots=True)
class RagSuggestionRecord:
    """A document that belongs to the context."""

    text: Annotated[str, "title of the document"]
    relevance: Annotated[Fraction, "how certainly it belongs to the context"]
    reason: Annotated[str, "why it is relevant"]
    file_path: PagePath
    snippet: Annotated[str, "the part that is relevant"]
    document_id: DocId


@dataclass(frozen=True, slots=True)
class RagSuggestRecord:
    """The documents that belong to a context."""

    success: Success
    suggestions: Annotated[tuple[RagSuggestionRecord, ...], "most relevant first"]
    truncated_count: Annotated[Count, "documents that are left out because of max_tokens"] = 0


@dataclass(frozen=True, slots=True)
class RagSuggestRequest(Request[RagSuggestRecord]):
    """What somebody is looking at."""

    context: Annotated[
        str, "the file, or the selected text", Keyword("maxLength", MAX_CONTEXT_CHARACTERS)
    ]
    project: Project | None = None
    top_k: Annotated[int, *between(1, MAX_TOP_K)] = 3
    context_type: Literal["code", "markdown", "comment"] | None = None
    max_tokens: MaxTokens | None = None


def run(session: Session, request: RagSuggestRequest) -> RagSuggestRecord:
    """Return the record of the documents, with the reason for each."""
    is_code = request.context_type in {None, "code"}
    suggestions = projects.ask(
        session,
        request.project,
        lambda project: suggest(project, request.context, request.top_k, is_code=is_code),
    )
    return RagSuggestRecord(success=True, suggestions=suggestions)


def suggest(
    project: projects.Project, text: str, limit: int, *, is_code: bool
) -> tuple[RagSuggestionRecord, ...]:
    """Return the documents that belong to a text: code, a document, or a part of one.

    A text that is a file of the repository, as it is or edited, belongs to the documents that
    describe this file, as `ubp bind` would find them. The rest is a search for its names, its
    comments and its first words.
    """
    session, view = project.session, project.session.view()
    source = find_file(session, view, text) if is_code and not project.collection else None
    confidences = {
        page.filepath: page.confidence
        for page in (find_pages(session, view, source) if source else ())
    }
    found = search_pages(session, PageQuery(query_of(text, source), limit=MAX_FOUND))
    name = project.collection_name
    hits = {hit.page.filepath: hit for hit in found.answer.pages}
    relevance = {
        path: min(
            1.0,
            confidences.get(path, 0.0) + SEARCH_SHARE * (hits[path].score if path in hits else 0.0),
        )
        if source
        else hits[path].score
        for path in {*confidences, *hits}
    }
    own = _same_text(view, text)
    best = sorted(relevance.keys() - own, key=lambda path: (-relevance[path], path))[:limit]
    texts = read_texts(view, set(best))
    policy = project.collection.policy if project.collection else ""
    suggestions = []
    for path in best:
        hit = hits.get(path)
        snippet = hit.sections[0].passage if hit and hit.sections else None
        body = snippet.content if snippet else _beginning(texts[path].data)
        confidence = confidences.get(path, 0.0)
        evidence = explain_page(session, view, source, path) if source and confidence else ()
        reason = _reason(source, confidence, evidence, hit.matched if hit else ())
        title = texts[path].page.facts.title or path
        suggestions.append(
            RagSuggestionRecord(
                title,
                round(relevance[path], 3),
                reason,
                path,
                excerpt(body, policy),
                doc_id(path, name),
            )
        )
    return tuple(suggestions)


def query_of(text: str, source: FilePath | None) -> str:
    """Return the words to search for: of code its file's name, names and comments; else all."""
    names = read_names(text.encode("utf-8", "replace")).defined
    comments = _COMMENT.findall(text)[:MAX_QUERY_COMMENTS]
    stem = source.rpartition("/")[2].partition(".")[0] if source else ""
    longest = sorted(names, key=lambda name: (-len(name), name))[:MAX_QUERY_NAMES]
    words = " ".join([stem, *longest, *comments]) if source or comments else text
    return _SYNTAX.sub(" ", words)[:QUERY_CHARACTERS] or "?"


_COMMENT = re.compile(r"(?:#|//|\*|\"\"\")[ \t]?(\S.{9,200})")
_SYNTAX = re.compile(r"[\"():*<>=-]|\b(?:AND|OR|NOT)\b")


def _reason(
    source: FilePath | None, confidence: float, evidence: Sequence[Evidence], matched: Sequence[str]
) -> str:
    if source and confidence == 1.0:
        return f"names {source} as a source"
    reasons = [_in_words(reason) for reason in evidence[:2] if reason.detail]
    if matched and len(reasons) < 2:  # noqa: PLR2004  # two reasons are enough
        reasons.append("contains " + ", ".join(f"“{word}”" for word in matched[:4]))
    described = f"seems to describe {source}: " if source and confidence else ""
    return described + "; ".join(reasons or ["close in meaning"])


def _in_words(evidence: Evidence) -> str:
    verbs = {"path": "mentions", "file_name": "mentions", "identifier": "names"}
    where = f" (line {evidence.line})" if evidence.line else ""
    verb = verbs.get(evidence.kind)
    return f"{verb} {evidence.detail}{where}" if verb else f"{evidence.detail}{where}"


def _same_text(view: View, text: str) -> set[FilePath]:
    """Return the documents that are the text itself."""
    blobs = {blob_id(text.encode("utf-8", "replace") + ending) for ending in (b"", b"\n")}
    return {path for paths in view.link_graph().paths_of(blobs).values() for path in paths}


def _beginning(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    body = text.partition("\n---\n")[2] if text.startswith("---\n") else text
    return " ".join(body.split())[:240]


def fit(record: Json, limit: TokenLimit) -> None:
    """Drop the last documents."""
    limit.keep_first(record, record["suggestions"], counter="truncated_count")


def text(record: RagSuggestRecord, write: Writer) -> Iterator[str]:
    """Yield the documents, each with the reason and the part that is relevant."""
    if not record.suggestions:
        yield "No document belongs to this. Try rag_search."
        return
    yield f"{count(len(record.suggestions), 'document')}, most relevant first. {write.notice()}"
    for page in record.suggestions:
        place = f"{write.path(page.file_path)}: {write.title(page.text)}"
        yield f"{place} (relevance {page.relevance:.2f}; id {page.document_id})"
        yield f"  {write.quote(page.reason)}"
        if page.snippet:
            yield f"  {write.quote(' '.join(page.snippet.split()))}"
    if record.truncated_count:
        yield f"[{count(record.truncated_count, 'more document')}: use a larger max_tokens]"


RAG_SUGGEST = Answer(
    request=RagSuggestRequest,
    record=RagSuggestRecord,
    run=run,
    text=text,
    fit=fit,
    tool=ToolTraits(
        title="Suggest documents for code or text",
        description=(
            "Find the documents that belong to a file or a selection: those that describe this "
            "code, or are about the same, each with the reason. Use it before you change code."
        ),
        failure="suggest_failed",
    ),
)
