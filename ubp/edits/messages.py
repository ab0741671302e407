"""Messages of the commits of proposals and of the log: a subject, a reason, and trailers.

Only the last paragraph is read, and every value in it is one line: what an agent gives as a reason
cannot add a trailer.
"""

import re
from collections.abc import Iterable, Iterator

from ubp.core.shell import UNPRINTABLE

MAX_VALUE_CHARACTERS = 200
MAX_REASON_CHARACTERS = 2_000
MAX_SUBJECT_CHARACTERS = 120
_PREFIX = "UBP-"

Trailer = tuple[str, str]


def write_message(subject: str, reason: str, trailers: Iterable[Trailer]) -> str:
    """Return a message; trailers without a value are left out."""
    lines = [f"{_PREFIX}{name}: {value}" for name, value in trailers if value]
    parts = [one_line(subject, MAX_SUBJECT_CHARACTERS), _paragraphs(reason), "\n".join(lines)]
    return "\n\n".join(filter(None, parts)) + "\n"


def read_trailers(message: str) -> dict[str, list[str]]:
    """Return the values of each trailer."""
    values: dict[str, list[str]] = {}
    for name, value in _trailers(message.rstrip("\n").rpartition("\n\n")[2]):
        values.setdefault(name, []).append(value)
    return values


def read_reason(message: str) -> str:
    """Return the reason: what is between the subject and the trailers."""
    paragraphs = message.rstrip("\n").split("\n\n")
    return "\n\n".join(paragraphs[1:-1])


def one_line(text: str, limit: int = MAX_VALUE_CHARACTERS) -> str:
    """Return a text on one line, without what acts on a terminal, and not longer than `limit`."""
    line = " ".join(re.sub(UNPRINTABLE, " ", text).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}\u2026"


def _paragraphs(text: str) -> str:
    paragraphs = (one_line(part, MAX_REASON_CHARACTERS) for part in re.split(r"\n\s*\n", text))
    return "\n\n".join(filter(None, paragraphs))[:MAX_REASON_CHARACTERS]


def _trailers(block: str) -> Iterator[Trailer]:
    for line in block.split("\n"):
        name, separator, value = line.partition(": ")
        if separator and name.startswith(_PREFIX):
            yield name.removeprefix(_PREFIX), value
