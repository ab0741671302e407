"""Attacks on `ubp lsp`: by texts on the screen, addresses, commands and settings."""

import json
import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from attacks import ESCAPES, leaks, many
from victim import Editor, Victim

Answers = list[dict[str, Any]]


class EditorAbuse(NamedTuple):
    """What an editor sends to a language server, and a judge of the answers."""

    name: str
    rule: str
    send: Callable[[Editor], Answers]
    judge: Callable[[Editor, Answers], str]


def prepare_editor(victim: Victim) -> None:
    """Add to a repository what the abuses are about."""
    (victim.root / "docs/link.md").symlink_to(victim.secret)
    (victim.root / "docs/endless.md").symlink_to("/dev/zero")
    (victim.root / "docs/outside").symlink_to(victim.secret.parent)
    victim.write(
        "docs/b.md", "# B\n\n[a](a.md) [[a]] [gone](gone.md) [up](../../outside/secret.md)\n"
    )
    victim.write("docs/private/key.secret.md", "# s3cret-outside-the-repository\n")
    victim.commit()
    os.mkfifo(victim.root / "docs/pipe.md")


def position(uri: str, line: int = 0, character: int = 0) -> dict[str, Any]:
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}


def command(name: str, *arguments: Any) -> tuple[str, dict[str, Any]]:
    return "workspace/executeCommand", {"command": name, "arguments": list(arguments)}


def questions(uri: str) -> list[tuple[str, dict[str, Any]]]:
    """Return a request of each kind about a file."""
    document = {"textDocument": {"uri": uri}}
    span = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 9}}
    return [
        ("textDocument/definition", position(uri, 2, 2)),
        ("textDocument/references", {**position(uri), "context": {"includeDeclaration": True}}),
        ("textDocument/documentLink", document),
        ("textDocument/hover", position(uri, 2, 2)),
        ("textDocument/documentSymbol", document),
        ("textDocument/foldingRange", document),
        ("textDocument/completion", position(uri, 2, 3)),
        ("textDocument/prepareRename", position(uri)),
        ("textDocument/rename", {**position(uri), "newName": "../../outside/x"}),
        ("textDocument/codeAction", {**document, "range": span, "context": {"diagnostics": []}}),
        ("textDocument/codeLens", document),
        ("textDocument/documentHighlight", position(uri, 2, 2)),
        ("textDocument/diagnostic", document),
        ("workspace/diagnostic", {"previousResultIds": []}),
        command("ubp.showReferences", uri, 0),
        command("ubp.acknowledge", uri),
        command("ubp.bind", uri, ["src/a.py"]),
        command("ubp.proposeSources", uri),
        command("ubp.showSources", uri),
    ]


def asks(*requests: tuple[str, Any]) -> Callable[[Editor], Answers]:
    return lambda editor: [editor.ask(method, parameters) for method, parameters in requests]


def about(*paths: str) -> Callable[[Editor], Answers]:
    """Ask everything about files by their addresses, which may begin with ROOT."""

    def send(editor: Editor) -> Answers:
        answers = []
        for path in paths:
            uri = path.replace("ROOT", editor.root.as_uri())
            editor.open(uri, "# Text\n\n[a](a.md)\n")
            answers += [editor.ask(*question) for question in questions(uri)]
            editor.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
        return answers

    return send


def showing(text: str, *edits: dict[str, Any]) -> Callable[[Editor], Answers]:
    """Open a page with this text, edit it, and ask everything about it."""

    def send(editor: Editor) -> Answers:
        uri = editor.uri("docs/b.md")
        editor.open(uri, text)
        if edits:
            document = {"uri": uri, "version": 2}
            changes = {"textDocument": document, "contentChanges": list(edits)}
            editor.tell("textDocument/didChange", changes)
        answers = [editor.ask(*question) for question in questions(uri)]
        editor.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
        return answers

    return send


def change(start: tuple[int, int], end: tuple[int, int], text: str) -> dict[str, Any]:
    places = [{"line": line, "character": character} for line, character in (start, end)]
    return {"range": {"start": places[0], "end": places[1]}, "text": text}


def stays_inside(editor: Editor, answers: Answers) -> str:
    """Judge that no answer has a secret or leads outside, and the server answers another one."""
    answers = [*answers, editor.ask(*command("ubp.status"))]
    if fault := leaks(answers):
        return fault
    root = editor.root.as_uri() + "/"
    for answer in answers:
        for uri in _addresses([answer.get("result"), answer["before"]]):
            if uri.startswith("file:") and (not uri.startswith(root) or "/../" in uri):
                return f"leads outside: {uri}"
    return "" if answers[-1].get("result") else f"no answer: {answers[-1]}"


def edits_page_alone(editor: Editor, answers: Answers) -> str:
    """Judge besides that edits are of the page that was named, and change its front matter only."""
    for answer in answers:
        for message in answer["before"]:
            if message.get("method") == "workspace/applyEdit":
                changes = message["params"]["edit"]["changes"]
                if list(changes) != [editor.uri("docs/a.md")]:
                    return f"edits {list(changes)}"
                for edit in next(iter(changes.values())):
                    if edit["range"]["start"]["line"] > 3 or "\n---" in edit["newText"]:
                        return f"edits more than the front matter: {edit}"
    return stays_inside(editor, answers)


def _addresses(value: Any) -> Iterator[str]:
    """Yield all texts that are addresses, as values or keys."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "data":  # what a client sent comes back as it is
                continue
            yield from _addresses(key)
            yield from _addresses(item)
    elif isinstance(value, list):
        for item in value:
            yield from _addresses(item)
    elif isinstance(value, str) and "://" in value[:12]:
        yield value


def bodies(*texts: bytes) -> Callable[[Editor], Answers]:
    """Send bodies of messages as they are."""

    def send(editor: Editor) -> Answers:
        for text in texts:
            editor.message(text)
        return [editor.ask("workspace/symbol", {"query": "page"})]

    return send


def settings(*values: Any) -> Callable[[Editor], Answers]:
    """Change the settings."""

    def send(editor: Editor) -> Answers:
        for value in values:
            editor.tell("workspace/didChangeConfiguration", {"settings": value})
        return [editor.ask("workspace/symbol", {"query": "page"})]

    return send


def add_folders(*addresses: str) -> Callable[[Editor], Answers]:
    def send(editor: Editor) -> Answers:
        added = [{"uri": uri, "name": "x"} for uri in addresses]
        event = {"event": {"added": added, "removed": []}}
        editor.tell("workspace/didChangeWorkspaceFolders", event)
        answer = editor.ask("workspace/symbol", {"query": "s3cret"})
        event = {"event": {"added": [], "removed": added}}
        editor.tell("workspace/didChangeWorkspaceFolders", event)
        return [answer]

    return send


def write_configuration(value: str) -> Callable[[Editor], Answers]:
    """Write a configuration as a commit may bring one, ask, and remove it."""

    def send(editor: Editor) -> Answers:
        file = editor.root / ".ubp/config.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(value)
        editor.tell("textDocument/didSave", {"textDocument": {"uri": editor.uri("docs/b.md")}})
        answers = [editor.ask(*question) for question in questions(editor.uri("docs/b.md"))]
        file.unlink()
        editor.tell("textDocument/didSave", {"textDocument": {"uri": editor.uri("docs/b.md")}})
        return answers

    return send


def rename_files(*moves: tuple[str, str]) -> tuple[str, Any]:
    files = [{"oldUri": old, "newUri": new} for old, new in moves]
    return "workspace/willRenameFiles", {"files": files}


LINE = "\u3042\U0001f600 " * 1000
BY_EDITORS = (
    EditorAbuse(
        "addresses outside",
        "inside",
        about("file:///etc/passwd", "ROOT/../outside/secret.md", "file:///", "ROOT"),
        stays_inside,
    ),
    EditorAbuse(
        "addresses outside in other spellings",
        "inside",
        about(
            "ROOT/docs/../../outside/secret.md",
            "ROOT/docs/%2e%2e/%2e%2e/outside/secret.md",
            "ROOT/docs/..%2f..%2foutside%2fsecret.md",
            "ROOT//docs//..//..//outside//secret.md",
        ),
        stays_inside,
    ),
    EditorAbuse(
        "addresses that are none",
        "checked messages",
        about(
            "",
            "x",
            "http://127.0.0.1/x",
            "untitled:Untitled-1",
            "ROOT/docs/%00.md",
            "file://host/x",
        ),
        stays_inside,
    ),
    EditorAbuse(
        "links that lead outside",
        "inside",
        about("ROOT/docs/link.md", "ROOT/docs/outside/secret.md"),
        stays_inside,
    ),
    EditorAbuse("link to an endless device", "inside", about("ROOT/docs/endless.md"), stays_inside),
    EditorAbuse("named pipe", "inside", about("ROOT/docs/pipe.md"), stays_inside),
    EditorAbuse(
        "files of Git and UBP",
        "inside",
        about("ROOT/.git/config", "ROOT/.git/HEAD", "ROOT/.ubp/config.json"),
        stays_inside,
    ),
    EditorAbuse(
        "names that cannot be",
        "valid paths",
        about(
            "ROOT/docs/" + "n" * 300 + ".md",
            "ROOT/" + "d/" * 3000 + "x.md",
            "ROOT/docs/a.md/x.md",
            "ROOT/docs/%ff%fe.md",
        ),
        stays_inside,
    ),
    EditorAbuse(
        "page of 5 MB",
        "bounded input",
        showing("# B\n\n" + "word " * many(1_000_000)),
        stays_inside,
    ),
    EditorAbuse(
        "one long line", "linear parsing", showing("\u3042" * many(1_000_000)), stays_inside
    ),
    EditorAbuse(
        "brackets and quotations",
        "linear parsing",
        showing(">" * many(20_000) + "[a](" * many(20_000) + "[[" * many(20_000)),
        stays_inside,
    ),
    EditorAbuse(
        "flood of headings", "linear parsing", showing("# a\n" * many(20_000)), stays_inside
    ),
    EditorAbuse(
        "flood of links",
        "linear parsing",
        showing("".join(f"[x](gone{n}.md)\n" for n in range(many(10_000)))),
        stays_inside,
    ),
    EditorAbuse(
        "YAML that doubles",
        "safe YAML",
        showing(
            "---\na0: &a0 [x, x]\n"
            + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
            + "---\n# B\n"
        ),
        stays_inside,
    ),
    EditorAbuse(
        "nested YAML",
        "safe YAML",
        showing("---\nsource_refs: " + "[" * many(20_000) + "\n---\n# B\n"),
        stays_inside,
    ),
    EditorAbuse(
        "sources outside",
        "inside",
        showing(
            "---\nsource_refs: [../outside/secret.md, /etc/passwd, docs/link.md, "
            '"docs/outside/*", .git/config]\n---\n'
            "# B\n\n[x](../outside/secret.md) [[../outside/secret]] ![i](/etc/passwd)\n"
        ),
        stays_inside,
    ),
    EditorAbuse(
        "include of a file outside",
        "inside",
        showing(
            '# B\n\n--8<-- "../../outside/secret.md"\n'
            "{! ../../outside/secret.md !}\n<<< ../../outside/secret.md\n"
        ),
        stays_inside,
    ),
    EditorAbuse(
        "lone surrogates and control sequences",
        "escaped output",
        showing(f"# {ESCAPES}\ud800 \udfff\n\n[\ud800](\udfff.md)\n"),
        stays_inside,
    ),
    EditorAbuse(
        "ranges beyond the text",
        "checked messages",
        showing(
            "# B\n\nText.\n",
            change((0, 10**9), (10**9, 0), "x"),
            change((9, 9), (0, 0), "y"),
            change((2**31, 2**31), (2**31, 2**31), "z"),
        ),
        stays_inside,
    ),
    EditorAbuse(
        "thousands of edits",
        "bounded input",
        showing(
            LINE + "\n",
            *[change((0, number), (0, number), "\U0001f600") for number in range(many(5000))],
        ),
        stays_inside,
    ),
    EditorAbuse(
        "ranges of wrong types",
        "checked messages",
        showing("# B\n", change((-1, -1), (0, -5), "x")),
        stays_inside,
    ),
    EditorAbuse(
        "edits of a text that is not open",
        "checked messages",
        lambda editor: (
            editor.tell(
                "textDocument/didChange",
                {
                    "textDocument": {"uri": editor.uri("docs/a.md"), "version": 9},
                    "contentChanges": [{"text": "x"}],
                },
            ),
            editor.tell(
                "textDocument/didClose", {"textDocument": {"uri": editor.uri("docs/none.md")}}
            ),
            [],
        )[-1],
        stays_inside,
    ),
    EditorAbuse(
        "commands that do not exist",
        "checked arguments",
        asks(
            command("ubp.exec", "touch harm"),
            command("../ubp.search"),
            command(""),
            command("ubp.search; touch harm"),
        ),
        stays_inside,
    ),
    EditorAbuse(
        "arguments of wrong types",
        "checked arguments",
        asks(
            *(
                command(name, *given)
                for name in (
                    "ubp.acknowledge",
                    "ubp.bind",
                    "ubp.proposeSources",
                    "ubp.search",
                    "ubp.showSources",
                    "ubp.status",
                )
                for given in ((), (None,), (17,), ({},), ([],), ("x", "y", "z", 4), (["x"], [17]))
            )
        ),
        stays_inside,
    ),
    EditorAbuse(
        "searches with the syntax of full text search",
        "checked arguments",
        asks(
            *(
                command("ubp.search", query)
                for query in (
                    '" OR 1=1 --',
                    "NEAR(a b, 5) AND *",
                    "words : x",
                    "((((" * 200,
                    '"""',
                    "a" * many(1_000_000),
                    "\ud800",
                )
            )
        ),
        stays_inside,
    ),
    EditorAbuse(
        "limits of searches",
        "checked arguments",
        asks(
            *(
                command("ubp.search", "page", limit)
                for limit in (-1, 0, 10**30, 1.5, "9", None, True)
            )
        ),
        stays_inside,
    ),
    EditorAbuse(
        "sources that are not paths",
        "checked arguments",
        lambda editor: [
            editor.ask(*command("ubp.bind", editor.uri("docs/a.md"), sources))
            for sources in (
                ["x\n---\n# Forged\n"],
                ["../outside/secret.md"],
                ["/etc/passwd"],
                ["a: b # c", "- x", "*", "&a", "!!python/x"],
                ["\x1b[31m"],
                ["\ud800"],
                ["x" * 10_000],
                [17],
                "src/a.py",
                [""],
            )
        ],
        edits_page_alone,
    ),
    EditorAbuse(
        "renames outside",
        "inside",
        lambda editor: [
            editor.ask(*rename_files((editor.uri("docs/a.md"), uri)))
            for uri in (
                "file:///tmp/x.md",
                editor.uri("../outside/x.md"),
                editor.uri("docs/../../outside/x.md"),
                editor.uri("docs/%2e%2e/%2e%2e/x.md"),
                editor.uri(".git/x.md"),
            )
        ],
        stays_inside,
    ),
    EditorAbuse(
        "renames of what is outside",
        "inside",
        lambda editor: [
            editor.ask(*rename_files((uri, editor.uri("docs/x.md"))))
            for uri in (
                "file:///etc/passwd",
                editor.uri("docs/link.md"),
                editor.uri("docs/outside"),
                editor.uri("docs/outside/secret.md"),
            )
        ],
        stays_inside,
    ),
    EditorAbuse(
        "new names of headings",
        "checked arguments",
        lambda editor: [
            editor.ask(
                "textDocument/rename", {**position(editor.uri("docs/a.md"), 4, 3), "newName": name}
            )
            for name in ("x\n---\n", "", "\x00", "[[", "x" * 100_000, "\ud800", "../../outside/x")
        ],
        stays_inside,
    ),
    EditorAbuse(
        "settings of wrong types",
        "valid configuration",
        settings(
            None,
            17,
            [],
            {"ubp": []},
            {"ubp": {"diagnostics": "x"}},
            {"ubp": {"diagnostics": {"sources": "yes"}}},
            {"ubp": {"path": "/bin/sh"}},
        ),
        stays_inside,
    ),
    EditorAbuse(
        "folders outside",
        "inside",
        add_folders("file:///", "file:///etc", "http://x/", "", "file:///nonexistent"),
        stays_inside,
    ),
    *(
        EditorAbuse(
            f"configuration of the workspace {name}", rule, write_configuration(value), stays_inside
        )
        for name, rule, value in (
            ("that is nested", "valid configuration", "[" * 100_000),
            ("that is no JSON", "valid configuration", "{"),
            (
                "that includes files outside",
                "inside",
                json.dumps({"source": {"include": ["../**", "/**"]}, "docs_dir": "../outside"}),
            ),
            ("with a model outside", "own model", json.dumps({"search": {"model": "../outside"}})),
            (
                "with exponential patterns",
                "linear parsing",
                json.dumps({"source": {"exclude": ["{a,b}" * 30]}}),
            ),
            ("with control sequences", "escaped output", json.dumps({ESCAPES: 1})),
        )
    ),
    EditorAbuse(
        "bodies that are not messages",
        "checked messages",
        bodies(
            b"{",
            b"[]",
            b"1",
            b"null",
            b'"x"',
            b"\xff\xfe",
            b'{"jsonrpc": "2.0"}',
            b'{"jsonrpc": "1.0", "id": 1, "method": "shutdown"}',
            b'{"jsonrpc": "2.0", "id": {}, "method": "x"}',
        ),
        stays_inside,
    ),
    EditorAbuse(
        "nested bodies",
        "checked messages",
        bodies(
            b"[" * 100_000,
            b'{"a":' * 100_000,
            b'{"jsonrpc": "2.0", "id": 1, "method": "workspace/symbol", "params": '
            + b'{"a":' * 5000
            + b"1"
            + b"}" * 5001,
        ),
        stays_inside,
    ),
    EditorAbuse(
        "unknown methods",
        "checked messages",
        asks(("$/exec", {}), ("workspace/exec", {"x": 1}), ("\x1b[31m", None)),
        stays_inside,
    ),
    EditorAbuse(
        "parameters of wrong types",
        "checked messages",
        bodies(
            *(
                json.dumps(
                    {"jsonrpc": "2.0", "id": f"{method} {value}", "method": method, "params": value}
                ).encode()
                for method in (
                    "textDocument/hover",
                    "textDocument/rename",
                    "workspace/symbol",
                    "workspace/executeCommand",
                    "documentLink/resolve",
                )
                for value in (None, 17, [], "x", {}, {"textDocument": 17}, {"query": 17})
            )
        ),
        stays_inside,
    ),
    EditorAbuse(
        "links that another program made",
        "inside",
        lambda editor: [
            editor.ask(
                "documentLink/resolve",
                {
                    "range": {
                        "start": {"line": 0, "character": 0},
                        "end": {"line": 0, "character": 1},
                    },
                    "data": data,
                },
            )
            for data in (
                ["file:///etc/passwd", 0],
                [editor.uri("../outside/secret.md"), 5],
                [17, "x"],
                {},
                "x",
                [editor.uri("docs/b.md")],
                [],
            )
        ],
        stays_inside,
    ),
    EditorAbuse(
        "requests that are cancelled at once",
        "interruptible calls",
        lambda editor: (
            [
                editor.message(
                    {
                        "jsonrpc": "2.0",
                        "id": number,
                        "method": "workspace/symbol",
                        "params": {"query": "a"},
                    }
                )
                for number in range(200)
            ],
            [
                editor.tell("$/cancelRequest", {"id": number})
                for number in (*range(200), "x", None, 10**30)
            ],
            [],
        )[-1],
        stays_inside,
    ),
)
