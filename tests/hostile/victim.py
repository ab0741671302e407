"""The repository that an attack is made on, and what the attack must not achieve there."""

import contextlib
import io
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ubp.__main__ import main

SECRET = "s3cret-outside-the-repository"
START = 1_700_000_000
NOW = START + 30 * 86_400
MAX_CPU_SECONDS = 8.0  # of a command; the heaviest takes 1 s
MAX_OUTPUT_CHARACTERS = 4_000_000
SECONDS_TO_WAIT = 60

# What terminals act on, by Unicode's own categories; joiners and selectors belong to emoji.
VISIBLE = frozenset("\n\t\u200c\u200d\ufe0e\ufe0f")
ANNOTATION = re.compile(r"^::(?!(?:error|warning|notice|group|endgroup)\b)", re.MULTILINE)


class Answer(NamedTuple):
    """What a command printed, and its exit status."""

    tokens: tuple[str, ...]
    status: int
    out: str
    err: str
    seconds: float

    @property
    def record(self) -> Any:
        """The JSON that it printed."""
        return json.loads(self.out)


class Victim:
    """A repository beside a secret file; whatever runs in it by accident leaves a `harm` file."""

    def __init__(
        self, folder: Path, template: "Victim | None" = None, *, in_process: bool = True
    ) -> None:
        self.folder = folder
        self.root = folder / "repository"
        self.harm = folder / "harm"
        self.secret = folder / "outside" / "secret.md"
        self.answers: list[Answer] = []
        self._in_process = in_process
        self.secret.parent.mkdir(parents=True)
        self.secret.write_text(f"# {SECRET}\n\n{SECRET}\n")
        if template is not None:
            shutil.copytree(template.root, self.root)
            return
        self.root.mkdir()
        self.git("init", "--quiet", "--template=")
        (self.root / ".git/info").mkdir()
        self.write("src/a.py", "one\n")
        self.page("docs/a.md", "src/a.py")
        self.commit()
        self.write("src/a.py", "two\n")
        self.commit()

    @property
    def touch(self) -> str:
        """A shell command that does harm."""
        return f"touch {self.harm}"

    def git(self, *args: str, stdin: bytes | None = None, check: bool = True) -> str:
        """Run git and return what it prints."""
        done = subprocess.run(
            ["git", *args],
            cwd=self.root,
            check=check,
            capture_output=True,
            input=stdin,
            env={**os.environ, **_identity(START)},
        )
        return os.fsdecode(done.stdout).strip()

    def write(self, path: str, content: str | bytes) -> Path:
        """Write a file."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def page(self, path: str, *sources: str, body: str = "# Page\n\nText.\n") -> Path:
        """Write a page that lists these sources."""
        listed = "".join(f"  - {json.dumps(source)}\n" for source in sources)
        return self.write(path, f"---\nsource_refs:\n{listed}---\n{body}")

    def program(self, path: str) -> Path:
        """Write a program that does harm."""
        file = self.write(path, f"#!/bin/sh\n{self.touch}\ncat\n")
        file.chmod(0o755)
        return file

    def commit(self, message: str = "change") -> str:
        """Commit everything."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--no-verify", "--message", message)
        return self.git("rev-parse", "HEAD")

    def commit_tree(self, entries: Sequence[tuple[str, str, bytes]], *headers: bytes) -> str:
        """Commit a tree that git itself would not write, from entries of mode, name and bytes."""
        tree = b""
        for mode, name, content in sorted(entries, key=lambda entry: os.fsencode(entry[1])):
            blob = self.git("hash-object", "-w", "--stdin", stdin=content)
            tree += mode.encode() + b" " + os.fsencode(name) + b"\0" + bytes.fromhex(blob)
        name = self._store("tree", tree)
        return self.commit_object(b"tree " + name.encode(), *headers)

    def commit_object(self, *headers: bytes, message: bytes = b"crafted\n") -> str:
        """Store a commit as it is, and point HEAD to it."""
        person = b"A <a@example.com> %d +0000" % START
        defaults = (b"author " + person, b"committer " + person) if len(headers) == 1 else ()
        content = b"\n".join([*headers, *defaults]) + b"\n\n" + message
        commit = self._store("commit", content)
        self.git("update-ref", "--no-deref", "HEAD", commit)
        return commit

    def _store(self, kind: str, content: bytes) -> str:
        return self.git("hash-object", "-t", kind, "-w", "--literally", "--stdin", stdin=content)

    def ubp(self, *tokens: str, cwd: str = ".") -> Answer:
        """Run a command as it is run in the repository."""
        directory = str(self.root / cwd)
        started = _cpu_seconds()
        run = _run_here if self._in_process else _run_apart
        status, out, err = run(["-C", directory, *tokens], directory)
        answer = Answer(tokens, status, out, err, _cpu_seconds() - started)
        self.answers.append(answer)
        return answer

    def files(self) -> dict[str, tuple[int, int]]:
        """Return the size and the time of each file, but those of `.git` and UBP's own."""
        found = {}
        for folder, folders, names in os.walk(self.folder):
            folders[:] = [name for name in folders if name not in {".git", ".ubp"}]
            for name in names:
                status = os.lstat(os.path.join(folder, name))
                found[os.path.join(folder, name)] = (status.st_size, status.st_mtime_ns)
        return found

    def achieved(self) -> str:
        """Return what an attack has achieved by the commands so far; "" if nothing."""
        if self.harm.exists():
            return "a program was run"
        for answer in self.answers:
            for fault in _faults(answer):
                return f"ubp {' '.join(answer.tokens)}: {fault}"
        return ""


def _faults(answer: Answer) -> Iterator[str]:
    text = answer.out + answer.err
    if SECRET in text:
        yield "a file outside the repository was read"
    if answer.status not in {0, 1, 2}:
        yield f"ended with {answer.status}: {answer.err[-300:]}"
    if "Traceback (most recent call last)" in text or "This is a bug" in text:
        yield f"failed: {answer.err[-300:]}"
    if answer.seconds > MAX_CPU_SECONDS:
        yield f"took {answer.seconds:.1f} s"
    if len(text) > MAX_OUTPUT_CHARACTERS:
        yield f"printed {len(text)} characters"
    for character in set(text) - VISIBLE:
        if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}:
            yield f"printed U+{ord(character):04X}"
    if "github" in answer.tokens and (match := ANNOTATION.search(answer.out)):
        yield f"printed a workflow command: {answer.out[match.start() :][:60]}"


class Server:
    """A server of the repository, and a client that sends what it is told to."""

    def __init__(self, root: Path, *options: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ubp", "-C", str(root), "serve", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._received: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._number = 1_000_000
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        information = {"name": "attacker", "version": "1"}
        parameters = {"protocolVersion": "2025-11-25", "capabilities": {}}
        self.ask("initialize", {**parameters, "clientInfo": information})

    def send(self, *lines: bytes | dict[str, Any]) -> None:
        """Send messages, or lines as they are."""
        assert self._process.stdin
        for line in lines:
            data = line if isinstance(line, bytes) else json.dumps(line).encode()
            self._process.stdin.write(data + b"\n")
        self._process.stdin.flush()

    def ask(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Send a request, and return its answer with those that came before it in `before`."""
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters}
        self.send(message)
        before = []
        while (answer := self._received.get(timeout=SECONDS_TO_WAIT)) is not None:
            if answer.get("id") == self._number:
                return {**answer, "before": before}
            before.append(answer)
        raise ConnectionError("the server has ended")

    def close(self) -> None:
        """End the server."""
        assert self._process.stdin
        self._process.stdin.close()
        try:
            self._process.wait(SECONDS_TO_WAIT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise
        self._reader.join(SECONDS_TO_WAIT)

    def _read(self) -> None:
        assert self._process.stdout
        with self._process.stdout:
            for line in self._process.stdout:
                self._received.put(json.loads(line))
        self._received.put(None)


class Editor:
    """A language server of the repository, and a client that sends what it is told to."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ubp", "lsp"],
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._received: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._number = 1_000_000
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        folders = [{"uri": root.as_uri(), "name": "folder"}]
        self.ask(
            "initialize",
            {"processId": None, "capabilities": {}, "workspaceFolders": folders, "rootUri": None},
        )
        self.tell("initialized", {})

    def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        assert self._process.stdin
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def message(self, body: bytes | dict[str, Any]) -> None:
        """Send a message, or a body as it is, behind its header."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))

    def tell(self, method: str, parameters: Any) -> None:
        """Send a notification."""
        self.message({"jsonrpc": "2.0", "method": method, "params": parameters})

    def ask(self, method: str, parameters: Any) -> dict[str, Any]:
        """Send a request, and return its answer with the messages that came before it."""
        self._number += 1
        number = self._number
        self.message({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters})
        before = []
        while (answer := self._received.get(timeout=SECONDS_TO_WAIT)) is not None:
            if answer.get("id") == number and "method" not in answer:
                return {**answer, "before": before}
            if "id" in answer and "method" in answer:  # what the server asks is done
                self.message({"jsonrpc": "2.0", "id": answer["id"], "result": {"applied": True}})
            before.append(answer)
        raise ConnectionError("the server has ended")

    def open(self, uri: str, text: str) -> None:
        """Open a text."""
        document = {"uri": uri, "languageId": "markdown", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})

    def uri(self, path: str) -> str:
        """Return the address of a file of the repository."""
        return f"{self.root.as_uri()}/{path}"

    def close(self) -> None:
        """End the server."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        self._process.wait(SECONDS_TO_WAIT)
        assert self._process.stdin
        self._process.stdin.close()
        self._reader.join(SECONDS_TO_WAIT)

    def _read(self) -> None:
        assert self._process.stdout
        with self._process.stdout as stream:
            while line := stream.readline():
                length = 0
                while line not in {b"\r\n", b""}:
                    name, _, value = line.partition(b":")
                    length = int(value) if name.lower() == b"content-length" else length
                    line = stream.readline()
                self._received.put(json.loads(stream.read(length) or b"{}"))
        self._received.put(None)


def isolate(folder: Path) -> None:
    """Replace the settings of the user by those of another one; the clock stands still."""
    for name in [name for name in os.environ if name.startswith(("GIT_", "UBP_"))]:
        del os.environ[name]
    os.environ |= {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    os.environ["UBP_NOW"] = str(NOW)
    git = ("git", "config", "--file", f"{folder}/.gitconfig")
    subprocess.run([*git, "user.name", "Ann"], check=True)
    subprocess.run([*git, "user.email", "ann@example.com"], check=True)


def _identity(at: int) -> dict[str, str]:
    names = ("AUTHOR", "COMMITTER")
    return {
        **{f"GIT_{name}_NAME": "Ann" for name in names},
        **{f"GIT_{name}_EMAIL": "ann@example.com" for name in names},
        **{f"GIT_{name}_DATE": f"{at} +0000" for name in names},
    }


def _cpu_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _run_here(tokens: Sequence[str], _: str) -> tuple[int, str, str]:
    with _streams() as (out, err):
        status = main(tokens)
        sys.stdout.flush()
        sys.stderr.flush()
        return status, _text(out), _text(err)


def _run_apart(tokens: Sequence[str], _: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "ubp", *tokens], capture_output=True, check=False
    )
    return (
        done.returncode,
        done.stdout.decode("utf-8", "surrogateescape"),
        done.stderr.decode("utf-8", "surrogateescape"),
    )


@contextlib.contextmanager
def _streams() -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    out, err = io.BytesIO(), io.BytesIO()
    saved = sys.stdout, sys.stderr
    sys.stdout = io.TextIOWrapper(out, "utf-8", "strict")
    sys.stderr = io.TextIOWrapper(err, "utf-8", "backslashreplace")
    try:
        yield out, err
    finally:
        sys.stdout, sys.stderr = saved


def _text(stream: io.BytesIO) -> str:
    return stream.getvalue().decode("utf-8", "surrogateescape")
