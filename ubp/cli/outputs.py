"""Files that a command was told to write: at a path from the working directory, whole or not.

Where the repository can be seen: what CI says, else what Git calls its origin.

`--format` and `--output-file`: one run, printed in one format and written to files in others.
"""

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from ubp.cli.terminal import Format, Terminal
from ubp.core.errors import UsageError
from ubp.core.files import write_atomically
from ubp.core.model import Snapshot
from ubp.output.ci.outcome import Outcome, Provenance
from ubp.output.formats import FORMATS, render
from ubp.output.records.staleness import to_json
from ubp.output.wording import Style
from ubp.workspace import Workspace


def check_folder(path: str, terminal: Terminal) -> None:
    """Tell that a file cannot be written, before the work is done.

    Raises:
        UsageError: there is no such folder.
    """
    folder = os.path.dirname(path)
    if not os.path.isdir(os.path.join(terminal.directory, folder)):
        raise UsageError(
            f"{path} cannot be written.",
            cause=f"There is no folder {folder}; paths are relative to the working directory.",
            hint="Make the folder first, or name another path.",
        )


def write_file(path: str, text: str, terminal: Terminal) -> None:
    """Put a file in place: whoever reads it finds the old text or the new one, never a part.

    A device or pipe that stands there is written to. A symlink is not followed: the repository may
    hold one that leads anywhere.

    Raises:
        UsageError: it cannot be written.
    """
    place = os.path.join(terminal.directory, path)
    data = text.encode("utf-8", "backslashreplace")
    try:
        if _is_stream(place):
            with open(place, "wb") as stream:
                stream.write(data)
        elif os.path.islink(place):
            raise UsageError(
                f"{path} cannot be written.",
                cause="It is a symlink.",
                hint="Name the file that it leads to, or another one.",
            )
        else:
            write_atomically(place, data)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written.",
            cause=f"{error.strerror or error}.",
            hint="Name a file in a folder where you may write.",
        ) from error


def _is_stream(place: str) -> bool:
    """Whether a device or pipe stands there; /dev/stdout is one wherever it leads."""
    is_device = os.path.abspath(place).startswith("/dev/")
    return is_device or (os.path.exists(place) and not os.path.isfile(place))


_SCP = re.compile(r"(?:[^@/\s]+@)?(?P<host>[^:/\s]{2,}):(?P<path>(?!//)\S+)")
_HOST = re.compile(r"[\w.-]+")
_SCHEMES = frozenset({"http", "https", "ssh", "git"})


def find_repository_url(
    workspace: Workspace, snapshot: Snapshot, environment: Mapping[str, str]
) -> Provenance | None:
    """The repository's address, without whatever in it is secret; None where it has none."""
    commit = snapshot.commit
    revision = None if snapshot.changes else commit
    github = environment.get("GITHUB_SERVER_URL"), environment.get("GITHUB_REPOSITORY")
    if all(github):
        url = _public("/".join(filter(None, github)))
        branch = environment.get("GITHUB_HEAD_REF") or environment.get("GITHUB_REF_NAME")
        pages = f"{url}/blob/{commit}/"
    elif project := environment.get("CI_PROJECT_URL"):
        url, branch = _public(project), environment.get("CI_COMMIT_REF_NAME")
        pages = f"{url}/-/blob/{commit}/"
    else:
        url, branch, pages = _origin(workspace), None, ""
    if url is None:
        return None
    return Provenance(url, revision, branch, pages if commit and pages else None)


def _origin(workspace: Workspace) -> str | None:
    out = workspace.session.repository.run("config", "--get", "remote.origin.url", ok=(0, 1))
    return _public(out.decode("utf-8", "replace").strip())


def _public(address: str) -> str | None:
    """An address without user, password and query; None for a folder of this machine."""
    scp = _SCP.fullmatch(address)
    if scp and "://" not in address:
        return f"ssh://{scp['host']}/{quote(scp['path'].lstrip('/'), safe='/~%')}"
    try:
        parts = urlsplit(address)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return None
    if parts.scheme not in _SCHEMES or not _HOST.fullmatch(parts.hostname or ""):
        return None
    return f"{parts.scheme}://{parts.hostname}{port}{quote(parts.path, safe='/~%')}"


OWN: tuple[Format, Format] = ("text", "json")
NAMES = (*OWN, *FORMATS)


class Answer(NamedTuple):
    """What a command answers: its own text and record, and its outcome for all other formats."""

    text: Callable[[Style], str]
    record: Callable[[], Mapping[str, Any]]
    outcome: Callable[[], Outcome]


class Outputs(NamedTuple):
    """The format of stdout, and for each file its format."""

    stdout: str
    files: tuple[tuple[str, str], ...]

    def deliver(self, answer: Answer, workspace: Workspace, terminal: Terminal) -> None:
        """Render every format once, write the files, then print.

        Raises:
            UsageError: a file cannot be written.
        """
        wanted = {self.stdout, *(name for name, _ in self.files)} & FORMATS.keys()
        outcome = _complete(answer.outcome(), wanted, workspace, terminal) if wanted else None
        texts = {name: render(name, outcome) for name in wanted} if outcome else {}
        for name, path in self.files:
            write_file(path, texts[name] if name in texts else _own(name, answer), terminal)
        if self.stdout == "json":
            terminal.record(answer.record())
        elif self.stdout == "text":
            terminal.write(answer.text(terminal.style))
        else:
            terminal.speak_utf8()
            terminal.write(texts[self.stdout])


def read_outputs(stdout: Format | None, files: Sequence[str], terminal: Terminal) -> Outputs:
    """Understand `--format` and each `FORMAT=PATH`; what cannot work is told before the work.

    Raises:
        UsageError: no such format or folder, or contradicting options.
    """
    if terminal.options.json and stdout not in {None, "json"}:
        raise UsageError(
            f"--json and --format {stdout} contradict each other.",
            hint=f"Write one to a file: --format {stdout} --output-file json=PATH",
        )
    is_json = terminal.options.json or stdout == "json"
    if is_json and not terminal.options.json:
        terminal.set(terminal.options._replace(json=True))  # an error is one object, too
    pairs = tuple(_pair(written, terminal) for written in files)
    places = [os.path.abspath(path) for _, path in pairs]
    twice = [path for _, path in pairs if places.count(os.path.abspath(path)) > 1]
    if twice:
        raise UsageError(
            f"{twice[0]} is named twice.", hint="Give each --output-file a path of its own."
        )
    return Outputs("json" if is_json else stdout or "text", pairs)


def _pair(written: str, terminal: Terminal) -> tuple[str, str]:
    name, _, path = written.partition("=")
    if name not in NAMES or not path:
        raise UsageError(
            f"--output-file {written} is not understood.",
            cause=f"Expected is FORMAT=PATH; formats are {', '.join(NAMES)}.",
            hint="For example: --output-file sarif=ubp.sarif",
        )
    check_folder(path, terminal)
    return name, path


def _complete(
    outcome: Outcome, wanted: Collection[str], workspace: Workspace, terminal: Terminal
) -> Outcome:
    """Add what only some formats tell."""
    report = outcome.report
    if any(FORMATS[name].is_placed for name in wanted):
        report = workspace.place(report)
    seen = find_repository_url(workspace, report.snapshot, terminal.environment)
    return outcome._replace(report=report, provenance=seen)


def _own(name: str, answer: Answer) -> str:
    """What a command says itself, without colours."""
    if name == "json":
        return to_json(answer.record(), is_indented=True) + "\n"
    return answer.text(Style())
