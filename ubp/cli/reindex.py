"""`ubp reindex`: build the index anew."""

from ubp.cli.door import CLEAN
from ubp.cli.opening import open_workspace
from ubp.cli.terminal import Terminal
from ubp.render.records import reindexed_record
from ubp.render.text.status import reindexed_text


def reindex(
    *,
    file: str | None = None,
    prune: bool = False,
    skip_embedding: bool = False,
    terminal: Terminal,
) -> int:
    """Build the index anew; it is derived from Git and the configuration is left alone.

    Args:
        file: Read this page again, and no other.
        prune: Only forget what no work tree and no recent history needs any more.
        skip_embedding: Leave the sections' vectors to the first search that needs them.
        terminal: Where the answer goes.
    """
    with open_workspace(terminal) as workspace:
        run = workspace.reindex(file=file, prune=prune, embed=not skip_embedding)
    if terminal.options.json:
        terminal.record(reindexed_record(run))
    elif not terminal.options.quiet:
        terminal.write(reindexed_text(run))
    return CLEAN
