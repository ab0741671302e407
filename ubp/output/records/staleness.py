r"""Records of staleness, setup and errors, for JSON and for agents.

The shapes are described in `schemas/*.json` (JSON Schema 2020-12), and tests validate what commands
print against them. In all of them paths are relative to the repository's root, times are ISO 8601
in UTC, ids are 40 hexadecimal digits, and what is unknown is null. Bytes of names that are not
UTF-8 are lone surrogates (`\udcff`), as from Python's `os.fsdecode`. Later versions may add keys,
never remove them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ubp.core.errors import UbpError
from ubp.core.model import Assessment, Commit, FilePath, Page, ReferenceVerdict, SourceReference
from ubp.core.paths import doc_id
from ubp.core.setup_files import InitResult
from ubp.index.embed.models import FetchedModel
from ubp.index.reindex import IndexRun, ModelStatus
from ubp.output.text.common import visible_pages
from ubp.output.wording import file_stem, moment, printable_json
from ubp.staleness.model import Acknowledgement, Affected, SourceDiff, StaleReport
from ubp.staleness.status import BUCKETS, Status

Record = dict[str, Any]


def to_json(record: Mapping[str, Any], *, is_indented: bool = False) -> str:
    """Return a record as JSON text that is valid UTF-8 and safe on a terminal."""
    import json

    return printable_json(json.dumps(record, ensure_ascii=False, indent=2 if is_indented else None))


def stale_record(
    report: StaleReport,
    *,
    every: bool = False,
    diffs: Mapping[tuple[FilePath, ReferenceVerdict], SourceDiff] | None = None,
) -> Record:
    """Return the record of `ubp stale`: schemas/stale.json.

    Without `every` only the pages that are not fresh.
    """
    pages = visible_pages(report, every=every)
    return {
        "documents": [_assessed(assessment, report, diffs or {}) for assessment in pages],
        "summary": report.summary._asdict(),
        "snapshot": {"kind": report.snapshot.kind, "commit": report.snapshot.commit},
        "threshold_days": report.threshold_days,
        "is_shallow": report.is_shallow,
        "accepted": report.accepted,
        "settled": len(report.obsolete_debts),
    }


def affected_record(affected: Iterable[Affected]) -> Record:
    """Return the record of `ubp affected`: schemas/affected.json."""
    return {
        "documents": [
            {
                **_page(document.page),
                "references": [_reference(reference) for reference in document.references],
            }
            for document in affected
        ]
    }


def acknowledge_record(results: Sequence[Acknowledgement]) -> Record:
    """Return the record of `ubp ack`: schemas/ack.json."""
    return {
        "documents": [
            {
                "doc_id": doc_id(result.filepath),
                "filepath": result.filepath,
                "pinned": [pinned._asdict() for pinned in result.pinned],
                "left": [skipped._asdict() for skipped in result.skipped],
            }
            for result in results
        ],
        "summary": {
            "documents": sum(1 for result in results if result.pinned),
            "pinned": sum(len(result.pinned) for result in results),
            "left": sum(len(result.skipped) for result in results),
        },
    }


def status_record(status: Status) -> Record:
    """Return the record of `ubp status`: schemas/status.json."""
    return {
        "root": status.root,
        "snapshot": {"kind": status.snapshot.kind, "commit": status.snapshot.commit},
        "summary": status.summary._asdict(),
        "unparsed": [
            {
                "doc_id": doc_id(document.filepath),
                "filepath": document.filepath,
                "problems": [problem._asdict() for problem in document.problems],
            }
            for document in status.unparsed
        ],
        "keys": list(status.keys),
        "threshold_days": status.threshold_days,
        "links": {bucket: status.links.buckets.get(bucket, 0) for bucket in BUCKETS},
        "broken_links": status.links.broken,
        "servers": [
            {"pid": server.pid, "since": moment(int(server.since))} for server in status.servers
        ],
        "model": model_record(status.model),
        "index": _index(status),
    }


def model_record(model: ModelStatus) -> Record:
    """Return the record of `ubp model`: schemas/model.json."""
    return model._asdict()


def fetched_record(fetched: FetchedModel) -> Record:
    """Return the record of `ubp model fetch`: schemas/model-fetch.json."""
    return fetched._asdict()


def reindexed_record(run: IndexRun) -> Record:
    """Return the record of `ubp reindex`: schemas/reindex.json."""
    return {
        "documents": run.documents,
        "parsed": run.parsed,
        "pruned": run.pruned and run.pruned._asdict(),
        "embedded": run.embedded,
        "index": _index(run),
    }


def initialized_record(result: InitResult) -> Record:
    """Return the record of `ubp init`: schemas/init.json."""
    return {
        **result._asdict(),
        "written": list(result.written),
        "preview": result.preview and result.preview._asdict(),
        "seconds": round(result.seconds, 3),
        "snippets": [snippet._asdict() for snippet in result.snippets],
    }


def error_record(error: UbpError) -> Record:
    """Return the record of a failed command (exit code 2): schemas/error.json."""
    return {"error": {"message": error.message, "cause": error.cause, "hint": error.hint}}


def commit_record(commit: Commit) -> Record:
    """Return the record of a commit."""
    return {
        "id": commit.id,
        "date": moment(commit.date),
        "author": commit.author,
        "subject": commit.subject,
    }


def _index(source: Status | IndexRun) -> Record:
    index = source.statistics
    return {
        **index._asdict(),
        "written_at": None if index.written_at is None else moment(int(index.written_at)),
    }


def _assessed(
    assessment: Assessment,
    report: StaleReport,
    diffs: Mapping[tuple[FilePath, ReferenceVerdict], SourceDiff],
) -> Record:
    path = assessment.page.filepath
    return {
        **_page(assessment.page),
        "staleness": assessment.level,
        "references": [
            _verdict(reference, report, diffs.get((path, reference)))
            for reference in assessment.references
        ],
        "problems": [problem._asdict() for problem in assessment.page.facts.problems],
    }


def _page(page: Page) -> Record:
    return {
        "doc_id": doc_id(page.filepath),
        "filepath": page.filepath,
        "title": page.facts.title or file_stem(page.filepath),
    }


def _verdict(verdict: ReferenceVerdict, report: StaleReport, diff: SourceDiff | None) -> Record:
    record = {
        "source_path": verdict.source_path,
        "verdict": verdict.verdict,
        "staleness": verdict.level,
        "baseline": verdict.baseline,
        "baseline_commit": verdict.baseline_commit,
        "baseline_blob": verdict.baseline_blob,
        "current_blob": verdict.current_blob,
        "moved_to": verdict.moved_to,
        "since": None if verdict.since is None else moment(verdict.since),
        "age_days": verdict.age_days,
        "commits": [commit_record(commit) for commit in verdict.commits],
        **_reference(verdict.reference),
    }
    record["source_path"] = verdict.source_path  # as it was judged, not as it is written
    if report.is_change or verdict.is_debt:
        record["is_debt"] = verdict.is_debt
    if diff is not None:
        record["diff"] = {"text": diff.text, "missing_blobs": list(diff.missing)}
    return record


def _reference(reference: SourceReference) -> Record:
    return {
        "source_path": reference.source_path,
        "line": reference.line,
        "key": reference.key,
        "fragment": reference.fragment,
        "pin": reference.pin,
        "reason": reference.reason,
    }
