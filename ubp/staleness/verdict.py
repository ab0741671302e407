"""From two ids to a verdict, from verdicts and ages to a level. Pure."""

from collections.abc import Iterable

from ubp.model import Level, Verdict

SECONDS_PER_DAY = 86_400

# Worst first: a page's level is the first of these that one of its references has.
SEVERITY: tuple[Level, ...] = ("stale", "possibly_stale", "unknown", "fresh", "untracked")

# A source that is gone or never was cannot be put right by waiting.
STALE_AT_ONCE: frozenset[Verdict] = frozenset({"deleted", "not_found"})


def compare(baseline: str | None, current: str | None) -> Verdict:
    """What became of a source; a pin may be shorter than the id that it stands for."""
    if baseline is None:
        return "not_found" if current is None else "created"
    if current is None:
        return "deleted"
    return "fresh" if current.startswith(baseline) else "modified"


def level_of(verdict: Verdict, age_seconds: float | None, threshold_days: float) -> Level:
    """The level of one reference; an age of None is one that history cannot tell: stale."""
    if verdict in {"fresh", "unknown"}:
        return "fresh" if verdict == "fresh" else "unknown"
    if verdict in STALE_AT_ONCE or age_seconds is None:
        return "stale"
    return "possibly_stale" if age_seconds < threshold_days * SECONDS_PER_DAY else "stale"


def worst(levels: Iterable[Level]) -> Level:
    """The level of a page: the worst of its references', `untracked` without any."""
    return min(levels, key=SEVERITY.index, default="untracked")
