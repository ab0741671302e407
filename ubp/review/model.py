"""Cases: what a reader needs to decide whether a change affects a page."""

from dataclasses import dataclass
from typing import Literal

from ubp.code.signatures import Signature
from ubp.core.model import Evidence, FilePath, Snapshot

CaseKind = Literal[
    "bound", "removed-name", "changed-value", "proposed", "translation", "collection", "link"
]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a page is a case: a sentence, and the source or other file that it is about.

    `line` is a line of the page, from 1. `names` are those that the change removes, adds or
    changes, and that the page has. `confidence` is that of a proposed binding. `is_gone`: the
    source no longer exists at its path; `is_moved`: it is known where it is now.
    """

    kind: CaseKind
    text: str
    line: int
    path: FilePath | None = None
    names: tuple[Evidence, ...] = ()
    confidence: float | None = None
    is_gone: bool = False
    is_moved: bool = False
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a page below one heading, with their numbers (from 1); gaps are possible.

    `is_whole`: the section has no other text.
    """

    heading: str
    lines: tuple[tuple[int, str], ...]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines of a diff of one file, each with its sign; `is_whole`: none of the hunk are left out.

    `old_start` and `new_start` are the numbers of its first line in both versions.
    """

    path: FilePath
    old_start: int
    new_start: int
    lines: tuple[str, ...]
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What a case shows of the page and of the change; the numbers count what it was chosen from.

    `files` say what became of files that the change adds, deletes or renames, `destinations` where
    removed names went, `manifests` which lines of manifests changed.
    """

    headings: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()
    page_lines: int = 0
    hunks: tuple[Hunk, ...] = ()
    hunk_count: int = 0
    file_count: int = 0
    added: int = 0
    removed: int = 0
    files: tuple[str, ...] = ()
    destinations: tuple[str, ...] = ()
    manifests: tuple[str, ...] = ()
    signatures: tuple[Signature, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """A page that a change may affect, the reasons, strongest first, and what to read.

    `line` and `sentence` are the place in the page that has the evidence. `sources` are those that
    the page lists, or is proposed to list, and the change touches. `probability` is that of a
    reader finding that the page has to change.
    """

    filepath: FilePath
    kind: CaseKind
    line: int
    sentence: str
    reasons: tuple[Reason, ...]
    probability: float
    sources: tuple[FilePath, ...]
    excerpt: Excerpt = Excerpt()


@dataclass(frozen=True, slots=True)
class Review:
    """The cases of a change, the most probable first.

    `omitted` is the number of probable ones that the limit left out, `unlikely` that of pages below
    the probability from which they are shown. `subjects` are those of its commits, the last one
    first; `not_checked` are sentences on what could not be checked.
    """

    cases: tuple[Case, ...]
    omitted: int
    unlikely: int
    subjects: tuple[str, ...]
    changed_files: int
    snapshot: Snapshot
    selected: int | None = None
    not_checked: tuple[str, ...] = ()
