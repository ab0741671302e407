"""Snippets to paste into the configuration of pre-commit, CI services and MCP clients."""

import json
import re
import shlex
from collections.abc import Callable
from typing import NamedTuple

from ubp.core.shell import join

_PLAIN_SCALAR = re.compile(r"(?:https?://|/)?[\w./@+~=-]+(?: [\w./@+~=-]+)*")
_GITHUB_URL = re.compile(
    r"(?:https://|ssh://git@|git@)github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?"
)
_HOST_OF_URL = re.compile(r"(?:\w+://)?(?:[^@/]*@)?([\w.-]+)[:/]")
_WORKFLOW = ".github/workflows/documentation.yml"
_PIPELINE = ".gitlab-ci.yml"


class SnippetTarget(NamedTuple):
    """The repository that uses UBP, and how UBP was installed and started there.

    `launch` is the running command; `server` is the same if it can serve agents, else empty, and
    `install` the command line that makes it able to. `repository` and `revision` are those that UBP
    was installed from, None if that was not a Git repository. `files` are the names in the root;
    `origin` is the URL that the project was cloned from, or "".
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
    """A row of SNIPPETS, filled in for a target."""

    name: str
    title: str
    text: str


class SnippetRow(NamedTuple):
    """A kind of snippet: its name, its title and text for a target, and whether it applies."""

    name: str
    title: Callable[[SnippetTarget], str]
    is_possible: Callable[[SnippetTarget], bool]
    text: Callable[[SnippetTarget], str]


def make_snippets(target: SnippetTarget) -> tuple[Snippet, ...]:
    """Return the snippets that apply to a target."""
    return tuple(
        Snippet(row.name, row.title(target), row.text(target))
        for row in SNIPPETS
        if row.is_possible(target)
    )


def _pre_commit_title(target: SnippetTarget) -> str:
    if ".pre-commit-config.yaml" in target.files:
        return "pre-commit: add this to `repos` in .pre-commit-config.yaml"
    return "pre-commit: .pre-commit-config.yaml, then `pre-commit install`"


def _pre_commit_repository(target: SnippetTarget) -> str:
    return (
        f"{_repos(target)}"
        f"  - repo: {_scalar(target.repository or '')}\n"
        f"    rev: {_scalar(target.revision or '')}\n"
        "    hooks:\n"
        "      - id: ubp-stale\n"
    )


def _pre_commit_local(target: SnippetTarget) -> str:
    return (
        f"{_repos(target)}"
        "  - repo: local\n"
        "    hooks:\n"
        "      - id: ubp-stale\n"
        "        name: stale documentation\n"
        f"        entry: {_scalar(shlex.join([*target.launch, 'stale', '--staged']))}\n"  # no shell
        "        language: system\n"
        "        always_run: true\n"
        "        pass_filenames: false\n"
        "        require_serial: true\n"
        "        stages: [pre-commit, pre-merge-commit]\n"
    )


def _github(target: SnippetTarget) -> str:
    return (
        "on: pull_request\n"
        "permissions:\n"
        "  contents: read\n"
        "jobs:\n"
        "  documentation:\n"
        "    runs-on: ubuntu-latest\n"
        "    steps:\n"
        "      - uses: actions/checkout@v5\n"
        f"      - uses: {_scalar(f'{_action(target)}@{target.revision}')}\n"
    )


def _can_use_action(target: SnippetTarget) -> bool:
    # the project is hosted on GitHub, and UBP was installed from there
    is_at_github = ".github" in target.files or _host(target.origin) == "github.com"
    return is_at_github and bool(_action(target))


def _action(target: SnippetTarget) -> str:
    match = _GITHUB_URL.fullmatch(target.repository or "")
    return match[1] if match else ""


def _gitlab(target: SnippetTarget) -> str:
    requirement = "ubp"
    if target.repository:
        requirement = f"ubp @ git+{target.repository}@{target.revision}"
    install = join(["pip", "install", "--quiet", requirement])
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


def _gitlab_title(target: SnippetTarget) -> str:
    return f"GitLab: {'add this to ' if _PIPELINE in target.files else ''}{_PIPELINE}"


def _is_at_gitlab(target: SnippetTarget) -> bool:
    return _PIPELINE in target.files or "gitlab" in _host(target.origin)


def _host(url: str) -> str:
    """Return the host in a Git URL: https://user@host:1/path, user@host:path."""
    match = _HOST_OF_URL.match(url)
    return match[1].lower() if match else ""


def _claude_code(target: SnippetTarget) -> str:
    return join(["claude", "mcp", "add", "ubp", "--", *_serve_command(target)]) + "\n"


def _server_config(key: str, **fields: str) -> Callable[[SnippetTarget], str]:
    """Return a function for the JSON that lists a client's servers under this key."""

    def text(target: SnippetTarget) -> str:
        command, *arguments = _serve_command(target)
        server = json.dumps({**fields, "command": command, "args": arguments}, ensure_ascii=False)
        return f'{{\n  "{key}": {{\n    "ubp": {server}\n  }}\n}}\n'

    return text


def _serve_command(target: SnippetTarget) -> tuple[str, ...]:
    # clients start servers in any directory
    return (*target.server, "--cwd", target.root, "serve")


def _repos(target: SnippetTarget) -> str:
    return "" if ".pre-commit-config.yaml" in target.files else "repos:\n"


def _scalar(text: str) -> str:
    """Return a YAML scalar, quoted if YAML could read the plain text differently."""
    return text if _PLAIN_SCALAR.fullmatch(text) else json.dumps(text, ensure_ascii=False)


SNIPPETS = (
    SnippetRow(
        "pre-commit",
        _pre_commit_title,
        lambda target: target.repository is not None,
        _pre_commit_repository,
    ),
    SnippetRow(
        "pre-commit-local",
        lambda target: f"{_pre_commit_title(target)} (runs the installed ubp)",
        lambda target: bool(target.launch),
        _pre_commit_local,
    ),
    SnippetRow("github", lambda _: f"GitHub: {_WORKFLOW}", _can_use_action, _github),
    SnippetRow("gitlab", _gitlab_title, _is_at_gitlab, _gitlab),
    SnippetRow(
        "claude-code",
        lambda _: "Claude Code: run this in the repository",
        lambda target: bool(target.server),
        _claude_code,
    ),
    SnippetRow(
        "claude-desktop",
        lambda _: "Claude Desktop: claude_desktop_config.json",
        lambda target: bool(target.server),
        _server_config("mcpServers"),
    ),
    SnippetRow(
        "cursor",
        lambda _: "Cursor: .cursor/mcp.json",
        lambda target: bool(target.server),
        _server_config("mcpServers"),
    ),
    SnippetRow(
        "vscode",
        lambda _: "VS Code: .vscode/mcp.json",
        lambda target: bool(target.server),
        _server_config("servers", type="stdio"),
    ),
    SnippetRow(
        "mcp-extra",
        lambda _: "Agents: install what `ubp serve` needs",
        lambda target: not target.server,
        lambda target: f"{target.install}\n",
    ),
)
