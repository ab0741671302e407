"""Where a repository lies: its folders, as one `git rev-parse` tells them."""

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
    """A repository's folders (absolute) and what one call to git tells besides."""

    root: str | None  # None: bare
    git_dir: str
    common_dir: str  # other than git_dir in a linked work tree
    prefix: FilePath
    is_shallow: bool
    head: ObjectId | None  # None: no commits yet


# In this order: git stops at --show-toplevel where there is no work tree, and answers HEAD last.
QUESTIONS = (
    "--absolute-git-dir",
    "--git-common-dir",
    "--is-bare-repository",
    "--is-inside-git-dir",
    "--is-shallow-repository",
    "--show-object-format",
    "--show-prefix",
    "--show-toplevel",
)
BARE_ANSWERS = len(QUESTIONS) - 1
HEAD = ("--verify", "--quiet", "HEAD")


def locate(cwd: str, environment: Mapping[str, str]) -> Location:
    """Find the repository around `cwd`, as git itself would in this environment.

    Raises:
        NotARepositoryError: there is none, or `cwd` lies inside its `.git`.
        RepositoryError: it is hidden among the files of another one.
        RepositoryOwnershipError: git refuses it (`safe.directory`).
        UnsupportedRepositoryError: SHA-256, reftable, an extension that this git does not know.
        GitMissingError: no folder of PATH holds a git.
    """
    cwd = os.path.realpath(cwd)
    answers = _answers(cwd, environment)
    git_dir, common_dir, is_bare, is_inside, is_shallow, object_format, prefix = answers[:7]
    git_dir = os.path.normpath(git_dir)
    if "GIT_DIR" not in environment:
        _refuse_hidden(git_dir, cwd, environment)
    root = head = None
    if len(answers) > BARE_ANSWERS:
        root = os.path.normpath(answers[BARE_ANSWERS])
        head = answers[-1] if len(answers) > len(QUESTIONS) else None
    elif is_inside == "true" and is_bare == "false":
        raise _inside_git_dir(cwd)
    else:
        head = _text(["rev-parse", *HEAD], cwd, environment) or None
    common_dir = os.path.normpath(os.path.join(cwd, common_dir))
    location = Location(
        root=root,
        git_dir=git_dir,
        common_dir=common_dir,
        prefix=FilePath(prefix.rstrip("/")),
        is_shallow=is_shallow == "true",
        head=None if head is None else ObjectId(head),
    )
    _check_format(location, object_format)
    return location


def _answers(cwd: str, environment: Mapping[str, str]) -> list[str]:
    """The answers to QUESTIONS as far as git came, then HEAD unless unborn."""
    answers = _text(["rev-parse", *QUESTIONS, *HEAD], cwd, environment).split("\n")
    if len(answers) >= BARE_ANSWERS and answers[5].startswith("sha"):
        if len(answers) <= len(QUESTIONS) + 1:
            return answers
    elif answers == [""]:
        raise _refusal(cwd, environment)
    # A folder's name holds a newline: ask one by one.
    answers = [_text(["rev-parse", question], cwd, environment) for question in QUESTIONS]
    if not answers[-1]:
        return answers[:-1]
    head = _text(["rev-parse", *HEAD], cwd, environment)
    return [*answers, head] if head else answers


def _text(args: list[str], cwd: str, environment: Mapping[str, str]) -> str:
    output = run_git(
        args, cwd=cwd, environment=environment, ok=(0, 1, 128), options=DISCOVERY_OPTIONS
    )
    return os.fsdecode(output.removesuffix(b"\n"))


def _refusal(cwd: str, environment: Mapping[str, str]) -> RepositoryError:
    """Why git sees no repository here, in our words."""
    try:
        run_git(
            ["rev-parse", "--absolute-git-dir"],
            cwd=cwd,
            environment=environment,
            options=DISCOVERY_OPTIONS,
        )
    except GitCommandError as error:
        said = error.stderr
        if "not a git repository" in said or "cannot change to" in said:
            return _not_a_repository(cwd)
        if "safe.directory" in said:
            import shlex

            folder = shlex.split(said.partition("safe.directory ")[2])[:1]  # git has quoted it
            return _foreign_owner(cwd, *folder)
        if "safe.bareRepository" in said:
            return RepositoryError(
                f"Git refuses the bare repository around {cwd}.",
                cause="Your Git configuration sets safe.bareRepository to explicit.",
                hint="Set GIT_DIR to its folder if you trust it.",
            )
        if "repository extension" in said or "repo version" in said:
            return unsupported(cwd, said.removeprefix("fatal: "))
        return error
    return _not_a_repository(cwd)


def _refuse_hidden(git_dir: str, cwd: str, environment: Mapping[str, str]) -> None:
    """Refuse a repository that can have come as files of the repository that contains it.

    Git takes any folder that holds HEAD, objects and refs for a repository. A commit can bring
    these, with a configuration that names programs; it cannot bring a `.git`, however it is spelt.
    """
    if os.path.basename(git_dir) == ".git" or not _contains(git_dir, cwd):
        return  # a `.git` led here
    folder = git_dir
    while os.path.basename(folder) != ".git" and (above := os.path.dirname(folder)) != folder:
        if os.path.lexists(os.path.join(above, ".git")):
            found = _text(["rev-parse", "--absolute-git-dir"], above, environment)
            if found and os.path.normpath(found) == git_dir:
                return  # `.git` is a file or a link that names this very folder
            raise RepositoryError(
                f"{git_dir} is a bare repository inside the repository at {above}.",
                cause="A commit can bring such a folder, and its configuration can run programs.",
                hint=f"Change to another folder, or set GIT_DIR={git_dir} if you trust it.",
            )
        folder = above


def _contains(folder: str, path: str) -> bool:
    """Whether a path is this folder or lies in it; compared by identity, for case may differ."""
    while not os.path.samefile(path, folder):
        above = os.path.dirname(path)
        if above == path:
            return False
        path = above
    return True


def _check_format(location: Location, object_format: str) -> None:
    """Refuse what git reads and libgit2 does not."""
    where = location.root or location.git_dir
    if object_format != "sha1":
        raise unsupported(where, object_format)
    if os.path.isdir(os.path.join(location.common_dir, "reftable")):
        raise unsupported(where, "reftable")


def _not_a_repository(cwd: str) -> NotARepositoryError:
    """No repository around `cwd`."""
    if not os.path.isdir(cwd):
        return NotARepositoryError(
            f"There is no folder {cwd}.", hint="Name another folder with --cwd."
        )
    return NotARepositoryError(
        f"{cwd} is not in a Git repository.",
        cause="Neither this folder nor one above it holds a .git.",
        hint="Run `git init` there, or name another folder with --cwd.",
    )


def _inside_git_dir(cwd: str) -> NotARepositoryError:
    """`cwd` lies in the repository's own storage."""
    return NotARepositoryError(
        f"{cwd} lies inside a .git folder.",
        cause="That is Git's own storage: it holds no documents.",
        hint="Change to the work tree, or name it with --cwd.",
    )


def _foreign_owner(cwd: str, folder: str = "") -> RepositoryOwnershipError:
    """Somebody else owns the repository; `folder` is what git wants to be told."""
    trust = ("git", "config", "--global", "--add", "safe.directory", folder or cwd)
    return RepositoryOwnershipError(
        f"Git refuses the repository at {cwd}.",
        cause="It belongs to another user, and nobody has said that it can be trusted.",
        hint=f"If you trust it: {join(trust)}",
    )


def unsupported(where: str, said: str) -> UnsupportedRepositoryError:
    """A format that libgit2 or this git cannot read; `said` holds its name."""
    lowered = said.lower()
    if "sha256" in lowered or "objectformat" in lowered:
        what = "SHA-256 object names, which libgit2 cannot read"
        hint = "Use a clone with SHA-1 object names (`git init --object-format=sha1`)."
    elif "reftable" in lowered or "refstorage" in lowered:
        what = "reftable references, which libgit2 cannot read"
        hint = "Run `git refs migrate --ref-format=files` there (git 2.46 or newer)."
    else:
        what = "an extension that is not known here: " + " ".join(said.split())
        hint = "Install a newer git."
    return UnsupportedRepositoryError(
        f"The repository at {where} cannot be read.", cause=f"It uses {what}.", hint=hint
    )
