"""Find a repository and its directories with a single call of `git rev-parse`."""

import os
from collections.abc import Mapping
from typing import NamedTuple

from ubp.core.errors import (
    GitCommandError,
    NotARepositoryError,
    RepositoryError,
    RepositoryOwnershipError,
    UnsupportedRepositoryError,
)
from ubp.core.model import FilePath, ObjectId
from ubp.core.shell import join
from ubp.git.command import DISCOVERY_OPTIONS, run_git


class Location(NamedTuple):
    """The directories of a repository (absolute), and what the same call prints besides."""

    root: str | None  # None: bare
    git_dir: str
    common_dir: str  # differs from git_dir in a linked work tree
    prefix: FilePath
    is_shallow: bool
    head: ObjectId | None  # None: no commits yet


# In this order, because git stops at --show-toplevel where there is no work tree.
REV_PARSE_OPTIONS = (
    "--absolute-git-dir",
    "--git-common-dir",
    "--is-bare-repository",
    "--is-inside-git-dir",
    "--is-shallow-repository",
    "--show-object-format",
    "--show-prefix",
    "--show-toplevel",
)
LINES_WITHOUT_ROOT = len(REV_PARSE_OPTIONS) - 1
HEAD = ("--verify", "--quiet", "HEAD")


def locate(cwd: str, environment: Mapping[str, str]) -> Location:
    """Find the repository around `cwd`, as git itself would in this environment.

    Raises:
        NotARepositoryError: there is none, or `cwd` is inside its `.git`.
        RepositoryError: it is a bare repository among the files of another one.
        RepositoryOwnershipError: git rejects it (`safe.directory`).
        UnsupportedRepositoryError: SHA-256, reftable, or an extension unknown to this git.
        GitMissingError: PATH has no git.
    """
    cwd = os.path.realpath(cwd)
    lines = _read_rev_parse(cwd, environment)
    git_dir, common_dir, is_bare, is_inside_git_dir, is_shallow, object_format, prefix = lines[:7]
    git_dir = os.path.normpath(git_dir)
    if "GIT_DIR" not in environment:
        _reject_hidden(git_dir, cwd, environment)
    root = head = None
    if len(lines) > LINES_WITHOUT_ROOT:
        root = os.path.normpath(lines[LINES_WITHOUT_ROOT])
        head = lines[-1] if len(lines) > len(REV_PARSE_OPTIONS) else None
    elif is_inside_git_dir == "true" and is_bare == "false":
        raise NotARepositoryError(
            f"{cwd} is inside a .git folder.",
            cause="Git's own storage contains no documents.",
            hint="Change to the work tree, or pass it with --cwd.",
        )
    else:
        head = _run(["rev-parse", *HEAD], cwd, environment) or None
    common_dir = os.path.normpath(os.path.join(cwd, common_dir))
    if object_format != "sha1":
        raise unsupported_format(root or git_dir, object_format)
    if os.path.isdir(os.path.join(common_dir, "reftable")):
        raise unsupported_format(root or git_dir, "reftable")
    return Location(
        root=root,
        git_dir=git_dir,
        common_dir=common_dir,
        prefix=FilePath(prefix.rstrip("/")),
        is_shallow=is_shallow == "true",
        head=None if head is None else ObjectId(head),
    )


def _read_rev_parse(cwd: str, environment: Mapping[str, str]) -> list[str]:
    """Return what git prints for REV_PARSE_OPTIONS, as far as it gets, then HEAD unless unborn."""
    lines = _run(["rev-parse", *REV_PARSE_OPTIONS, *HEAD], cwd, environment).split("\n")
    if len(lines) >= LINES_WITHOUT_ROOT and lines[5].startswith("sha"):
        if len(lines) <= len(REV_PARSE_OPTIONS) + 1:
            return lines
    elif lines == [""]:
        raise _rejection(cwd, environment)
    # The name of a directory contains a newline: read the options one at a time.
    lines = [_run(["rev-parse", option], cwd, environment) for option in REV_PARSE_OPTIONS]
    if not lines[-1]:
        return lines[:-1]
    head = _run(["rev-parse", *HEAD], cwd, environment)
    return [*lines, head] if head else lines


def _run(args: list[str], cwd: str, environment: Mapping[str, str]) -> str:
    output = run_git(
        args, cwd=cwd, environment=environment, ok=(0, 1, 128), options=DISCOVERY_OPTIONS
    )
    return os.fsdecode(output.removesuffix(b"\n"))


def _rejection(cwd: str, environment: Mapping[str, str]) -> RepositoryError:
    """Return the error for git finding no repository around `cwd`, or rejecting it."""
    try:
        run_git(
            ["rev-parse", "--absolute-git-dir"],
            cwd=cwd,
            environment=environment,
            options=DISCOVERY_OPTIONS,
        )
    except GitCommandError as error:
        message = error.stderr
        if "not a git repository" in message or "cannot change to" in message:
            return _not_a_repository(cwd)
        if "safe.directory" in message:
            import shlex

            directory = shlex.split(message.partition("safe.directory ")[2])[:1]  # quoted by git
            return _foreign_owner(cwd, *directory)
        if "safe.bareRepository" in message:
            return RepositoryError(
                f"Git refuses to use the bare repository that contains {cwd}.",
                cause="Your Git configuration sets safe.bareRepository to explicit.",
                hint="If you trust it, set GIT_DIR to its folder.",
            )
        if "repository extension" in message or "repo version" in message:
            return unsupported_format(cwd, message.removeprefix("fatal: "))
        return error
    return _not_a_repository(cwd)


def _reject_hidden(git_dir: str, cwd: str, environment: Mapping[str, str]) -> None:
    """Reject a repository that a commit of the surrounding repository could have added.

    Git takes any directory with HEAD, objects and refs for a repository. A commit can add these,
    with a configuration that names programs; it cannot add a `.git`, in any spelling.
    """
    if os.path.basename(git_dir) == ".git" or not _contains(git_dir, cwd):
        return  # found through a `.git`
    folder = git_dir
    while os.path.basename(folder) != ".git" and (above := os.path.dirname(folder)) != folder:
        if os.path.lexists(os.path.join(above, ".git")):
            outer = _run(["rev-parse", "--absolute-git-dir"], above, environment)
            if outer and os.path.normpath(outer) == git_dir:
                return  # `.git` is a file or a link that leads to this directory
            raise RepositoryError(
                f"{git_dir} is a bare repository inside the repository at {above}.",
                cause="A commit can add such a folder, and its configuration can run programs.",
                hint=f"Change to another folder or, if you trust it, set GIT_DIR={git_dir}.",
            )
        folder = above


def _contains(folder: str, path: str) -> bool:
    """Return whether a path is in a directory or is it; by identity, because case may differ."""
    while not os.path.samefile(path, folder):
        above = os.path.dirname(path)
        if above == path:
            return False
        path = above
    return True


def _not_a_repository(cwd: str) -> NotARepositoryError:
    if not os.path.isdir(cwd):
        return NotARepositoryError(
            f"Folder not found: {cwd}", hint="Pass another folder with --cwd."
        )
    return NotARepositoryError(
        f"{cwd} is not in a Git repository.",
        cause="Neither this folder nor any parent folder contains a .git.",
        hint="Run `git init` there, or pass another folder with --cwd.",
    )


def _foreign_owner(cwd: str, folder: str = "") -> RepositoryOwnershipError:
    """Return the error for a repository of another user; `folder` is its path as git prints it."""
    trust = ("git", "config", "--global", "--add", "safe.directory", folder or cwd)
    return RepositoryOwnershipError(
        f"Git refuses to use the repository at {cwd}.",
        cause="It is owned by another user and is not listed in safe.directory.",
        hint=f"If you trust it, run: {join(trust)}",
    )


def unsupported_format(where: str, message: str) -> UnsupportedRepositoryError:
    """Return the error for a format that libgit2 or this git cannot read; `message` names it."""
    lowered = message.lower()
    if "sha256" in lowered or "objectformat" in lowered:
        what = "SHA-256 object names, which libgit2 cannot read"
        hint = "Use a clone with SHA-1 object names (`git init --object-format=sha1`)."
    elif "reftable" in lowered or "refstorage" in lowered:
        what = "reftable references, which libgit2 cannot read"
        hint = "Run `git refs migrate --ref-format=files` there (git 2.46 or newer)."
    else:
        what = "an unsupported extension: " + " ".join(message.split())
        hint = "Install a newer git."
    return UnsupportedRepositoryError(
        f"Cannot read the repository at {where}.", cause=f"It uses {what}.", hint=hint
    )
