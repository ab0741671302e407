"""Records of search results: schemas/search.json and schemas/search-fulltext.json.

The sentence that says why a page was found is written for people and agents alike.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from ubp.core.model import FilePath, Page, Section
from ubp.core.paths import doc_id
from ubp.output.records.pages import moment_or_none, stale_refs
from ubp.output.wording import file_stem
from ubp.search.pages import PageAnswer
from ubp.search.query import Cut, Query
from ubp.search.results import LinkedPage, PageHit, SectionHit
from ubp.search.run import FoundPages
from ubp.search.sections import Hit, SectionAnswer
from ubp.search.semantic import CLOSE_COSINE, MIN_COSINE

Record = dict[str, Any]

RANKINGS = ("words", "meaning", "links")
MAX_WORDS = 4  # named as the reason why a page was found


def relevance_text(hit: PageHit) -> str:
    """Return which words a page contains and how close it is, or from where it was reached."""
    if hit.link_path is not None:
        return _link_text(hit)
    parts = []
    if hit.breakdown.words is not None:
        parts.append(_words_text(hit.matched) if hit.matched else "holds common words only")
    cosine = hit.breakdown.meaning
    if cosine is not None and cosine >= CLOSE_COSINE:
        parts.append(f"close in meaning ({cosine:.2f})")
    elif cosine is not None and cosine >= MIN_COSINE and not parts:
        parts.append(f"perhaps close in meaning ({cosine:.2f})")
    if not parts:
        return "Fits the filters."
    text = ", ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _words_text(terms: tuple[str, ...]) -> str:
    quoted = ", ".join(f"“{term}”" for term in terms[:MAX_WORDS])
    more = len(terms) - MAX_WORDS
    return f"holds {quoted} and {more} more" if more > 0 else f"holds {quoted}"


def _link_text(hit: PageHit) -> str:
    path, origin = hit.link_path, hit.near
    if path is None or origin is None:
        return ""
    name = f"{origin.facts.title or file_stem(origin.filepath)} ({origin.filepath})"
    verb = "Linked from" if path.direction == "outlink" else "Links to"
    link_type = "" if path.link.link_type == "references" else f" as {path.link.link_type}"
    distance = "" if path.depth == 1 else f", {path.depth} links away from a page that answers"
    return f"{verb} {name}{link_type}{distance}."


def search_record(
    pages: FoundPages, *, has_content: bool = True, is_explained: bool = False
) -> Record:
    """Return the record of `ubp search`: schemas/search.json.

    Without `has_content` texts are null.
    """
    answer = pages.answer
    results = [_page_result(hit, pages, has_content=has_content) for hit in answer.pages]
    if is_explained:
        results = [
            record | {"legs": _scores(answer, hit.page.filepath)}
            for record, hit in zip(results, answer.pages, strict=True)
        ]
    record = {
        "results": results,
        "total_found": answer.total,
        "is_total_exact": answer.is_exact,
        "truncated_count": answer.total - len(answer.pages),
        "search_type": pages.search_type,
        "fallback": pages.fallback and pages.fallback._asdict(),
        "query": _query(answer.query, answer.cuts),
    }
    return record | ({"explanation": _explanation(pages)} if is_explained else {})


def sections_record(answer: SectionAnswer, *, has_content: bool = True) -> Record:
    """Return the record of `ubp search --fulltext`: schemas/search-fulltext.json.

    Without `has_content` snippets are null.
    """
    ranking = answer.ranking
    return {
        "results": [_section_result(hit, has_content=has_content) for hit in answer.hits],
        "total_found": answer.total,
        "is_total_exact": answer.is_exact,
        "search_type": "fulltext",
        "query": _query(answer.query, ranking.cuts),
    }


class RankingScore(NamedTuple):
    """A page's place in a ranking, its score there, and that score as it was fused."""

    place: int
    raw: float
    normalised: float | None


def ranking_scores(answer: PageAnswer, path: FilePath) -> dict[str, RankingScore | None]:
    """Return a page's score in each ranking; None where it is not ranked."""
    fused = next(
        (
            (fusion.words, fusion.meaning, fusion.links)
            for fusion in answer.fused
            if fusion.path == path
        ),
        (),
    )
    return {
        name: RankingScore(list(ranking.scores).index(path) + 1, ranking.scores[path], normalised)
        if path in ranking.scores
        else None
        for name, ranking, normalised in zip(RANKINGS, answer.rankings, fused, strict=True)
    }


def _section_result(hit: Hit, *, has_content: bool) -> Record:
    return {
        **_page(hit.page),
        "section_heading": hit.section and hit.section.heading,
        "line": hit.line,
        "snippet": hit.snippet.text if has_content else None,
        "highlights": [list(span) for span in hit.snippet.highlights] if has_content else [],
        "rank": round(hit.rank, 6),
    }


def _query(query: Query, cuts: Iterable[Cut]) -> Record:
    return {
        "text": query.text,
        "is_boolean": query.is_boolean,
        "is_shortened": query.is_shortened,
        "cuts": [{"run": cut.run, "pieces": list(cut.pieces)} for cut in cuts],
    }


def _page_result(hit: PageHit, pages: FoundPages, *, has_content: bool) -> Record:
    path = hit.page.filepath
    assessment = pages.assessments[path]
    breakdown = hit.breakdown
    return {
        **_page(hit.page),
        "doc_type": hit.page.facts.doc_type,
        "updated_at": moment_or_none(pages.updated_at.get(path)),
        "score": round(hit.score, 4),
        "score_breakdown": {
            "vector_similarity": _rounded(breakdown.meaning),
            "graph_proximity": _rounded(breakdown.links),
            "fulltext": _rounded(breakdown.words),
        },
        "relevance_reason": hit.reason,
        "relevance_text": relevance_text(hit),
        "link_type": hit.link_path and hit.link_path.link.link_type,
        "link_context": hit.link_path and hit.link_path.link.context,
        "link_page": hit.near
        and {**_page(hit.near), "direction": hit.link_path and hit.link_path.direction},
        "staleness": assessment.level,
        "stale_refs": stale_refs(assessment),
        "sections": [
            _section(hit.page, section, has_content=has_content, is_best=not place)
            for place, section in enumerate(hit.sections)
        ],
        "linked_pages": [_linked(linked, pages) for linked in pages.linked.get(path, ())],
    }


def _section(page: Page, hit: SectionHit, *, has_content: bool, is_best: bool) -> Record:
    section, passage = hit.section, hit.passage if has_content else None
    return {
        "section_id": _section_id(page.filepath, section),
        "heading": section and section.heading,
        "heading_path": list(section.heading_path) if section and is_best else [],
        "line_start": section.line_start if section else 1,
        "line_end": section.line_end if section else 1,
        "line": hit.line if hit.passage else None,
        "score": round(hit.score, 4),
        "content": passage and passage.content,
        "highlights": [list(span) for span in passage.highlights] if passage else [],
    }


def _linked(linked: LinkedPage, pages: FoundPages) -> Record:
    return {
        **_page(linked.page),
        "link_type": linked.link.link_type,
        "link_context": linked.link.context,
        "direction": linked.direction,
        "summary": linked.summary,
        "staleness": pages.assessments[linked.page.filepath].level,
    }


def _page(page: Page) -> Record:
    return {
        "doc_id": doc_id(page.filepath),
        "filepath": page.filepath,
        "title": page.facts.title or file_stem(page.filepath),
    }


def _section_id(path: FilePath, section: Section | None) -> str:
    """Return the page's id, and after a # the heading's anchor."""
    page = doc_id(path)
    return f"{page}#{section.anchor}" if section and section.anchor else page


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 4)


def _explanation(pages: FoundPages) -> Record:
    answer, rankings = pages.answer, pages.answer.rankings
    return {
        "looked_for": [term.written for term in answer.terms],
        "in_all_forms": answer.query.is_stemmed,
        "words_share": answer.words_share,
        "candidates": {
            name: {
                "pages": len(ranking.scores),
                "places": len(ranking.places),
                "is_cut": ranking.is_cut,
            }
            for name, ranking in zip(RANKINGS, rankings, strict=True)
        },
        "milliseconds": {name: round(time, 2) for name, time in pages.milliseconds.items()},
    }


def _scores(answer: PageAnswer, path: FilePath) -> Record:
    return {
        name: score
        and {
            "place": score.place,
            "raw": float(f"{score.raw:.4g}"),
            "normalised": _rounded(score.normalised),
        }
        for name, score in ranking_scores(answer, path).items()
    }
