"""Parameters that several commands share: their types, with the value names for help, and ranges.

Not for `ubp.cli.stale`, which a hook loads: cyclopts takes 85 ms to import.
"""

from typing import Annotated

from cyclopts import Parameter

from ubp.core.errors import UsageError

Revision = Annotated[str | None, Parameter(metavar="REV")]
Keys = Annotated[list[str] | None, Parameter(metavar="NAME")]
OptionalNumber = Annotated[int | None, Parameter(metavar="N")]
OptionalDecimal = Annotated[float | None, Parameter(metavar="N")]
OutputFiles = Annotated[list[str] | None, Parameter(metavar="FORMAT=PATH")]
HtmlFile = Annotated[
    list[str] | None, Parameter(consume_multiple=(0, 1), negative_iterable="", metavar="[FILE]")
]
FORMAT = Parameter(metavar="FORMAT")
In = Annotated[str | None, Parameter(name="--in", metavar="NAME[@REV]")]
LEVEL = Parameter(metavar="LEVEL")
ALARMS = Parameter(metavar="WHICH")

# A browser lays out and draws so many pages in some seconds.
PICTURE_LIMIT = 5_000


def check_range(
    option: str, value: float, maximum: float | None = None, *, minimum: float = 1, why: str = ""
) -> None:
    """Raise `UsageError` unless the option's value is from `minimum` to `maximum`."""
    if value < minimum or (maximum is not None and value > maximum):
        valid = f"at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
        shown = f"{value:g}" if isinstance(value, float) else value
        raise UsageError(f"Invalid {option}: {shown}.", cause=why, hint=f"Must be {valid}.")
