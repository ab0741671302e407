"""Parameters that several commands share: their types, with the value names for help, and ranges.

Not for `ubp.cli.stale`, which a hook loads: cyclopts takes 85 ms to import.
"""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ubp.core.errors import UsageError

if TYPE_CHECKING:
    from ubp.index.collections import CollectionReference

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


def read_collections(names: str | None, ref: str | None) -> "tuple[CollectionReference, ...]":
    """Return the collections that `--in` names, separated by commas.

    Raises:
        UsageError: it is not valid, or `--ref` was given, too.
    """
    if names is None:
        return ()
    if ref is not None:
        raise UsageError(
            "--in cannot be combined with --ref.", hint=f"Write the revision as --in NAME@{ref}."
        )
    from ubp.index.collections import parse_reference

    return tuple(dict.fromkeys(parse_reference(name.strip()) for name in names.split(",")))


def read_collection(name: str | None, ref: str | None) -> "CollectionReference | None":
    """Return the collection that `--in` names, for a command that reads one of them.

    Raises:
        UsageError: it is not valid or names several, or `--ref` was given, too.
    """
    references = read_collections(name, ref)
    if len(references) > 1:
        raise UsageError(
            f"Only one collection can be read: {name}.",
            hint="`ubp search`, without --fulltext, accepts several.",
        )
    return references[0] if references else None


def check_range(
    option: str, value: float, maximum: float | None = None, *, minimum: float = 1, why: str = ""
) -> None:
    """Raise `UsageError` unless the option's value is from `minimum` to `maximum`."""
    if value < minimum or (maximum is not None and value > maximum):
        valid = f"at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
        shown = f"{value:g}" if isinstance(value, float) else value
        raise UsageError(f"Invalid {option}: {shown}.", cause=why, hint=f"Must be {valid}.")
