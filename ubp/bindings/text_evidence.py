"""Evidence in text: paths and identifiers that a document mentions, and sources that name it."""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ubp.bindings.sources import MIN_IDENTIFIERS, CandidateSources, Numbers
from ubp.code.names import SourceNames
from ubp.code.symbols import program_language
from ubp.core.model import FilePath
from ubp.core.paths import nfc, normalize_path
from ubp.core.repository_names import short_name, split_file_address
from ubp.markdown.mentions import Mention, PageMentions

# An identifier that is only in fenced code may belong to an example.
FENCED = 0.4
# An identifier below it is in half of the sources.
MIN_RARITY = 0.1
# The share of the evidence for a test that counts for the source that it tests.
TESTED_SHARE = 0.5

MIN_NAME_LENGTH = 3

# A name that more documents have is not a reference to any of them.
MAX_OF_NAME = 2

Shares = dict[int, float]


class IdentifierMatch(NamedTuple):
    """The evidence of a document's identifiers for each source.

    `defined`: the source defines them; `used`: it uses them, rare ones counting more.
    """

    defined: Mapping[int, float]
    used: Mapping[int, float]


class TextMention(NamedTuple):
    """How often a document mentions each source: by its path, its name, its stem, its folder.

    A mention that matches several sources is divided among them. `first` is the first mention of
    each source; one by its stem counts only if it has no other. `folders` has the first
    mention of each folder.
    """

    path: Shares
    name: Shares
    stem: Shares
    folder: Shares
    first: dict[int, Mention]
    folders: dict[str, Mention]


class PageRarity:
    """How rare an identifier is, by the number of documents that mention it."""

    def __init__(self, counts: Mapping[str, int], pages: int) -> None:
        self.counts = counts
        self._pages = pages

    def __call__(self, identifier: str) -> float:
        """Return the rarity from 0 to 1: 1 if one document has it."""
        count = self.counts.get(identifier, 1)
        return math.log(1 + self._pages / count) / math.log(1 + self._pages)


def find_identifier_matches(
    mentions: PageMentions, page_rarity: PageRarity, sources: CandidateSources
) -> IdentifierMatch:
    """Return the evidence of a document's identifiers for each source."""
    defined: dict[int, float] = {}
    used = [0.0] * sources.count
    for mention in mentions.identifiers:
        users = sources.users.get(mention.text)
        if not users:
            continue
        weight = (FENCED if mention.text in mentions.fenced else 1.0) * page_rarity(mention.text)
        rarity = sources.identifier_rarity(mention.text)
        definers = sources.definers.get(mention.text, ())
        for number in definers:
            defined[number] = defined.get(number, 0.0) + weight * rarity / len(definers)
        if rarity > MIN_RARITY:
            share = weight * rarity * rarity
            for number in users:
                used[number] += share
    # A long source uses more of any identifiers.
    scaled = {
        number: value / math.log(MIN_IDENTIFIERS + sources.identifiers[number])
        for number, value in enumerate(used)
        if value
    }
    with_tests = dict(scaled)
    for test, tested in sources.tested.items():
        for number in tested if test in scaled else ():
            total = scaled.get(number, 0.0) + TESTED_SHARE * scaled[test]
            with_tests[number] = max(with_tests.get(number, 0.0), total)
    return IdentifierMatch(defined, with_tests)


def find_text_mentions(
    page: FilePath, mentions: PageMentions, sources: CandidateSources, own_names: Collection[str]
) -> TextMention:
    """Return the sources that a document mentions; `own_names` are those of this repository."""
    found = TextMention({}, {}, {}, {}, {}, {})
    folder = page.rpartition("/")[0]
    for as_written in mentions.paths:
        mention = as_written._replace(text=local_path(as_written.text, own_names))
        written = nfc(mention.text).rstrip("/.,-")
        text = _PARENT_STEPS.sub("", written)
        if mention.text.endswith("/") and text in sources.folders:
            found.folders.setdefault(sources.folders[text], mention)
        if len(text) >= MIN_NAME_LENGTH:
            is_from_root = written.startswith("/") or mention.text != as_written.text
            relative = text if is_from_root else normalize_path(f"{folder}/{written}") or ""
            _add_path_mention(mention, text, _at(relative, sources), sources, found)
    stems: dict[int, Mention] = {}
    for mention in mentions.identifiers:
        same = sources.by_stem.get(mention.text)
        if same and len(mention.text) > MIN_NAME_LENGTH and mention.text not in mentions.fenced:
            _divide(found.stem, same, 1, mention, stems)
    return found._replace(first=stems | found.first)


def local_path(written: str, own_names: Collection[str]) -> str:
    """Return the path of what a forge shows of this repository; "" for what it shows of others.

    Anything else is returned as it is. `own_names` are without owners: a page of a fork, or of a
    repository that has moved, names the first one's.
    """
    repository, path = split_file_address(written)
    if not repository:
        return written
    return path if short_name(repository) in own_names else ""


def only_language(names: Iterable[str]) -> str | None:
    """Return the programming language of fenced code; None: there are several, or none."""
    languages = set(map(program_language, names)) - {None}
    return languages.pop() if len(languages) == 1 else None


def find_embedded(page: FilePath, mentions: PageMentions, sources: CandidateSources) -> set[int]:
    """Return the sources that a document includes, or shows as images: they are parts of it.

    The folder from which a path starts depends on the site's generator and on its options.
    """
    folder = page.rpartition("/")[0]
    embedded: set[int] = set()
    for path in map(nfc, mentions.embedded):
        text = _PARENT_STEPS.sub("", path.removeprefix("@/"))
        relative = normalize_path(f"{folder}/{path}") or ""
        same_name = sources.by_name.get(text.rpartition("/")[2], ())
        embedded.update(_at(relative, sources) or _with_ending(same_name, text, sources))
    return embedded


def find_back_references(
    pages: Sequence[FilePath], names: Sequence[SourceNames]
) -> Mapping[FilePath, Sequence[int]]:
    """Return the numbers of the sources that name each document, in a comment for example."""
    by_path = {nfc(page): page for page in pages}
    by_name: dict[str, list[FilePath]] = {}
    for page in pages:
        by_name.setdefault(nfc(page).rpartition("/")[2], []).append(page)

    def resolve(written: str) -> Sequence[FilePath]:
        text = _LEADING_DOTS.sub("", nfc(written)).rstrip(".")
        if text in by_path:
            return [by_path[text]]
        same_name = by_name.get(text.rpartition("/")[2], ())
        if len(same_name) <= MAX_OF_NAME:
            return [page for page in same_name if nfc(page).endswith(text)]
        return []

    resolved: dict[str, Sequence[FilePath]] = {}
    references: dict[FilePath, list[int]] = {}
    for number, source_names in enumerate(names):
        named: set[FilePath] = set()
        for written in source_names.paths:
            if written not in resolved:
                resolved[written] = resolve(written)
            named.update(resolved[written])
        for page in named:
            references.setdefault(page, []).append(number)
    return references


def _add_path_mention(
    mention: Mention, text: str, exact: Numbers, sources: CandidateSources, found: TextMention
) -> None:
    """Add what a mention that looks like a path means: a file, a folder or a module.

    `text` is the mention without leading dots, `exact` the file at its path.
    """
    name = text.rpartition("/")[2]
    if name in sources.by_name:
        if "/" in text:
            numbers = exact or _with_ending(sources.by_name[name], text, sources)
            _divide(found.path, numbers, mention.times, mention, found.first)
        else:
            numbers = exact or sources.by_name[name]
            _divide(found.name, numbers, mention.times, mention, found.first)
    elif "/" in text:
        folders = _folders(text, sources)
        for folder in folders:
            inside = sources.by_folder[folder]
            weight = mention.times / len(inside) ** 0.5 / len(folders)
            found.folders.setdefault(folder, mention)
            for number in inside:
                found.folder[number] = found.folder.get(number, 0.0) + weight
        if not folders:
            numbers = _modules(text, sources)
            _divide(found.path, numbers, mention.times, mention, found.first)
    else:
        numbers = _dotted_modules(text, sources)
        _divide(found.path, numbers, mention.times, mention, found.first)


def _at(path: str, sources: CandidateSources) -> Numbers:
    number = sources.numbers.get(FilePath(path))
    return [] if number is None else [number]


def _with_ending(numbers: Iterable[int], text: str, sources: CandidateSources) -> Numbers:
    exact = _at(text, sources)
    return exact or [n for n in numbers if nfc(sources.paths[n]).endswith("/" + text)]


def _folders(text: str, sources: CandidateSources) -> Sequence[str]:
    if text in sources.folders:
        return [sources.folders[text]]
    same_name = sources.folders_by_name.get(text.rpartition("/")[2], ())
    return [folder for folder in same_name if nfc(folder).endswith("/" + text)]


def _modules(text: str, sources: CandidateSources) -> Numbers:
    """Return the sources with this path apart from folders and suffix: `auth/session`."""
    same = sources.by_stem.get(text.rpartition("/")[2].split(".")[0], ())
    return [n for n in same if f"/{sources.paths[n].rpartition('.')[0]}".endswith("/" + text)]


def _dotted_modules(text: str, sources: CandidateSources) -> Numbers:
    """Return the modules that a dotted name begins with: `auth.session.Session.close`."""
    parts = text.split(".")
    for end in range(len(parts), max(1, len(parts) - 3), -1):
        if numbers := _modules("/".join(parts[:end]), sources):
            return numbers
    return []


def _divide(
    shares: Shares,
    numbers: Sequence[int],
    count: float,
    mention: Mention,
    first: dict[int, Mention],
) -> None:
    """Divide a mention among the sources that it matches."""
    for number in numbers:
        shares[number] = shares.get(number, 0.0) + count / len(numbers)
        if number not in first or first[number].line > mention.line:
            first[number] = mention


_PARENT_STEPS = re.compile(r"^(?:\.{1,2}/)+|^/")
_LEADING_DOTS = re.compile(r"^[./]+")
