"""Why a page was found, in a sentence for people and agents.

Search results as records: schemas/search.json and schemas/search-fulltext.json.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from ubp.core.model import FilePath, Page, Section
from ubp.core.paths import doc_id
from ubp.output.records.pages import moment_or_none, stale_refs
from ubp.output.wording import stem
from ubp.search.pages import PageAnswer
from ubp.search.query import Cut, Query
from ubp.search.results import LinkedPage, PageHit, SectionHit
from ubp.search.run import FoundPages
from ubp.search.sections import Hit, SectionAnswer
from ubp.search.semantic import CLOSE_COSINE, MIN_COSINE

MAX_WORDS = 4  # of those that a page holds: the first tell enough


def relevance_text(hit: PageHit) -> str:
    """Which words it holds, how close in meaning it is; else from which page it was reached."""
    if hit.link_path is not None:
        return _reached(hit)
    said = []
    if hit.breakdown.words is not None:
        said.append(_holds(hit.matched) if hit.matched else "holds what was asked for")
    cosine = hit.breakdown.meaning
    if cosine is not None and cosine >= CLOSE_COSINE:
        said.append(f"close in meaning ({cosine:.2f})")
    elif cosine is not None and cosine >= MIN_COSINE and not said:
        said.append(f"perhaps close in meaning ({cosine:.2f})")
    if not said:
        return "Fits the filters."
    text = ", ".join(said)
    return f"{text[0].upper()}{text[1:]}."


def _holds(terms: tuple[str, ...]) -> str:
    named = ", ".join(f"“{term}”" for term in terms[:MAX_WORDS])
    more = len(terms) - MAX_WORDS
    return f"holds {named} and {more} more" if more > 0 else f"holds {named}"


def _reached(hit: PageHit) -> str:
    way, near = hit.link_path, hit.near
    if way is None or near is None:
        return ""
    name = f"{near.facts.title or stem(near.filepath)} ({near.filepath})"
    verb = "Linked from" if way.direction == "outlink" else "Links to"
    kind = "" if way.link.link_type == "references" else f" as {way.link.link_type}"
    away = "" if way.depth == 1 else f", {way.depth} links away from a page that answers"
    return f"{verb} {name}{kind}{away}."


Record = dict[str, Any]

RANKINGS = ("words", "meaning", "links")


def search_record(
    found: FoundPages, *, has_content: bool = True, is_explained: bool = False
) -> Record:
    """`ubp search`: schemas/search.json; without `has_content` texts are null."""
    answer = found.answer
    results = [_found(hit, found, has_content=has_content) for hit in answer.pages]
    if is_explained:
        results = [
            record | {"legs": _legs(answer, hit.page.filepath)}
            for record, hit in zip(results, answer.pages, strict=True)
        ]
    record = {
        "results": results,
        "total_found": answer.total,
        "is_total_exact": answer.is_exact,
        "truncated_count": answer.total - len(answer.pages),
        "search_type": found.search_type,
        "fallback": found.fallback and found.fallback._asdict(),
        "query": _query(answer.query, answer.cuts),
    }
    return record | ({"explanation": _explanation(found)} if is_explained else {})


def sections_record(answer: SectionAnswer, *, has_content: bool = True) -> Record:
    """`ubp search --fulltext`: schemas/search-fulltext.json; snippets may be left out (null)."""
    ranking = answer.ranking
    return {
        "results": [_section_found(hit, has_content=has_content) for hit in answer.hits],
        "total_found": answer.total,
        "is_total_exact": answer.is_exact,
        "search_type": "fulltext",
        "query": _query(answer.query, ranking.cuts),
    }


class RankingScore(NamedTuple):
    """A page's place in a leg, its score there, and that as it was joined with the others'."""

    place: int
    raw: float
    normalised: float | None


def ranking_scores(answer: PageAnswer, path: FilePath) -> dict[str, RankingScore | None]:
    """What each leg says of a page; None: nothing."""
    joined = next(((f.words, f.meaning, f.links) for f in answer.fused if f.path == path), ())
    return {
        name: RankingScore(list(leg.scores).index(path) + 1, leg.scores[path], normalised)
        if path in leg.scores
        else None
        for name, leg, normalised in zip(RANKINGS, answer.rankings, joined, strict=True)
    }


def _section_found(hit: Hit, *, has_content: bool) -> Record:
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


def _found(hit: PageHit, found: FoundPages, *, has_content: bool) -> Record:
    path = hit.page.filepath
    assessment = found.assessments[path]
    breakdown = hit.breakdown
    return {
        **_page(hit.page),
        "doc_type": hit.page.facts.doc_type,
        "updated_at": moment_or_none(found.updated_at.get(path)),
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
            _section(hit.page, one, has_content=has_content, is_best=not place)
            for place, one in enumerate(hit.sections)
        ],
        "linked_pages": [_linked(one, found) for one in found.linked.get(path, ())],
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


def _linked(one: LinkedPage, found: FoundPages) -> Record:
    return {
        **_page(one.page),
        "link_type": one.link.link_type,
        "link_context": one.link.context,
        "direction": one.direction,
        "summary": one.summary,
        "staleness": found.assessments[one.page.filepath].level,
    }


def _page(page: Page) -> Record:
    return {
        "doc_id": doc_id(page.filepath),
        "filepath": page.filepath,
        "title": page.facts.title or stem(page.filepath),
    }


def _section_id(path: FilePath, section: Section | None) -> str:
    """The page's id, and behind a # the heading's anchor."""
    page = doc_id(path)
    return f"{page}#{section.anchor}" if section and section.anchor else page


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 4)


def _explanation(found: FoundPages) -> Record:
    answer, legs = found.answer, found.answer.rankings
    return {
        "looked_for": [term.written for term in answer.terms],
        "in_all_forms": answer.query.is_stemmed,
        "words_share": answer.words_share,
        "candidates": {
            name: {"pages": len(leg.scores), "places": len(leg.places), "is_cut": leg.is_cut}
            for name, leg in zip(RANKINGS, legs, strict=True)
        },
        "milliseconds": {name: round(spent, 2) for name, spent in found.milliseconds.items()},
    }


def _legs(answer: PageAnswer, path: FilePath) -> Record:
    return {
        name: one
        and {
            "place": one.place,
            "raw": float(f"{one.raw:.4g}"),
            "normalised": _rounded(one.normalised),
        }
        for name, one in ranking_scores(answer, path).items()
    }
