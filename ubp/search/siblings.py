"""Which pages are the same one again: in another language, of another version, of another year.

Nobody needs a link from a page to its translation's neighbour where the original's is at hand, or
from a report to last year's.
"""

import re

from ubp.model import FilePath

# Pages that are alike everywhere and about nothing in particular.
BOILERPLATE = frozenset(
    {"changelog", "changes", "history", "releases", "release_notes", "release-notes"}
    | {"license", "licence", "copying", "notice", "code_of_conduct", "code-of-conduct"}
)


def is_boilerplate(path: FilePath) -> bool:
    """Whether a page is a changelog, a licence, a template, a test's data, and the like."""
    *folders, name = path.casefold().split("/")
    stem = _stem(name)
    return (
        stem.split(".")[0] in BOILERPLATE
        or bool(_TEMPLATE.search(stem))
        or any(_NO_DOCUMENTATION.fullmatch(folder) for folder in folders)
    )


def is_log(path: FilePath) -> bool:
    """Whether a path is dated: minutes, a plan, a newsletter, one of many."""
    return bool(_DATE.search(path))


def sibling_key(path: FilePath) -> str:
    """What the paths of a page's translations, versions and years have in common."""
    *folders, name = path.casefold().split("/")
    kept = [one for one in folders if not (_LANGUAGE.fullmatch(one) or _VERSION.fullmatch(one))]
    stem = _LANGUAGE_AT_END.sub("", _stem(name))
    return _DATE.sub("#", "/".join([*kept, stem]))


def language_of(path: FilePath) -> str | None:
    """The language that a path tells of its page; None: it tells none."""
    *folders, name = path.casefold().split("/")
    if at_end := _LANGUAGE_AT_END.search(_stem(name)):
        return at_end[1]
    return next((one for one in folders if _LANGUAGE.fullmatch(one)), None)


def _stem(name: str) -> str:
    return name.removesuffix(".md").removesuffix(".markdown")


# ISO 639-1, those that documentation is translated into, with a country or a script perhaps.
_CODE = (
    r"(?:ar|az|bg|bn|ca|cs|da|de|el|en|es|et|fa|fi|fr|he|hi|hr|hu|hy|id|it|ja|ka|kk|ko|lt|lv|ms"
    r"|nb|nl|no|pl|pt|ro|ru|sk|sl|sq|sr|sv|ta|te|th|tr|uk|ur|uz|vi|zh)"
    r"(?:[-_](?:[a-z]{2}|hans|hant|latn|cyrl))?"
)
_LANGUAGE = re.compile(_CODE)
# Behind a hyphen stands a word of English as well: sign-in, check-it, by-id.
_LANGUAGE_AT_END = re.compile(
    rf"(?:[._]|-(?=(?:de|en|es|fr|ja|ko|pl|pt|ru|tr|uk|vi|zh)(?![a-z])))({_CODE})$"
)
_VERSION = re.compile(r"v?\d+(?:[._]\d+)*(?:[._]x)?|latest|stable|next")
_TEMPLATE = re.compile(r".[-_. ]?template$")
_NO_DOCUMENTATION = re.compile(
    r"[\d\s._-]*(?:[\w.]+[-_ ])?templates?|(?:issue|pull_request|discussion)_template"
    r"|testdata|(?:__)?(?:fixtures|snapshots)(?:__)?|approved_files"
)
_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d(?:[-_.]?\d\d){0,2}(?!\d)")
