"""Types of arguments that several tools about projects have, and their text."""

from typing import Annotated

from ubp.frame.budget import TokenLimit
from ubp.frame.encoding import Json, to_json

Project = Annotated[str, "project, from rag://projects; by default the repository"]
Category = Annotated[str, "value of the field category"]
MAX_TOP_K = 50

# Facts about the answer itself, which the server writes below a text.
_FACTS = ("token_estimate", "query_time_ms")


def json_text(record: Json) -> str:
    """Return a record as JSON, in which every text of a document is in quotation marks."""
    return to_json({key: value for key, value in record.items() if key not in _FACTS}) + "\n"


class DropLast:
    """Drops the last items of a list until the answer fits."""

    def __init__(self, items: str) -> None:
        """Drop from the list with this name."""
        self._items = items

    def __call__(self, record: Json, limit: TokenLimit) -> None:
        """Fit a record."""
        items = record[self._items]
        limit.drop(record, iter(lambda: items.pop() if items else None, None))
