"""The server in this process: what it keeps of notifications."""

import asyncio
import os
from pathlib import Path

from lsprotocol import types

from ubp.lsp.server import create_server


def test_typing_changes_only_the_text(repository_in, tmp_path, isolated_environment):
    assert isolated_environment.is_dir()
    root = repository_in(tmp_path / "project").root
    uri = Path(root, "a.md").as_uri()

    async def type_letters():
        server = create_server(os.environ)
        params = types.InitializeParams(types.ClientCapabilities(), root_uri=root.as_uri())
        list(server.protocol.lsp_initialize(params))
        handle = server.protocol._handle_notification
        item = types.TextDocumentItem(uri, "markdown", 0, "")
        handle(types.TEXT_DOCUMENT_DID_OPEN, types.DidOpenTextDocumentParams(item))
        for version in range(1, 51):
            start = types.Position(0, version - 1)
            change = types.TextDocumentContentChangePartial(types.Range(start, start), "x")
            document = types.VersionedTextDocumentIdentifier(uri=uri, version=version)
            changed = types.DidChangeTextDocumentParams(document, [change])
            handle(types.TEXT_DOCUMENT_DID_CHANGE, changed)
        (served,) = server.repositories()
        kept = len(server.protocol._request_futures)
        server.close()
        return served.texts["a.md"].text, kept

    assert asyncio.run(type_letters()) == ("x" * 50, 0)
