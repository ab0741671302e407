"""The language server: its features, its state, and the process that speaks over stdin and stdout.

Everything here runs in the thread of the event loop, except the answers: each is made by a worker
of the repository's service.
"""

import asyncio
import logging
import os
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple, TypeVar

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from ubp.core.errors import UbpError
from ubp.core.model import FilePath
from ubp.core.version import __version__
from ubp.git.output import is_valid_path
from ubp.git.repository import open_repository
from ubp.lsp.actions import (
    ACKNOWLEDGE,
    BIND,
    PROPOSE_SOURCES,
    SEARCH,
    STATUS,
    FoundPage,
    acknowledge,
    bind,
    count_pages,
    find_actions,
    propose_sources,
    search,
)
from ubp.lsp.completion import TRIGGERS, complete
from ubp.lsp.context import EditorContext, place
from ubp.lsp.diagnostics import diagnose, diagnose_closed, result_id
from ubp.lsp.folders import path_below, shown_root
from ubp.lsp.hover import (
    SHOW_REFERENCES,
    SHOW_SOURCES,
    describe_references,
    describe_sources,
    find_lenses,
    hover,
)
from ubp.lsp.missing import missing_pages
from ubp.lsp.navigation import (
    find_definition,
    find_document_links,
    find_folds,
    find_highlights,
    find_references,
    find_symbols,
    find_workspace_symbols,
    resolve_document_link,
)
from ubp.lsp.preliminary import diagnose_alone
from ubp.lsp.rename import (
    prepare_rename,
    rename,
    rename_files,
    warnings_of,
    workspace_edit,
)
from ubp.lsp.service import Service
from ubp.lsp.text import Encoding, Text
from ubp.server.log import set_up_log
from ubp.server.streams import claim_streams

T = TypeVar("T")
LOG = logging.getLogger(__name__)

# Diagnostics follow a pause in typing.
SECONDS_OF_PAUSE = 0.2
# What needs no index is shown alone if the rest takes longer.
SECONDS_OF_PATIENCE = 0.2
# Not every client reports what happens on the disk: a run of `git status` takes 10 to 50 ms.
SECONDS_TO_TRUST_DISK = 2.0
DEFAULT_FOUND = 10  # pages by a search
# Fewer pages are read in half a second.
MIN_SHOWN_PAGES = 300

_ENCODINGS: Mapping[str | None, Encoding] = {
    "utf-8": "utf-8",
    "utf-16": "utf-16",
    "utf-32": "utf-32",
}


class Settings(NamedTuple):
    """What the user may set in the editor.

    `source_diagnostics`: open source files show which pages no longer describe them.
    `workspace_diagnostics`: pages that are not open have diagnostics, too.
    """

    source_diagnostics: bool = True
    workspace_diagnostics: bool = True


# By the keys below `diagnostics` with which clients set them.
SETTING_KEYS: Mapping[str, str] = {
    "sources": "source_diagnostics",
    "workspace": "workspace_diagnostics",
}


class Located(NamedTuple):
    """A file of a repository."""

    service: Service
    path: FilePath


class _Protocol(LanguageServerProtocol):
    """The protocol without pygls's own texts, which count form feeds as line ends.

    The handlers are called at once: of each notification whose handler is a generator, as pygls's
    own are, pygls keeps a future for ever, 2 KB a letter.
    """

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        self.fm.features[types.TEXT_DOCUMENT_DID_OPEN](params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE](params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self.fm.features[types.TEXT_DOCUMENT_DID_CLOSE](params)


class _Progress:
    """The progress of reading many pages for the first time, as the editor shows it."""

    def __init__(self, server: "Server") -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._token = ""
        self._is_begun = False
        self._is_ended = False
        self._task: asyncio.Task[None] | None = None

    def step(self, name: str, done: int, total: int) -> None:
        """Show a step, reported by a worker's thread."""
        if total >= MIN_SHOWN_PAGES:
            self._loop.call_soon_threadsafe(self._show, name, done, total)

    def _show(self, name: str, done: int, total: int) -> None:
        window = self._server.client_capabilities.window
        if not (window and window.work_done_progress):
            return
        if not self._token:
            self._token, self._is_begun, self._is_ended = f"ubp-{uuid.uuid4()}", False, False
            self._task = asyncio.create_task(self._begin(name))
        self._is_ended = done >= total
        if self._is_begun:
            report = types.WorkDoneProgressReport(
                message=f"{done:,} of {total:,}", percentage=100 * done // total
            )
            self._server.work_done_progress.report(self._token, report)
            self._end_if_done()

    async def _begin(self, name: str) -> None:
        progress = self._server.work_done_progress
        await progress.create_async(self._token)
        progress.begin(self._token, types.WorkDoneProgressBegin(f"UBP: {name}", percentage=0))
        self._is_begun = True
        self._end_if_done()

    def _end_if_done(self) -> None:
        if self._is_ended:
            self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd())
            self._token = ""


class _Repository:
    """A service with its open texts and the task that finds its diagnostics."""

    def __init__(self, server: "Server", service: Service) -> None:
        self.service = service
        self.texts: dict[FilePath, Text] = {}
        self.versions: dict[FilePath, int] = {}
        self._server = server
        self._wanted = asyncio.Event()
        self._is_hurried = False
        self._warming: asyncio.Task[None] | None = None
        self._diagnosed: set[FilePath] = set()
        self._disk_read = float("-inf")
        self._task = asyncio.create_task(self._keep_diagnosing())

    def put(self, path: FilePath, text: Text, version: int) -> None:
        """Show a text."""
        self.texts[path], self.versions[path] = text, version
        self.service.screen.put(path, text.text)

    def drop(self, path: FilePath) -> None:
        """Show a file as it is on the disk."""
        for mapping in (self.texts, self.versions, self.service.opened):
            mapping.pop(path, None)
        self._diagnosed.discard(path)
        self.service.screen.drop(path)

    def diagnose(self, *, is_hurried: bool = False, is_disk_changed: bool = False) -> None:
        """Find diagnostics soon; `is_hurried`: without a pause."""
        if is_disk_changed:
            self._disk_read = float("-inf")
        self._is_hurried |= is_hurried
        self._wanted.set()

    def close(self) -> None:
        """End the task and the workers."""
        self._task.cancel()
        if self._warming is not None:
            self._warming.cancel()
        self.service.close()

    async def _keep_diagnosing(self) -> None:
        while True:
            await self._wanted.wait()
            while not self._is_hurried:
                self._wanted.clear()
                await asyncio.sleep(SECONDS_OF_PAUSE)
                if not self._wanted.is_set():
                    break
            self._wanted.clear()
            self._is_hurried = False
            try:
                await self._diagnose()
            except UbpError as error:
                self._server.report(error)
            except Exception:
                LOG.exception("finding diagnostics failed")

    async def _diagnose(self) -> None:
        clock = asyncio.get_running_loop().time
        texts, versions = self.service.screen.texts, dict(self.versions)
        is_refreshed = clock() - self._disk_read > SECONDS_TO_TRUST_DISK
        has_sources = self._server.settings.source_diagnostics
        finding = asyncio.create_task(
            self.service.answer_later(
                lambda context: diagnose(context, tuple(versions), has_sources=has_sources),
                is_refreshed=is_refreshed,
            )
        )
        try:
            await self._show_preliminary(finding)
            found = await finding
        finally:
            finding.cancel()
        if is_refreshed:
            self._disk_read = clock()
        if texts is not self.service.screen.texts:
            self._wanted.set()
        self._publish(found, versions)
        self._diagnosed |= found.keys() & self.versions.keys()
        if self._warming is None:
            self._warming = asyncio.create_task(self._warm_up())

    async def _warm_up(self) -> None:
        """Read what the first completion or hover would wait for: 0.2 s on 5,000 pages."""
        try:
            await self.service.answer(_read_ahead)
        except UbpError as error:
            self._server.report(error)

    async def _show_preliminary(self, finding: "asyncio.Task[Any]") -> None:
        """Show what needs no index in pages without diagnostics, until all of them are found."""
        shown: Mapping[FilePath, int] = {}
        while not (await asyncio.wait([finding], timeout=SECONDS_OF_PATIENCE))[0]:
            versions = {p: v for p, v in self.versions.items() if p not in self._diagnosed}
            if versions == shown:
                continue
            try:
                found = await self.service.answer_alone(versions.keys(), diagnose_alone)
            except UbpError:
                return  # the other task reports it
            except Exception:
                LOG.exception("finding preliminary diagnostics failed")
                return
            if found is not None and not finding.done():
                self._publish(found, versions)
                shown = versions

    def _publish(
        self,
        found: Mapping[FilePath, Sequence[types.Diagnostic]],
        versions: Mapping[FilePath, int],
    ) -> None:
        for path, diagnostics in found.items():
            # What was found in an older text may be elsewhere now.
            if self.versions.get(path) == versions[path]:
                uri = self.service.opened[path]
                params = types.PublishDiagnosticsParams(uri, diagnostics, versions[path])
                self._server.text_document_publish_diagnostics(params)


def _read_ahead(context: EditorContext) -> None:
    pages = context.pages
    pages.containing("", 1)
    pages.named(())
    pages.listing(FilePath(""))
    missing_pages(context)


class Server(LanguageServer):
    """The server of a client, with a service for each repository that it works in."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        super().__init__("ubp", __version__, protocol_cls=_Protocol)
        self.settings = Settings()
        self._environment = environment
        self._repositories: dict[str, _Repository] = {}
        self._folders: list[str] = []
        self._elsewhere: set[str] = set()
        self.changed = asyncio.Event()  # set at the next change, and replaced by another

    @property
    def encoding(self) -> Encoding:
        """The units of columns that were agreed upon."""
        return _ENCODINGS[str(getattr(self.workspace.position_encoding, "value", "utf-16"))]

    def repositories(self) -> Iterator[_Repository]:
        """Yield the repositories that are served."""
        yield from self._repositories.values()

    def locate(self, uri: str) -> Located | None:
        """Return the repository and the path of a file, None if it is in no repository."""
        file = uris.to_fs_path(uri)
        if not file:
            return None
        repository = self._find(file) or self._open_around(os.path.dirname(file))
        return None if repository is None else _path_in(repository.service, file)

    def repository_of(self, located: Located) -> _Repository:
        """Return the repository of a located file."""
        return self._repositories[located.service.root]

    def add_folder(self, uri: str) -> None:
        """Serve the repository around a folder of the workspace, and index it."""
        if folder := uris.to_fs_path(uri):
            self._elsewhere.clear()
            if repository := self._open_around(folder):
                repository.diagnose(is_hurried=True)

    def apply_settings(self, settings: Any) -> None:
        """Use the settings of the client, as far as they are known."""
        section = settings.get("ubp", settings) if isinstance(settings, dict) else {}
        diagnostics = section.get("diagnostics") if isinstance(section, dict) else None
        values = diagnostics if isinstance(diagnostics, dict) else {}
        for key, field in SETTING_KEYS.items():
            if isinstance(values.get(key), bool):
                self.settings = self.settings._replace(**{field: values[key]})
        for repository in self.repositories():
            repository.diagnose()
        self.note_change()

    def note_change(self) -> None:
        """Let those go on who wait for a change of what is saved, or of which files are open."""
        self.changed.set()
        self.changed = asyncio.Event()

    def report(self, error: UbpError) -> None:
        """Log an error where the user of the editor can read it."""
        text = " ".join(filter(None, [error.message, error.cause, error.hint]))
        params = types.LogMessageParams(types.MessageType.Error, text)
        self.window_log_message(params)

    def close_unused(self) -> None:
        """End the workers of repositories without open files, outside the workspace's folders."""
        folders = [uris.to_fs_path(uri) or "" for uri in self.workspace.folders]
        for root, repository in list(self._repositories.items()):
            shown = repository.service.shown_root
            is_used = any(
                path_below(shown, folder) is not None or path_below(folder, shown) is not None
                for folder in folders
            )
            if not is_used and not repository.texts:
                self._repositories.pop(root).close()

    def close(self) -> None:
        """End all workers."""
        for repository in self.repositories():
            repository.close()
        self._repositories.clear()
        self.note_change()

    def _find(self, file: str) -> _Repository | None:
        found = [
            repository
            for repository in self.repositories()
            if path_below(repository.service.shown_root, file) is not None
            or path_below(repository.service.root, file) is not None
        ]
        return max(found, key=lambda folder: len(folder.service.root), default=None)

    def _open_around(self, folder: str) -> _Repository | None:
        if folder in self._elsewhere:
            return None
        try:
            with open_repository(folder, self._environment) as found:
                root = found.root
        except (UbpError, OSError) as error:
            if isinstance(error, UbpError):
                self.report(error)
            self._elsewhere.add(folder)
            return None
        if root is None:
            self._elsewhere.add(folder)
            return None
        if root not in self._repositories:
            shown = shown_root(folder, os.path.realpath(folder), root)
            progress = _Progress(self)
            service = Service(root, shown, self.encoding, self._environment, progress.step)
            self._repositories[root] = _Repository(self, service)
        return self._repositories[root]


def _path_in(service: Service, file: str) -> Located | None:
    for root in (service.shown_root, service.root):
        if below := path_below(root, file):
            path = FilePath(below)
            return Located(service, path) if is_valid_path(path) else None
    return None


# Texts


def _open_document(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    document = params.text_document
    if located := ls.locate(document.uri):
        located.service.opened[located.path] = document.uri
        repository = ls.repository_of(located)
        text = Text(document.text, ls.encoding)
        repository.put(located.path, text, document.version)
        repository.diagnose(is_hurried=True)
        ls.note_change()


def _change_document(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    located = ls.locate(params.text_document.uri)
    if located is None:
        return
    repository = ls.repository_of(located)
    text = repository.texts.get(located.path)
    if text is None:
        return
    for change in params.content_changes:
        if isinstance(change, types.TextDocumentContentChangePartial):
            text = text.replace(place(change.range.start), place(change.range.end), change.text)
        else:
            text = Text(change.text, ls.encoding)
    repository.put(located.path, text, params.text_document.version)
    repository.diagnose()


def _close_document(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    if located := ls.locate(params.text_document.uri):
        repository = ls.repository_of(located)
        repository.drop(located.path)
        repository.diagnose()
        uri = params.text_document.uri
        ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
        ls.note_change()


def _note_disk_change(ls: Server, _: Any) -> None:
    for repository in ls.repositories():
        repository.diagnose(is_disk_changed=True)
    ls.note_change()


# The session


def _initialize(ls: Server, params: types.InitializeParams) -> None:
    ls.apply_settings(params.initialization_options)


def _begin(ls: Server, _: types.InitializedParams) -> None:
    folders = ls.workspace.folders
    for uri in [folder.uri for folder in folders.values()] or [ls.workspace.root_uri]:
        if uri:
            ls.add_folder(uri)
    watching = ls.client_capabilities.workspace
    watched = watching.did_change_watched_files if watching else None
    if watched and watched.dynamic_registration:
        patterns = ("**/*", "**/.git/HEAD", "**/.git/logs/HEAD")
        options = types.DidChangeWatchedFilesRegistrationOptions(
            [types.FileSystemWatcher(pattern) for pattern in patterns]
        )
        registration = types.Registration(
            "ubp-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options
        )
        ls.client_register_capability(types.RegistrationParams([registration]))


def _change_folders(ls: Server, params: types.DidChangeWorkspaceFoldersParams) -> None:
    for folder in params.event.added:
        ls.add_folder(folder.uri)
    ls.close_unused()
    ls.note_change()


def _change_settings(ls: Server, params: types.DidChangeConfigurationParams) -> None:
    ls.apply_settings(params.settings)


def _shut_down(ls: Server, *_: Any) -> None:
    ls.close()


Handler = Callable[..., Any]


def _about_file(work: Callable[[EditorContext, FilePath, Any], T]) -> Handler:
    """Return a handler that answers a request about a file."""

    async def handle(ls: Server, params: Any) -> T | None:
        uri = params.text_document.uri
        return await _ask(ls, uri, lambda context, path: work(context, path, params))

    return handle


async def _ask(ls: Server, uri: str, work: Callable[[EditorContext, FilePath], T]) -> T | None:
    """Return what `work` does; None: the file is in no repository, or an error was reported."""
    located = ls.locate(uri)
    if located is None:
        return None
    return await _reported(ls, located.service.answer(lambda context: work(context, located.path)))


async def _reported(ls: Server, answer: Awaitable[T]) -> T | None:
    try:
        return await answer
    except UbpError as error:
        ls.report(error)
        return None


def _diagnose_document(
    _: Server, __: types.DocumentDiagnosticParams
) -> types.RelatedFullDocumentDiagnosticReport:
    """Return nothing: diagnostics of open files are published as soon as they are found."""
    return types.RelatedFullDocumentDiagnosticReport([])


async def _diagnose_workspace(
    ls: Server, params: types.WorkspaceDiagnosticParams
) -> types.WorkspaceDiagnosticReport:
    """Return the diagnostics of pages that are not open, as they are saved.

    A client that knows them gets its answer when one of them has changed.
    """
    known = {
        (located.service.root, located.path): previous
        for previous in params.previous_result_ids
        if (located := ls.locate(previous.uri))
    }
    while True:
        changed = ls.changed
        reports = _compare(await _diagnose_closed(ls), known)
        if not known or any(report.kind == "full" for report in reports):
            return types.WorkspaceDiagnosticReport(reports)
        await changed.wait()
        await asyncio.sleep(SECONDS_OF_PAUSE)


FileKey = tuple[str, FilePath]
Reports = Mapping[FileKey, types.WorkspaceFullDocumentDiagnosticReport]


def _compare(
    found: Reports, known: Mapping[FileKey, types.PreviousResultId]
) -> list[types.WorkspaceDocumentDiagnosticReport]:
    """Return a report on each file in which something is found, or was found before."""
    reports: list[types.WorkspaceDocumentDiagnosticReport] = []
    for file, report in found.items():
        previous = known.get(file)
        if previous and previous.value == report.result_id:
            unchanged = types.WorkspaceUnchangedDocumentDiagnosticReport(report.uri, previous.value)
            reports.append(unchanged)
        else:
            reports.append(report)
    reports += [
        types.WorkspaceFullDocumentDiagnosticReport(previous.uri, [])
        for file, previous in known.items()
        if file not in found
    ]
    return reports


async def _diagnose_closed(ls: Server) -> Reports:
    """Return the reports on pages with diagnostics that are not open, by repository and path."""
    reports: dict[FileKey, types.WorkspaceFullDocumentDiagnosticReport] = {}
    for repository in list(ls.repositories()) if ls.settings.workspace_diagnostics else ():
        opened = frozenset(repository.texts)

        def work(
            context: EditorContext,
            root: str = repository.service.root,
            opened: frozenset[FilePath] = opened,
        ) -> Reports:
            return {
                (root, path): types.WorkspaceFullDocumentDiagnosticReport(
                    context.addresses.uri(path), found, result_id=result_id(found)
                )
                for path, found in diagnose_closed(context, opened).items()
            }

        answer = repository.service.answer_later(work, is_refreshed=True, is_saved=True)
        reports |= await _reported(ls, answer) or {}
    return reports


async def _find_workspace_symbols(
    ls: Server, params: types.WorkspaceSymbolParams
) -> list[types.WorkspaceSymbol]:
    found: list[types.WorkspaceSymbol] = []
    for repository in list(ls.repositories()):
        answer = repository.service.answer(
            lambda context: find_workspace_symbols(context, params.query)
        )
        found += await _reported(ls, answer) or []
    return found


async def _resolve_document_link(ls: Server, link: types.DocumentLink) -> types.DocumentLink:
    if not link.data:
        return link

    def work(context: EditorContext, path: FilePath) -> types.DocumentLink | None:
        return resolve_document_link(context, path, link)

    return await _ask(ls, link.data[0], work) or link


async def _show_sources(ls: Server, uri: str) -> None:
    _show(ls, await _ask(ls, uri, describe_sources))


async def _show_references(ls: Server, uri: str, line: int) -> None:
    _show(ls, await _ask(ls, uri, lambda context, path: describe_references(context, path, line)))


def _show(ls: Server, text: str | None) -> None:
    if text:
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Info, text))


async def _rename_files(ls: Server, params: types.RenameFilesParams) -> types.WorkspaceEdit | None:
    moves: dict[Service, dict[FilePath, FilePath]] = {}
    for file in params.files:
        old, new = ls.locate(file.old_uri), ls.locate(file.new_uri)
        if old and new and old.service is new.service:
            moves.setdefault(old.service, {})[old.path] = new.path
    changes: dict[str, Sequence[types.TextEdit]] = {}
    for service, moved in moves.items():

        def work(
            context: EditorContext, moved: dict[FilePath, FilePath] = moved
        ) -> tuple[types.WorkspaceEdit, list[str]]:
            renamed = rename_files(context, moved)
            return workspace_edit(context, renamed), warnings_of(context, renamed)

        if answer := await _reported(ls, service.answer(work)):
            changes |= answer[0].changes or {}
            for warning in answer[1]:
                message = types.ShowMessageParams(types.MessageType.Warning, warning)
                ls.window_show_message(message)
    return types.WorkspaceEdit(changes) if changes else None


async def _edit_page(
    ls: Server, uri: str, work: Callable[[EditorContext, FilePath], types.WorkspaceEdit | None]
) -> bool:
    """Apply an edit to a page; return whether there was one."""
    edit = await _ask(ls, uri, work)
    if edit is None:
        return False
    applied = await ls.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit))
    return applied.applied


async def _acknowledge(ls: Server, uri: str) -> bool:
    return await _edit_page(ls, uri, acknowledge)


async def _bind(ls: Server, uri: str, sources: list[str]) -> bool:
    return await _edit_page(ls, uri, lambda context, path: bind(context, path, sources))


async def _propose_sources(ls: Server, uri: str) -> list[dict[str, Any]]:
    located = ls.locate(uri)
    if located is None:
        return []
    answer = located.service.answer_later(lambda context: propose_sources(context, located.path))
    return [asdict(proposed) for proposed in await _reported(ls, answer) or ()]


async def _search(ls: Server, query: str, *limits: int) -> list[dict[str, Any]]:
    limit = limits[0] if limits else DEFAULT_FOUND
    found: list[FoundPage] = []
    for repository in list(ls.repositories()):
        answer = repository.service.answer_later(
            lambda context: search(context, query, limit), is_saved=True
        )
        found += await _reported(ls, answer) or ()
    found.sort(key=lambda page: -page.score)
    return [asdict(page) for page in found[:limit]]


async def _count_pages(ls: Server) -> list[dict[str, Any]]:
    counted: list[dict[str, Any]] = []
    for repository in list(ls.repositories()):
        counts = await _reported(ls, repository.service.answer_later(count_pages))
        folder = repository.service.shown_root
        counted += [{"folder": folder, **counts._asdict()}] if counts else []
    return counted


COMMANDS: tuple[tuple[str, Handler], ...] = (
    (ACKNOWLEDGE, _acknowledge),
    (BIND, _bind),
    (PROPOSE_SOURCES, _propose_sources),
    (SEARCH, _search),
    (SHOW_REFERENCES, _show_references),
    (SHOW_SOURCES, _show_sources),
    (STATUS, _count_pages),
)

_ALL_FILES = types.FileOperationRegistrationOptions(
    [types.FileOperationFilter(types.FileOperationPattern("**"), "file")]
)

FEATURES: tuple[tuple[str, Handler, Any], ...] = (
    (types.INITIALIZE, _initialize, None),
    (types.INITIALIZED, _begin, None),
    (types.SHUTDOWN, _shut_down, None),
    (types.TEXT_DOCUMENT_DID_OPEN, _open_document, None),
    (types.TEXT_DOCUMENT_DID_CHANGE, _change_document, None),
    (types.TEXT_DOCUMENT_DID_CLOSE, _close_document, None),
    (types.TEXT_DOCUMENT_DID_SAVE, _note_disk_change, None),
    (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, _note_disk_change, None),
    (types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, _change_folders, None),
    (types.WORKSPACE_DID_CHANGE_CONFIGURATION, _change_settings, None),
    (types.TEXT_DOCUMENT_DEFINITION, _about_file(find_definition), None),
    (types.TEXT_DOCUMENT_REFERENCES, _about_file(find_references), None),
    (types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, _about_file(find_highlights), None),
    (
        types.TEXT_DOCUMENT_DOCUMENT_LINK,
        _about_file(find_document_links),
        types.DocumentLinkOptions(resolve_provider=True),
    ),
    (types.DOCUMENT_LINK_RESOLVE, _resolve_document_link, None),
    (types.TEXT_DOCUMENT_HOVER, _about_file(hover), None),
    (types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, _about_file(find_symbols), None),
    (types.WORKSPACE_SYMBOL, _find_workspace_symbols, None),
    (types.TEXT_DOCUMENT_FOLDING_RANGE, _about_file(find_folds), None),
    (
        types.TEXT_DOCUMENT_COMPLETION,
        _about_file(complete),
        types.CompletionOptions(trigger_characters=TRIGGERS),
    ),
    (types.TEXT_DOCUMENT_PREPARE_RENAME, _about_file(prepare_rename), None),
    (
        types.TEXT_DOCUMENT_RENAME,
        _about_file(rename),
        types.RenameOptions(prepare_provider=True),
    ),
    (types.WORKSPACE_WILL_RENAME_FILES, _rename_files, _ALL_FILES),
    (
        types.TEXT_DOCUMENT_CODE_ACTION,
        _about_file(find_actions),
        types.CodeActionOptions(
            [types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite]
        ),
    ),
    (types.TEXT_DOCUMENT_CODE_LENS, _about_file(find_lenses), None),
    (
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        _diagnose_document,
        types.DiagnosticOptions(inter_file_dependencies=False, workspace_diagnostics=True),
    ),
    (types.WORKSPACE_DIAGNOSTIC, _diagnose_workspace, None),
)


def create_server(environment: Mapping[str, str]) -> Server:
    """Return a server that has not started."""
    server = Server(environment)
    for method, handler, options in FEATURES:
        server.feature(method, options)(handler)
    for name, command in COMMANDS:
        server.command(name)(command)
    return server


def serve_editor(environment: Mapping[str, str], level: int = logging.WARNING) -> None:
    """Serve an editor over stdin and stdout until it disconnects."""
    streams = claim_streams()
    set_up_log((), level)
    server = create_server(environment)
    with os.fdopen(streams.source, "rb") as source, os.fdopen(streams.sink, "wb") as sink:
        server.start_io(source, sink)
    server.close()
