"""What the snippets of `ubp init` are made for: a repository, and how UBP is installed."""

import os
from importlib.util import find_spec

from ubp.core.errors import GitCommandError
from ubp.core.installation import (
    Installation,
    find_checkout,
    find_installation,
    install_command,
    launch_command,
    plain_command,
    without_user,
)
from ubp.core.snippets import AGENT_FILES, SnippetTarget
from ubp.git.command import run_git
from ubp.git.repository import Repository

EXTRA = "full"  # what `ubp serve` needs
HOOK = "prepare-commit-msg"


def find_snippet_target(repository: Repository, root: str) -> SnippetTarget:
    """Return the repository at a root, and how UBP was installed and started there."""
    installation = find_installation() or _checked_out()
    has_server = find_spec("mcp") is not None
    remote = repository.run("config", "--get", "remote.origin.url", ok=(0, 1))
    agents = (name for name in AGENT_FILES if os.path.lexists(os.path.join(root, name)))
    return SnippetTarget(
        root=root,
        launch=plain_command(installation),
        server=launch_command(installation, EXTRA) if has_server else (),
        install=install_command(EXTRA),
        repository=installation.repository if installation else None,
        revision=installation.revision if installation else None,
        files=frozenset([*os.listdir(root), *agents]),
        origin=remote.decode("utf-8", "replace").strip(),
        hook=_find_hook(repository, root),
    )


def _find_hook(repository: Repository, root: str) -> str:
    named = repository.run("rev-parse", "--git-path", f"hooks/{HOOK}").rstrip(b"\n")
    file = os.path.join(root, os.fsdecode(named))
    path = os.path.relpath(file, root)
    return file if path.startswith("..") else path


def _checked_out() -> Installation | None:
    """Return the origin and the newest release, or the commit, of the clone that UBP runs from."""
    folder = find_checkout()
    if folder is None or not os.path.exists(os.path.join(folder, ".git")):
        return None
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}

    def ask_git(*args: str) -> str:
        try:
            output = run_git(args, cwd=folder, environment=environment, ok=(0, 1, 128))
        except GitCommandError:
            return ""
        return output.decode("utf-8", "replace").strip()

    origin = without_user(ask_git("config", "--get", "remote.origin.url"))
    revision = ask_git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*") or ask_git(
        "rev-parse", "HEAD"
    )
    is_remote = "://" in origin or (":" in origin and "@" in origin)
    if not is_remote or origin.startswith("file:") or not revision:
        return None
    return Installation(origin, revision)
