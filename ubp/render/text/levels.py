"""Levels in words."""

from ubp.model import Level
from ubp.staleness.report import Summary

WORDS: dict[Level, str] = {
    "stale": "stale",
    "possibly_stale": "possibly stale",
    "unknown": "unknown",
    "fresh": "fresh",
    "untracked": "names no sources",
}
COUNTED: tuple[Level, ...] = ("stale", "possibly_stale", "unknown", "fresh")


def count_levels(summary: Summary) -> str:
    """How many pages have each level, worst first: `2 stale, 35 fresh`."""
    counts = [(getattr(summary, level), WORDS[level]) for level in COUNTED]
    return ", ".join(f"{number} {words}" for number, words in counts if number)


def count_bound(summary: Summary) -> str:
    """How many pages name sources: `40 of 128 pages name sources`."""
    verb = "names" if summary.bound == 1 else "name"
    pages = "page" if summary.documents == 1 else "pages"
    return f"{summary.bound} of {summary.documents} {pages} {verb} sources"
