"""The commands of a hub: `ubp hub up`, `migrate`, `work`, `review` and others."""

import os
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Annotated, Literal

from cyclopts import App, Parameter

from ubp.cli.commands import example_text
from ubp.cli.error_handler import CLEAN, FAILED, FINDINGS
from ubp.cli.open_workspace import open_workspace
from ubp.cli.parameters import OptionalNumber, check_range
from ubp.cli.print_answer import print_record
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.core.installation import install_command
from ubp.core.shell import ubp_command
from ubp.frame.wording import count, printable

EXTRAS = "hub,full"
HOST = "127.0.0.1"
MAX_PORT = 65_535
EXAMPLE = "https://hub.example.org"
EVERYTHING = "*"  # the reader who may see all repositories

ConfigFile = Annotated[str | None, Parameter(metavar="FILE")]
Address = Annotated[str | None, Parameter(metavar="URL")]
TokenFile = Annotated[str | None, Parameter(metavar="FILE")]


def up(  # noqa: PLR0913  # the command's options
    *,
    embedded: bool = False,
    data: Annotated[str | None, Parameter(metavar="DIR")] = None,
    config: ConfigFile = None,
    host: Annotated[str, Parameter(metavar="ADDRESS")] = HOST,
    port: OptionalNumber = None,
    terminal: Terminal,
) -> int:
    """Run `ubp hub up`.

    Args:
        embedded: Try a hub on this machine: with a PostgreSQL of its own, and a token that may do
            everything, in DIR/development-token.
        data: With --embedded: the directory of its data.
        config: The configuration; by default $UBP_HUB_CONFIG names it.
        host: The address to listen on. Elsewhere than on this machine, put a proxy with TLS before
            it.
        port: The port, by default 8232; 0 for any that is free.
        terminal: Where the command was given.
    """
    _require_extras()
    from ubp.hub.config import database_address, find_config, replica_address
    from ubp.hub.models import HubModel
    from ubp.hub.process import DEFAULT_PORT, Place, Sources, serve_embedded, serve_hub

    model = HubModel.of(terminal.environment)
    port = DEFAULT_PORT if port is None else port
    check_range("--port", port, MAX_PORT, minimum=0)

    def say(line: str) -> None:
        terminal.write(f"{line}\n")
        terminal.flush()

    if embedded:
        if data is None:
            raise UsageError("--embedded requires --data.", hint="Add --data hub-data")
        serve_embedded(os.path.join(terminal.directory, data), model, port, say)
        return CLEAN
    if data is not None:
        raise UsageError("--data requires --embedded.")
    settings = find_config(config, terminal.environment, terminal.directory)
    environment = terminal.environment
    sources = Sources(database_address(environment), replica_address(environment), model)
    serve_hub(sources, settings, Place(host, port), say)
    return CLEAN


def migrate(*, terminal: Terminal) -> int:
    """Run `ubp hub migrate`.

    Args:
        terminal: Where the command was given.
    """
    _require_extras()
    from ubp.hub.config import database_address
    from ubp.hub.database import Database

    with Database.open(database_address(terminal.environment)) as database:
        done = database.migrate()
    for migration in done:
        terminal.write(f"{migration.number:04d} {migration.name}\n")
    if not done and not terminal.options.quiet:
        terminal.write("The database is up to date.\n")
    return CLEAN


def check(*, config: ConfigFile = None, terminal: Terminal) -> int:
    """Run `ubp hub check`.

    Args:
        config: The configuration; by default $UBP_HUB_CONFIG names it.
        terminal: Where the command was given.
    """
    _require_extras()
    from ubp.hub.config import check_secrets, database_address, find_config
    from ubp.hub.database import open_migrated
    from ubp.hub.maintenance import find_faults

    settings = find_config(config, terminal.environment, terminal.directory)
    check_secrets(settings)
    with open_migrated(database_address(terminal.environment)) as connection:
        faults = list(find_faults(connection))
    for fault in faults:
        terminal.write(f"{fault}\n")
    if not faults and not terminal.options.quiet:
        terminal.write("The configuration can be used, and the database is consistent.\n")
    return FINDINGS if faults else CLEAN


def gc(
    *,
    config: ConfigFile = None,
    upload_hours: Annotated[float, Parameter(metavar="N")] = 24.0,
    removed_days: Annotated[float, Parameter(metavar="N")] = 7.0,
    terminal: Terminal,
) -> int:
    """Run `ubp hub gc`.

    Args:
        config: The configuration; by default $UBP_HUB_CONFIG names it.
        upload_hours: Delete pieces of pushes that were interrupted more than N hours ago.
        removed_days: Delete all that there is of repositories that the forge has had no more for N
            days; 0: at once.
        terminal: Where the command was given.
    """
    _require_extras()
    from ubp.hub.config import database_address, find_config
    from ubp.hub.database import open_migrated
    from ubp.hub.maintenance import collect_garbage

    check_range("--upload-hours", upload_hours, minimum=0)
    check_range("--removed-days", removed_days, minimum=0)
    settings = find_config(config, terminal.environment, terminal.directory)
    with open_migrated(database_address(terminal.environment)) as connection:
        garbage = collect_garbage(
            connection, settings, upload_hours=upload_hours, removed_days=removed_days
        )
    if not terminal.options.quiet:
        terminal.write(
            f"Deleted {count(garbage.repositories, 'removed repository')}, "
            f"{count(garbage.uploads, 'uploaded piece')}, {count(garbage.refs, 'ref')} without a "
            f"board, the parts of {count(garbage.parsed, 'old file')}, and "
            f"{count(len(garbage.partitions), 'month')} of logs.\n"
        )
    return CLEAN


def work(*, config: ConfigFile = None, once: bool = False, terminal: Terminal) -> int:
    """Run `ubp hub work`.

    Args:
        config: The configuration; by default $UBP_HUB_CONFIG names it.
        once: Compare everything once, and exit with status 2 if a forge cannot be read.
        terminal: Where the command was given.
    """
    _require_extras()
    from ubp.hub.config import database_address, find_config
    from ubp.hub.models import HubModel
    from ubp.hub.process import run_worker

    settings = find_config(config, terminal.environment, terminal.directory)
    model = HubModel.of(terminal.environment)
    is_done = run_worker(database_address(terminal.environment), settings, model, once=once)
    return CLEAN if is_done else FAILED


def embed(*, yes: bool = False, terminal: Terminal) -> int:
    """Run `ubp hub embed`.

    Args:
        yes: Make the vectors. Without it, show what they cost.
        terminal: Where the command was given.
    """
    _require_extras()
    from ubp.answers.setup.embed_model import text
    from ubp.hub.config import database_address
    from ubp.hub.database import Database, check_migrated
    from ubp.hub.models import HubModel, make_vectors

    model = HubModel.of(terminal.environment)
    with Database.open(database_address(terminal.environment)) as database:
        with database.connection() as connection:
            check_migrated(connection)
        record = make_vectors(database, model, terminal.progress, is_dry=not yes)
    return print_record(record, partial(text, command="hub", unit="page"), terminal)


def diff(
    *,
    to: Address = None,
    token_file: TokenFile = None,
    repository: Annotated[str | None, Parameter(metavar="NAME")] = None,
    ref: Annotated[str | None, Parameter(metavar="REF")] = None,
    terminal: Terminal,
) -> int:
    """Run `ubp hub diff`.

    Args:
        to: The hub's address.
        token_file: A file with the token, as for `ubp push`.
        repository: The repository's name, as for `ubp push`.
        ref: The ref, as for `ubp push`.
        terminal: Where the command was given.
    """
    from ubp.answers.hub.compare import compare_with_hub

    hub = _required(to, "diff", "It names the hub to compare with.")
    with open_workspace(terminal) as workspace:
        lines = compare_with_hub(workspace.session, hub, token_file, repository, ref)
    for line in lines:
        terminal.write(f"{printable(line)}\n")
    if not lines and not terminal.options.quiet:
        terminal.write("The hub has what this clone has.\n")
    return FINDINGS if lines else CLEAN


def review(  # noqa: PLR0913  # the command's options
    *,
    to: Address = None,
    token_file: TokenFile = None,
    repository: Annotated[str | None, Parameter(metavar="NAME")] = None,
    base: Annotated[str | None, Parameter(metavar="REF")] = None,
    limit: Annotated[int, Parameter(metavar="N")] = 100,
    format_: Annotated[
        Literal["text", "markdown"], Parameter(name="--format", metavar="FORMAT")
    ] = "text",
    terminal: Terminal,
) -> int:
    """Run `ubp hub review`.

    Args:
        to: The hub's address.
        token_file: A file with the token, as for `ubp push`.
        repository: The repository's name, as for `ubp push`.
        base: Review what changed since the merge base with this revision. By default the work tree
            is compared with HEAD.
        limit: Maximum number of references.
        format_: `markdown` is a comment for a pull request; it is empty if no page is concerned.
        terminal: Where the command was given.
    """
    from ubp.answers.hub.review import MAX_LIMIT, ask_review, text
    from ubp.index.session import Target

    hub = _required(to, "review", "It names the hub that knows the other repositories.")
    check_range("--limit", limit, MAX_LIMIT, minimum=1)
    with open_workspace(terminal) as workspace:
        target = Target(ref=None if base is None else "HEAD", base=base)
        record = ask_review(workspace.session, hub, token_file, repository, target, limit)
    if format_ == "markdown" and not terminal.options.json:
        from ubp.output.ci.hub_review import markdown_text

        terminal.write(markdown_text(record))
        return CLEAN
    return print_record(record, text, terminal)


def behind(
    *,
    to: Address = None,
    token_file: TokenFile = None,
    repository: Annotated[str | None, Parameter(metavar="NAME")] = None,
    propose: bool = False,
    terminal: Terminal,
) -> int:
    """Run `ubp hub behind`.

    Args:
        to: The hub's address.
        token_file: A file with the token, as for `ubp push`.
        repository: The repository's name, as for `ubp push`.
        propose: Make a proposal that moves their pins to the tip, for review by
            `ubp proposals show`.
        terminal: Where the command was given.
    """
    from ubp.answers.hub.behind import ask_behind, text

    hub = _required(to, "behind", "It names the hub that knows the other repositories.")
    with open_workspace(terminal) as workspace:
        record = ask_behind(workspace.session, hub, token_file, repository, proposes=propose)
    return print_record(record, text, terminal)


def audit(
    *,
    since: Annotated[str | None, Parameter(metavar="DATE")] = None,
    terminal: Terminal,
) -> int:
    """Run `ubp hub audit`.

    Args:
        since: Show the calls since this date, as 2026-11-01.
        terminal: Where the command was given.
    """
    _require_extras()
    from datetime import UTC, datetime

    from ubp.hub.audit import read_calls
    from ubp.hub.config import database_address
    from ubp.hub.database import open_migrated

    if since is None:
        raise UsageError("The option --since is missing.", hint="Add a date: --since 2026-11-01")
    try:
        start = datetime.fromisoformat(since)
    except ValueError as error:
        raise UsageError(
            f"{since} is not a date.", hint="Use a date such as 2026-11-01."
        ) from error
    start = start if start.tzinfo else start.replace(tzinfo=UTC)
    with open_migrated(database_address(terminal.environment)) as connection:
        for moment, call in read_calls(connection, start):
            if terminal.options.json:
                terminal.json(
                    {
                        "at": moment,
                        "reader": call.reader,
                        "method": call.method,
                        "question": call.question.hex(),
                        "status": call.status,
                        "milliseconds": call.milliseconds,
                    }
                )
            else:
                terminal.write(
                    f"{moment}  {call.status}  {call.milliseconds:>6} ms  {call.method}  "
                    f"{printable(call.reader)}  {call.question.hex()}\n"
                )
    return CLEAN


def report(
    *,
    html: Annotated[str | None, Parameter(name="--html", metavar="FILE")] = None,
    title: Annotated[str, Parameter(metavar="TEXT")] = "All repositories",
    reader: Annotated[str, Parameter(metavar="READER")] = EVERYTHING,
    terminal: Terminal,
) -> int:
    """Run `ubp hub report`.

    Args:
        html: Write the report to this file, as one page that needs no network.
        title: With --html: the heading of the page.
        reader: Report on what this reader may see: github.com/ann. By default on everything.
        terminal: Where the command was given.
    """
    _require_extras()
    from datetime import UTC, datetime

    from ubp.answers.hub.report import text
    from ubp.cli.outputs import check_folder, write_html
    from ubp.hub.config import database_address
    from ubp.hub.database import open_migrated
    from ubp.hub.report import build_report

    if html is not None:
        check_folder(html, terminal)
    with open_migrated(database_address(terminal.environment)) as connection:
        record = build_report(connection, reader, datetime.now(UTC))
    if reader != EVERYTHING and not record.repositories:
        raise UsageError(
            f"{reader} may see no repository of this hub.",
            cause="No repository with a board is public, internal or granted to this reader.",
            hint="A reader is an account with its forge, such as github.com/ann.",
        )
    if html is not None:
        from ubp.output.html.organisation import organisation_html

        write_html(html, "", organisation_html(record, title), "", terminal)
        if not terminal.options.json:
            return CLEAN
    return print_record(record, text, terminal)


def _required(to: str | None, command: str, cause: str) -> str:
    """Return the address of `--to`, which these commands need.

    Raises:
        UsageError: it is missing.
    """
    if to is None:
        raise UsageError(
            "The option --to is missing.",
            cause=cause,
            hint=f"Add its address: {ubp_command('hub', command, '--to', EXAMPLE)}",
        )
    return to


_COMMANDS: tuple[tuple[Callable[..., int], str, str], ...] = (
    (
        up,
        (
            "Run a hub until it is stopped; prints `ready URL` once it answers.\n\n"
            "The database is that of $UBP_HUB_DATABASE: PostgreSQL 15 or newer."
        ),
        "ubp hub up --embedded --data hub-data --port 8232",
    ),
    (
        migrate,
        (
            "Bring the tables of the database up to date.\n\n"
            "Hubs of the version before go on answering meanwhile."
        ),
        "ubp hub migrate",
    ),
    (
        work,
        (
            "Keep the grants as the forges have them, on webhooks and each night; delete what is "
            "old.\n\n"
            "A process of its own beside `ubp hub up`, which never asks a forge."
        ),
        "ubp hub work --once",
    ),
    (
        check,
        "Check the configuration, and that the tables fit together. Exit status: 1 if not.",
        "ubp hub check --config hub.json",
    ),
    (
        gc,
        (
            "Delete what no board needs, repositories that were removed, and logs that are older "
            "than the configuration keeps them."
        ),
        "ubp hub gc",
    ),
    (
        embed,
        (
            "Make the vectors of all texts by the model in use: that of UBP_EMBED_URL, or the "
            "bundled one.\n\nWithout --yes it shows what they cost. Run it after a change of the "
            "model; until then words and links find those texts."
        ),
        "ubp hub embed --yes",
    ),
    (
        diff,
        (
            "Compare what this clone knows of HEAD with what the hub has. Exit status: 1 if they "
            "differ."
        ),
        "ubp hub diff --to https://hub.example.org",
    ),
    (
        behind,
        (
            "List the pages of this clone that are behind the tip of another repository.\n\n"
            "Its hooks and `ubp stale` do not change: there the pages are fresh at their pins."
        ),
        "ubp hub behind --to https://hub.example.org --propose",
    ),
    (
        review,
        (
            "List the pages of other repositories that describe what a change of this clone "
            "changes.\n\nOf files in a programming language the changed definitions count, of "
            "others the whole file."
        ),
        "ubp hub review --to https://hub.example.org --base origin/main",
    ),
    (
        report,
        (
            "Report how fresh the documentation of all repositories is: by owner, by repository, "
            "and over twelve months.\n\nOwners are those of each repository's CODEOWNERS."
        ),
        "ubp hub report --html report.html",
    ),
    (
        audit,
        "Show who called the hub: one line for each call, the question as a digest only.",
        "ubp hub audit --since 2026-11-01",
    ),
)


def _app() -> App:
    app = App(name="hub", help_epilogue=example_text("ubp hub up --embedded --data hub-data"))
    for function, help_text, example in _COMMANDS:
        app.command(
            function, name=function.__name__, help=help_text, help_epilogue=example_text(example)
        )
    return app


hub = _app()


def _require_extras() -> None:
    """Check that what a hub needs is installed.

    Raises:
        UsageError: it is not.
    """
    if any(find_spec(name) is None for name in ("psycopg", "psycopg_pool", "mcp")):
        raise UsageError(
            "`ubp hub` requires the extras `hub` and `full`.",
            cause="The libraries for PostgreSQL and for the Model Context Protocol are not"
            " installed.",
            hint=f"Install them: {install_command(EXTRAS)}",
        )
