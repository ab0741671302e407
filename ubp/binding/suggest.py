"""Use case: for each page, the sources that it seems to describe."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from ubp.binding.candidates import find_candidates
from ubp.binding.suggestion import Evidence, EvidenceKind, PageSuggestions, Suggestion
from ubp.index import View
from ubp.model import FilePath

_WORD = re.compile(r"[\w./@+-]*\w")


def suggest_sources(
    view: View,
    pages: Sequence[FilePath],
    is_hidden: Callable[[FilePath], bool],
    refused: Collection[tuple[str, str]],
    limit: int,
) -> list[PageSuggestions]:
    """At most `limit` sources for each page; never one that it names already or that is refused."""
    candidates = find_candidates(view, is_hidden)
    by_name: dict[str, list[FilePath]] = {}
    for path in candidates:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    texts = view.read(pages)
    bound = {page.filepath: page.facts.references for page in view.pages_at(pages).values()}
    found = []
    for page in pages:
        known = {one.source_path for one in bound.get(page, ())}
        text = (texts[page] or b"").decode("utf-8", "replace")
        suggestions = [
            one
            for one in _named(text, candidates, by_name)
            if one.source_path not in known and (page, one.source_path) not in refused
        ]
        found.append(PageSuggestions(page, tuple(suggestions[:limit])))
    return found


def _named(
    text: str, candidates: Collection[FilePath], by_name: Mapping[str, Sequence[FilePath]]
) -> Iterator[Suggestion]:
    seen = set()
    for number, line in enumerate(text.splitlines(), 1):
        for word in _WORD.findall(line):
            path = FilePath(word.removeprefix("./"))
            named = [path] if path in candidates else by_name.get(word, ())
            for one in named:
                if one not in seen:
                    seen.add(one)
                    kind: EvidenceKind = "path" if one == path else "file_name"
                    confidence = 0.8 if one == path else 0.6 / len(named)
                    yield Suggestion(one, confidence, (Evidence(kind, word, number, 1.0),))
