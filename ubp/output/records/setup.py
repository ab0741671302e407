"""Records of setup: `ubp init`, `status` and shell completion."""

from dataclasses import dataclass
from typing import Annotated

from ubp.answers.setup.model import ModelRecord
from ubp.answers.setup.reindex import IndexRecord, index_record
from ubp.core.paths import doc_id
from ubp.core.setup_files import InitResult, PathCount
from ubp.frame.fields import Count, DocId, Fraction, Line, Moment, PagePath
from ubp.frame.records import ProblemRecord, SnapshotRecord, problem_record, snapshot_record
from ubp.frame.wording import moment
from ubp.output.records.staleness import SummaryRecord, summary_record
from ubp.staleness.status import BUCKETS, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewRecord:
    """What `ubp bind` would propose."""

    proposed: Annotated[Count, "pages with a proposal"]
    confident: Annotated[Count, "pages with a proposal confident enough to be written"]
    sure: Annotated[Fraction, "confidence"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SnippetRecord:
    """A snippet to paste into another file."""

    name: Annotated[str, "stable name"]
    title: Annotated[str, "path to paste it into"]
    text: Annotated[str, "text to paste"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PathCountRecord:
    """Pages of a folder."""

    path: Annotated[str, "folder in the root, with a final slash, or a file in the root"]
    pages: Annotated[Count, "number of Markdown files"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteFoldersRecord:
    """A site that publishes pages."""

    generator: Annotated[str, "site generator"]
    folders: Annotated[tuple[str, ...], "folders of its pages; empty for the root"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationCountRecord:
    """The translations that a rule of the configuration finds."""

    page: Annotated[str, "pattern of the translations"]
    pages: Annotated[Count, "number of translations"]
    languages: Annotated[Count, "number of languages"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InitRecord:
    """Result of the setup."""

    root: Annotated[str, "absolute path of the work tree"]
    written: Annotated[tuple[str, ...], "files that were written, from the root"]
    is_kept: Annotated[bool, "whether an existing configuration was kept"]
    documents: Annotated[Count, "number of pages"]
    indexed: Annotated[tuple[PathCountRecord, ...], "pages by folder"]
    left_out: Annotated[tuple[PathCountRecord, ...], "Markdown files that are not pages"]
    sites: Annotated[tuple[SiteFoldersRecord, ...], "sites that publish pages"]
    translations: Annotated[tuple[TranslationCountRecord, ...], "rules for translated pages"]
    bound: Annotated[Count, "number of pages that list sources"]
    problems: Annotated[Count, "pages with front matter problems"]
    links: Annotated[Count, "links in the pages"]
    broken: Annotated[Count, "links that `ubp check --rule broken-link` reports"]
    embedded: Annotated[
        Count | None, "number of sections embedded; null if embedding was not requested"
    ]
    acceptable: Annotated[
        Count, "existing findings that `ubp debt` would accept; 0 if there is a debt file"
    ]
    preview: Annotated[PreviewRecord | None, "what `ubp bind` would propose; null if not computed"]
    is_large: Annotated[bool, "whether the repository is too large for a preview"]
    seconds: Annotated[float, "indexing time"]
    missing_from_path: Annotated[
        str | None, "folder of the program if the shell does not find `ubp`"
    ]
    snippets: Annotated[tuple[SnippetRecord, ...], "snippets to paste into other files"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionRecord:
    """The installed completion script."""

    shell: Annotated[str, "the shell"]
    path: Annotated[str, "the script"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnparsedRecord:
    """A page with front matter problems."""

    doc_id: DocId
    filepath: PagePath
    problems: Annotated[tuple[ProblemRecord, ...], "entries by line"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinksRecord:
    """Number of links per kind of target; the sum is the number of all links."""

    resolved: Annotated[Count, "links to pages"]
    ambiguous: Annotated[Count, "ambiguous links, resolved to the first match alphabetically"]
    missing: Annotated[Count, "links to missing targets"]
    within_page: Annotated[Count, "links within a page"]
    not_a_page: Annotated[
        Count, "links to files that are not pages, and to routes of site generators"
    ]
    out_of_scope: Annotated[Count, "links out of the repository or to excluded pages"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRecord:
    """A process of `ubp serve`."""

    pid: Annotated[Line, "its number"]
    since: Annotated[Moment, "start time"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusRecord:
    """State of the index and of the documentation."""

    root: Annotated[str | None, "absolute path of the work tree; null for a bare repository"]
    snapshot: SnapshotRecord
    summary: SummaryRecord
    unparsed: Annotated[tuple[UnparsedRecord, ...], "pages with front matter problems"]
    keys: Annotated[tuple[str, ...], "front matter keys that list sources"]
    threshold_days: Annotated[float, "number of days after which drift counts as stale"]
    links: LinksRecord
    broken_links: Annotated[Count | None, "findings of broken-link; null without --check"]
    servers: Annotated[tuple[ServerRecord, ...], "running MCP servers of this repository"]
    model: ModelRecord
    index: IndexRecord


def status_record(status: Status) -> StatusRecord:
    """Return the record of `ubp status`."""
    buckets = {bucket: status.links.buckets.get(bucket, 0) for bucket in BUCKETS}
    return StatusRecord(
        root=status.root,
        snapshot=snapshot_record(status.snapshot),
        summary=summary_record(status.summary),
        unparsed=tuple(
            UnparsedRecord(
                doc_id=doc_id(document.filepath),
                filepath=document.filepath,
                problems=tuple(map(problem_record, document.problems)),
            )
            for document in status.unparsed
        ),
        keys=tuple(status.keys),
        threshold_days=status.threshold_days,
        links=LinksRecord(**buckets),
        broken_links=status.links.broken,
        servers=tuple(
            ServerRecord(pid=server.pid, since=moment(int(server.since)))
            for server in status.servers
        ),
        model=ModelRecord(**status.model._asdict()),
        index=index_record(status.statistics),
    )


def initialized_record(result: InitResult) -> InitRecord:
    """Return the record of `ubp init`."""
    return InitRecord(
        root=result.root,
        written=result.written,
        is_kept=result.is_kept,
        documents=result.documents,
        indexed=_path_counts(result.indexed),
        left_out=_path_counts(result.left_out),
        sites=tuple(SiteFoldersRecord(**site._asdict()) for site in result.sites),
        translations=tuple(
            TranslationCountRecord(**rule._asdict()) for rule in result.translations
        ),
        bound=result.bound,
        problems=result.problems,
        links=result.links,
        broken=result.broken,
        embedded=result.embedded,
        acceptable=result.acceptable,
        preview=PreviewRecord(**result.preview._asdict()) if result.preview else None,
        is_large=result.is_large,
        seconds=round(result.seconds, 3),
        missing_from_path=result.missing_from_path,
        snippets=tuple(SnippetRecord(**snippet._asdict()) for snippet in result.snippets),
    )


def _path_counts(counts: tuple[PathCount, ...]) -> tuple[PathCountRecord, ...]:
    return tuple(PathCountRecord(**path._asdict()) for path in counts)
