"""Types of fields of several requests and records about projects, and the texts of the tools."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from ubp.frame.budget import TokenLimit
from ubp.frame.encoding import Json, to_json, to_lean_object
from ubp.frame.fields import Line
from ubp.frame.writer import NOTICE, Writer

MAX_TOP_K = 50
HEADING_SEPARATOR = " > "

Project = Annotated[str, "project, from rag://projects; by default the repository"]
Category = Annotated[str, "value of the field category"]
Metadata = Annotated[Mapping[str, str | tuple[str, ...]], "the fields of its front matter"]
ProjectName = Annotated[str, "name of the project"]


@dataclass(frozen=True, slots=True)
class PositionRecord:
    """Where a text is in its document."""

    line_start: Annotated[Line, "first line, from 1"]
    line_end: Annotated[Line, "last line"]
    section: Annotated[str, "headings, the outermost first"] = ""


def position(start: int, end: int, section: Sequence[str]) -> PositionRecord:
    """Return the place of a text below these headings."""
    return PositionRecord(start, max(start, end), HEADING_SEPARATOR.join(section))


def text(record: object, _: Writer) -> Iterator[str]:
    """Yield a record as JSON, in which every text of a document is in quotation marks."""
    yield to_json({**to_lean_object(record), "content_notice": NOTICE})


def drop_last(name: str) -> Callable[[Json, TokenLimit], None]:
    """Return what drops the last items of a list until the answer fits."""

    def fit(record: Json, limit: TokenLimit) -> None:
        items = record[name]
        limit.drop(record, iter(lambda: items.pop() if items else None, None))

    return fit
