"""What became of pages since a revision, as a record."""

from typing import Any

from ubp.paths import doc_id
from ubp.render.wording import moment, stem
from ubp.report.comparing import KINDS, Comparison, Passage


def comparison_record(comparison: Comparison) -> dict[str, Any]:
    """`ubp stale --since`: schemas/stale-since.json. Pages that stayed fresh are only counted."""
    counts = comparison.counts
    return {
        "since": {"commit": comparison.then.commit, "date": moment(comparison.date)},
        "snapshot": {"kind": comparison.now.kind, "commit": comparison.now.commit},
        "is_shallow": comparison.is_shallow,
        "summary": {kind: counts.get(kind, 0) for kind in KINDS},
        "documents": [_passage(one) for one in comparison.passages if one.became != "still_fresh"],
    }


def _passage(one: Passage) -> dict[str, Any]:
    return {
        "doc_id": doc_id(one.page.filepath),
        "filepath": one.page.filepath,
        "title": one.page.facts.title or stem(one.page.filepath),
        "became": one.became,
        "was_at": one.was_at,
        "staleness_then": one.then,
        "staleness": one.now,
        "stale_refs": [
            {
                "source_path": answer.source_path,
                "verdict": answer.verdict,
                "since": None if answer.since is None else moment(answer.since),
            }
            for answer in one.drifted
        ],
    }
