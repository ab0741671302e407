"""`list_languages`: the languages that have a specification here."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.wording import count
from ubp.frame.writer import Writer
from ubp.index.session import Session
from ubp.kits.specs.reader import SpecificationReader


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageRecord:
    """A language that has a specification here."""

    language: Annotated[str, "its name, the argument of the other tools"]
    docs: Annotated[tuple[str, ...], "names of its documents"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguagesRecord:
    """The languages that have specifications here."""

    languages: Annotated[tuple[LanguageRecord, ...], "by name"]


@dataclass(frozen=True, slots=True)
class LanguagesRequest(Request[LanguagesRecord]):
    """There is nothing to choose."""


def run(session: Session, _: LanguagesRequest) -> LanguagesRecord:
    """Return the languages with the names of their documents."""
    languages = SpecificationReader(session).languages()
    return LanguagesRecord(
        languages=tuple(
            LanguageRecord(language=language, docs=names) for language, names in languages.items()
        )
    )


def text(record: LanguagesRecord, write: Writer) -> Iterator[str]:
    """Yield a line for each language."""
    if not record.languages:
        yield "No specification is here. A person can add one: ubp collections add go go"
        return
    yield f"{count(len(record.languages), 'language')}. {write.notice()}"
    for each in record.languages:
        yield f"{write.name(each.language)}: {', '.join(map(write.name, each.docs))}"


LIST_LANGUAGES = Answer(
    request=LanguagesRequest,
    record=LanguagesRecord,
    run=run,
    text=text,
    budgets=(),
    tool=ToolTraits(
        title="List specifications",
        description=("List the languages and formats whose specifications are here."),
    ),
)
