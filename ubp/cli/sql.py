"""`ubp sql`: SQL over what UBP knows about the documents."""

from typing import Annotated

from cyclopts import Parameter

from ubp.cli.error_handler import CLEAN
from ubp.cli.open_workspace import open_workspace
from ubp.cli.parameters import Keys, Revision
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.index.store.query import run_query
from ubp.output.tables import build_tables, result_csv, result_text


def sql(  # noqa: PLR0913  # the command's options
    query: str,
    /,
    *,
    csv: Annotated[bool, Parameter(negative="")] = False,
    table: Annotated[bool, Parameter(negative="")] = False,
    ref: Revision = None,
    key: Keys = None,
    terminal: Terminal,
) -> int:
    """Run `ubp sql`.

    Args:
        query: A single SELECT statement.
        csv: Print CSV with a header row.
        table: Print an aligned table with long values truncated (the default).
        ref: Use this revision instead of the work tree.
        key: Front matter key that lists sources, instead of the configured keys; repeatable.
        terminal: Where the answer goes.
    """
    if csv and (table or terminal.options.json):
        raise UsageError(
            "--csv cannot be combined with --json or --table.", hint="Use only one of them."
        )
    with open_workspace(terminal, keys=key or ()) as workspace:
        result = run_query(query, build_tables(workspace, query, ref))
    if terminal.options.json and not table:
        from ubp.output.records.sql import result_record

        terminal.record(result_record(result))
    elif csv:
        terminal.use_utf8()
        terminal.write(result_csv(result))
    else:
        terminal.write(result_text(result, terminal.style))
    return CLEAN
