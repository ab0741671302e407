"""The commits that made a page stale, for readers."""

from ubp.model import Commit, ReferenceVerdict
from ubp.render.text.advice import SHORT_ID
from ubp.render.text.stale import MOST_COMMITS
from ubp.render.wording import count, day, printable


def commit_lines(drift: ReferenceVerdict | None) -> list[str]:
    """A line for each commit, oldest first: the first is the one since which the page is behind."""
    commits = drift.commits[::-1] if drift else ()
    lines = [f"{one.id[:SHORT_ID]} {commit_text(one)}" for one in commits[:MOST_COMMITS]]
    if len(commits) > MOST_COMMITS:
        lines.append(f"and {count(len(commits) - MOST_COMMITS, 'more commit')}")
    return lines


def commit_text(one: Commit) -> str:
    """What a commit says of itself: 2026-11-09 Bob Baker: Shorten sessions."""
    return f"{day(one.date)} {printable(one.author)}: {printable(one.subject)}"
