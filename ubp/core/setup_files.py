"""Use case behind `ubp init`: what is asked and written."""

import json
import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from ubp.core.config import DEFAULT_INCLUDE
from ubp.core.config_file import schema_text
from ubp.core.errors import UsageError
from ubp.core.files import write_atomically
from ubp.core.model import DEBT_FILE, FilePath
from ubp.core.snippets import Snippet

CONFIG_NAME = "config.json"
SCHEMA_NAME = "config.schema.json"
IGNORE_NAME = ".gitignore"

# What a team shares: the configuration, the accepted old findings, and this file. Nothing else:
# the schema comes with each version of UBP.
IGNORE_TEXT = "*\n!.gitignore\n!config.json\n!debt.txt\n"

# Where documentation is kept, the commonest first.
DOCS_FOLDERS = ("docs", "doc", "documentation")


class Plan(NamedTuple):
    """What the configuration is to say; `docs_dir` is "" where pages may lie anywhere."""

    docs_dir: str = ""
    include: tuple[str, ...] = DEFAULT_INCLUDE
    exclude: tuple[str, ...] = ()


class Preview(NamedTuple):
    """How many pages could be bound, how many with a confidence of `sure` or more."""

    proposed: int
    confident: int
    sure: float


class InitResult(NamedTuple):
    """What `ubp init` did: files from the root, counts of the new index, snippets to paste.

    `embedded` (sections) is None where nothing was to be embedded, or there is no model. So many
    findings are `acceptable`: they are there already, and no debt file is. `preview` is None where
    most pages are bound already, and where it would take too long (`is_large`).
    """

    root: str
    written: tuple[str, ...]
    is_kept: bool
    documents: int
    bound: int
    problems: int
    links: int
    embedded: int | None
    acceptable: int
    preview: Preview | None
    is_large: bool
    seconds: float
    snippets: tuple[Snippet, ...]


def propose_config(documents: Collection[FilePath], bound: Collection[FilePath]) -> Plan:
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


def write_files(config_dir: str, plan: Plan | None) -> tuple[str, ...]:
    """Write the configuration (None: keep the one that is there) and what goes with it.

    Returns the names of the files that were written or changed.

    Raises:
        UsageError: a symbolic link stands where a file is to be written.
    """
    files = {IGNORE_NAME: IGNORE_TEXT, SCHEMA_NAME: schema_text()}
    if plan is not None:
        files = {CONFIG_NAME: _config_text(plan), **files}
    _refuse_links(config_dir, ["", *files])
    os.makedirs(config_dir, exist_ok=True)
    return tuple(
        name for name, text in files.items() if _write(os.path.join(config_dir, name), text)
    )


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


def read_config(config_dir: str) -> str:
    """The configuration's text as it is; where there is none, what `ubp init` would write."""
    try:
        with open(os.path.join(config_dir, CONFIG_NAME), encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return _config_text(Plan())


def write_config(config_dir: str, text: str) -> None:
    """Write the configuration, and see that Git may track it.

    Raises:
        UsageError: a symbolic link stands where a file is to be written.
    """
    files = {IGNORE_NAME: IGNORE_TEXT, SCHEMA_NAME: schema_text(), CONFIG_NAME: text}
    _refuse_links(config_dir, ["", *files])
    os.makedirs(config_dir, exist_ok=True)
    for name, content in files.items():
        _write(os.path.join(config_dir, name), content)


def is_configured(config_dir: str) -> bool:
    """Whether a configuration is there already."""
    return os.path.lexists(os.path.join(config_dir, CONFIG_NAME))


def _config_text(plan: Plan) -> str:
    return json.dumps(config_record(plan), indent=2, ensure_ascii=False) + "\n"


def _refuse_links(config_dir: str, names: Sequence[str]) -> None:
    for name in names:
        path = os.path.join(config_dir, name) if name else config_dir
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
    write_atomically(path, text.encode())
    return True
