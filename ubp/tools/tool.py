"""What a tool is: a row of the table, with all that a front end must know to offer it."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from ubp.tools.limit import Budget, Limit
from ubp.workspace import Workspace

Record = dict[str, Any]


def fits_as_it_is(record: Record, limit: Limit) -> None:
    """Cut nothing: the tool knows no limit."""


class Tool(NamedTuple):
    """An operation.

    `shape` names its output schema in ubp/render/schemas. `run` gets arguments that are checked,
    those with a default among them; `text` writes the finished record as an agent reads it; `fit`
    takes out of a record what matters least until it is within the argument `budget`.
    """

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    shape: str
    run: Callable[[Workspace, Mapping[str, Any]], Record]
    text: Callable[[Record], str]
    fit: Callable[[Record, Limit], None] = fits_as_it_is
    budget: Budget = "max_tokens"
    writes: bool = False

    @property
    def output_schema(self) -> Mapping[str, Any]:
        """The schema of the record, a description for every field in it."""
        return _read_schema(self.shape)


@lru_cache
def _read_schema(shape: str) -> Mapping[str, Any]:
    import json
    from importlib.resources import files

    text = files("ubp.render").joinpath("schemas", f"{shape}.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
