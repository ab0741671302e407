"""Errors that end a command: what happened, why, what to do.

UbpError
├── UsageError            the call is wrong (option, path, revision)
│   ├── BadArgumentError     a tool's argument is missing, unknown or not allowed
│   ├── PageNotFoundError    no page is named so, or several are
│   └── ModelNeededError     there is no embedding model to do it with
├── ConfigError           .ubp/config.json cannot be used
├── RepositoryError       the repository cannot be read
│   ├── NotARepositoryError
│   ├── UnsupportedRepositoryError   SHA-256, reftable
│   ├── RepositoryOwnershipError     safe.directory
│   ├── GitMissingError
│   ├── GitCommandError              git ran and failed
│   ├── RevisionNotFoundError
│   └── HistoryTooShortError         a shallow clone ends too early
├── PageError             a page's front matter cannot be edited in place
├── ModelError            the embedding model cannot be found or used
└── StoreError            the index cannot be read or built

A finding is never an error: findings are results and leave with exit code 1, errors with 2.
"""


class UbpError(Exception):
    """Base of all: `message` says what happened, `cause` why, `hint` what to do (or nothing)."""

    exit_code = 2

    def __init__(self, message: str, *, cause: str = "", hint: str = "") -> None:
        """Keep the three lines that the front end prints."""
        super().__init__(message)
        self.message = message
        self.cause = cause
        self.hint = hint


class UsageError(UbpError):
    """The call is wrong."""


class BadArgumentError(UsageError):
    """A tool's argument is missing, unknown or not allowed; `argument` is its name."""

    def __init__(self, argument: str, message: str, *, cause: str = "", hint: str = "") -> None:
        """Keep the argument's name beside the sentences."""
        super().__init__(message, cause=cause, hint=hint)
        self.argument = argument


class PageNotFoundError(UsageError):
    """No page is named so, or several are; `near` are the paths of pages that may be meant."""

    def __init__(
        self, message: str, *, near: tuple[str, ...] = (), cause: str = "", hint: str = ""
    ) -> None:
        """Keep the pages that may be meant beside the sentences."""
        super().__init__(message, cause=cause, hint=hint)
        self.near = near


class ModelNeededError(UsageError):
    """What was asked needs an embedding model, and there is none."""


class ConfigError(UbpError):
    """`.ubp/config.json` cannot be used."""


class RepositoryError(UbpError):
    """The repository cannot be read."""


class NotARepositoryError(RepositoryError):
    """No repository here."""


class UnsupportedRepositoryError(RepositoryError):
    """SHA-256 object names or reftable references, which libgit2 cannot read."""


class RepositoryOwnershipError(RepositoryError):
    """Git refuses a repository that somebody else owns (`safe.directory`)."""


class GitMissingError(RepositoryError):
    """There is no `git` on PATH."""


class GitCommandError(RepositoryError):
    """Git ran and failed; `status` is its exit code, `stderr` what it said."""

    def __init__(
        self, message: str, *, status: int, stderr: str, cause: str = "", hint: str = ""
    ) -> None:
        """Keep git's own words beside ours."""
        super().__init__(message, cause=cause, hint=hint)
        self.status = status
        self.stderr = stderr


class RevisionNotFoundError(RepositoryError):
    """No such commit, tag or branch."""


class HistoryTooShortError(RepositoryError):
    """A shallow clone ends before the commit that is needed."""


class PageError(UbpError):
    """A page's front matter cannot be edited in place."""


class ModelError(UbpError):
    """The embedding model cannot be found or used."""


class StoreError(UbpError):
    """The index cannot be read or built."""
