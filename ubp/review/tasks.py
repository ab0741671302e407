"""Commands of pages whose task a change removes: `make assets`, `npm run lint`.

Of 20 such commands in 300 commits of each of 19 repositories, 18 were edited, with the commit or
later, and one is outdated still.
"""

import json
import re
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

from ubp.bindings.path_words import is_test
from ubp.core.model import FilePath
from ubp.git.snapshot import read_documents
from ubp.index.session import Session
from ubp.index.view import View
from ubp.review.changed_files import ChangedFiles, unedited_pages
from ubp.staleness.model import Change

MAX_LINE = 1_000  # longer lines are generated

# Names of files, what a task is in them, and what runs one.
_MAKE = r"(?m)^([A-Za-z][\w./-]*(?:[ \t]+[A-Za-z][\w./-]*)*)[ \t]*::?(?!=)"
# Rules that may make a target of another name: `$(TARGETS):`, `test-%:`
_LISTED = r"(?m)^(?:\.PHONY[ \t]*:|[\w.-]+[ \t]*[:+?]?=)(.*)"
_PATTERN_RULE = r"(?m)^([\w./-]*%[\w./-]*)[ \t]*::?(?!=)"
_JUST = r"(?m)^@?([a-z][\w-]*)(?:[ \t][^:\n]*)?:(?!=)"
_TASK = r"(?m)^  ([a-z][\w:-]*):[ \t]*$"
_FENCE = re.compile(r"[ \t>]*(?:```|~~~)")
_INLINE = re.compile(r"`([^`\n]+)`")


class Runner(NamedTuple):
    """A program that runs tasks, as a pattern, and the pattern of a task in its files.

    An empty one: they are the scripts of a manifest.
    """

    command: str
    task: str


_RUNNERS = (
    (re.compile(r"(?:GNU)?[Mm]akefile|.+\.mk"), Runner(r"make", _MAKE)),
    (re.compile(r"\.?[Jj]ustfile"), Runner(r"just", _JUST)),
    (re.compile(r"[Tt]askfile(?:\.dist)?\.ya?ml"), Runner(r"task", _TASK)),
    (re.compile(r"package\.json"), Runner(r"(?:npm|yarn|pnpm|bun)[ \t]+run|yarn|pnpm", "")),
)


class LostCommand(NamedTuple):
    """A command of a page, in a line (from 1), and the file that lost its task."""

    page: FilePath
    line: int
    command: str
    source: FilePath


def find_lost_commands(
    session: Session, change: Change, files: ChangedFiles, selected: Collection[FilePath] | None
) -> list[LostCommand]:
    """Return the commands of pages whose task the change removes from its last file."""
    lost = [
        (path, runner, task)
        for path in files.sources
        if (runner := runner_of(path)) and not is_test(path)
        for task in sorted(_lost_tasks(path, runner, files))
    ]
    if not lost:
        return []
    view = change.after.view
    kept = {runner: _read_files(view, runner) for _, runner, _ in lost}
    lost = [
        (path, runner, task)
        for path, runner, task in lost
        if not any(_may_run(runner, task, text) for text in kept[runner])
    ]
    found = []
    for page, data in view.read(unedited_pages(session, change, selected)).items():
        text = (data or b"").decode("utf-8", "replace")
        for source, runner, task in lost:
            if task in text and (command := find_command(text, runner, task)):
                found.append(LostCommand(page, *command, source))
    return found


def _lost_tasks(path: FilePath, runner: Runner, files: ChangedFiles) -> frozenset[str]:
    before, after = files.versions(path)
    return find_tasks(runner, before) - find_tasks(runner, after)


def _read_files(view: View, runner: Runner) -> list[bytes]:
    """Return all files of a runner."""
    files = {path: entry for path, entry in view.files() if runner_of(path) == runner}
    files = {path: entry for path, entry in files.items() if entry.is_file}
    contents = read_documents(view.context.repository, view.snapshot, files)
    return [data for data in contents.values() if data]


def _may_run(runner: Runner, task: str, data: bytes) -> bool:
    if task in find_tasks(runner, data):
        return True
    if runner.task != _MAKE:
        return False
    text = data.decode("utf-8", "replace").replace("\\\n", " ")
    return any(task in names.split() for names in re.findall(_LISTED, text)) or any(
        fnmatchcase(task, pattern.replace("%", "*")) for pattern in re.findall(_PATTERN_RULE, text)
    )


def runner_of(path: str) -> Runner | None:
    """Return what runs the tasks of a file; None: it has none."""
    name = path.rpartition("/")[2]
    return next((runner for pattern, runner in _RUNNERS if pattern.fullmatch(name)), None)


def find_tasks(runner: Runner, data: bytes | None) -> frozenset[str]:
    """Return the names of the tasks in a file."""
    text = (data or b"").decode("utf-8", "replace")
    if runner.task:
        return frozenset(name for names in re.findall(runner.task, text) for name in names.split())
    try:
        scripts = json.loads(text or "{}").get("scripts")
    except (ValueError, AttributeError, RecursionError):
        return frozenset()
    return frozenset(scripts) if isinstance(scripts, dict) else frozenset()


def find_command(text: str, runner: Runner, task: str) -> tuple[int, str] | None:
    """Return the first line (from 1) of a page that runs a task, and the command."""
    command = rf"(?<![\w/.-])(?:{runner.command})(?:[ \t]+[\w=./-]+)*?[ \t]+"
    pattern = re.compile(rf"{command}{re.escape(task)}(?![\w./:=-])")
    for number, code in _code(text):
        if found := pattern.search(code):
            return number, found[0]
    return None


def _code(text: str) -> Iterator[tuple[int, str]]:
    is_fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > MAX_LINE:
            continue
        if _FENCE.match(line):
            is_fenced = not is_fenced
        elif is_fenced:
            yield number, line.partition(" #")[0]
        else:
            yield from ((number, code) for code in _INLINE.findall(line))
