"""The writers of texts: one for people at a terminal, one for agents.

A text is written once, from a record. The writer prints what documents contain so that no reader
mistakes it for UBP's own words: escaped and perhaps colored for people, quoted or between two
markers for agents.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

from ubp.core.model import FilePath, Verdict
from ubp.frame.fields import AnswerFacts, Span
from ubp.frame.quoting import fenced, label, name, new_marker, quoted, title
from ubp.frame.records import DAY
from ubp.frame.wording import ChangeWords, Style, printable, printable_line
from ubp.staleness.wording import LEVEL_WORDS, describe_noted

NOTICE = AnswerFacts().content_notice
QUIET = frozenset({"fresh", "untracked"})  # levels that need no review


class Writer(NamedTuple):
    """Who reads a text, and how what documents contain is written for them.

    `is_quiet`: people asked for one line a result and nothing else. `prefix` is the directory, from
    the root, where people type commands; `keys` are the front matter keys that this one was given,
    and `change` is how it names the change that it is about. `repeated` are the arguments that
    calls which an agent makes next have in common with this one; `offered` are the names of other
    tools that it has, as far as the text names them as the next call.
    """

    style: Style = Style()
    is_agent: bool = False
    is_quiet: bool = False
    prefix: FilePath = FilePath("")
    keys: tuple[str, ...] = ()
    change: ChangeWords = ChangeWords()
    repeated: Mapping[str, str] = {}
    offered: frozenset[str] = frozenset()

    def name(self, text: str) -> str:
        """Return a path, a tag or another name: `docs/auth.md`."""
        return name(text) if self.is_agent else printable(text)

    def path(self, text: str) -> str:
        """Return the path of a result; people see it in bold."""
        return name(text) if self.is_agent else self.style.bold(printable(text))

    def label(self, text: str) -> str:
        """Return a type of documents: `guide`."""
        return label(text) if self.is_agent else printable(text)

    def title(self, text: str) -> str:
        """Return a title, a heading or a sentence of a document."""
        return title(text) if self.is_agent else printable(text)

    def quote(self, text: str) -> str:
        """Return a summary or a passage of a document, whole."""
        return quoted(text) if self.is_agent else printable(text)

    def highlighted(self, text: str, spans: Iterable[Span]) -> str:
        """Return a line of a document with these parts of it in color."""
        pieces, position = [], 0
        for start, end in spans:
            pieces.append(printable(text[position:start]))
            pieces.append(self.style.green(printable(text[start:end])))
            position = end
        return "".join([*pieces, printable(text[position:])])

    def level(self, level: str) -> str:
        """Return the level of a page, in yellow if it needs a review."""
        if self.is_agent:
            return LEVEL_WORDS["untracked"] if level == "untracked" else level
        words = LEVEL_WORDS[level]  # type: ignore[index]  # records hold a Level
        return words if level in QUIET else self.style.yellow(words)

    def marker(self, *texts: str) -> str:
        """Return the word that encloses these texts of documents; "" where people read them."""
        return new_marker(*texts) if self.is_agent and any(texts) else ""

    def enclose(self, text: str, marker: str) -> Iterator[str]:
        """Yield the lines of a document's text, for agents between two lines with the marker."""
        if marker:
            yield from fenced(text, marker)
        else:
            yield from map(printable_line, text.splitlines())

    def diff(self, text: str, marker: str) -> Iterator[str]:
        """Yield the lines of a diff: in colors, for agents between two lines with the marker."""
        if marker:
            yield from fenced(text, marker)
        else:
            from ubp.frame.word_diff import paint_diff  # loads pygit2; a hook prints no diff

            yield from paint_diff(text, self.style)

    def notice(self, marker: str = "") -> str:
        """Return the notice that content is data; it begins what an agent reads."""
        if marker:
            return f"({NOTICE.rstrip('.')}; delimited by {marker}.)"
        return f"({NOTICE})"

    def arguments(self) -> str:
        """Return the arguments that a next call repeats: `, repository="web"`."""
        return "".join(f", {key}={quoted(value)}" for key, value in self.repeated.items())


class DriftedReference(Protocol):
    """A record of a reference that is not fresh."""

    @property
    def source_path(self) -> str:
        """The source, from the root."""

    @property
    def verdict(self) -> Verdict:
        """What became of it."""

    @property
    def since(self) -> str | None:
        """When it drifted first, in ISO 8601."""


def stale_ref_text(reference: DriftedReference, write: Writer) -> str:
    """Return a source and what happened to it: `src/auth.py modified since 2026-11-08`."""
    when = f" since {reference.since[:DAY]}" if reference.since else ""
    return f"{write.name(reference.source_path)} {describe_noted(reference.verdict, None, when)}"
