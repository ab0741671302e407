"""Types of fields that several records of notes have, and the texts about a note.

The keys are those of MCP servers for bookmarks: `tweetId` is the id of any note.
"""

from typing import Annotated, Protocol

from ubp.frame.wording import printable
from ubp.frame.writer import Writer

NoteId = Annotated[str, "id of the note; of a post on X, the post's"]
Author = Annotated[str, "who wrote it"]
Url = Annotated[str, "address of what was saved"]
Day = Annotated[str, "day in UTC"]


class NoteFacts(Protocol):
    """A record of a note, with some of its fields."""

    @property
    def tweetId(self) -> str:  # noqa: N802  # a key of the record
        """The id of the note."""
        ...

    @property
    def path(self) -> str:
        """The path of the note."""
        ...


def about(note: NoteFacts, write: Writer) -> str:
    """Return the id, path and other facts of a note, in parentheses, and its address."""
    facts = [f"id {write.name(note.tweetId)}", write.name(note.path)]
    facts += [
        write.name(value)
        for key in ("author", "category", "sentiment", "action")
        if (value := getattr(note, key, ""))
    ]
    facts += [date] if (date := getattr(note, "date", "")) else []
    tags: tuple[str, ...] = getattr(note, "tags", ())
    facts += [", ".join(f"#{write.name(tag)}" for tag in tags)] if tags else []
    url = getattr(note, "url", "")
    return f"({'; '.join(facts)}){f': {printable(url)}' if url else ''}"
