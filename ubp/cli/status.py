"""`ubp status`: what is indexed and how it stands."""

from ubp.cli.door import CLEAN, FAILED, FINDINGS
from ubp.cli.opening import open_workspace
from ubp.cli.terminal import Terminal
from ubp.render.records import status_record
from ubp.render.text.status import status_text
from ubp.status import Status


def status(*, check: bool = False, key: list[str] | None = None, terminal: Terminal) -> int:
    """Tell what is indexed and how it stands.

    Args:
        check: Exit 1 on stale pages, on broken links and on pages whose front matter cannot be
            read; 2 where a page could not be verified, or the index not be built.
        key: A front matter key that names sources, instead of the configured ones; repeatable.
        terminal: Where the answer goes.
    """
    with open_workspace(terminal, keys=key or ()) as workspace:
        found = workspace.status(finds_broken=check)
    if terminal.options.json:
        terminal.record(status_record(found))
    elif not terminal.options.quiet:
        terminal.write(status_text(found, terminal.style))
    return _checked(found) if check else CLEAN


def _checked(found: Status) -> int:
    if found.summary.stale or found.unparsed or found.links.broken:
        return FINDINGS
    return FAILED if found.summary.unknown else CLEAN
