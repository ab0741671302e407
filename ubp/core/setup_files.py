"""The files in `.ubp/`: the configuration that `ubp init` proposes, the debt file, .gitignore."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ubp.core.config import DEFAULT_INCLUDE
from ubp.core.config_file import schema_text
from ubp.core.errors import UsageError
from ubp.core.files import read_regular_file, write_atomically
from ubp.core.model import DEBT_FILE, FilePath
from ubp.core.paths import parent_folders

CONFIG_FOLDER = FilePath(".ubp")
CONFIG_NAME = "config.json"
SCHEMA_NAME = "config.schema.json"
IGNORE_NAME = ".gitignore"

# Only what a team shares is tracked: the configuration with its schema, which editors read, the
# accepted findings, and this file.
IGNORE_TEXT = "*\n!.gitignore\n!config.json\n!config.schema.json\n!debt.txt\n"

# In the root, the page that every repository has, in any language.
_README = re.compile(r"readme(?:[._-][\w-]+)*\.(?:md|mdx|markdown)", re.IGNORECASE)


class Plan(NamedTuple):
    """A configuration to write; `docs_dir` is "" if pages may be anywhere.

    `translations` are rules as the configuration writes them.
    """

    docs_dir: str = ""
    include: tuple[str, ...] = DEFAULT_INCLUDE
    exclude: tuple[str, ...] = ()
    translations: tuple[Mapping[str, Any], ...] = ()


TOPIC_LETTERS = 3, 16  # of a word to search for
# Titles that every documentation has.
_COMMON_TITLES = frozenset(
    {"about", "changelog", "contents", "contributing", "documentation", "home", "index"}
    | {"installation", "introduction", "license", "overview", "readme", "summary", "はじめに"}
    | {"概要", "目次", "導入", "インストール"}
)


def readme_pages(documents: Iterable[FilePath]) -> tuple[FilePath, ...]:
    """Return the READMEs in the root."""
    return tuple(path for path in documents if _README.fullmatch(path))


def plan_for(docs_dir: str, readmes: Iterable[FilePath] = ()) -> Plan:
    """Return the plan for pages below a folder, and READMEs; "" is the whole repository."""
    if docs_dir in {"", "."}:
        return Plan()
    below = (f"{docs_dir}/{pattern}" for pattern in DEFAULT_INCLUDE)
    return Plan(docs_dir, (*readmes, *below))


def count_by_folder(paths: Iterable[FilePath]) -> Counter[str]:
    """Return how many pages each folder of the root has, with a final slash, or a file there."""
    return Counter(top + slash for top, slash, _ in (path.partition("/") for path in paths))


def largest_folder(paths: Iterable[FilePath], limit: int) -> FilePath:
    """Return the folder with the most files, but not more than a limit; "" if there is none."""
    counts: Counter[str] = Counter()
    for path in paths:
        counts.update(parent_folders(path))
    small = [folder for folder, number in counts.items() if number <= limit]
    return FilePath(min(small, key=lambda folder: (-counts[folder], folder), default=""))


def choose_topic(titles: Iterable[str]) -> str:
    """Return a word of a repository's titles that is worth a search: "" if there is none.

    The longest title of one word says most; else it is the longest word of all.
    """
    words = [title.split() for title in titles]
    usable = [
        [word for word in title if word.isalnum() and word.lower() not in _COMMON_TITLES]
        for title in words
    ]
    alone = [title[0] for title in usable if len(title) == 1 and _is_typed(title[0])]
    others = [word for title in usable for word in title if _is_typed(word)]
    return max(sorted(alone or others), key=len, default="")


def _is_typed(word: str) -> bool:
    """Return whether people would type a word; a sentence in Japanese has no spaces."""
    shortest, longest = TOPIC_LETTERS
    letters = len(word) if word.isascii() else 2 * len(word)
    return shortest <= letters <= longest


def config_record(plan: Plan) -> Mapping[str, Any]:
    """Return the configuration's JSON record: only what differs from the defaults."""
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
    if plan.translations:
        record["translations"] = [dict(rule) for rule in plan.translations]
    return record


def write_files(config_dir: str, plan: Plan | None) -> tuple[str, ...]:
    """Write the configuration (None: keep the existing one), its schema and the .gitignore.

    Returns:
        The names of the files that were created or changed.

    Raises:
        UsageError: a file to be written, or the folder, is a symbolic link.
    """
    files = {IGNORE_NAME: IGNORE_TEXT, SCHEMA_NAME: schema_text()}
    if plan is not None:
        files = {CONFIG_NAME: _config_text(plan), **files}
    return _write_all(config_dir, files)


def create_file(root: str, path: str, text: str) -> bool:
    """Create a file below a work tree's root; return False, and write nothing, where one exists.

    Raises:
        UsageError: a folder on the way is a symbolic link.
    """
    file = os.path.join(root, path)
    if os.path.lexists(file):
        return False
    folder, *names = root, *path.split("/")[:-1]
    for name in names:
        folder = os.path.join(folder, name)
        _refuse_link(folder)
    os.makedirs(folder, exist_ok=True)
    write_atomically(file, text.encode())
    return True


def create_program(file: str, text: str) -> bool:
    """Create an executable file; return False, and write nothing, where one exists."""
    os.makedirs(os.path.dirname(file), exist_ok=True)
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o755)
    except FileExistsError:
        return False
    with open(handle, "wb") as program:
        program.write(text.encode())
    return True


def write_debt_file(root: str, text: str) -> None:
    """Write the debt file of a work tree, and the .gitignore that lets Git track it.

    Raises:
        UsageError: a file to be written, or the folder, is a symbolic link.
    """
    folder, name = os.path.split(os.path.join(root, DEBT_FILE))
    _write_all(folder, {IGNORE_NAME: IGNORE_TEXT, name: text})


def write_picture(config_dir: str, name: str, text: str) -> str:
    """Write an HTML page into `.ubp/`, where Git ignores it, and return its path.

    Without a .gitignore one is written that ignores itself too, so that nothing becomes untracked.

    Raises:
        UsageError: a file to be written, or the folder, is a symbolic link.
    """
    has_ignore = os.path.lexists(os.path.join(config_dir, IGNORE_NAME))
    _write_all(config_dir, {name: text} if has_ignore else {IGNORE_NAME: "*\n", name: text})
    return os.path.join(config_dir, name)


def read_config(config_dir: str) -> str:
    """Return the configuration's text, or the default that `ubp init` would write."""
    try:
        with open(os.path.join(config_dir, CONFIG_NAME), encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return _config_text(Plan())


def write_config(config_dir: str, text: str) -> None:
    """Write the configuration's text, its schema, and the .gitignore that lets Git track it.

    Raises:
        UsageError: a file to be written, or the folder, is a symbolic link.
    """
    files = {IGNORE_NAME: IGNORE_TEXT, SCHEMA_NAME: schema_text(), CONFIG_NAME: text}
    _write_all(config_dir, files)


def set_collection(text: str, name: str, entry: Mapping[str, Any] | None) -> str:
    """Return a configuration's text with this entry of `collections`; None removes it.

    The other settings keep their order and the text its indentation.
    """
    settings = json.loads(text)
    collections = settings.setdefault("collections", {})
    if entry is None:
        collections.pop(name, None)
    else:
        collections[name] = dict(entry)
    if not collections:
        del settings["collections"]
    first = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return json.dumps(settings, indent=first[1] if first else 2, ensure_ascii=False) + "\n"


def is_configured(config_dir: str) -> bool:
    """Return whether a configuration exists."""
    return os.path.lexists(os.path.join(config_dir, CONFIG_NAME))


def _config_text(plan: Plan) -> str:
    return json.dumps(config_record(plan), indent=2, ensure_ascii=False) + "\n"


def _write_all(folder: str, files: Mapping[str, str]) -> tuple[str, ...]:
    """Write texts to files of a folder; return the names of those that changed."""
    for path in [folder, *(os.path.join(folder, name) for name in files)]:
        _refuse_link(path)
    os.makedirs(folder, exist_ok=True)
    return tuple(name for name, text in files.items() if _write(os.path.join(folder, name), text))


def _refuse_link(path: str) -> None:
    if os.path.islink(path):
        raise UsageError(
            f"Cannot write {path}.",
            cause="It is a symbolic link, which may lead out of the repository.",
            hint="Replace it with a regular file or folder, or remove it.",
        )


def _write(path: str, text: str) -> bool:
    try:
        if read_regular_file(path).decode() == text:
            return False
    except (FileNotFoundError, UnicodeDecodeError):
        pass
    write_atomically(path, text.encode())
    return True
