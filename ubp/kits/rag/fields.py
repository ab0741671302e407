"""Types of fields of several requests and records about projects, and the texts about them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from ubp.frame.fields import Line
from ubp.frame.writer import Writer

MAX_TOP_K = 50
HEADING_SEPARATOR = " > "

Project = Annotated[str, "project, from rag://projects; by default the repository"]
Category = Annotated[str, "value of the field category"]
Metadata = Annotated[Mapping[str, str | tuple[str, ...]], "the fields of its front matter"]
ProjectName = Annotated[str, "name of the project"]
Success = Annotated[bool, "true; the result of a call that failed has false"]


@dataclass(frozen=True, slots=True)
class PositionRecord:
    """Where a text is in its document."""

    line_start: Annotated[Line, "first line, from 1"]
    line_end: Annotated[Line, "last line"]
    section: Annotated[str, "headings, the outermost first"] = ""


def position(start: int, end: int, section: Sequence[str]) -> PositionRecord:
    """Return the place of a text below these headings."""
    return PositionRecord(start, max(start, end), HEADING_SEPARATOR.join(section))


def about(metadata: Mapping[str, str | Sequence[str]], write: Writer) -> str:
    """Return the fields of a document: `category design, tags security`; "" if it has none."""
    fields = (
        (key, [values] if isinstance(values, str) else values) for key, values in metadata.items()
    )
    return ", ".join(
        f"{write.name(key)} {' '.join(map(write.label, values))}"
        for key, values in fields
        if values
    )
