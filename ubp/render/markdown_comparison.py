"""`ubp stale --since` as Markdown, to be pasted into release notes."""

from collections.abc import Iterator

from ubp.render.comparison_words import (
    TITLES,
    counts_in_words,
    drift_in_words,
    groups,
    headline,
    passage_in_words,
)
from ubp.render.markdown_words import code
from ubp.render.wording import day
from ubp.report.comparing import Comparison, Passage


def comparison_markdown(comparison: Comparison, since: str) -> str:
    """A heading, a sentence, a list for each way that pages took."""
    name = code(since)
    lines = [f"### Documentation since {name} ({day(comparison.date)})", ""]
    lines.append(headline(comparison, name) if comparison.passages else "No page names sources.")
    for kind, found in groups(comparison.passages):
        lines += ["", f"**{TITLES[kind].capitalize()}** ({len(found)})", "", *map(_item, found)]
    if comparison.counts.get("still_fresh"):
        lines += ["", f"In all: {counts_in_words(comparison)}."]
    return "\n".join(lines) + "\n"


def _item(one: Passage) -> str:
    return f"- {code(one.page.filepath)}{''.join(_more(one))}"


def _more(one: Passage) -> Iterator[str]:
    if one.was_at:
        yield f" (was {code(one.was_at)})"
    said = passage_in_words(one)
    told = [f"{code(a.source_path or '.')} {drift_in_words(a)}" for a in one.drifted]
    if said or told:
        yield f": {'; '.join([*([said] if said else []), *told])}"
