"""Dates as front matter and filters write them. Pure."""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

Date = tuple[int, ...]
"""Year, month, day, hour, minute, second, as far as they are written."""


@lru_cache(maxsize=65_536)
def parse_date(text: str) -> Date:
    """Return a date, "2026", "2026-01-31" or "2026-01-31T10:00:00Z", of which there is one; or ().

    A year alone is one only beside another date: it is compared as a number, too.
    """
    match = _DATE.fullmatch(text.strip())
    if match is None:
        return ()
    date = tuple(int(part) for part in match.group(*range(1, 7)) if part is not None)
    try:
        year, month, day, hour, minute, second = (*date, *_FIRST[len(date) :])
        when = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        if match["offset"] and match["offset"] not in "Zz":
            offset = datetime.strptime(match["offset"].replace(":", ""), "%z").utcoffset()
            when -= offset or timedelta()
            date = (*when.timetuple()[:6],)[: len(date)]
    except (ValueError, OverflowError):
        return ()
    return date


_DATE = re.compile(
    r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2})(?:[Tt ](\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d+)?)?"
    r" ?(?P<offset>[Zz]|[+-]\d\d:?\d\d)?)?)?)?"
)
_FIRST = (1, 1, 1, 0, 0, 0)  # of what a date leaves out
