"""All that speaks for the sources of a snapshot's pages: gathered once, told page by page."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ubp.binding.candidates import find_candidates
from ubp.binding.folders import Touched
from ubp.binding.identified import PageRarity, find_identified
from ubp.binding.meanings import find_meanings
from ubp.binding.mentioned import find_mentioned
from ubp.binding.naming_pages import find_naming
from ubp.binding.placed import find_placed
from ubp.binding.siblings import Bindings, without_language
from ubp.binding.signals import Testimony
from ubp.binding.sources import Sources
from ubp.binding.together import History
from ubp.git.change_log import LoggedChange
from ubp.index import View
from ubp.indexing.names import learn_mentions, learn_names
from ubp.model import Entry, FilePath
from ubp.parse.mentions import PageMentions
from ubp.parse.names import NO_NAMES

if TYPE_CHECKING:  # it needs numpy, which a plain installation lacks
    from ubp.embed.model import Model

# How rare an identifier is among pages, so many tell as well as all.
MOST_PAGES_READ = 2_000

NO_MENTIONS = PageMentions("", "", (), (), frozenset())


class Basis(NamedTuple):
    """What evidence is gathered from; `bound` tells what pages name already."""

    view: View
    is_hidden: Callable[[FilePath], bool]
    log: Iterable[LoggedChange]
    bound: Mapping[FilePath, Iterable[FilePath]]
    model: "Model | None"


class Gathered:
    """What speaks for which source; `about` tells it of one page."""

    def __init__(self, basis: Basis, pages: Collection[FilePath]) -> None:
        """`pages` are those that will be asked about."""
        view = basis.view
        self._mentions = _read_mentions(view, pages)
        entries = _hashed(view, find_candidates(view, basis.is_hidden))
        names = learn_names(view.ground, entries)
        asked = {one.text for said in self._mentions.values() for one in said.identifiers}
        self.sources = Sources(
            list(entries), [names.get(one.id, NO_NAMES) for one in entries.values()], asked
        )
        documents = view.document_paths()
        self._naming = find_naming(documents, self.sources.names)
        self._history = History(basis.log, self.sources.numbers, pages)
        numbers = self.sources.numbers
        self.activities = self._history.activities()
        self.touched = Touched(self._history.count_touching, self._history.commits)
        self._bindings = Bindings(
            {
                page: [numbers[path] for path in paths if path in numbers]
                for page, paths in basis.bound.items()
            }
        )
        self._rarity = _page_rarity(self._mentions.values())
        self._translations: dict[str, list[FilePath]] = {}
        for page in self._mentions:
            self._translations.setdefault(without_language(page), []).append(page)
        self._meanings: dict[FilePath, dict[int, float]] = {}
        if basis.model and pages:
            said = [self.mentions(page) for page in pages]
            found = find_meanings(basis.model, self.sources, said)
            self._meanings.update(zip(pages, found, strict=True))

    def about(self, page: FilePath) -> Testimony:
        """What speaks for each source of a page."""
        said = self.mentions(page)
        return Testimony(
            find_mentioned(page, said, self.sources),
            find_identified(said, self._rarity, self.sources),
            find_placed(page, said.headings, self.sources),
            self._history.with_page(page),
            self._naming.get(page, ()),
            self._bindings.of_siblings(page),
            self._meanings.get(page, {}),
            self._history.knows(page),
        )

    def mentions(self, page: FilePath) -> PageMentions:
        """What a page mentions, and what its translations do besides (with line 0)."""
        own = self._mentions.get(page, NO_MENTIONS)
        same = self._translations.get(without_language(page), ())
        others = [self._mentions[one] for one in same if one != page]
        return _joined(own, others) if others else own


def _read_mentions(view: View, pages: Collection[FilePath]) -> dict[FilePath, PageMentions]:
    documents = view.document_paths()
    step = -(-len(documents) // MOST_PAGES_READ) or 1
    translated = {without_language(page) for page in pages}
    wanted = dict.fromkeys([*pages, *documents[::step]])
    wanted |= dict.fromkeys(one for one in documents if without_language(one) in translated)
    there = {path: entry for path, entry in view.entries(wanted).items() if entry}
    mentions = learn_mentions(view.ground, there)
    return {path: mentions.get(entry.id, NO_MENTIONS) for path, entry in there.items()}


def _hashed(view: View, entries: Mapping[FilePath, Entry]) -> dict[FilePath, Entry]:
    changed = [path for path in entries if view.is_changed(path)]
    hashed = {path: entry for path, entry in view.entries(changed).items() if entry}
    return {**entries, **hashed}


def _page_rarity(mentions: Collection[PageMentions]) -> PageRarity:
    counts = Counter(one.text for said in mentions for one in said.identifiers)
    return PageRarity(counts, len(mentions))


def _joined(own: PageMentions, others: Sequence[PageMentions]) -> PageMentions:
    paths = {one.text: one for said in others for one in said.paths}
    identifiers = {one.text: one for said in others for one in said.identifiers}
    for known in own.paths:
        paths.pop(known.text, None)
    for known in own.identifiers:
        identifiers.pop(known.text, None)
    return own._replace(
        headings=" ".join([own.headings, *(said.headings for said in others)]),
        paths=(*own.paths, *(one._replace(line=0) for one in paths.values())),
        identifiers=(*own.identifiers, *(one._replace(line=0) for one in identifiers.values())),
        fenced=own.fenced.union(*(said.fenced for said in others)),
    )
