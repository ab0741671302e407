"""An answer that was given before: where nothing has changed since, it holds still."""

import json
from collections.abc import Sequence
from hashlib import sha1

from ubp.binding.suggestion import Evidence, PageSuggestions, Suggestion
from ubp.binding.weighing import BIAS, SCALE, SHIFT, WEIGHTS
from ubp.index import View
from ubp.model import FilePath, ObjectId
from ubp.store.source_names import StoredNames


class Remembered:
    """The last answer, keyed by everything it depends on: the snapshot, the question, the weights.

    With it the second `ubp bind` takes 0.3 s of CPU for 311 pages and 0.4 s for 1,451, without it
    1.9 and 3.3 s (benchmarks/README.md, "Bindings").
    """

    def __init__(self, view: View, question: Sequence[object]) -> None:
        """`question` must tell everything that was asked, and what is hidden."""
        self._stored = StoredNames(view.ground.store, "answer")
        changed = sorted(view.entries(view.snapshot.changes).items())
        shallow = sorted(view.ground.repository.shallow_commits())
        ground = (view.snapshot.commit, changed, shallow)
        text = repr((*ground, *question, BIAS, WEIGHTS, SCALE, SHIFT)).encode(
            "utf-8", "surrogateescape"
        )
        self._key = ObjectId(sha1(text, usedforsecurity=False).hexdigest())

    def recall(self) -> list[PageSuggestions] | None:
        """The answer; None: it was not given, or another one has been given since."""
        found = self._stored.read([self._key]).get(self._key)
        return None if found is None else [_page(*one) for one in json.loads(found)]

    def keep(self, pages: Sequence[PageSuggestions]) -> None:
        """Remember this answer in the place of the last one."""
        self._stored.forget()
        self._stored.save({self._key: json.dumps(pages, separators=(",", ":"))})


def _page(path: FilePath, suggestions: list[list[object]]) -> PageSuggestions:
    return PageSuggestions(path, tuple([_suggestion(*one) for one in suggestions]))  # type: ignore[arg-type]  # JSON


def _suggestion(path: str, confidence: float, evidence: list[list[object]]) -> Suggestion:
    return Suggestion(path, confidence, tuple([Evidence(*one) for one in evidence]))  # type: ignore[arg-type]  # JSON
