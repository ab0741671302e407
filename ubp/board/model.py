"""The board of a commit: its files, and what its pages describe, by path."""

from dataclasses import dataclass

from ubp.core.model import BaselineKind, FilePath, Level, LinkType, Note, ObjectId, Verdict


@dataclass(frozen=True, slots=True)
class BoardReference:
    """A source of a page, and what became of it.

    `repository` is the other one that has the source, as `github.com/acme/api`; "" is the page's
    own. `fragment` is the part, as `Session.login`; "" is the whole file. `pin` is an id, perhaps
    shortened. `baseline` and `current` are ids of the source. `since` is the time of the first
    commit that drifted, of `commits` in all.
    """

    repository: str
    path: str
    fragment: str
    pin: str | None
    verdict: Verdict
    level: Level
    baseline_kind: BaselineKind
    baseline: str | None
    current: str | None
    since: int | None
    commits: int
    note: Note | None


@dataclass(frozen=True, slots=True)
class BoardEdge:
    """The links of a page to another file of its repository of one type; `count`: how many."""

    target: FilePath
    type: LinkType
    count: int = 1


@dataclass(frozen=True, slots=True)
class BoardPage:
    """What a page describes and links to, and who owns it by CODEOWNERS."""

    level: Level
    is_record: bool
    owners: tuple[str, ...]
    references: tuple[BoardReference, ...]
    edges: tuple[BoardEdge, ...]


@dataclass(frozen=True, slots=True)
class BoardFile:
    """A file: its blob and, where it is a page or a source, the commit that changed it last.

    `changed` and `changed_at` (seconds since the epoch) are None for others, and where the history
    of a shallow clone ends before that commit. `page` is None for a file that is not a page.
    """

    path: FilePath
    blob: ObjectId
    changed: ObjectId | None = None
    changed_at: int | None = None
    page: BoardPage | None = None


@dataclass(frozen=True, slots=True)
class Board:
    """The files of a commit, in path order, without those that the configuration excludes.

    `unnamed` is the number of files whose paths are not UTF-8: they are not on the board.
    """

    commit: ObjectId
    files: tuple[BoardFile, ...]
    unnamed: int = 0


MAX_TEXT_CHARACTERS = 4_096  # of a path or a name


def is_text(name: str) -> bool:
    """Return whether a name is Unicode that every database can store, and not too long."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in name and len(name) <= MAX_TEXT_CHARACTERS


def is_path(path: str) -> bool:
    """Return whether a board may have this path, which leads to a file inside a repository."""
    return is_text(path) and not path.startswith("/") and ".." not in path.split("/")
