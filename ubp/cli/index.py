"""The commands about the index: status, reindex and model; and `ubp` without a command."""

from typing import Annotated, Literal

from cyclopts import Parameter

from ubp.cli.error_handler import CLEAN, FAILED, FINDINGS
from ubp.cli.open_workspace import open_workspace
from ubp.cli.parameters import Keys
from ubp.cli.terminal import Terminal
from ubp.core.errors import UbpError, UsageError
from ubp.frame.wording import printable
from ubp.output.text.index import fetched_text, model_text, reindexed_text, status_text


def status(*, check: bool = False, key: Keys = None, terminal: Terminal) -> int:
    """Run `ubp status`.

    Args:
        check: Exit with 1 on stale pages, broken links or unreadable front matter; with 2 if a page
            cannot be verified or the index cannot be built.
        key: Front matter key that lists sources, instead of the configured keys; repeatable.
        terminal: Where the answer goes.
    """
    with open_workspace(terminal, keys=key or ()) as workspace:
        result = workspace.status(finds_broken=check)
    if terminal.options.json:
        from ubp.output.records.setup import status_record

        terminal.record(status_record(result))
    elif not terminal.options.quiet:
        terminal.write(status_text(result, terminal.style))
    if not check:
        return CLEAN
    if result.summary.stale or result.unparsed or result.links.broken:
        return FINDINGS
    return FAILED if result.summary.unknown else CLEAN


def model(
    action: Literal["fetch"] | None = None, name: str | None = None, /, *, terminal: Terminal
) -> int:
    """Run `ubp model`.

    Args:
        action: Download a model from the Hugging Face Hub.
        name: Model id: OWNER/NAME.
        terminal: Where the answer goes.
    """
    if action == "fetch":
        return _fetch(name, terminal)
    with open_workspace(terminal) as workspace:
        result = workspace.model_status(workspace.session.view())
    if terminal.options.json:
        from ubp.output.records.setup import model_record

        terminal.record(model_record(result))
    elif not terminal.options.quiet:
        terminal.write(model_text(result))
    return CLEAN


def _fetch(name: str | None, terminal: Terminal) -> int:
    from ubp.index.embed.models import fetch_model

    if name is None:
        raise UsageError(
            "Missing argument: a model id.",
            hint="Specify one: ubp model fetch minishlab/potion-multilingual-128M",
        )
    fetched = fetch_model(name, terminal.environment, terminal.progress)
    if terminal.options.json:
        from ubp.output.records.setup import fetched_record

        terminal.record(fetched_record(fetched))
    elif not terminal.options.quiet:
        terminal.write(fetched_text(fetched))
    return CLEAN


def reindex(
    *,
    file: Annotated[str | None, Parameter(metavar="PATH")] = None,
    prune: bool = False,
    skip_embedding: bool = False,
    terminal: Terminal,
) -> int:
    """Run `ubp reindex`.

    Args:
        file: Re-index only this page.
        prune: Only remove data that no work tree or recent commit needs.
        skip_embedding: Do not compute embeddings now; the first search that needs them will.
        terminal: Where the answer goes.
    """
    with open_workspace(terminal) as workspace:
        result = workspace.reindex(file=file, prune=prune, embed=not skip_embedding)
    if terminal.options.json:
        from ubp.output.records.setup import reindexed_record

        terminal.record(reindexed_record(result))
    elif not terminal.options.quiet:
        terminal.write(reindexed_text(result))
    return CLEAN


def welcome(terminal: Terminal) -> int:
    """Print one line about the repository at the working directory, or why there is none."""
    from ubp.output.records.staleness import stale_record
    from ubp.output.text.stale import welcome_text

    try:
        with open_workspace(terminal) as workspace:
            report = workspace.stale()
    except UbpError as error:
        if terminal.options.json:
            raise
        terminal.write(f"Here: {printable(error.message)}\n")
        return CLEAN
    if terminal.options.json:
        terminal.record(stale_record(report))
    else:
        terminal.write(welcome_text(report, terminal.style))
    return CLEAN
