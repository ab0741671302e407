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
AGENT_FILES = (".claude", ".mcp.json", "CLAUDE.md", "AGENTS.md", ".cursor", ".vscode")
"""Files in a repository's root that show which agents its authors use."""


class SnippetTarget(NamedTuple):
    """The repository that uses UBP, and how UBP was installed and started there.

    `launch` starts UBP on every machine where it is installed, for files that a team shares;
    `server` is the absolute command of this machine if it can serve agents, else empty, and
    `install` the command line that makes it able to. `repository` and `revision` are those that UBP
    was installed from, None if they are unknown. `files` are the names in the root, and of
    AGENT_FILES;
    `origin` is the URL that the project was cloned from, or "". `hook` is where git looks for the
    hook of commit messages: from the root, absolute if it is not below it.
    """

    root: str
    launch: tuple[str, ...]
    server: tuple[str, ...]
    install: str
    repository: str | None
    revision: str | None
    files: frozenset[str]
    origin: str
    hook: str


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
        "      - id: ubp-check\n"
    )


def _pre_commit_local(target: SnippetTarget) -> str:
    return (
        f"{_repos(target)}"
        "  - repo: local\n"
        "    hooks:\n"
        "      - id: ubp-check\n"
        "        name: documentation\n"
        f"        entry: {_scalar(shlex.join([*target.launch, 'check', '--staged']))}\n"  # no shell
        "        language: system\n"
        "        always_run: true\n"
        "        pass_filenames: false\n"
        "        require_serial: true\n"
        "        stages: [pre-commit, pre-merge-commit]\n"
    )


def _reasons(target: SnippetTarget) -> str:
    call = join([*target.launch, "ack", "--commit-message"])
    if ".pre-commit-config.yaml" not in target.files:
        return f'#!/bin/sh\nexec {call} "$@"\n'
    return (
        "  - repo: local\n"
        "    hooks:\n"
        "      - id: ubp-reasons\n"
        "        name: reasons of acknowledgements\n"
        f"        entry: {_scalar(shlex.join([*target.launch, 'ack', '--commit-message']))}\n"
        "        language: system\n"
        "        always_run: true\n"
        "        stages: [prepare-commit-msg]\n"
    )


def _reasons_title(target: SnippetTarget) -> str:
    if ".pre-commit-config.yaml" in target.files:
        install = "`pre-commit install -t prepare-commit-msg`"
        return f"reasons in commit messages: add this to `repos`, then {install}"
    return f"reasons in commit messages: {target.hook}, executable"


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
    # Claude Code starts servers in the project's folder
    return join(["claude", "mcp", "add", "ubp", "--", *target.launch, "serve"]) + "\n"


def _claude_desktop(target: SnippetTarget) -> str:
    # a user's own file; the program has no project, and not the PATH of a shell
    return _server_config("mcpServers", (*target.server, "--cwd", target.root, "serve"))


def _workspace_config(key: str, **fields: str) -> Callable[[SnippetTarget], str]:
    """Return a function for the JSON of an editor, which fills in the project's folder."""

    def text(target: SnippetTarget) -> str:
        command = (*target.launch, "--cwd", "${workspaceFolder}", "serve")
        return _server_config(key, command, **fields)

    return text


def _server_config(key: str, server_command: tuple[str, ...], **fields: str) -> str:
    """Return the JSON that lists a client's servers under this key."""
    command, *arguments = server_command
    server = json.dumps({**fields, "command": command, "args": arguments}, ensure_ascii=False)
    return f'{{\n  "{key}": {{\n    "ubp": {server}\n  }}\n}}\n'


def _can_serve(target: SnippetTarget) -> bool:
    return bool(target.server)


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
        lambda target: target.repository is None,
        _pre_commit_local,
    ),
    SnippetRow("reasons", _reasons_title, lambda _: True, _reasons),
    SnippetRow("github", lambda _: f"GitHub: {_WORKFLOW}", _can_use_action, _github),
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
        lambda target: _can_serve(target) and target.files.isdisjoint(AGENT_FILES),
        _claude_desktop,
    ),
    SnippetRow(
        "cursor",
        lambda _: "Cursor: .cursor/mcp.json",
        _can_serve,
        _workspace_config("mcpServers"),
    ),
    SnippetRow(
        "vscode",
        lambda _: "VS Code: .vscode/mcp.json",
        _can_serve,
        _workspace_config("servers", type="stdio"),
    ),
    SnippetRow(
        "mcp-extra",
        lambda _: "Agents: install what `ubp serve` needs",
        lambda target: not target.server,
        lambda target: f"{target.install}\n",
    ),
)
