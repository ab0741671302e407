"""Use case behind `ubp init`: what is asked and written, and the snippets to paste elsewhere."""

import json
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from ubp.config import DEFAULT_INCLUDE
from ubp.config_file import schema_text
from ubp.errors import UsageError
from ubp.model import DEBT_FILE, FilePath

CONFIG_NAME = "config.json"
SCHEMA_NAME = "config.schema.json"
IGNORE_NAME = ".gitignore"

# What a team shares: the configuration, the accepted old findings, and this file. Nothing else:
# the index is derived, and each machine's own.
IGNORE_TEXT = "*\n!.gitignore\n!config.json\n!debt.txt\n"

_PLAIN_SCALAR = re.compile(r"(?:https?://|/)?[\w./@+~=-]+(?: [\w./@+~=-]+)*")

# Where documentation is kept, the commonest first.
DOCS_FOLDERS = ("docs", "doc", "documentation")


class Plan(NamedTuple):
    """What the configuration is to say; `docs_dir` is "" where pages may lie anywhere."""

    docs_dir: str = ""
    include: tuple[str, ...] = DEFAULT_INCLUDE
    exclude: tuple[str, ...] = ()


class Place(NamedTuple):
    """Where UBP was set up and how it was started: what snippets are made of.

    `launch` is the command that runs now, `server` the same where it can serve agents, else empty;
    `install` the line that makes it so. `repository` and `revision` tell where it was installed
    from, None where that is no Git repository. `files` are names that stand in the root.
    """

    root: str
    launch: tuple[str, ...]
    server: tuple[str, ...]
    install: str
    repository: str | None
    revision: str | None
    files: frozenset[str]


class Snippet(NamedTuple):
    """Something to paste: a row of SNIPPETS, filled in."""

    name: str
    title: str
    text: str


class Initialized(NamedTuple):
    """What `ubp init` did: files from the root, counts of the new index, snippets to paste.

    `embedded` (sections) is None where nothing was to be embedded, or there is no model.
    """

    root: str
    written: tuple[str, ...]
    is_kept: bool
    documents: int
    bound: int
    problems: int
    links: int
    embedded: int | None
    seconds: float
    snippets: tuple[Snippet, ...]


class Row(NamedTuple):
    """A snippet: what it is called, where it can be used, what it says there."""

    name: str
    title: Callable[[Place], str]
    is_possible: Callable[[Place], bool]
    text: Callable[[Place], str]


def propose(documents: Collection[FilePath], bound: Collection[FilePath]) -> Plan:
    """The documentation folder where there is one, unless pages outside of it name sources."""
    for folder in DOCS_FOLDERS:
        below = [path for path in documents if path.startswith(f"{folder}/")]
        if below and all(path.startswith(f"{folder}/") for path in bound):
            return plan_for(folder)
    return Plan()


def plan_for(docs_dir: str) -> Plan:
    """The plan for pages below one folder; "" is the whole repository."""
    if docs_dir in {"", "."}:
        return Plan()
    return Plan(docs_dir, tuple(f"{docs_dir}/{pattern}" for pattern in DEFAULT_INCLUDE))


def config_record(plan: Plan) -> Mapping[str, Any]:
    """The configuration: only what differs from the defaults."""
    record: dict[str, Any] = {"$schema": f"./{SCHEMA_NAME}"}
    if plan.docs_dir:
        record["docs_dir"] = plan.docs_dir
    source = {}
    if plan.include != DEFAULT_INCLUDE:
        source["include"] = list(plan.include)
    if plan.exclude:
        source["exclude"] = list(plan.exclude)
    if source:
        record["source"] = source
    return record


def write_files(data_dir: str, plan: Plan | None) -> tuple[str, ...]:
    """Write the configuration (None: keep the one that is there) and what goes with it.

    Returns the names of the files that were written or changed.

    Raises:
        UsageError: a symbolic link stands where a file is to be written.
    """
    files = {IGNORE_NAME: IGNORE_TEXT, SCHEMA_NAME: schema_text()}
    if plan is not None:
        text = json.dumps(config_record(plan), indent=2, ensure_ascii=False) + "\n"
        files = {CONFIG_NAME: text, **files}
    _refuse_links(data_dir, ["", *files])
    os.makedirs(data_dir, exist_ok=True)
    return tuple(name for name, text in files.items() if _write(os.path.join(data_dir, name), text))


def write_debt_file(root: str, text: str) -> None:
    """Write the debt file of a work tree, and see that Git may track it.

    Raises:
        UsageError: a symbolic link stands where a file is to be written.
    """
    folder, name = os.path.split(os.path.join(root, DEBT_FILE))
    _refuse_links(folder, ["", IGNORE_NAME, name])
    os.makedirs(folder, exist_ok=True)
    for file, content in ((IGNORE_NAME, IGNORE_TEXT), (name, text)):
        _write(os.path.join(folder, file), content)


def is_configured(data_dir: str) -> bool:
    """Whether a configuration is there already."""
    return os.path.lexists(os.path.join(data_dir, CONFIG_NAME))


def make_snippets(place: Place) -> tuple[Snippet, ...]:
    """The snippets that can be used here."""
    return tuple(
        Snippet(row.name, row.title(place), row.text(place))
        for row in SNIPPETS
        if row.is_possible(place)
    )


def _refuse_links(data_dir: str, names: Sequence[str]) -> None:
    for name in names:
        path = os.path.join(data_dir, name) if name else data_dir
        if os.path.islink(path):
            raise UsageError(
                f"{path} is a symbolic link.",
                cause="UBP writes nothing through links: they may leave the repository.",
                hint="Put a real file or folder in its place, or remove it.",
            )


def _write(path: str, text: str) -> bool:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            if file.read() == text:
                return False
    except (FileNotFoundError, UnicodeDecodeError):
        pass
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    return True


def _pre_commit_title(place: Place) -> str:
    if ".pre-commit-config.yaml" in place.files:
        return "pre-commit: add this to `repos` in .pre-commit-config.yaml"
    return "pre-commit: .pre-commit-config.yaml, then `pre-commit install`"


def _pre_commit_repository(place: Place) -> str:
    return (
        f"{_repos(place)}"
        f"  - repo: {_scalar(place.repository or '')}\n"
        f"    rev: {_scalar(place.revision or '')}\n"
        "    hooks:\n"
        "      - id: ubp-stale\n"
    )


def _pre_commit_local(place: Place) -> str:
    import shlex

    return (
        f"{_repos(place)}"
        "  - repo: local\n"
        "    hooks:\n"
        "      - id: ubp-stale\n"
        "        name: stale documentation\n"
        f"        entry: {_scalar(shlex.join([*place.launch, 'stale', '--staged']))}\n"
        "        language: system\n"
        "        always_run: true\n"
        "        pass_filenames: false\n"
        "        require_serial: true\n"
        "        stages: [pre-commit, pre-merge-commit]\n"
    )


def _claude_code(place: Place) -> str:
    import shlex

    return shlex.join(["claude", "mcp", "add", "ubp", "--", *_serving(place)]) + "\n"


def _servers(key: str, **more: str) -> Callable[[Place], str]:
    """What a client reads from a file: its servers under this key."""

    def text(place: Place) -> str:
        command, *arguments = _serving(place)
        server = json.dumps({**more, "command": command, "args": arguments}, ensure_ascii=False)
        return f'{{\n  "{key}": {{\n    "ubp": {server}\n  }}\n}}\n'

    return text


def _serving(place: Place) -> tuple[str, ...]:
    # Clients start it from anywhere.
    return (*place.server, "--cwd", place.root, "serve")


def _can_serve(place: Place) -> bool:
    return bool(place.server)


def _repos(place: Place) -> str:
    return "" if ".pre-commit-config.yaml" in place.files else "repos:\n"


def _scalar(text: str) -> str:
    """A YAML scalar, quoted unless nothing in it could mean anything else."""
    return text if _PLAIN_SCALAR.fullmatch(text) else json.dumps(text, ensure_ascii=False)


# A row for everything that can be pasted; what needs a command that UBP lacks is no row.
SNIPPETS = (
    Row(
        "pre-commit",
        _pre_commit_title,
        lambda place: place.repository is not None,
        _pre_commit_repository,
    ),
    Row(
        "pre-commit-local",
        lambda place: f"{_pre_commit_title(place)} (runs the installed ubp)",
        lambda place: bool(place.launch),
        _pre_commit_local,
    ),
    Row(
        "claude-code",
        lambda _: "Claude Code: run this in the repository",
        _can_serve,
        _claude_code,
    ),
    Row(
        "claude-desktop",
        lambda _: "Claude Desktop: claude_desktop_config.json",
        _can_serve,
        _servers("mcpServers"),
    ),
    Row("cursor", lambda _: "Cursor: .cursor/mcp.json", _can_serve, _servers("mcpServers")),
    Row(
        "vscode",
        lambda _: "VS Code: .vscode/mcp.json",
        _can_serve,
        _servers("servers", type="stdio"),
    ),
    Row(
        "mcp-extra",
        lambda _: "Agents: this installs what `ubp serve` needs",
        lambda place: not place.server,
        lambda place: f"{place.install}\n",
    ),
)
