"""Numbers that options take."""

from ubp.errors import UsageError

FAR = "Beyond a few links nearly all pages are near each other."


def check_range(option: str, value: int, most: int | None = None, *, why: str = "") -> None:
    """See that an option's number is one that it takes: from 1 to `most`.

    Raises:
        UsageError: it is not.
    """
    if value < 1 or (most is not None and value > most):
        taken = "1 or more" if most is None else f"1 to {most}"
        raise UsageError(f"{option} is {value}.", cause=why, hint=f"Take {taken}.")
