"""Records of collections: schemas/collections.json and collections-sync.json."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from ubp.index.collections import CollectionStatus, SyncResult
from ubp.output.records.pages import moment_or_none

Record = dict[str, Any]


def collections_record(folder: str, statuses: Iterable[CollectionStatus]) -> Record:
    """Return the record of `ubp collections`."""
    return {
        "directory": folder,
        "collections": [
            {
                **asdict(status),
                "synced_at": moment_or_none(status.synced_at),
                "versions": list(status.versions),
                "problem": status.problem or None,
                "at": status.at or None,
            }
            for status in statuses
        ],
    }


def sync_record(results: Iterable[SyncResult]) -> Record:
    """Return the record of `ubp collections sync` and `add`."""
    return {
        "collections": [
            {
                **asdict(result),
                "at": result.at or None,
                "version": result.version or None,
                "problems": [asdict(problem) for problem in result.problems],
                "absent": list(result.absent),
            }
            for result in results
        ]
    }


def removed_record(name: str, *, existed: bool, purged: bool, configured: bool) -> Record:
    """Return the record of `ubp collections remove`."""
    return {
        "name": name,
        "is_removed": existed,
        "is_purged": purged and existed,
        "is_removed_from_configuration": configured,
    }
