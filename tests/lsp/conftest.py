"""A real client of a real server: `ubp lsp` as a process, and pygls's client to talk to it."""

import asyncio
import os
import queue
import sys
import threading
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

SECONDS_TO_WAIT = 60


class Editor:
    """An editor: it edits texts and sends requests; its client runs in a thread of its own."""

    def __init__(self, root, environment, *, encodings=("utf-16",), settings=None, folders=()):
        self.root = root
        self.diagnostics = queue.Queue()
        self.applied = queue.Queue()
        self.log = []
        self.shown = queue.Queue()
        self.progress = queue.Queue()
        self._versions = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._client = LanguageClient("test", "1")
        self._listen()
        self.call(
            self._client.start_io(sys.executable, "-m", "ubp", "lsp", cwd=root, env=environment)
        )
        capabilities = types.ClientCapabilities(
            general=types.GeneralClientCapabilities(position_encodings=list(encodings)),
            workspace=types.WorkspaceClientCapabilities(
                file_operations=types.FileOperationClientCapabilities(will_rename=True),
                workspace_edit=types.WorkspaceEditClientCapabilities(
                    document_changes=True, resource_operations=["create"]
                ),
            ),
            window=types.WindowClientCapabilities(work_done_progress=True),
        )
        self.answer = self.ask(
            types.INITIALIZE,
            types.InitializeParams(
                capabilities,
                root_uri=Path(root).as_uri(),
                initialization_options=settings,
                workspace_folders=[
                    types.WorkspaceFolder(Path(folder).as_uri(), "folder")
                    for folder in (root, *folders)
                ],
            ),
        )
        self.notify(types.INITIALIZED, types.InitializedParams())

    def _listen(self):
        client = self._client

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(params):
            self.diagnostics.put(params)

        @client.feature(types.WINDOW_LOG_MESSAGE)
        def log(params):
            self.log.append(params.message)

        @client.feature(types.WINDOW_SHOW_MESSAGE)
        def show_message(params):
            self.shown.put(params.message)

        @client.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)
        def create(params):
            self.progress.put(params.token)

        @client.feature(types.PROGRESS)
        def show(params):
            self.progress.put((params.token, params.value))

        @client.feature(types.WORKSPACE_APPLY_EDIT)
        def apply(params):
            self.applied.put(params.edit)
            return types.ApplyWorkspaceEditResult(applied=True)

    def call(self, coroutine):
        """Run a coroutine in the client's thread and return its result."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(SECONDS_TO_WAIT)

    def ask(self, method, params):
        """Send a request and return the result."""

        async def request():
            return await self._client.protocol.send_request_async(method, params)

        return self.call(request())

    def send(self, method, params):
        """Send a request whose result nobody waits for."""

        async def request():
            self._client.protocol.send_request(method, params)

        self.call(request())

    def notify(self, method, params):
        """Send a notification."""

        async def notify():
            self._client.protocol.notify(method, params)

        self.call(notify())

    def uri(self, path):
        return (Path(self.root) / path).as_uri()

    def document(self, path):
        return types.TextDocumentIdentifier(self.uri(path))

    def open(self, path, text=None):
        """Open a file, with another text than that on the disk if one is given."""
        if text is None:
            text = (Path(self.root) / path).read_bytes().decode()
        self._versions[path] = 1
        item = types.TextDocumentItem(self.uri(path), "markdown", 1, text)
        self.notify(types.TEXT_DOCUMENT_DID_OPEN, types.DidOpenTextDocumentParams(item))

    def edit(self, path, *changes):
        """Change a text: by a whole text, or by ((line, character), (line, character), text)."""
        self._versions[path] += 1
        events = [
            types.TextDocumentContentChangeWholeDocument(change)
            if isinstance(change, str)
            else types.TextDocumentContentChangePartial(
                types.Range(types.Position(*change[0]), types.Position(*change[1])), change[2]
            )
            for change in changes
        ]
        document = types.VersionedTextDocumentIdentifier(
            uri=self.uri(path), version=self._versions[path]
        )
        self.notify(
            types.TEXT_DOCUMENT_DID_CHANGE, types.DidChangeTextDocumentParams(document, events)
        )

    def save(self, path):
        self.notify(
            types.TEXT_DOCUMENT_DID_SAVE, types.DidSaveTextDocumentParams(self.document(path))
        )

    def close(self, path):
        self.notify(
            types.TEXT_DOCUMENT_DID_CLOSE, types.DidCloseTextDocumentParams(self.document(path))
        )

    def found(self, path):
        """Wait for the diagnostics of a file's current text."""
        while True:
            params = self.diagnostics.get(timeout=SECONDS_TO_WAIT)
            if params.uri == self.uri(path) and params.version == self._versions[path]:
                return list(params.diagnostics)

    def progress_of_a_task(self):
        """Wait for the end of a task, and return its token and what was reported about it."""
        token, reports = self.progress.get(timeout=SECONDS_TO_WAIT), []
        while not reports or reports[-1]["kind"] != "end":
            about, value = self.progress.get(timeout=SECONDS_TO_WAIT)
            assert about == token
            reports.append(value)
        return token, reports

    def change_folders(self, *, added=(), removed=()):
        """Change the folders of the workspace."""
        lists = (
            [types.WorkspaceFolder(Path(folder).as_uri(), "folder") for folder in folders]
            for folders in (added, removed)
        )
        event = types.WorkspaceFoldersChangeEvent(*lists)
        self.notify(
            types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS,
            types.DidChangeWorkspaceFoldersParams(event),
        )

    def run(self, command, *arguments):
        """Execute a command of the server."""
        return self.ask(
            types.WORKSPACE_EXECUTE_COMMAND,
            types.ExecuteCommandParams(command, arguments=arguments),
        )

    def at(self, path, line, character):
        """The parameters of a request about a position."""
        return types.TextDocumentPositionParams(
            self.document(path), types.Position(line, character)
        )

    def leave(self):
        """Shut the server down, and return its exit status."""
        self.ask(types.SHUTDOWN, None)
        self.notify(types.EXIT, None)
        status = self.call(asyncio.wait_for(self._client._server.wait(), SECONDS_TO_WAIT))
        self.call(self._client.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SECONDS_TO_WAIT)
        self._loop.close()
        return status


PAGES = {
    "docs/auth.md": """\
---
title: Authentication
source_refs:
  - src/auth.py
---
# Authentication

See [[sessions]], [the guide](guide.md#set-up) and [nothing](missing.md).
Also 日本語😀 [[設計|depends_on]].

## Tokens

A token lives for `MAX_AGE` seconds.
""",
    "docs/sessions.md": """\
---
aliases: [Sessions, login]
---
# Sessions

Back to [tokens](auth.md#tokens).
""",
    "docs/guide.md": "# Guide\n\n## Set up\n\nInstall it, then read [[auth#Tokens]].\n",
    "docs/設計.md": "# 設計\n\n文書の設計です。[認証](auth.md)を参照。\n",
    "src/auth.py": "MAX_AGE = 60\n\n\ndef login(name):\n    return name\n",
}


@pytest.fixture(scope="session")
def project_and_environment(isolate, repository_in, tmp_path_factory):
    """A repository with linked pages, in English and Japanese, and a source; where it was made."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        isolate(monkeypatch)
        repository = repository_in(tmp_path_factory.mktemp("lsp") / "project")
        for path, text in PAGES.items():
            repository.write(path, text)
        repository.commit("Begin")
        return repository, dict(os.environ)


@pytest.fixture(scope="session")
def session_editor(project_and_environment):
    """One server for all tests: its start takes a second."""
    repository, environment = project_and_environment
    editor = Editor(repository.root, environment)
    yield editor
    assert editor.leave() == 0


@pytest.fixture
def open_editor(project_and_environment):
    """Start another server: `open_editor(root)`."""
    editors = []

    def start(root, **options):
        editors.append(Editor(root, project_and_environment[1], **options))
        return editors[-1]

    yield start
    for editor in editors:
        assert editor.leave() == 0


@pytest.fixture(scope="module")
def editor(session_editor, project_and_environment):
    """The editor in the shared repository."""
    session_editor.root = project_and_environment[0].root
    return session_editor
