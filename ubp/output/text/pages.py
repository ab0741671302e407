"""Lines about pages, for people."""

from collections.abc import Iterator

from ubp.core.model import Assessment
from ubp.frame.wording import Style
from ubp.index.facts import why_unreadable


def unreadable_line(indent: str, assessment: Assessment, style: Style) -> Iterator[str]:
    """Yield why a page could not be read, if so."""
    if reason := why_unreadable(assessment.page):
        yield f"{indent}{style.yellow(reason)}"
