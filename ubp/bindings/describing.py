"""The pages that name what a source has, and how likely they describe it: bindings in reverse."""

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping
from heapq import nlargest
from typing import NamedTuple

from ubp.bindings.evidence import read_own_names
from ubp.bindings.features import Suggestion
from ubp.bindings.path_words import is_test, records_past
from ubp.bindings.sources import find_candidates
from ubp.bindings.suggest import rate_bindings
from ubp.bindings.text_evidence import local_path
from ubp.core.model import FilePath
from ubp.core.paths import is_within
from ubp.index.names import read_page_mentions, read_source_names
from ubp.index.session import Session
from ubp.index.view import View
from ubp.markdown.mentions import PageMentions

# The pages that name most; each takes 2 to 10 ms to rate.
MAX_PAGES = 20
# Sources of a page that are compared with it, those that it names most.
MAX_SOURCES = 4
# What a path in a page counts; a name counts at most 1.
OF_PATH = 3.0
# What the name of the symbol counts that is asked about: more than all the others.
OF_SYMBOL = 1_000.0
# Lower than for a proposal, which is written into the page: here the page is only to be looked at.
# `docs/advanced/authentication.md` of httpx has 0.07 for `_auth.py`, `search.md` of Zola 0.10 for
# its search component, and no page has more.
MIN_DESCRIBING = 0.05
# Of a folder with more, the first ones.
MAX_FILES = 200

MAX_OWNER = 100  # characters of the name of a type, in front of that of its member

_SEPARATORS = re.compile(r"::|->|[.#]")
_OWNER = re.compile(rf"(\w+)(?:{_SEPARATORS.pattern})\Z")

PageScores = dict[FilePath, dict[FilePath, float]]
"""For each page how much it names of each source; nothing where that is 0."""


class Describing(NamedTuple):
    """A page that seems to describe a source."""

    page: FilePath
    suggestion: Suggestion


class DescribingPages(NamedTuple):
    """The pages that seem to describe a file or folder, likeliest first; `compared` with it."""

    found: tuple[Describing, ...]
    compared: int


def find_describing(
    session: Session, view: View, path: FilePath, limit: int, symbol: str = ""
) -> DescribingPages:
    """Return the pages that do not list a file, or the files of a folder, and seem to describe it.

    Those that name a `symbol` come first. Records of the past describe nothing as it is.
    """
    entries = find_candidates(view, session.is_hidden)
    inside = [file for file in entries if is_within(file, path) and not is_test(file)][:MAX_FILES]
    pages = [page for page in view.document_paths() if not records_past(page)]
    if not inside:
        return DescribingPages((), 0)
    name = _simple_name(symbol)
    names = read_source_names(view.context, {file: entries[file] for file in inside})
    weights = {
        file: dict.fromkeys(names[entries[file].id].defined, 1.0)
        for file in inside
        if entries[file].id in names
    }
    for defined in weights.values():
        defined.update({name: OF_SYMBOL} if name in defined else {})
    mentions = read_page_mentions(view, pages)
    scores = score_pages(mentions, weights, read_own_names(session.repository))
    rated = rate_bindings(session, view, best_pairs(scores))
    found = [
        Describing(page, suggestions[0])
        for page, suggestions in rated.items()
        if suggestions and suggestions[0].confidence >= MIN_DESCRIBING
    ]
    naming = find_naming(view, {each.page: mentions[each.page] for each in found}, symbol)
    found.sort(
        key=lambda describing: (
            describing.page not in naming,
            -describing.suggestion.confidence,
            describing.page,
        )
    )
    return DescribingPages(tuple(found[:limit]), len(pages))


def find_naming(
    view: View, mentions: Mapping[FilePath, PageMentions], symbol: str
) -> set[FilePath]:
    """Return the documents that mention a symbol, as code.

    One that mentions `Admin.login` alone does not mention `Session.login`.
    """
    name = _simple_name(symbol)
    found = {
        page
        for page, mentioned in mentions.items()
        if any(mention.text == name for mention in mentioned.identifiers)
    }
    if name == symbol or not found:
        return found
    texts = view.read(found)
    return {
        page
        for page in found
        if _mentions_own((texts.get(page) or b"").decode("utf-8", "replace"), symbol)
    }


def _mentions_own(text: str, symbol: str) -> bool:
    """Return whether a text has a name in code that may be the symbol's, and not another type's."""
    *_, owner, name = _SEPARATORS.split(symbol)
    is_word = name.isalpha() and name[1:].islower()  # it may be a word of prose
    for match in re.finditer(rf"(?<![\w/-]){re.escape(name)}(?!\w)", text):
        start, end = match.span()
        if written := _OWNER.search(text, max(0, start - MAX_OWNER), start):
            is_own = written[1] == owner or not written[1][0].isupper()
        else:
            is_own = not is_word or text[end : end + 1] in {"`", "("}
        if is_own:
            return True
    return False


def _simple_name(symbol: str) -> str:
    """Return the last name of a symbol: `login` of `Session.login`."""
    return _SEPARATORS.split(symbol)[-1]


def score_pages(
    mentions: Mapping[FilePath, PageMentions],
    weights: Mapping[FilePath, Mapping[str, float]],
    own_names: Collection[str],
) -> PageScores:
    """Return how much each page names of each source, rare names counting more.

    `weights` are those of the names of each source, `own_names` the repository's at its forges.
    """
    known = set().union(*weights.values()) if weights else set()
    named = {
        page: known.intersection([mention.text for mention in mentioned.identifiers])
        for page, mentioned in mentions.items()
    }
    counts = Counter(name for names in named.values() for name in names)
    total = math.log(1 + len(mentions)) or 1.0
    rarity = {name: math.log(1 + len(mentions) / number) / total for name, number in counts.items()}
    endings = _path_endings(weights)
    scores: PageScores = {}
    for page, mentioned in mentions.items():
        of_page: dict[FilePath, float] = {}
        for path, weight in weights.items():
            if shared := named[page] & weight.keys():
                of_page[path] = sum(weight[name] * rarity[name] ** 2 for name in shared)
        for mention in mentioned.paths:
            if written := endings.get(local_path(mention.text, own_names).strip("./")):
                of_page[written] = of_page.get(written, 0.0) + OF_PATH
        if of_page:
            scores[page] = of_page
    return scores


def best_pairs(scores: PageScores) -> dict[FilePath, list[FilePath]]:
    """Return the pages that name most, each with the sources that it names most."""
    pages = nlargest(MAX_PAGES, scores, key=lambda page: (sum(scores[page].values()), page))
    return {
        page: nlargest(MAX_SOURCES, scores[page], key=lambda path: (scores[page][path], path))
        for page in pages
    }


def _path_endings(paths: Collection[FilePath]) -> dict[str, FilePath]:
    """Return the files by the texts that name one of them alone: a path, or the end of one."""
    endings: dict[str, FilePath | None] = {}
    for path in paths:
        parts = path.split("/")
        for start in range(len(parts)):
            ending = "/".join(parts[start:])
            endings[ending] = None if ending in endings else path
    return {text: path for text, path in endings.items() if path is not None}
