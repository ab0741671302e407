r"""Results as records, for JSON and for agents: one function a shape, each with its schema.

The shapes are described in `schemas/*.json` (JSON Schema 2020-12), and tests hold what commands
print against them. In all of them paths are from the repository's root, times are ISO 8601 in UTC,
ids are 40 hexadecimal digits, and what nobody knows is null. A name that is no UTF-8 has its bytes
as lone surrogates (`\udcff`), as Python's `os.fsdecode` writes them. Keys may be added in later
versions; those that are there stay.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ubp.core.errors import UbpError
from ubp.core.model import Assessment, Commit, FilePath, Page, ReferenceVerdict, SourceReference
from ubp.core.paths import doc_id
from ubp.core.setup_files import InitResult
from ubp.index.embed.models import FetchedModel
from ubp.index.reindex import IndexRun, ModelStatus
from ubp.output.text.common import visible_pages
from ubp.output.wording import moment, stem
from ubp.staleness.model import Acknowledgement, Affected, SourceDiff, StaleReport
from ubp.staleness.status import BUCKETS, Status

Record = dict[str, Any]

# JSON may hold these raw; terminals and strict readers of UTF-8 had better not see them.
_UNSAFE = re.compile("[\x7f-\x9f\ud800-\udfff]")


def to_json(record: Mapping[str, Any], *, is_indented: bool = False) -> str:
    """One JSON object as text that can be encoded as UTF-8 and printed on a terminal."""
    import json

    text = json.dumps(record, ensure_ascii=False, indent=2 if is_indented else None)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def stale_record(
    report: StaleReport,
    *,
    every: bool = False,
    diffs: Mapping[tuple[FilePath, ReferenceVerdict], SourceDiff] | None = None,
) -> Record:
    """`ubp stale`: schemas/stale.json. Without `every` only the pages that are not fresh."""
    pages = visible_pages(report, every=every)
    return {
        "documents": [_assessed(one, report, diffs or {}) for one in pages],
        "summary": report.summary._asdict(),
        "snapshot": {"kind": report.snapshot.kind, "commit": report.snapshot.commit},
        "threshold_days": report.threshold_days,
        "is_shallow": report.is_shallow,
        "accepted": report.accepted,
        "settled": len(report.obsolete_debts),
    }


def affected_record(affected: Iterable[Affected]) -> Record:
    """`ubp affected`: schemas/affected.json."""
    return {
        "documents": [
            {**_page(one.page), "references": [_written(r) for r in one.references]}
            for one in affected
        ]
    }


def acknowledge_record(done: Sequence[Acknowledgement]) -> Record:
    """`ubp ack`: schemas/ack.json."""
    return {
        "documents": [
            {
                "doc_id": doc_id(one.filepath),
                "filepath": one.filepath,
                "pinned": [pinned._asdict() for pinned in one.pinned],
                "left": [left._asdict() for left in one.skipped],
            }
            for one in done
        ],
        "summary": {
            "documents": sum(1 for one in done if one.pinned),
            "pinned": sum(len(one.pinned) for one in done),
            "left": sum(len(one.skipped) for one in done),
        },
    }


def status_record(status: Status) -> Record:
    """`ubp status`: schemas/status.json."""
    return {
        "root": status.root,
        "snapshot": {"kind": status.snapshot.kind, "commit": status.snapshot.commit},
        "summary": status.summary._asdict(),
        "unparsed": [
            {
                "doc_id": doc_id(one.filepath),
                "filepath": one.filepath,
                "problems": [problem._asdict() for problem in one.problems],
            }
            for one in status.unparsed
        ],
        "keys": list(status.keys),
        "threshold_days": status.threshold_days,
        "links": {bucket: status.links.buckets.get(bucket, 0) for bucket in BUCKETS},
        "broken_links": status.links.broken,
        "servers": [{"pid": one.pid, "since": moment(int(one.since))} for one in status.servers],
        "model": model_record(status.model),
        "index": _index(status),
    }


def model_record(model: ModelStatus) -> Record:
    """`ubp model`: schemas/model.json."""
    return model._asdict()


def fetched_record(fetched: FetchedModel) -> Record:
    """`ubp model fetch`: schemas/model-fetch.json."""
    return fetched._asdict()


def reindexed_record(run: IndexRun) -> Record:
    """`ubp reindex`: schemas/reindex.json."""
    return {
        "documents": run.documents,
        "parsed": run.parsed,
        "pruned": run.pruned and run.pruned._asdict(),
        "embedded": run.embedded,
        "index": _index(run),
    }


def initialized_record(done: InitResult) -> Record:
    """`ubp init`: schemas/init.json."""
    return {
        **done._asdict(),
        "written": list(done.written),
        "preview": done.preview and done.preview._asdict(),
        "seconds": round(done.seconds, 3),
        "snippets": [snippet._asdict() for snippet in done.snippets],
    }


def error_record(error: UbpError) -> Record:
    """Any command that could not do its job: schemas/error.json, with exit code 2."""
    return {"error": {"message": error.message, "cause": error.cause, "hint": error.hint}}


def commit_record(commit: Commit) -> Record:
    """A commit, wherever one is told."""
    return {
        "id": commit.id,
        "date": moment(commit.date),
        "author": commit.author,
        "subject": commit.subject,
    }


def _index(answer: Status | IndexRun) -> Record:
    index = answer.statistics
    return {
        **index._asdict(),
        "written_at": None if index.written_at is None else moment(int(index.written_at)),
    }


def _assessed(
    one: Assessment,
    report: StaleReport,
    diffs: Mapping[tuple[FilePath, ReferenceVerdict], SourceDiff],
) -> Record:
    path = one.page.filepath
    return {
        **_page(one.page),
        "staleness": one.level,
        "references": [_judged(a, report, diffs.get((path, a))) for a in one.references],
        "problems": [problem._asdict() for problem in one.page.facts.problems],
    }


def _page(page: Page) -> Record:
    return {
        "doc_id": doc_id(page.filepath),
        "filepath": page.filepath,
        "title": page.facts.title or stem(page.filepath),
    }


def _judged(answer: ReferenceVerdict, report: StaleReport, diff: SourceDiff | None) -> Record:
    record = {
        "source_path": answer.source_path,
        "verdict": answer.verdict,
        "staleness": answer.level,
        "baseline": answer.baseline,
        "baseline_commit": answer.baseline_commit,
        "baseline_blob": answer.baseline_blob,
        "current_blob": answer.current_blob,
        "moved_to": answer.moved_to,
        "since": None if answer.since is None else moment(answer.since),
        "age_days": answer.age_days,
        "commits": [commit_record(commit) for commit in answer.commits],
        **_written(answer.reference),
    }
    record["source_path"] = answer.source_path
    if report.is_change or answer.is_debt:
        record["is_debt"] = answer.is_debt
    if diff is not None:
        record["diff"] = {"text": diff.text, "missing_blobs": list(diff.missing)}
    return record


def _written(reference: SourceReference) -> Record:
    return {
        "source_path": reference.source_path,
        "line": reference.line,
        "key": reference.key,
        "fragment": reference.fragment,
        "pin": reference.pin,
        "reason": reference.reason,
    }
