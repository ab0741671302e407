"""`ubp sql`: the answer as a table, CSV or JSON."""

from typing import Annotated

from cyclopts import Parameter

from ubp.answers.search.sql import SQL, SqlRequest
from ubp.cli.parameters import Keys, Revision
from ubp.cli.print_answer import print_answer
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError


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
    if csv:
        terminal.use_utf8()
    if table:
        terminal.set(terminal.options._replace(json=False))
    format_ = "csv" if csv else "text"
    return print_answer(SQL, SqlRequest(query, ref), terminal, keys=key or (), format_=format_)
