"""The table of records: which command or tool returns which.

A record is what `--json` prints: a frozen dataclass with slots, or a NamedTuple where a hook prints
it. Each field has a type, and a description in its `Annotated`; the class's docstring describes the
whole. JSON schemas and docs/reference/records.md are generated from them, so there is nothing else
to keep in step. Keys are never removed or renamed. Every key is always present in the output of a
command: null, empty or 0 where there is nothing. A field with a default is left out of answers to
agents where it has its default.

The rows of `ubp.table` name the records of answers; here are those of what is not an answer.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ubp.answers.setup.completion import CompletionRecord
from ubp.answers.staleness.since import ComparisonRecord
from ubp.answers.staleness.stale_record import StaleRecord
from ubp.answers.staleness.translations import TranslationsRecord
from ubp.frame.records import ErrorRecord
from ubp.frame.schema import Schema, record_schema
from ubp.table import KITS, ROWS, Row, kit_resources, load


class RecordRow(NamedTuple):
    """A record, its short name, and what returns it.

    `is_answer`: it contains the facts of an answer as well (`AnswerFacts`). Others define the form
    of a record that is not `is_versioned`.
    """

    name: str
    record: type
    returned_by: tuple[str, ...]
    is_answer: bool = False
    is_versioned: bool = True

    @property
    def schema(self) -> Schema:
        """The JSON schema of the record as `--json` prints it."""
        return record_schema(self.record, is_answer=self.is_answer, is_versioned=self.is_versioned)


_RECORDS = (
    RecordRow("error", ErrorRecord, ("an error",)),
    RecordRow("install-completion", CompletionRecord, ("ubp --install-completion",)),
    RecordRow("stale", StaleRecord, ("ubp stale",)),
    RecordRow("stale-since", ComparisonRecord, ("ubp stale --since REV",)),
    RecordRow("stale-translations", TranslationsRecord, ("ubp stale --translations",)),
)


def _record_row(name: str, rows: Sequence[Row]) -> RecordRow:
    answer = load(rows[0])
    commands = (f"ubp {row.command}" for row in rows if row.command)
    tools = (row.tool for row in rows if row.tool)
    return RecordRow(
        name,
        answer.record,
        (*commands, *tools),
        is_answer=answer.has_facts,
        is_versioned=answer.is_versioned,
    )


def _record_rows() -> Iterator[RecordRow]:
    for name in dict.fromkeys(row.record for row in ROWS):
        yield _record_row(name, [row for row in ROWS if row.record == name])


def _resource_rows() -> Iterator[RecordRow]:
    for resources in filter(None, map(kit_resources, KITS)):
        for row in resources.rows:
            yield RecordRow(row.record_name, row.record, (row.uri,), is_versioned=False)


RECORDS = tuple(sorted((*_RECORDS, *_record_rows(), *_resource_rows()), key=lambda row: row.name))
