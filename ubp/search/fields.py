"""Filters on the fields of front matter: `category:AI`, `date>=2026-01-01`, `stars>100`. Pure.

A field with a list matches if one of its values does. Texts are compared regardless of case and
width, `value*` as a prefix. Dates are compared as precisely as both are written, so that
`date<=2026-01` includes all of January; those with a UTC offset as UTC.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from ubp.core.dates import Date, parse_date
from ubp.core.errors import UsageError
from ubp.core.model import PageFields

Operator = Literal[":", "=", "<", "<=", ">", ">="]
OPERATORS: tuple[str, ...] = get_args(Operator)


class FieldFilter(NamedTuple):
    """A condition on a field; `name` as `normalize` returns it, `value` as written."""

    name: str
    operator: Operator
    value: str

    def matches(self, fields: PageFields) -> bool:
        """Return whether a page with these fields passes."""
        return any(
            self.matches_value(text)
            for name, value in fields.items()
            if normalize(name) == self.name
            for text in ((value,) if isinstance(value, str) else value)
        )

    def matches_value(self, text: str) -> bool:
        """Return whether one of a field's values passes."""
        date, wanted_date = parse_date(text), parse_date(self.value)
        if self.operator in {":", "="}:
            value, wanted = normalize(text), normalize(self.value)
            if wanted.endswith("*"):
                return value.startswith(wanted.rstrip("*"))
            is_same_date = bool(date and wanted_date) and date[: len(wanted_date)] == wanted_date
            return value == wanted or is_same_date
        if date and wanted_date:
            length = min(len(date), len(wanted_date))
            return _compare(self.operator, date[:length], wanted_date[:length])
        number, wanted_number = _number(text), _number(self.value)
        if number is None or wanted_number is None:
            return False
        return _compare(self.operator, number, wanted_number)


def make_filter(name: str, operator: str, value: str) -> FieldFilter:
    """Return the filter that was written.

    Raises:
        UsageError: there is no such operator, or it compares neither dates nor numbers.
    """
    written = f"{name}{operator}{value}"
    if operator not in OPERATORS:
        raise UsageError(
            f"Unknown operator in the filter {written}.",
            cause=f"{operator} is not one of {' '.join(OPERATORS)}.",
            hint=f'Use one of them, or quote the text to search for it: "{written}"',
        )
    if operator not in {":", "="} and not parse_date(value) and _number(value) is None:
        is_like_date = bool(re.match(r"\d{4}[-/]", value))
        raise UsageError(
            f"{'No such date' if is_like_date else 'Neither a date nor a number'}"
            f" in the filter {written}.",
            cause=f"{operator} compares dates (2026-01-31, 2026-01) and numbers.",
            hint=f'Correct it, or quote the text to search for it: "{written}"',
        )
    return FieldFilter(normalize(name), operator, value)  # type: ignore[arg-type]  # checked above


@lru_cache(maxsize=65_536)
def normalize(text: str) -> str:
    """Return a text without differences of case and width."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text.strip()) else None


def _compare(operator: str, value: Date | float, wanted: Date | float) -> bool:
    if value == wanted:
        return operator in {"<=", ">="}
    is_less = value < wanted  # type: ignore[operator]  # both are dates, or both are numbers
    return is_less == (operator in {"<", "<="})


_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
