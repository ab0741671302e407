"""The record of `ubp sql`."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Annotated

from ubp.index.store.query import QueryResult

Cell = str | int | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsRecord:
    """The rows that a query selects."""

    columns: Annotated[tuple[str, ...], "names of the columns"]
    rows: Annotated[tuple[Mapping[str, Cell], ...], "the rows: columns with their values"]


def result_record(result: QueryResult) -> RowsRecord:
    """Return the record of `ubp sql`; of columns with the same name the last one counts."""
    return RowsRecord(
        columns=result.columns,
        rows=tuple(
            dict(zip(result.columns, map(_json_value, row), strict=True)) for row in result.rows
        ),
    )


def _json_value(value: Cell) -> Cell:
    """JSON has no infinity."""
    return str(value) if isinstance(value, float) and not isfinite(value) else value
