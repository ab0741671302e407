"""Why a page was found: the sentence for people and agents alike, and its scores."""

from typing import NamedTuple

from ubp.core.model import FilePath
from ubp.frame.wording import file_stem
from ubp.search.pages import PageAnswer
from ubp.search.results import PageHit
from ubp.search.semantic import CLOSE_COSINE, MIN_COSINE

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
