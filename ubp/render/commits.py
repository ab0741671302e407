"""The commits that made a page stale, for readers."""

from ubp.model import Commit, ReferenceVerdict
from ubp.render.wording import count, day, printable

# The commit that began the drift, and the two after it, say what happened; the rest is history.
MOST_COMMITS = 3
# As long as Git's own short ids grow in the largest repositories.
SHORT_ID = 10


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
