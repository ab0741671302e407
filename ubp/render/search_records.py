"""Search results as records: schemas/search.json and schemas/search-fulltext.json."""

from collections.abc import Mapping, Sequence
from typing import Any

from ubp.model import FilePath, Level, Page
from ubp.paths import doc_id
from ubp.render.wording import stem
from ubp.search.answers import PageAnswer, PageHit, SectionAnswer
from ubp.search.hits import Hit
from ubp.search.snippet import Snippet
from ubp.searching import FoundPages

Record = dict[str, Any]


def search_record(found: FoundPages, *, has_content: bool = True) -> Record:
    """`ubp search`: schemas/search.json; without `has_content` texts are null."""
    levels = {path: one.level for path, one in found.assessments.items()}
    pages = found.answer.pages
    return {
        "results": [_found(hit, pages, levels, has_content=has_content) for hit in pages],
        **_summary(found.answer),
        "search_type": "fulltext_fallback",
    }


def sections_record(answer: SectionAnswer, *, has_content: bool = True) -> Record:
    """`ubp search --fulltext`: schemas/search-fulltext.json; snippets may be left out (null)."""
    return {
        "results": [
            {
                **_page(hit.page),
                "section_heading": hit.section and hit.section.heading,
                **_place(hit, has_content=has_content),
                "rank": round(hit.rank, 6),
            }
            for hit in answer.hits
        ],
        **_summary(answer),
        "search_type": "fulltext",
    }


def _summary(answer: PageAnswer | SectionAnswer) -> Record:
    ranking = answer.ranking
    return {
        "total_found": ranking.total,
        "is_total_exact": ranking.is_exact,
        "query": {
            "text": answer.query.text,
            "is_boolean": answer.query.is_boolean,
            "is_shortened": answer.query.is_shortened,
            "cuts": [{"run": cut.run, "pieces": list(cut.pieces)} for cut in ranking.cuts],
        },
    }


def _found(
    found: PageHit,
    pages: Sequence[PageHit],
    levels: Mapping[FilePath, Level],
    *,
    has_content: bool,
) -> Record:
    best = pages[0].hits[0].rank
    return {
        **_page(found.page),
        "doc_type": found.page.facts.doc_type,
        "score": round(found.score, 4),
        "score_breakdown": {
            "fulltext": round(found.score, 4),
            "vector_similarity": None,
            "graph_proximity": None,
        },
        "relevance_reason": "direct_match",
        "staleness": levels[found.page.filepath],
        "sections": [
            {
                "section_id": _section_id(hit),
                "heading": hit.section and hit.section.heading,
                "content": hit.content if has_content else None,
                "score": round(hit.rank / best, 4) if best else 1.0,
                **_place(hit, has_content=has_content),
            }
            for hit in found.hits
        ],
    }


def _page(page: Page) -> Record:
    return {
        "doc_id": doc_id(page.filepath),
        "filepath": page.filepath,
        "title": page.facts.title or stem(page.filepath),
    }


def _place(hit: Hit, *, has_content: bool) -> Record:
    return {
        "heading_path": list(hit.section.heading_path) if hit.section else [],
        "line": hit.line,
        "snippet": _marked(hit.snippet) if has_content else None,
    }


def _section_id(hit: Hit) -> str:
    """The page's id, and behind a # the heading's anchor."""
    anchor = hit.section.anchor if hit.section else None
    page = doc_id(hit.page.filepath)
    return f"{page}#{anchor}" if anchor else page


def _marked(snippet: Snippet) -> str:
    pieces, at = [], 0
    for start, end in snippet.highlights:
        pieces += [snippet.text[at:start], "<mark>", snippet.text[start:end], "</mark>"]
        at = end
    return "".join([*pieces, snippet.text[at:]])
