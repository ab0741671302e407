"""The messages of commits, whole: UBP writes what it must know about its own commits into them."""

from collections.abc import Iterator
from typing import NamedTuple

from ubp.core.model import ObjectId
from ubp.git.output import MAX_DIGITS_OF_TIME
from ubp.git.repository import Repository

INDENT = "    "


class CommitMessage(NamedTuple):
    """A commit with its whole message.

    `when` is the committer's time in seconds; 0 where the commit has none that makes sense.
    """

    id: ObjectId
    parents: tuple[ObjectId, ...]
    when: int
    author: str
    text: str


def read_messages(repository: Repository, *span: str) -> Iterator[CommitMessage]:
    """Yield the commits that `git rev-list` lists for these arguments, the latest first."""
    output = repository.run("rev-list", "--header", *span).decode("utf-8", "replace")
    for record in output.split("\0"):
        if record.strip():
            yield _parse(record)


def _parse(record: str) -> CommitMessage:
    header, _, body = record.partition("\n\n")
    first, *fields = header.lstrip("\n").split("\n")
    parents = tuple(ObjectId(line.split(" ")[1]) for line in fields if line.startswith("parent "))
    people = {name: rest for name, _, rest in (line.partition(" ") for line in fields)}
    text = "\n".join(line.removeprefix(INDENT) for line in body.split("\n"))
    when = people.get("committer", "").rpartition("> ")[2].split(" ")[0]
    return CommitMessage(
        ObjectId(first),
        parents,
        int(when) if when.isdecimal() and len(when) <= MAX_DIGITS_OF_TIME else 0,
        people.get("author", "").partition(" <")[0],
        text,
    )
