"""Evidence in other pages' bindings: of translations, of the same folder, of the same name."""

import re
from collections.abc import Iterable, Mapping

from ubp.model import FilePath

# `auth.ja.md`, `auth-zh-CN.md`, `docs/ja/auth.md`.
_LANGUAGE = re.compile(
    r"(?:[._-]|(?<=/)|^)(?:ar|de|en|es|fr|hi|id|it|ja|jp|ko|nl|pl|pt|ru|tr|uk|vi|zh)"
    r"(?:[-_](?:[a-z]{2}|hans|hant))?(?=\.(?:md|markdown)$|/)",
    re.IGNORECASE,
)
# A translation has the same sources; a page of the same folder or name often some of them.
TRANSLATION, SAME_NAME, SAME_FOLDER = 8.0, 1.0, 1.0
# One page alone tells less than several that agree.
PRIOR = 1.0


class Bindings:
    """What the bound pages name, found by what a page has in common with them."""

    def __init__(self, bound: Mapping[FilePath, Iterable[int]]) -> None:
        self._bound = {page: frozenset(sources) for page, sources in bound.items()}
        self._groups: dict[tuple[str, str], list[FilePath]] = {}
        for page in self._bound:
            for kind, _, key in _kin(page):
                self._groups.setdefault((kind, key), []).append(page)

    def of_siblings(self, page: FilePath) -> dict[int, tuple[float, FilePath]]:
        """The share of a page's siblings that name each source, and one that does."""
        summed: dict[int, float] = {}
        example: dict[int, FilePath] = {}
        whole = PRIOR
        for kind, weight, key in _kin(page):
            others = [one for one in self._groups.get((kind, key), ()) if one != page]
            if not others:
                continue
            whole += weight
            for other in others:
                for number in self._bound[other]:
                    summed[number] = summed.get(number, 0.0) + weight / len(others)
                    example.setdefault(number, other)
        return {number: (value / whole, example[number]) for number, value in summed.items()}


def without_language(page: str) -> str:
    """A page's path without the language in it: equal for translations of each other."""
    return _LANGUAGE.sub("", page)


def _kin(page: FilePath) -> Iterable[tuple[str, float, str]]:
    folder, _, name = page.rpartition("/")
    yield "translation", TRANSLATION, without_language(page)
    yield "name", SAME_NAME, name
    yield "folder", SAME_FOLDER, folder
