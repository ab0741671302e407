"""Use case: for each page, the sources that it seems to describe."""

from collections.abc import Callable, Collection, Mapping, Sequence
from heapq import nlargest
from typing import NamedTuple

from ubp.binding.folders import find_folders
from ubp.binding.gathering import Basis, Gathered
from ubp.binding.reasons import Known, find_folder_reasons, find_reasons
from ubp.binding.remembering import Remembered
from ubp.binding.signals import Testimony, read_signals
from ubp.binding.sources import Sources
from ubp.binding.suggestion import PageSuggestions, Suggestion
from ubp.binding.weighing import confidence, score
from ubp.history import History
from ubp.index import View
from ubp.model import FilePath
from ubp.paths import nfc

# A source that is less likely than this is not worth reading about.
LEAST_CONFIDENCE = 0.02
PROSE = (".md", ".markdown", ".mdx", ".rst")


class Request(NamedTuple):
    """What is asked: at most `limit` sources of each page, none that is hidden or refused.

    `scope` tells the configuration that hides, and the keys of front matter that bind.
    """

    pages: Sequence[FilePath]
    limit: int
    is_hidden: Callable[[FilePath], bool]
    refused: Collection[tuple[FilePath, FilePath]]
    scope: str


def suggest_sources(view: View, history: History, request: Request) -> list[PageSuggestions]:
    """The sources of each page; what it names already is not among them."""
    question = (request.pages, request.limit, sorted(request.refused), request.scope)
    remembered = Remembered(view, question)
    if (answer := remembered.recall()) is not None:
        return answer
    bound = _bindings(view)

    def gather() -> Gathered:
        head = view.snapshot.commit
        log = history.change_log(head=head) if head else []
        return Gathered(Basis(view, request.is_hidden, log, bound))

    # Who asks about one page asks about others, too, before anything changes.
    gathered = view.derived("gathered", gather)
    gathered.ask(view, request.pages)
    found = []
    for done, page in enumerate(request.pages, 1):
        view.ground.progress("Looking for sources", done, len(request.pages))
        known = {nfc(path) for path in bound.get(page, ())}
        known |= {source for one, source in request.refused if one == nfc(page)}
        found.append(PageSuggestions(page, _suggest(page, gathered, known, request.limit)))
    remembered.keep(found)
    return found


def _suggest(
    page: FilePath, gathered: Gathered, known: Collection[str], limit: int
) -> tuple[Suggestion, ...]:
    said = gathered.about(page)
    sources = gathered.sources
    signals = read_signals(said, sources, gathered.activities)
    confidences = {
        number: confidence(score(one))
        for number, one in signals.items()
        if _is_meant(number, said, sources)
    }
    told = Known(said, gathered.mentions(page), sources, signals)
    found = find_folders(page, confidences, said.mentioned.folders, sources, gathered.touched)
    folders = [one for one in found if not _touches(one.path, known)]
    covered = {number for one in folders for number in one.inside}
    files = {number: sure for number, sure in confidences.items() if number not in covered}
    ranked = nlargest(limit + len(known), files, key=lambda number: (files[number], -number))
    proposed = [
        Suggestion(f"{one.path}/", one.confidence, find_folder_reasons(one, told))
        for one in folders
    ] + [
        Suggestion(sources.paths[number], files[number], find_reasons(number, told))
        for number in ranked
        if files[number] >= LEAST_CONFIDENCE and not _is_within(sources.paths[number], known)
    ][:limit]
    return tuple(sorted(proposed, key=lambda one: -one.confidence)[:limit])


def _bindings(view: View) -> Mapping[FilePath, list[FilePath]]:
    return {
        page.filepath: [one.source_path for one in page.facts.references]
        for page in view.bound_pages()
        if page.facts.references
    }


def _is_within(path: str, known: Collection[str]) -> bool:
    """Whether a source, or a folder that it lies in, is among those known."""
    parts = nfc(path).split("/")
    return any("/".join(parts[:end]) in known for end in range(1, len(parts) + 1))


def _is_meant(number: int, said: Testimony, sources: Sources) -> bool:
    """Whether a source is more than prose, or named by the page, or bound to one beside it.

    Prose that is no document shares words with any page: a changelog, an excluded draft.
    """
    return (
        not sources.paths[number].lower().endswith(PROSE)
        or number in said.mentioned.path
        or said.mentioned.name.get(number, 0.0) >= 1
        or number in said.siblings
    )


def _touches(folder: str, known: Collection[str]) -> bool:
    """Whether a folder is among those known or within one, or has one in it."""
    own = f"{nfc(folder)}/"
    return _is_within(folder, known) or any(one.startswith(own) for one in known)
