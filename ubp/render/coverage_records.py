"""What no page describes, as records: schemas/coverage.json."""

from typing import Any

from ubp.binding.coverage import Coverage
from ubp.render.page_parts import moment_or_none

Record = dict[str, Any]


def coverage_record(found: Coverage, limit: int) -> Record:
    """`ubp coverage`: schemas/coverage.json; of the gaps the first `limit`."""
    return {
        "snapshot": {"kind": found.snapshot.kind, "commit": found.snapshot.commit},
        "is_shallow": found.is_shallow,
        **coverage_parts(found, limit),
    }


def coverage_parts(found: Coverage, limit: int) -> Record:
    """What is told of it in a report too."""
    total = found.total
    return {
        "days": found.days,
        "since": moment_or_none(found.since),
        "files": {
            "total": total.files,
            "described": total.described_files,
            "described_percent": total.files_percent,
        },
        "changes": {
            "total": total.changes,
            "described": total.described_changes,
            "described_percent": total.changes_percent,
        },
        "gaps": [
            {"source_path": gap.path, "files": gap.files, "changes": gap.changes}
            for gap in found.gaps[:limit]
        ],
        "gap_count": len(found.gaps),
    }
