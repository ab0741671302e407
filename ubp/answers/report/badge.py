"""`ubp badge`: the share of fresh pages among those that list sources."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from ubp.frame.answer import Answer, Request
from ubp.frame.arguments import Ref
from ubp.frame.fields import Keyword
from ubp.frame.writer import Writer
from ubp.index.session import Session, Target
from ubp.report.values import Levels
from ubp.staleness.state import find_stale

LABEL = "docs"

# The color from each percentage on, by the names that badge services use.
COLORS = (
    (95, "brightgreen"),
    (85, "green"),
    (70, "yellowgreen"),
    (50, "yellow"),
    (30, "orange"),
    (0, "red"),
)
NOTHING_VERIFIED = "lightgrey"


@dataclass(frozen=True, slots=True, kw_only=True)
class BadgeRecord:
    """What shields.io reads from an endpoint."""

    schemaVersion: Annotated[  # noqa: N815  # shields.io's name
        Literal[1], "version of the shields.io endpoint format"
    ] = 1
    label: Annotated[str, "the left side"]
    message: Annotated[str, "the right side"]
    color: Annotated[
        str,
        "name of the color of the right side",
        Keyword("enum", (*(name for _, name in COLORS), NOTHING_VERIFIED)),
    ]


@dataclass(frozen=True, slots=True)
class BadgeRequest(Request[BadgeRecord]):
    """What to write on the left side, and which revision to assess."""

    label: Annotated[str, "text on the left side"] = LABEL
    ref: Ref | None = None


def run(session: Session, request: BadgeRequest) -> BadgeRecord:
    """Return the badge of a revision, by default of the work tree."""
    report, _ = find_stale(session, Target(request.ref), (), every=False)
    return make_badge(Levels.of_summary(report.summary), request.label)


def make_badge(levels: Levels, label: str = LABEL) -> BadgeRecord:
    """Return the share of fresh pages; a page that could not be verified is not fresh."""
    percent = levels.fresh_percent
    if percent is None:
        message = "unknown" if levels.bound else "no sources"
        return BadgeRecord(label=label, message=message, color=NOTHING_VERIFIED)
    color = next(name for minimum, name in COLORS if percent >= minimum)
    return BadgeRecord(label=label, message=f"{percent}% fresh", color=color)


def text(record: BadgeRecord, write: Writer) -> Iterator[str]:
    """Yield the words of the badge."""
    if not write.is_quiet:
        yield f"{write.name(record.label)}: {record.message}."


BADGE = Answer(
    request=BadgeRequest,
    record=BadgeRecord,
    run=run,
    text=text,
    has_facts=False,
    is_versioned=False,
)
