"""Documents that expire: from the moment in `expires_at` on they are treated as deleted.

A view without them is one of the commit with these files removed, so that nothing that is asked of
it can return one: neither search, nor lists, links or counts.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

from ubp.core.dates import Date, parse_date
from ubp.core.model import FilePath
from ubp.index.view import View

FIELD = "expires_at"


def expiries(view: View) -> Mapping[FilePath, Date]:
    """Return when documents expire, of those that do."""

    def read() -> dict[FilePath, Date]:
        fields = view.fields(view.document_paths())
        return {
            path: date
            for path, of_document in fields.items()
            if isinstance(value := of_document.get(FIELD), str) and (date := parse_date(value))
        }

    return view.derived("expiries", read)


def find_expired(view: View, seconds: float) -> frozenset[FilePath]:
    """Return the documents that have expired at a time since the epoch.

    A date without a time of day has come when its day begins, in UTC.
    """
    dates = expiries(view)
    if not dates:
        return frozenset()
    now = datetime.fromtimestamp(seconds, UTC).timetuple()[:6]
    return frozenset(path for path, date in dates.items() if date <= now[: len(date)])
