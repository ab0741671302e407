"""JSON records: what `--json` prints, as types.

A record is a frozen dataclass with slots. Each field has a type, and a description in its
`Annotated`; the class's docstring describes the whole. JSON schemas and docs/reference/records.md
are generated from them (`schema.py`), so there is nothing else to keep in step. Keys are never
removed or renamed. Every key is always present in the output of a command: null, empty or 0 where
there is nothing. A field with a default is left out of answers to agents where it has its default.

To add a key: add the field to its class, with a description, and its value where the record is
built. To add a record: write the class and the function that builds it from a value, and add a row
to `table.py`; then `UPDATE_DOCS=1 pytest tests/test_docs.py` and `UPDATE_TRANSCRIPTS=1 pytest
tests/cli/test_transcripts.py`. A record that `ubp stale --json` prints is a NamedTuple: see
`staleness.py`.
"""
