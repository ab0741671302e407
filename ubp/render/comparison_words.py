"""How it is said what became of pages since a revision."""

from collections.abc import Sequence

from ubp.model import ReferenceVerdict
from ubp.render.text.levels import WORDS
from ubp.render.wording import age, count
from ubp.report.comparing import KINDS, Became, Comparison, Passage

TITLES: dict[Became, str] = {
    "became_stale": "became stale",
    "still_stale": "still stale",
    "became_fresh": "became fresh",
    "new": "new",
    "gone": "gone",
    "unknown": "unknown",
    "still_fresh": "stayed fresh",
}


def counts_in_words(comparison: Comparison) -> str:
    """How many pages took each way: `1 became stale, 2 new, 30 stayed fresh`."""
    counts = comparison.counts
    told = [f"{counts[kind]} {TITLES[kind]}" for kind in KINDS if counts.get(kind)]
    return ", ".join(told) or "no page names sources"


def passage_in_words(one: Passage) -> str:
    """What there is to say beside the title: of a new page its level, for example."""
    if one.became == "new":
        sources = "names sources now, " if one.then == "untracked" else ""
        return f"{sources}{WORDS[one.now or 'untracked']}"
    if one.became == "gone":
        sources = "names no sources any more, " if one.now == "untracked" else ""
        return f"{sources}was {WORDS[one.then or 'untracked']}"
    if one.became == "unknown":
        return "this clone's history ends too early to tell"
    return ""


def drift_in_words(answer: ReferenceVerdict) -> str:
    """What became of a source, and when it began."""
    verb = {"not_found": "never was there", "created": "came after the page"}.get(answer.verdict)
    if answer.verdict == "moved":
        verb = "moved"
    when = "" if answer.age_days is None else f" {age(answer.age_days)}"
    return f"{verb or answer.verdict}{when}"


def groups(passages: Sequence[Passage]) -> list[tuple[Became, list[Passage]]]:
    """What is told page by page, way by way; pages that stayed fresh are only counted."""
    told = [(kind, [one for one in passages if one.became == kind]) for kind in KINDS]
    return [(kind, found) for kind, found in told if found and kind != "still_fresh"]


def headline(comparison: Comparison, since: str) -> str:
    """The pages that are behind at both ends."""
    levels = [(one.then, one.now) for one in comparison.passages]
    behind = [
        (sum(1 for pair in levels if pair[end] in {"stale", "possibly_stale"})) for end in (0, 1)
    ]
    named = [sum(1 for pair in levels if pair[end] not in {None, "untracked"}) for end in (0, 1)]
    return (
        f"Of {count(named[0], 'page')} that named sources at {since}, {behind[0]} were behind;"
        f" now {behind[1]} of {named[1]} are."
    )
