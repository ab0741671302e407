"""Errors that end a command: what happened, why, and what to do about it.

UbpError
├── UsageError            the call is wrong (option, path, revision)
│   ├── BadArgumentError     a tool's argument is missing, unknown or not allowed
│   ├── PageNotFoundError    no page, or more than one, has that name, or no document that id
│   └── ModelNeededError     no embedding model is available
├── ConfigError           .ubp/config.json cannot be used
├── RepositoryError       the repository cannot be read
│   ├── NotARepositoryError
│   ├── UnsupportedRepositoryError   SHA-256, reftable
│   ├── RepositoryOwnershipError     safe.directory
│   ├── GitMissingError
│   ├── GitCommandError              git ran and failed
│   ├── RevisionNotFoundError
│   └── HistoryTooShortError         a shallow clone ends too early
├── TreeTooLargeError     a tree has more paths than are listed (`ubp.git.listings`)
├── PageError             a page's front matter cannot be edited in place
├── CollectionError       a collection cannot be fetched, or lacks what is asked for
├── ModelError            the embedding model cannot be found or used
├── HubError              the organisation's hub cannot be reached, or refuses
└── StoreError            the index cannot be read or built

A finding is a result, not an error: findings exit with status 1, errors with 2.

IndexDamagedError is none of them: the question is asked again, and no handler of errors sees it.
"""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Once more would do, if nothing damaged the new index, too.
DAMAGE_ATTEMPTS = 3


class UbpError(Exception):
    """The base class: what happened (`message`), why (`cause`), what to do (`hint`)."""

    exit_code = 2

    def __init__(self, message: str, *, cause: str = "", hint: str = "") -> None:
        """Store the three sentences, which the CLI and the server print."""
        super().__init__(message)
        self.message = message
        self.cause = cause
        self.hint = hint


class UsageError(UbpError):
    """The call is wrong."""


class BadArgumentError(UsageError):
    """A tool's argument is missing, unknown or not allowed; `argument` is its name."""

    def __init__(self, argument: str, message: str, *, cause: str = "", hint: str = "") -> None:
        """Store the argument's name and the sentences."""
        super().__init__(message, cause=cause, hint=hint)
        self.argument = argument


class PageNotFoundError(UsageError):
    """No page, or more than one, has that name; `near` are the paths of similar pages."""

    def __init__(
        self, message: str, *, near: tuple[str, ...] = (), cause: str = "", hint: str = ""
    ) -> None:
        """Store the similar paths and the sentences."""
        super().__init__(message, cause=cause, hint=hint)
        self.near = near


class PartNotFoundError(PageNotFoundError):
    """The page has no such section or line; `near` are the addresses of similar sections."""


class SectionNotFoundError(PageNotFoundError):
    """No section of a specification, or more than one, has that id; `near` are their full ids."""


class DocumentNotFoundError(PageNotFoundError):
    """No project has a document of that id."""


class ModelNeededError(UsageError):
    """The request needs an embedding model, and none is available."""


class ConfigError(UbpError):
    """`.ubp/config.json` cannot be used."""


class RepositoryError(UbpError):
    """The repository cannot be read."""


class NotARepositoryError(RepositoryError):
    """There is no Git repository here."""


class UnsupportedRepositoryError(RepositoryError):
    """SHA-256 object names or reftable references, which libgit2 cannot read."""


class RepositoryOwnershipError(RepositoryError):
    """Git refuses a repository that another user owns (`safe.directory`)."""


class GitMissingError(RepositoryError):
    """There is no `git` on PATH."""


class GitCommandError(RepositoryError):
    """Git ran and failed; `status` is its exit code, `stderr` its messages."""

    def __init__(
        self, message: str, *, status: int, stderr: str, cause: str = "", hint: str = ""
    ) -> None:
        """Store git's exit code and messages with the sentences."""
        super().__init__(message, cause=cause, hint=hint)
        self.status = status
        self.stderr = stderr


class RevisionNotFoundError(RepositoryError):
    """No such commit, tag or branch."""


class HistoryTooShortError(RepositoryError):
    """A shallow clone ends before the commit that is needed."""


class PageError(UbpError):
    """A page's front matter cannot be edited in place."""


class CollectionError(UbpError):
    """A collection cannot be fetched, or lacks what is asked for."""


class ModelError(UbpError):
    """The embedding model cannot be found or used."""


class HubError(UbpError):
    """The organisation's hub cannot be reached, refuses, or cannot work."""


class StoreError(UbpError):
    """The index cannot be read or built."""


class IndexDamagedError(Exception):
    """The index was damaged, and an empty one has replaced it: ask the whole question again.

    What was read before cannot be combined with what is read from now on.
    """


def ask_again_if_damaged(ask: Callable[[], T], prepare: Callable[[], object]) -> T:
    """Return what `ask` returns; where the index was damaged, `prepare` and ask again.

    Raises:
        StoreError: the index is damaged again and again.
    """
    for _ in range(DAMAGE_ATTEMPTS):
        try:
            return ask()
        except IndexDamagedError:
            prepare()
    raise StoreError(
        "The index was damaged several times while it was read.",
        cause="The disk or the memory may be faulty, or another program writes to the file.",
        hint="Try again.",
    )
