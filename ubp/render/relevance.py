"""Why a page was found, in a sentence for people and agents."""

from ubp.render.wording import stem
from ubp.search.meaning import CLOSE, FAR
from ubp.search.results import PageHit

MOST_WORDS = 4  # of those that a page holds: the first tell enough


def relevance_text(hit: PageHit) -> str:
    """Which words it holds, how close in meaning it is; else from which page it was reached."""
    if hit.way is not None:
        return _reached(hit)
    said = []
    if hit.breakdown.words is not None:
        said.append(_holds(hit.held) if hit.held else "holds what was asked for")
    cosine = hit.breakdown.meaning
    if cosine is not None and cosine >= CLOSE:
        said.append(f"close in meaning ({cosine:.2f})")
    elif cosine is not None and cosine >= FAR and not said:
        said.append(f"perhaps close in meaning ({cosine:.2f})")
    if not said:
        return "Fits the filters."
    text = ", ".join(said)
    return f"{text[0].upper()}{text[1:]}."


def _holds(terms: tuple[str, ...]) -> str:
    named = ", ".join(f"“{term}”" for term in terms[:MOST_WORDS])
    more = len(terms) - MOST_WORDS
    return f"holds {named} and {more} more" if more > 0 else f"holds {named}"


def _reached(hit: PageHit) -> str:
    way, near = hit.way, hit.near
    if way is None or near is None:
        return ""
    name = f"{near.facts.title or stem(near.filepath)} ({near.filepath})"
    verb = "Linked from" if way.direction == "outlink" else "Links to"
    kind = "" if way.tie.link_type == "references" else f" as {way.tie.link_type}"
    away = "" if way.hops == 1 else f", {way.hops} links away from a page that answers"
    return f"{verb} {name}{kind}{away}."
