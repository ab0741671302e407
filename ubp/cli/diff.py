"""`ubp diff`: what changed between two versions of documents, by sections."""

import os
import re
from typing import Annotated, Literal

from cyclopts import Parameter

from ubp.cli.error_handler import CLEAN
from ubp.cli.open_workspace import open_workspace
from ubp.cli.terminal import Terminal
from ubp.core.config import COLLECTION_NAME
from ubp.core.errors import UsageError
from ubp.core.model import FilePath
from ubp.index.collections import CollectionReference
from ubp.output.records.comparison import comparison_record
from ubp.output.text.comparison import comparison_markdown, comparison_text

_COLLECTION = re.compile(rf"({COLLECTION_NAME})@(?!\{{)(.*)", re.DOTALL)


def diff(
    versions: str,
    page: str | None = None,
    /,
    *,
    format_: Annotated[
        Literal["text", "json", "markdown"], Parameter(name=["--format", "-f"], metavar="FORMAT")
    ] = "text",
    terminal: Terminal,
) -> int:
    """Run `ubp diff`.

    Args:
        versions: Two revisions: A..B, of a collection NAME@A..B.
        page: Compare only this page, or one of its sections: PATH or PATH#SECTION.
        format_: Output format.
        terminal: Where the answer goes.
    """
    matched = _COLLECTION.fullmatch(versions)
    name, span = (matched[1], matched[2]) if matched else (None, versions)
    old, dots, new = span.partition("..")
    if not dots or not old or new.startswith("."):
        raise UsageError(
            f"Not two versions: {versions}.",
            hint="Write them as A..B, of a collection as NAME@A..B.",
        )
    path, _, section = (page or "").partition("#")
    reference = CollectionReference(name) if name else None
    with open_workspace(terminal, collection=reference) as workspace:
        prefix = "" if reference else workspace.session.repository.prefix
        found = workspace.compare_versions(
            old,
            new or "HEAD",
            FilePath(os.path.normpath(os.path.join(prefix, path))) if path else None,
            section or None,
        )
    if terminal.options.json or format_ == "json":
        terminal.record(comparison_record(found, name))
    elif format_ == "markdown":
        terminal.write(comparison_markdown(found, name or ""))
    else:
        terminal.write(
            comparison_text(found, name or "", terminal.style, is_quiet=terminal.options.quiet)
        )
    return CLEAN
