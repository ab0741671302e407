"""Which of several folders of languages has the originals, by what the repository says of it.

The configuration of Crowdin or of the site's generator decides, else in which language the pages
were there first; English is the last resort. The number of pages shows nothing: a tool for
translations makes files of all originals, and keeps those of removed ones.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from typing import NamedTuple

from ubp.core.languages import LANGUAGE_CODE, same_language
from ubp.core.model import FilePath
from ubp.git.snapshot import read_documents
from ubp.index.view import View

CROWDIN_FILES = ("crowdin.yml", "crowdin.yaml", ".crowdin.yml", ".github/crowdin.yml")
# Of the pages that one language had first: with fewer in the same, it is unclear which has them.
MIN_FIRST = 2 / 3

_CODE = re.compile(LANGUAGE_CODE)
_CROWDIN_SOURCE = re.compile(
    r"^[ \t-]*[\"']?source[\"']?[ \t]*:[ \t]*[\"']?/?(?P<path>[^\s\"',]+)", re.MULTILINE
)


class Original(NamedTuple):
    """The folder of the originals, by the name of its language; None: not among the folders.

    `is_clear` is False where what shows it is contradictory.
    """

    folder: str | None = None
    is_clear: bool = True


def find_original(view: View, prefix: str, folders: Collection[str]) -> Original:
    """Return which of the folders of languages below a prefix ("docs/") has the originals.

    The folders are ordered by what is likely where nothing else shows it.
    """
    if declared := {*_crowdin_languages(view, prefix), *_site_languages(view, prefix)}:
        named = {_folder_of(language, folders) for language in declared}
        return Original(named.pop()) if len(named) == 1 else Original(is_clear=False)
    pages, first = _count_first(view, prefix, folders)
    if 2 * first.total() < pages or not first:
        return Original(next(iter(folders), None))
    ((folder, number),) = first.most_common(1)
    is_clear = number >= MIN_FIRST * first.total()
    return Original(folder if is_clear else None, is_clear)


def _folder_of(language: str, folders: Collection[str]) -> str | None:
    """Return the folder of a language, with another country or script if only one is there."""
    code = same_language(language)
    same = [folder for folder in folders if same_language(folder) == code]
    alike = [folder for folder in folders if same_language(folder)[:2] == code[:2]]
    found = same or (alike if _CODE.fullmatch(language) else [])
    return found[0] if len(found) == 1 else None


def _crowdin_languages(view: View, prefix: str) -> Iterator[str]:
    """Yield the languages of the originals below a prefix that Crowdin reads."""
    paths = [FilePath(path) for path in CROWDIN_FILES]
    entries = {path: entry for path, entry in view.entries(paths).items() if entry}
    contents = read_documents(view.context.repository, view.snapshot, entries)
    for data in filter(None, contents.values()):
        for match in _CROWDIN_SOURCE.finditer(data.decode("utf-8", "replace")):
            folder = match["path"].removeprefix(prefix).partition("/")[0]
            if match["path"].startswith(prefix) and _CODE.fullmatch(folder):
                yield folder


def _site_languages(view: View, prefix: str) -> Iterator[str]:
    """Yield the default languages of the sites that have a folder for each below a prefix."""
    for site in view.sites().sites:
        addresses = {root.folder: root.url for root in site.roots}
        below = {folder for folder in addresses if folder.rpartition("/")[0] == prefix.rstrip("/")}
        for root in site.roots:
            if root.language and root.folder.partition("{lang}")[0] == prefix:
                yield root.language
            name = root.folder.removeprefix(prefix)
            is_main = root.folder in below and not root.url and any(map(addresses.get, below))
            if is_main and _CODE.fullmatch(name):
                yield name


def _count_first(view: View, prefix: str, folders: Collection[str]) -> tuple[int, Counter[str]]:
    """Return how many pages exist in several languages, and how many of them each had first."""
    versions = view.file_versions()
    added: dict[str, dict[str, int]] = {}
    for path in view.document_paths():
        folder, _, rest = path.removeprefix(prefix).partition("/")
        age = versions.age(path) if path.startswith(prefix) and folder in folders else None
        if rest and age is not None:
            added.setdefault(rest, {})[folder] = age
    first: Counter[str] = Counter()
    shared = [ages for ages in added.values() if len(ages) > 1]
    for ages in shared:
        oldest = [folder for folder, age in ages.items() if age == max(ages.values())]
        first.update(oldest if len(oldest) == 1 else ())
    return len(shared), first
