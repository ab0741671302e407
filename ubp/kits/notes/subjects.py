"""The tool that a note is about: a bookmark of its repository, its package or its site."""

import re
from urllib.parse import urlsplit

from ubp.kits.notes.names import find_names, joined_name
from ubp.kits.notes.note import Note

MAX_TITLE_WORDS = 4  # of a note that is about the tool it is named after


def subject_of(note: Note) -> str | None:
    """Return the tool that a bookmark is of, as it is written; None: it is an article.

    It is of the repository or package that it links to, or of what its title and address name; or
    the user has marked it as a tool to try.
    """
    title = _TITLE_END.split(note.title, maxsplit=1)[0].strip()
    words = title.split()
    published = find_names(note.url).tools
    if published:
        (name,) = published.values()
        return title if len(words) <= MAX_TITLE_WORDS else name
    parts = urlsplit(note.url)
    labels = {joined_name(label) for label in (parts.hostname or "").split(".")}
    last = parts.path.rstrip("/").rpartition("/")[2].partition(".")[0]
    if len(words) == 1 and joined_name(title) in {*labels, joined_name(last)} - {""}:
        return title
    for word in words if len(note.title.split()) == _NAME_AND_WORD else ():
        if joined_name(word) in labels - {""}:
            return word
    return title if note.action == "try_tool" and len(words) <= MAX_TITLE_WORDS else None


_TITLE_END = re.compile(r":\s|\s[-\u2013\u2014|]\s")
_NAME_AND_WORD = 2  # words of titles such as "Why DuckDB"
