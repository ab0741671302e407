"""`ubp affected`: which pages describe these files."""

from ubp.cli.door import CLEAN
from ubp.cli.opening import open_workspace
from ubp.cli.terminal import Terminal
from ubp.errors import UsageError
from ubp.render.records import affected_record
from ubp.render.text.affected import affected_text


def affected(
    *paths: str, ref: str | None = None, key: list[str] | None = None, terminal: Terminal
) -> int:
    """Tell which pages describe these files, folders or globs, and in which line they say so.

    Args:
        paths: Files, folders or globs.
        ref: Ask this revision instead of the work tree.
        key: A front matter key that names sources, instead of the configured ones; repeatable.
        terminal: Where the answer goes.
    """
    if not paths:
        raise UsageError(
            "Which files?",
            cause="`ubp affected` tells which pages describe some files.",
            hint="Name them: ubp affected src/auth.py",
        )
    with open_workspace(terminal, keys=key or ()) as workspace:
        found = workspace.affected(paths, ref=ref)
    if terminal.options.json:
        terminal.record(affected_record(found))
    else:
        is_quiet = terminal.options.quiet
        terminal.write(affected_text(found, paths, terminal.style, is_quiet=is_quiet))
    return CLEAN
