"""What can be pasted elsewhere, filled in for the place where UBP was set up."""

import json
import re
import shlex
from collections.abc import Callable
from typing import NamedTuple

from ubp.core.shell import join

_PLAIN_SCALAR = re.compile(r"(?:https?://|/)?[\w./@+~=-]+(?: [\w./@+~=-]+)*")
_AT_GITHUB = re.compile(
    r"(?:https://|ssh://git@|git@)github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?"
)
_ADDRESS = re.compile(r"(?:\w+://)?(?:[^@/]*@)?([\w.-]+)[:/]")
_WORKFLOW = ".github/workflows/documentation.yml"
_PIPELINE = ".gitlab-ci.yml"


class SnippetTarget(NamedTuple):
    """Where UBP was set up and how it was started: what snippets are made of.

    `launch` is the command that runs now, `server` the same where it can serve agents, else empty;
    `install` the line that makes it so. `repository` and `revision` tell where it was installed
    from, None where that is no Git repository. `files` are names that stand in the root, `origin`
    is the address that the project was cloned from, "" where it was not.
    """

    root: str
    launch: tuple[str, ...]
    server: tuple[str, ...]
    install: str
    repository: str | None
    revision: str | None
    files: frozenset[str]
    origin: str


class Snippet(NamedTuple):
    """Something to paste: a row of SNIPPETS, filled in."""

    name: str
    title: str
    text: str


class SnippetRow(NamedTuple):
    """A snippet: what it is called, where it can be used, what it says there."""

    name: str
    title: Callable[[SnippetTarget], str]
    is_possible: Callable[[SnippetTarget], bool]
    text: Callable[[SnippetTarget], str]


def make_snippets(place: SnippetTarget) -> tuple[Snippet, ...]:
    """The snippets that can be used here."""
    return tuple(
        Snippet(row.name, row.title(place), row.text(place))
        for row in SNIPPETS
        if row.is_possible(place)
    )


def _pre_commit_title(place: SnippetTarget) -> str:
    if ".pre-commit-config.yaml" in place.files:
        return "pre-commit: add this to `repos` in .pre-commit-config.yaml"
    return "pre-commit: .pre-commit-config.yaml, then `pre-commit install`"


def _pre_commit_repository(place: SnippetTarget) -> str:
    return (
        f"{_repos(place)}"
        f"  - repo: {_scalar(place.repository or '')}\n"
        f"    rev: {_scalar(place.revision or '')}\n"
        "    hooks:\n"
        "      - id: ubp-stale\n"
    )


def _pre_commit_local(place: SnippetTarget) -> str:
    return (
        f"{_repos(place)}"
        "  - repo: local\n"
        "    hooks:\n"
        "      - id: ubp-stale\n"
        "        name: stale documentation\n"
        f"        entry: {_scalar(shlex.join([*place.launch, 'stale', '--staged']))}\n"  # no shell
        "        language: system\n"
        "        always_run: true\n"
        "        pass_filenames: false\n"
        "        require_serial: true\n"
        "        stages: [pre-commit, pre-merge-commit]\n"
    )


def _github(place: SnippetTarget) -> str:
    return (
        "on: pull_request\n"
        "permissions:\n"
        "  contents: read\n"
        "jobs:\n"
        "  documentation:\n"
        "    runs-on: ubuntu-latest\n"
        "    steps:\n"
        "      - uses: actions/checkout@v5\n"
        f"      - uses: {_scalar(f'{_action(place)}@{place.revision}')}\n"
    )


def _can_be_an_action(place: SnippetTarget) -> bool:
    """Whether the project is at GitHub, and so is what UBP was installed from."""
    is_at_github = ".github" in place.files or _host(place.origin) == "github.com"
    return is_at_github and bool(_action(place))


def _action(place: SnippetTarget) -> str:
    match = _AT_GITHUB.fullmatch(place.repository or "")
    return match[1] if match else ""


def _gitlab(place: SnippetTarget) -> str:
    what = "ubp"
    if place.repository:
        what = f"ubp @ git+{place.repository}@{place.revision}"
    install = join(["pip", "install", "--quiet", what])
    check = 'ubp check --base "$CI_MERGE_REQUEST_DIFF_BASE_SHA" --output-file gitlab=ubp.json'
    return (
        "documentation:\n"
        "  image: python:3.13\n"
        "  rules:\n"
        '    - if: $CI_PIPELINE_SOURCE == "merge_request_event"\n'
        "  variables:\n"
        '    GIT_DEPTH: "0"\n'
        "  script:\n"
        f"    - {json.dumps(install, ensure_ascii=False)}\n"
        f"    - {check}\n"
        "  artifacts:\n"
        "    reports:\n"
        "      codequality: ubp.json\n"
    )


def _gitlab_title(place: SnippetTarget) -> str:
    return f"GitLab: {'add this to ' if _PIPELINE in place.files else ''}{_PIPELINE}"


def _is_at_gitlab(place: SnippetTarget) -> bool:
    return _PIPELINE in place.files or "gitlab" in _host(place.origin)


def _host(address: str) -> str:
    """Of an address as Git takes them: https://user@host:1/path, user@host:path."""
    match = _ADDRESS.match(address)
    return match[1].lower() if match else ""


def _claude_code(place: SnippetTarget) -> str:
    return join(["claude", "mcp", "add", "ubp", "--", *_serving(place)]) + "\n"


def _servers(key: str, **more: str) -> Callable[[SnippetTarget], str]:
    """What a client reads from a file: its servers under this key."""

    def text(place: SnippetTarget) -> str:
        command, *arguments = _serving(place)
        server = json.dumps({**more, "command": command, "args": arguments}, ensure_ascii=False)
        return f'{{\n  "{key}": {{\n    "ubp": {server}\n  }}\n}}\n'

    return text


def _serving(place: SnippetTarget) -> tuple[str, ...]:
    # Clients start it from anywhere.
    return (*place.server, "--cwd", place.root, "serve")


def _can_serve(place: SnippetTarget) -> bool:
    return bool(place.server)


def _repos(place: SnippetTarget) -> str:
    return "" if ".pre-commit-config.yaml" in place.files else "repos:\n"


def _scalar(text: str) -> str:
    """A YAML scalar, quoted unless nothing in it could mean anything else."""
    return text if _PLAIN_SCALAR.fullmatch(text) else json.dumps(text, ensure_ascii=False)


# A row for everything that can be pasted; what needs a command that UBP lacks is no row.
SNIPPETS = (
    SnippetRow(
        "pre-commit",
        _pre_commit_title,
        lambda place: place.repository is not None,
        _pre_commit_repository,
    ),
    SnippetRow(
        "pre-commit-local",
        lambda place: f"{_pre_commit_title(place)} (runs the installed ubp)",
        lambda place: bool(place.launch),
        _pre_commit_local,
    ),
    SnippetRow("github", lambda _: f"GitHub: {_WORKFLOW}", _can_be_an_action, _github),
    SnippetRow("gitlab", _gitlab_title, _is_at_gitlab, _gitlab),
    SnippetRow(
        "claude-code",
        lambda _: "Claude Code: run this in the repository",
        _can_serve,
        _claude_code,
    ),
    SnippetRow(
        "claude-desktop",
        lambda _: "Claude Desktop: claude_desktop_config.json",
        _can_serve,
        _servers("mcpServers"),
    ),
    SnippetRow("cursor", lambda _: "Cursor: .cursor/mcp.json", _can_serve, _servers("mcpServers")),
    SnippetRow(
        "vscode",
        lambda _: "VS Code: .vscode/mcp.json",
        _can_serve,
        _servers("servers", type="stdio"),
    ),
    SnippetRow(
        "mcp-extra",
        lambda _: "Agents: this installs what `ubp serve` needs",
        lambda place: not place.server,
        lambda place: f"{place.install}\n",
    ),
)
