"""Measure the language server: agreement of links, renames, texts, memory, speed.

    python benchmarks/editors/editor.py links REPOSITORY…
    python benchmarks/editors/editor.py renames REPOSITORY… [--count 200]
    python benchmarks/editors/editor.py texts [--edits 10000]
    python benchmarks/editors/editor.py memory [--changes 20000]
    python benchmarks/editors/editor.py speed [--pages 5000]

`links` asks for the definition at every link and holds the targets against the independent count of
`link_agreement.py`. `renames` works in a clone: it renames random pages and headings, applies the
edits, and compares what `ubp check` finds, and the texts without their links. `texts` sends random
edits to the server's handlers and compares its text with a client's UTF-16 code units. `memory` and
`speed` talk to `ubp lsp` over stdin and stdout.
"""

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from queue import Queue
from typing import Any

from lsprotocol import types
from pygls.protocol import default_converter
from pygls.uris import to_fs_path

from benchmarks.common.measure import print_table
from benchmarks.links.link_agreement import count
from ubp.answers.checks.check import CheckRequest
from ubp.lsp.context import Addresses, EditorContext
from ubp.lsp.navigation import find_definition, outline_of
from ubp.lsp.rename import HeadingRange, Rename, apply, find_heading, rename_files, rename_heading
from ubp.lsp.screen import Screen, ScreenReader
from ubp.lsp.server import create_server
from ubp.workspace import Workspace

TARGET = re.compile(r"(?<=\])\([^()\n]*\)")
LINK = re.compile(r"\[\[[^\[\]\n]*\]\]|^ {0,3}\[[^\]\n]+\]:[^\n]*$", re.MULTILINE)
LETTERS = ["a", "é", "日", "😀", "\u2028", "\x0c", "\x85", "\n", "\r\n", "\r", "x\n", " "]
WORDS = ["alpha", "設計", "new page", "Beta-2", "c++", "naïve", "x_y"]
ROUNDS = 200  # of each request
RULES = ("broken-link", "missing-anchor", "ambiguous-link", "missing-source", "bad-front-matter")


def main() -> None:
    """Run one of the measurements."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    for name, work in (("links", links), ("renames", renames)):
        command = commands.add_parser(name)
        command.add_argument("repositories", nargs="+", type=Path)
        command.add_argument("--count", type=int, default=200)
        command.set_defaults(work=work)
    for name, work, option, default in (
        ("texts", texts, "--edits", 10_000),
        ("memory", memory, "--changes", 20_000),
        ("speed", speed, "--pages", 5_000),
    ):
        command = commands.add_parser(name)
        command.add_argument(option, dest="count", type=int, default=default)
        command.set_defaults(work=work)
    options = parser.parse_args()
    options.work(options)


def open_context(workspace: Workspace, screen: Screen) -> EditorContext:
    """A context of what is on the disk, read anew."""
    screen.refresh(workspace.session.repository)
    root = workspace.session.repository.root or ""
    return EditorContext(workspace, Addresses(root, {}), "utf-16", screen.texts)


# Links


def links(options: argparse.Namespace) -> None:
    """Print how many pairs of linked pages the definitions and the count have in common."""
    rows, examples = [], []
    for root in options.repositories:
        with Workspace.open(str(root)) as workspace:
            screen = Screen()
            workspace.session.read_worktree = ScreenReader(screen)
            context = open_context(workspace, screen)
            told: Counter[tuple[str, str]] = Counter()
            pages = context.view.document_paths()
            contents = {p: context.data(p).decode("utf-8", "replace") for p in pages}
            asked = 0
            for path in pages:
                for link in context.links(path):
                    position = link.target_range.start
                    params = types.DefinitionParams(types.TextDocumentIdentifier(""), position)
                    asked += 1
                    for place in find_definition(context, path, params):
                        target = os.path.relpath(to_fs_path(place.uri) or "", root.resolve())
                        if target in contents and target != path:
                            told[path, target] += 1
        counted, _ = count(contents)
        both = told.keys() & counted
        examples += [f"{root.name}, only the count: {a} → {b}" for a, b in counted - told.keys()]
        rows.append(
            [
                root.name,
                str(len(pages)),
                str(asked),
                str(len(both)),
                str(len(told.keys() - counted)),
                str(len(counted - told.keys())),
            ]
        )
    header = ["repository", "pages", "links", "both", "only definitions", "only the count"]
    print_table("Pairs of pages with a link", header, rows)
    print("\n".join(["", *examples[:20]]))


# Renames


def renames(options: argparse.Namespace) -> None:
    """Rename pages and headings, and print what differs afterwards."""
    rows, problems = [], []
    for source in options.repositories:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / source.name
            subprocess.run(["git", "clone", "-q", "--no-local", source, root], check=True)
            found = rename_in(root, options.count, random.Random(18))
        rows.append([source.name, *map(str, found[0])])
        problems += [f"{source.name}: {problem}" for problem in found[1]]
    header = [
        "repository",
        "pages",
        "headings",
        "links",
        "other findings",
        "other changes",
        "warned",
    ]
    print_table("Random renames", header, rows)
    print("\n".join(["", *problems[:40]]))


def rename_in(root: Path, number: int, chance: random.Random) -> tuple[list[int], list[str]]:
    """Rename half as many pages as headings of a clone, one after the other."""
    pages = headings = edited = findings = changes = warned = 0
    problems = []
    with Workspace.open(str(root)) as workspace:
        screen = Screen()
        workspace.session.read_worktree = ScreenReader(screen)
        context = open_context(workspace, screen)
        before = find(workspace, {})
        documents = context.view.document_paths()
        while pages + headings < number:
            context = open_context(workspace, screen)
            path = chance.choice(documents)
            moves: dict[Any, Any] = {}
            heading: HeadingRange | None = None
            if (pages + headings) % 2:
                folder = os.path.dirname(chance.choice([path, path, chance.choice(documents)]))
                name = f"{chance.choice(WORDS)}-{pages}{os.path.splitext(path)[1]}"
                moves = {path: os.path.join(folder, name)}
                renamed = rename_files(context, moves)
                pages += 1
            else:
                sections = [s for s in outline_of(context, path) if s.level]
                if not sections:
                    continue
                line = chance.choice(sections).line_start
                heading = find_heading(context, path, types.Position(line - 1, 0))
                if heading is None:
                    continue
                name = f"{chance.choice(WORDS)} {headings}"
                renamed = Rename(rename_heading(context, heading, name), {})
                headings += 1
            edited += sum(map(len, renamed.edits.values())) - bool(heading)
            warned += len(renamed.broken)
            old = {p: context.data(p) for p in {*renamed.edits, *renamed.sources, *moves}}
            new = {
                p: apply(renamed.sources.get(p, d), renamed.edits.get(p, []))
                for p, d in old.items()
            }
            for page, data in new.items():
                target = root / moves.get(page, page)
                if page in moves:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    (root / page).unlink()
                target.write_bytes(data)
                if strip(data, heading, page) != strip(old[page], heading, page):
                    changes += 1
                    problems.append(f"{page}: more than links changed")
            screen.refresh(workspace.session.repository)
            after = find(workspace, {v: k for k, v in moves.items()})
            if after != before:
                findings += 1
                problems.append(
                    f"{moves or (heading and (heading.path, heading.text))}:"
                    f" new {list(after - before)[:3]}, gone {list(before - after)[:3]}"
                )
            subprocess.run(["git", "checkout", "-q", "--", "."], cwd=root, check=True)
            subprocess.run(["git", "clean", "-qfd"], cwd=root, check=True)
    return [pages, headings, edited, findings, changes, warned], problems


def find(workspace: Workspace, origins: dict[str, str]) -> Counter[tuple[str, str]]:
    """How many findings of the rules on links there are, by page (under its old name) and rule."""
    report = workspace.ask(CheckRequest(rules=RULES))
    return Counter((origins.get(f.filepath, f.filepath), f.rule) for f in report.findings)


def strip(data: bytes, heading: HeadingRange | None, path: str) -> str:
    """A page's text without links, front matter, and the heading that is renamed."""
    text = data.decode("utf-8", "replace")
    lines = text.splitlines()
    if heading and heading.path == path:
        del lines[heading.line - 1]
    text = "\n".join(lines)
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    text = re.sub(r"<img[^>]*>", "", text)
    return LINK.sub("", TARGET.sub("", text))


# Texts


class CodeUnits:
    """A text as a list of UTF-16 code units."""

    def __init__(self, text: str) -> None:
        data = text.encode("utf-16-le")
        self.units = [data[i : i + 2] for i in range(0, len(data), 2)]

    def lines(self) -> list[tuple[int, int]]:
        """The start and the end of each line."""
        spans, start, index = [], 0, 0
        while index < len(self.units):
            if self.units[index] in {b"\r\0", b"\n\0"}:
                spans.append((start, index))
                is_pair = self.units[index : index + 2] == [b"\r\0", b"\n\0"]
                index += is_pair
                start = index + 1
            index += 1
        return [*spans, (start, len(self.units))]

    def place(self, chance: random.Random) -> tuple[int, int]:
        """A random line and column, not within a surrogate pair."""
        spans = self.lines()
        line = chance.randrange(len(spans))
        start, end = spans[line]
        column = chance.randint(0, end - start)
        inside = start + column < len(self.units)
        if inside and 0xDC <= self.units[start + column][1] <= 0xDF:
            column -= 1
        return line, column

    def replace(self, first: tuple[int, int], last: tuple[int, int], text: str) -> None:
        """Replace what is between two places."""
        spans = self.lines()
        start, end = (spans[line][0] + column for line, column in (first, last))
        self.units[start:end] = CodeUnits(text).units


def texts(options: argparse.Namespace) -> None:
    """Send random edits as the wire has them, and compare the texts after each."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "init", "-q", folder], check=True)
        asyncio.run(compare_texts(folder, options.count))


async def compare_texts(folder: str, edits: int) -> None:
    """Drive the server's handlers in this process."""
    chance = random.Random(18)
    converter = default_converter()
    server = create_server(os.environ)
    params = {"processId": None, "rootUri": Path(folder).as_uri(), "capabilities": {}}
    for _ in server.protocol.lsp_initialize(converter.structure(params, types.InitializeParams)):
        pass
    uri = (Path(folder) / "a.md").as_uri()
    handlers = server.protocol.fm.features
    client = CodeUnits("# 見出し\r\n😀\n")
    text = b"".join(client.units).decode("utf-16-le")
    document = {"uri": uri, "languageId": "markdown", "version": 1, "text": text}
    handlers[types.TEXT_DOCUMENT_DID_OPEN](
        converter.structure({"textDocument": document}, types.DidOpenTextDocumentParams)
    )
    (repository,) = server.repositories()
    differing = 0
    for version in range(2, edits + 2):
        changes = []
        for _ in range(chance.choice([1, 1, 1, 3])):
            first, last = sorted(client.place(chance) for _ in range(2))
            if len(client.units) < 400 and chance.random() < 0.7:
                last = first
            inserted = "".join(chance.choices(LETTERS, k=chance.randint(0, 6)))
            client.replace(first, last, inserted)
            start, end = (dict(zip(("line", "character"), p, strict=True)) for p in (first, last))
            changes.append({"range": {"start": start, "end": end}, "text": inserted})
        wire = json.loads(
            json.dumps(
                {"textDocument": {"uri": uri, "version": version}, "contentChanges": changes}
            )
        )
        handlers[types.TEXT_DOCUMENT_DID_CHANGE](
            converter.structure(wire, types.DidChangeTextDocumentParams)
        )
        text = b"".join(client.units).decode("utf-16-le")
        differing += repository.texts["a.md"].text != text
    server.close()
    print(f"{edits} edits, {differing} texts differ")


# The wire


class Wire:
    """A client that sends requests one after the other, and keeps notifications."""

    def __init__(self, root: Path) -> None:
        command = [sys.executable, "-m", "ubp", "lsp"]
        self.process = subprocess.Popen(
            command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.root = root
        self.notified: Queue[dict[str, Any]] = Queue()
        self._answers: Queue[dict[str, Any]] = Queue()
        self._number = 0
        threading.Thread(target=self._read, daemon=True).start()
        self.ask("initialize", processId=None, rootUri=root.as_uri(), capabilities={})
        self.tell("initialized")

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while header := stream.readline():
            while line := stream.readline().strip():
                header = line if line.lower().startswith(b"content-length") else header
            message = json.loads(stream.read(int(header.split(b":")[1])))
            (self._answers if "id" in message else self.notified).put(message)

    def _send(self, **message: Any) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> Any:
        """Send a request and return its result."""
        self._number += 1
        self._send(id=self._number, method=method, params=params)
        return self._answers.get(timeout=300).get("result")

    def tell(self, method: str, **params: Any) -> None:
        """Send a notification."""
        self._send(method=method, params=params)

    def open(self, path: str) -> str:
        """Open a page and return its text."""
        text = (self.root / path).read_text()
        uri = (self.root / path).as_uri()
        document = {"uri": uri, "languageId": "markdown", "version": 0, "text": text}
        self.tell("textDocument/didOpen", textDocument=document)
        return text

    def type(self, path: str, version: int, place: tuple[int, int], text: str) -> None:
        """Replace what follows a line and a column in the line."""
        start, end = ({"line": place[0], "character": column} for column in (place[1], 10**6))
        change = {"range": {"start": start, "end": end}, "text": text}
        self.tell(
            "textDocument/didChange",
            textDocument={"uri": (self.root / path).as_uri(), "version": version},
            contentChanges=[change],
        )

    def wait_for_diagnostics(self) -> None:
        """Wait until diagnostics are published."""
        while self.notified.get(timeout=300)["method"] != "textDocument/publishDiagnostics":
            pass

    def memory(self) -> float:
        """The resident memory in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]

    def spent(self) -> float:
        """The CPU time of the server in ms."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def leave(self) -> None:
        """End the server."""
        self.ask("shutdown")
        self.tell("exit")
        self.process.wait(30)


def memory(options: argparse.Namespace) -> None:
    """Replay typing with completions and hovers, and print the server's memory."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "repository"
        generate(root, 500)
        wire = Wire(root)
        path = "docs/area00/page_0000.md"
        last = wire.open(path).count("\n")
        wire.wait_for_diagnostics()
        index = root / ".git/ubp"
        rows = []
        typed = "See [[page_0012#Usage]] and words of 日本語😀. "
        start = options.count // 10
        for number in range(options.count + 1):
            column = number % len(typed)
            text = typed[column]
            wire.type(path, number + 1, (last, column), text)
            if number % 10 == 0:
                ask_at(wire, "completion", path, last, column + 1)
            if number in {start, options.count // 2, options.count}:
                time.sleep(3)
                size = sum(file.stat().st_size for file in index.iterdir()) / 1e6
                rows.append([f"{number:,}", f"{wire.memory():.1f}", f"{size:.1f}"])
        wire.leave()
    print_table("Memory while typing", ["changes", "resident MB", "index MB"], rows)
    growth = float(rows[-1][1]) / float(rows[0][1]) - 1
    print(f"\nFrom {rows[0][0]} to {rows[-1][0]} changes: {growth:+.1%}")


def speed(options: argparse.Namespace) -> None:
    """Print how long requests take, each after an edit, and the first diagnostics."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "repository"
        generate(root, options.count)
        path = "docs/area00/page_0000.md"
        rows = []
        for state in ("no index", "index"):
            began = time.perf_counter()
            wire = Wire(root)
            spent = wire.spent()
            rows.append(
                ["start", state, f"{1000 * (time.perf_counter() - began):.0f}", "", f"{spent:.0f}"]
            )
            began = time.perf_counter()
            lines = wire.open(path).split("\n")
            wire.wait_for_diagnostics()
            first, used = time.perf_counter() - began, wire.spent() - spent
            rows.append(["first diagnostics", state, f"{1000 * first:.0f}", "", f"{used:.0f}"])
            if state == "no index":
                wire.wait_for_diagnostics()  # the first ones were those that need no index
                every, used = time.perf_counter() - began, wire.spent() - spent
                rows.append(["all diagnostics", state, f"{1000 * every:.0f}", "", f"{used:.0f}"])
                wire.ask("workspace/symbol", query="page")  # until the links are read, too
                wire.leave()
        time.sleep(5)
        link = next(n for n, line in enumerate(lines) if line.startswith("- [["))
        source = next(n for n, line in enumerate(lines) if line.startswith("  - src"))
        target = lines[link].index("](") + 4
        version = 0
        for name, method, typed, place in (
            ("completion of a page", "completion", "[[page_00", None),
            ("completion of a rare name", "completion", "[[module", None),
            ("completion of a heading", "completion", "[[page_0100#us", None),
            ("completion of a target", "completion", "[x](page_01", None),
            ("completion of an anchor", "completion", "[x](../area01/page_0001.md#u", None),
            ("hover of a wikilink", "hover", "words", (link, 6)),
            ("hover of a link", "hover", "words", (link, target)),
            ("hover of a source", "hover", "words", (source, 8)),
            ("definition", "definition", "words", (link, target)),
            ("code lenses", "codeLens", "words", (0, 0)),
            ("document links", "documentLink", "words", (0, 0)),
        ):
            times, spent = [], wire.spent()
            for number in range(ROUNDS):
                column = number % len(typed)
                version += 1
                wire.type(path, version, (len(lines) - 1, column), typed[column])
                began = time.perf_counter()
                ask_at(wire, method, path, *(place or (len(lines) - 1, column + 1)))
                times.append(1000 * (time.perf_counter() - began))
                time.sleep(0.05)
            ordered = sorted(times)
            p95 = ordered[int(len(ordered) * 0.95)]
            cpu = (wire.spent() - spent) / ROUNDS
            median = f"{statistics.median(times):.1f}"
            rows.append([name, "after an edit", median, f"{p95:.1f}", f"{cpu:.1f}"])
        wire.leave()
    header = ["what", "when", "ms, median", "p95", "CPU ms, mean"]
    print_table(f"{options.count:,} pages", header, rows)


def ask_at(wire: Wire, name: str, path: str, line: int, column: int) -> Any:
    """Ask for a completion or a hover at a position."""
    uri = (wire.root / path).as_uri()
    position = {"line": line, "character": column}
    return wire.ask(f"textDocument/{name}", textDocument={"uri": uri}, position=position)


def generate(root: Path, pages: int) -> None:
    """Write a repository of linked pages with sources, and commit it."""
    chance = random.Random(18)
    shutil.rmtree(root, ignore_errors=True)
    sources = [f"src/pkg{n % 40:02}/module_{n:05}.py" for n in range(pages // 3)]
    names = [f"docs/area{n % 50:02}/page_{n:04}.md" for n in range(pages)]
    body = "Some words about the module and how it is used.\n" * 20
    files = {name: f"# {name}\nvalue = 0\n\n\ndef run():\n    return 1\n" for name in sources}
    for number, name in enumerate(names):
        refs = "".join(f"  - {source}\n" for source in chance.sample(sources, 3))
        linked = "".join(
            f"- [[page_{n:04}]] and [other](../area{n % 50:02}/page_{n:04}.md#usage)\n"
            for n in chance.sample(range(pages), 5)
        )
        files[name] = (
            f"---\ntitle: Page {number}\nsource_refs:\n{refs}---\n# Page {number}\n\n"
            f"## 設計の概要\n\nWords.\n\n{linked}\n## Usage\n\n{body}"
        )
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    author = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    for args in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "Begin"]):
        subprocess.run(["git", *args], cwd=root, check=True)


if __name__ == "__main__":
    main()
