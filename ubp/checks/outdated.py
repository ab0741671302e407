"""What the rule removed-name reports: apart from how it is found, which few commands need."""

from typing import NamedTuple

from ubp.core.model import FilePath, ObjectId


class NotCheckedError(Exception):
    """The names of a snapshot are not known; the message is a sentence that says why."""


class Evidence(NamedTuple):
    """Why a mention means this repository's name, and not somebody else's.

    The page also has the name `companion`, which `source` still defines; or `commit` added the
    mention to the page, together with `source`, or (None) when the sources had the name newly; or
    `source` alone is named after it, or in the page's folder; or there is evidence for another
    `page`; or the change also removes the name from a `test`. A replacement is evidence enough, and
    so is an option that a source made: then all are None.
    """

    companion: str | None = None
    commit: ObjectId | None = None
    source: FilePath | None = None
    page: FilePath | None = None
    test: FilePath | None = None


class OutdatedMention(NamedTuple):
    """A page's first mention of a name that `source` defined, or of a path (`source` is None).

    `text` is as the page writes it. `replacement` took its place in the file `replaced_in`, as far
    as the change shows it. `manifest`: by it another package may have
    the name now. `is_old`: the name was removed after the page's last change, and not by the
    change that is checked. `is_uncertain`: a source that could not be read may have the name.
    A path needs no `evidence`.
    """

    page: FilePath
    line: int
    text: str
    is_front_matter: bool
    name: str
    source: FilePath | None
    replacement: str | None = None
    replaced_in: FilePath | None = None
    manifest: FilePath | None = None
    is_old: bool = False
    is_uncertain: bool = False
    evidence: Evidence | None = None
