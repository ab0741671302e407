"""`--format` and `--output-file`: one run, printed in one format and written to files in others."""

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from ubp.cli.terminal import Format, Terminal
from ubp.core.errors import UsageError
from ubp.core.files import write_atomically
from ubp.core.model import ObjectId, Snapshot
from ubp.frame.encoding import to_json, to_object
from ubp.frame.wording import Style, printable, size
from ubp.output.ci.outcome import Outcome, Provenance
from ubp.output.forge import Editor, Places, web_url
from ubp.output.formats import FORMATS, render
from ubp.workspace import Workspace

NAMES = ("text", "json", *FORMATS)

_SCP = re.compile(r"(?:[^@/\s]+@)?(?P<host>[^:/\s]{2,}):(?P<path>(?!//)\S+)")
_HOST = re.compile(r"[\w.-]+")
_SCHEMES = frozenset({"http", "https", "ssh", "git"})


class Answer(NamedTuple):
    """A command's output: its own text and record, and its outcome for all other formats."""

    text: Callable[[Style], str]
    record: Callable[[], object]
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
        formats = {self.stdout, *(name for name, _ in self.files)} & FORMATS.keys()
        outcome = _complete(answer.outcome(), formats, workspace, terminal) if formats else None
        texts = {name: render(name, outcome) for name in formats} if outcome else {}
        for name, path in self.files:
            if name == "json":
                text = to_json(to_object(answer.record()), is_indented=True) + "\n"
            elif name == "text":
                text = answer.text(Style())
            else:
                text = texts[name]
            write_file(path, text, terminal)
        if self.stdout == "json":
            terminal.record(answer.record())
        elif self.stdout == "text":
            terminal.show(answer.text(terminal.style))
        else:
            terminal.use_utf8()
            terminal.write(texts[self.stdout])


def read_outputs(stdout: Format | None, files: Sequence[str], terminal: Terminal) -> Outputs:
    """Parse `--format` and each `--output-file`, before the work is done.

    Raises:
        UsageError: a format or folder does not exist, or options contradict each other.
    """
    if terminal.options.json and stdout not in {None, "json"}:
        raise UsageError(
            f"--json cannot be combined with --format {stdout}.",
            hint=f"Write one of them to a file: --format {stdout} --output-file json=PATH",
        )
    is_json = terminal.options.json or stdout == "json"
    if is_json and not terminal.options.json:
        terminal.set(terminal.options._replace(json=True))  # errors are printed as JSON, too
    pairs = tuple(_parse_output_file(value, terminal) for value in files)
    paths = [os.path.abspath(path) for _, path in pairs]
    repeated = [path for _, path in pairs if paths.count(os.path.abspath(path)) > 1]
    if repeated:
        raise UsageError(
            f"Duplicate --output-file path: {repeated[0]}.",
            hint="Use a different path for each --output-file.",
        )
    return Outputs("json" if is_json else stdout or "text", pairs)


def _parse_output_file(value: str, terminal: Terminal) -> tuple[str, str]:
    name, _, path = value.partition("=")
    if name not in NAMES or not path:
        raise UsageError(
            f"Invalid --output-file: {value}.",
            cause=f"Expected FORMAT=PATH, where FORMAT is one of {', '.join(NAMES)}.",
            hint="For example: --output-file sarif=ubp.sarif",
        )
    check_folder(path, terminal)
    return name, path


def _complete(
    outcome: Outcome, formats: Collection[str], workspace: Workspace, terminal: Terminal
) -> Outcome:
    """Add what only some formats contain: positions, excerpts and the repository's URL."""
    report, excerpts, edits = outcome.report, outcome.excerpts, outcome.suggestions
    if any(FORMATS[name].is_placed for name in formats):
        from ubp.checks.locations import locate_findings
        from ubp.staleness.state import open_context

        session = workspace.session
        context = open_context(session, session.view_of(report.snapshot))
        report = locate_findings(report, context)
    if any(FORMATS[name].has_excerpts for name in formats):
        from ubp.output.ci.excerpts import build_excerpts
        from ubp.staleness.state import open_context

        session = workspace.session
        context = open_context(session, session.view_of(report.snapshot))
        excerpts = build_excerpts(report, context)
    if any(FORMATS[name].has_edits for name in formats):
        from ubp.output.ci.suggested_edits import build_suggestions
        from ubp.staleness.state import open_context

        session = workspace.session
        context = open_context(session, session.view_of(report.snapshot))
        edits = build_suggestions(outcome.report, context, session.config.keys)
    provenance = find_repository_url(workspace, report.snapshot, terminal.environment)
    return outcome._replace(
        report=report, provenance=provenance, excerpts=excerpts, suggestions=edits
    )


def check_folder(path: str, terminal: Terminal) -> None:
    """Raise `UsageError` unless the folder of a file exists, before the work is done."""
    folder = os.path.dirname(path)
    if not os.path.isdir(os.path.join(terminal.directory, folder)):
        raise UsageError(
            f"Cannot write {path}.",
            cause=f"The directory {folder} does not exist"
            " (paths are relative to the working directory).",
            hint="Create the directory, or use another path.",
        )


def write_html(file: str | None, name: str, page: str, config_dir: str, terminal: Terminal) -> str:
    """Write an HTML page to a file, by default `.ubp/NAME`; say so, and return its path.

    Raises:
        UsageError: it cannot be written.
    """
    if file is None:
        from ubp.core.setup_files import write_picture

        written = write_picture(config_dir, name, page)
        file = os.path.relpath(written, os.path.join(terminal.directory, ""))
    else:
        write_file(file, page, terminal)
    if not (terminal.options.json or terminal.options.quiet):
        length = size(len(page.encode("utf-8", "replace")))
        terminal.write(f"Wrote {printable(file)} ({length}).\n")
    return file


def open_in_browser(file: str, terminal: Terminal) -> None:
    """Open a file in a browser, or warn that none can be started."""
    import webbrowser
    from pathlib import Path

    address = Path(os.path.join(terminal.directory, file)).resolve().as_uri()
    if not webbrowser.open(address):
        terminal.warn(f"Cannot start a browser; open {file} manually.")


def write_file(path: str, text: str, terminal: Terminal) -> None:
    """Write a file atomically, at a path from the terminal's directory.

    An existing device or pipe is written to. A symlink is not followed, nor is one to a folder in a
    repository: a commit may contain links to any place.

    Raises:
        UsageError: it cannot be written.
    """
    full_path = os.path.join(terminal.directory, path)
    data = text.encode("utf-8", "backslashreplace")
    try:
        if link := _committable_link(full_path):
            raise UsageError(
                f"Cannot write {path}.",
                cause=f"The folder {link} is a symbolic link in a repository.",
                hint="Use the path that it leads to, or another path.",
            )
        if _is_stream(full_path):
            with open(full_path, "wb") as stream:
                stream.write(data)
        elif os.path.islink(full_path):
            raise UsageError(
                f"Cannot write {path}.",
                cause="It is a symbolic link.",
                hint="Use the path of its target, or another path.",
            )
        else:
            write_atomically(full_path, data)
    except OSError as error:
        raise UsageError(
            f"Cannot write {path}.",
            cause=f"{error.strerror or error}.",
            hint="Use a path in a writable directory.",
        ) from error


def _committable_link(path: str) -> str | None:
    """Return the first folder above a file that is a link inside a repository, None if none is.

    Links elsewhere, as /tmp is one on macOS, are the user's own.
    """
    folders: list[str] = []
    folder = os.path.dirname(path)
    while folder and folder not in folders:
        folders.append(folder)
        folder = os.path.dirname(folder)
    links = (folder for folder in reversed(folders) if os.path.islink(folder))
    return next((link for link in links if _is_in_repository(os.path.dirname(link))), None)


def _is_in_repository(folder: str) -> bool:
    folder = os.path.realpath(folder)
    while not os.path.lexists(os.path.join(folder, ".git")):
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return False
    return True


def _is_stream(path: str) -> bool:
    """Whether a path is a device or pipe; /dev/stdout counts as one even if it is a file."""
    is_device = os.path.dirname(os.path.abspath(path)) in {"/dev", "/dev/fd"}
    return is_device or (os.path.exists(path) and not os.path.isfile(path))


def find_repository_url(
    workspace: Workspace, snapshot: Snapshot, environment: Mapping[str, str]
) -> Provenance | None:
    """Return the repository's URL without credentials, from CI or the remote `origin`, or None."""
    commit = snapshot.commit
    revision = None if snapshot.changes else commit
    github = environment.get("GITHUB_SERVER_URL"), environment.get("GITHUB_REPOSITORY")
    if all(github):
        url = _public_url("/".join(filter(None, github)))
        branch = environment.get("GITHUB_HEAD_REF") or environment.get("GITHUB_REF_NAME")
        pages = f"{url}/blob/{commit}/"
    elif project := environment.get("CI_PROJECT_URL"):
        url, branch = _public_url(project), environment.get("CI_COMMIT_REF_NAME")
        pages = f"{url}/-/blob/{commit}/"
    else:
        remote = workspace.session.repository.run("config", "--get", "remote.origin.url", ok=(0, 1))
        url, branch, pages = _public_url(remote.decode("utf-8", "replace").strip()), None, ""
    if url is None:
        return None
    return Provenance(url, revision, branch, pages if commit and pages else None)


def find_places(
    workspace: Workspace, snapshot: Snapshot, editor: Editor | None, terminal: Terminal
) -> Places:
    """Return where files and commits can be seen: on the repository's forge, files in an editor."""
    repository = workspace.session.repository
    places = Places(editor=editor, root=(repository.root or "").lstrip("/"))
    provenance = find_repository_url(workspace, snapshot, terminal.environment)
    url = "" if provenance is None else web_url(provenance.url)
    if not url or snapshot.commit is None:
        return places
    # In CI the commit was fetched from the forge; elsewhere it may not have been pushed.
    is_ci = provenance is not None and provenance.pages is not None
    query = ("rev-list", snapshot.commit, "--not", "--remotes=origin")
    listed = "" if is_ci else repository.run(*query).decode("ascii")
    unpushed = frozenset(map(ObjectId, listed.split()))
    commit: ObjectId | None = snapshot.commit
    if commit in unpushed:
        newest = repository.run("rev-list", "--max-count=1", "--remotes=origin")
        commit = ObjectId(newest.decode("ascii").strip()) or None
    return places._replace(url=url, commit=commit, unpushed=unpushed)


def _public_url(address: str) -> str | None:
    """Return an address without user, password and query; None for a local folder."""
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
