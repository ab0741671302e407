"""The evidence of a state, from the index where an earlier run found it.

What a page contains of the names that changed between two versions of a file depends on three
blobs; which names many pages have depends on the blobs of all documents. With 900 drifted
references of 300 pages `ubp stale` takes 0.12 s of CPU, without stored evidence 0.24; with 51 of
them 87 and 106 ms, and 82 if no evidence is asked for (the repository of
`benchmarks/staleness/stale_speed.py`).
"""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence

from ubp.core.model import Evidence, ObjectId, Page, ReferenceVerdict
from ubp.index.store.facts import NameTable
from ubp.index.view import View
from ubp.staleness.diff import drift_of

# Raise it with what `add_evidence` finds in the same bytes.
VERSION = 7


class EvidenceTable:
    """Candidates by the versions of a source and a page, and common names by all documents."""

    def __init__(self, view: View) -> None:
        database = view.context.store.database
        self._view = view
        self._candidates = NameTable(database, f"evidence {VERSION}")
        self._common = NameTable(database, f"common names {VERSION}")

    def read(
        self, drifted: Sequence[tuple[Page, ReferenceVerdict]]
    ) -> Mapping[int, tuple[Evidence, ...]]:
        """Return the candidates of those references, by their positions, that are stored."""
        keys = [_key(page, reference) for page, reference in drifted]
        texts = self._candidates.read({key for key in keys if key})
        return {
            number: tuple(Evidence(*row) for row in json.loads(texts[key]))
            for number, key in enumerate(keys)
            if key in texts
        }

    def save(
        self,
        drifted: Sequence[tuple[Page, ReferenceVerdict]],
        found: Mapping[int, tuple[Evidence, ...]],
    ) -> None:
        """Store candidates by the positions of their references."""
        keys = {number: _key(*drifted[number]) for number in found}
        self._candidates.save({key: json.dumps(found[n]) for n, key in keys.items() if key})

    def common_names(
        self, names: frozenset[str], find: Callable[[Collection[str]], frozenset[str]]
    ) -> frozenset[str]:
        """Return the common ones of these names; `find` is asked for those not stored."""
        if not names:
            return frozenset()
        documents = sorted(self._view.document_files().items())
        key = _digest([(path, entry.id) for path, entry in documents])
        known: dict[str, bool] = json.loads(self._common.read([key]).get(key, "{}"))
        if unknown := names - known.keys():
            common = find(unknown)
            known |= {name: name in common for name in unknown}
            self._common.save({key: json.dumps(known)}, replaces=True)
        return frozenset(name for name in names if known[name])


def _key(page: Page, reference: ReferenceVerdict) -> ObjectId | None:
    """Return the digest of what the candidates depend on; None: of more than three blobs."""
    if reference.collection or reference.reference.fragment or not reference.current_blob:
        return None
    return _digest([page.blob, *drift_of(reference)])


def _digest(parts: object) -> ObjectId:
    text = json.dumps(parts).encode("utf-8", "surrogatepass")
    return ObjectId(hashlib.sha1(text, usedforsecurity=False).hexdigest())
