"""The git command: found, hardened, run without deadlocks, and cheap to start.

`subprocess` costs 11 ms of CPU to import, a fifth of what a warm `ubp stale` may take, so POSIX
systems spawn and poll by hand; others (Windows) go through `subprocess`.
"""

import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from ubp.core.errors import GitCommandError, GitMissingError
from ubp.core.model import FilePath

Sink = Callable[[bytes], object]
"""Takes git's output piece by piece, where keeping all of it would take too much memory."""

READ_BYTES = 1 << 16  # what a pipe holds on Linux: a larger buffer would never be filled
ARGUMENT_BYTES = 24_000  # a command line may be 32,767 characters long on Windows
SIGPIPE = 13  # on every POSIX system; Python ignores it, git's children must not inherit that
SIGTERM = 15  # `import signal` costs 1 ms

DISCOVERY_OPTIONS = (
    "--no-optional-locks",  # `git status` would else rewrite the user's index
    "-c",
    "core.fsmonitor=",  # empty, not "false": before 2.36 the value was a program to run
    # Looking at files in threads costs more than it saves where they are cached: 19 against 13 ms
    # of CPU for 2,300 files, 442 against 408 for 26,000, wall alike.
    "-c",
    "core.preloadIndex=false",
    "-c",
    "core.quotePath=false",
)
OPTIONS = (
    *DISCOVERY_OPTIONS,
    # A commit can bring a folder that git takes for a bare repository, and programs in its
    # configuration. Git before 2.38 ignores this: `ubp.git.locate` refuses such folders first.
    "-c",
    "safe.bareRepository=explicit",
)
SET = {
    "GIT_ALLOW_PROTOCOL": "none",  # lazy fetching stays at home before 2.44 too
    "GIT_LITERAL_PATHSPECS": "1",  # `pages/[id].ts` and `*` are names
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",  # libgit2 knows no replaced objects; both must see one history
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",  # error messages are read
}
UNSET = (
    "GIT_EXTERNAL_DIFF",
    "GIT_GLOB_PATHSPECS",  # git refuses these three beside GIT_LITERAL_PATHSPECS
    "GIT_ICASE_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
)


def run_git(  # noqa: PLR0913  # what a call may need, all of it named
    args: Sequence[str],
    *,
    cwd: str,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    ok: Container[int] = (0,),
    options: Sequence[str] = OPTIONS,
) -> bytes:
    """Run git as if started in `cwd` and return its standard output.

    With DISCOVERY_OPTIONS git also finds a bare repository around `cwd` that GIT_DIR does not name.
    Such a call must run no program that a repository's configuration can name.

    Raises:
        GitMissingError: `PATH` leads to no git.
        GitCommandError: its exit status is not in `ok`.
    """
    output = bytearray()
    status, stderr = _run(options, args, cwd, environment, stdin, output.extend)
    if status not in ok:
        raise _command_error(args, cwd, status, stderr)
    return bytes(output)


def stream_git(
    args: Sequence[str],
    sink: Sink,
    *,
    cwd: str,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
) -> None:
    """Run git and give its output to `sink`; raises as `run_git` does."""
    status, stderr = _run(OPTIONS, args, cwd, environment, stdin, sink)
    if status:
        raise _command_error(args, cwd, status, stderr)


def argument_chunks(paths: Iterable[FilePath]) -> Iterator[list[FilePath]]:
    """Paths in lists that fit on a command line."""
    chunk: list[FilePath] = []
    size = 0
    for path in paths:
        length = len(path.encode(errors="replace")) + 1
        if chunk and size + length > ARGUMENT_BYTES:
            yield chunk
            chunk, size = [], 0
        chunk.append(path)
        size += length
    if chunk:
        yield chunk


def find_git(environment: Mapping[str, str]) -> str:
    """Git's absolute path. Relative parts of `PATH` do not count: a repository could hold a git."""
    name = "git.exe" if os.name == "nt" else "git"
    for folder in environment.get("PATH", os.defpath).split(os.pathsep):
        candidate = os.path.join(folder, name)
        if os.path.isabs(folder) and os.access(candidate, os.X_OK) and os.path.isfile(candidate):
            return candidate
    raise _missing()


def _missing() -> GitMissingError:
    return GitMissingError(
        "Git was not found.",
        cause="No folder of PATH holds an executable git.",
        hint="Install git 2.30 or newer, or add its folder to PATH.",
    )


def _run(  # noqa: PLR0913, PLR0917  # called twice, above
    options: Sequence[str],
    args: Sequence[str],
    cwd: str,
    environment: Mapping[str, str] | None,
    stdin: bytes,
    sink: Sink,
) -> tuple[int, str]:
    """Run git, give its output to `sink`, and return its exit status and standard error."""
    if environment is None:
        environment = os.environ
    command = [find_git(environment), *options, "-C", cwd, *args]
    run = _spawn if hasattr(os, "posix_spawn") else _run_portably
    try:
        status, stderr = run(command, _hardened(environment), stdin, sink)
    except FileNotFoundError as error:
        raise _missing() from error
    except (OSError, ValueError) as error:  # too many arguments, a NUL byte in one
        raise _command_error(args, cwd, -1, str(error)) from error
    return status, stderr.decode("utf-8", "replace")


def _hardened(environment: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in environment.items() if name not in UNSET}
    return kept | SET


def _command_error(args: Sequence[str], cwd: str, status: int, stderr: str) -> GitCommandError:
    said = stderr.strip().removeprefix("fatal: ").removeprefix("error: ")
    ended = f"exit status {status}" if status >= 0 else f"signal {-status}"
    return GitCommandError(
        f"`git {args[0]}` failed in {cwd}.",
        cause=said or f"It ended with {ended} and said nothing.",
        hint=f"Run `git {args[0]}` there; when it works, report this as a bug.",
        status=status,
        stderr=stderr,
    )


def _spawn(
    command: list[str], environment: dict[str, str], stdin: bytes, sink: Sink
) -> tuple[int, bytes]:
    pipes = [os.pipe(), os.pipe(), os.pipe()]
    (their_in, our_in), (our_out, their_out), (our_err, their_err) = pipes
    try:
        process = os.posix_spawn(
            command[0],
            command,
            environment,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, their_in, 0),
                (os.POSIX_SPAWN_DUP2, their_out, 1),
                (os.POSIX_SPAWN_DUP2, their_err, 2),
            ],
            setsigdef=[SIGPIPE],
        )
    except BaseException:
        _close(our_in, our_out, our_err)
        raise
    finally:
        _close(their_in, their_out, their_err)
    stderr = bytearray()
    try:
        _serve(our_in, stdin, {our_out: sink, our_err: stderr.extend})
    except BaseException:
        with suppress(ProcessLookupError):
            os.kill(process, SIGTERM)
        _exit_status(process)
        raise
    return _exit_status(process), bytes(stderr)


def _exit_status(process: int) -> int:
    try:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    except ChildProcessError:  # whoever started us has set SIGCHLD to be ignored
        return 0


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _serve(target: int, stdin: bytes, sources: dict[int, Sink]) -> None:
    """Write and read at once until every pipe is closed: neither side ever waits for the other."""
    import select

    poll = select.poll()
    unwritten = memoryview(stdin)
    is_open = set(sources)
    try:
        for source in sources:
            poll.register(source, select.POLLIN)
        if unwritten:
            os.set_blocking(target, False)
            is_open.add(target)
            poll.register(target, select.POLLOUT)
        else:
            os.close(target)
        while is_open:
            for descriptor, _ in poll.poll():
                if descriptor == target:
                    unwritten = _write(target, unwritten)
                    is_done = not unwritten
                else:
                    chunk = os.read(descriptor, READ_BYTES)
                    sources[descriptor](chunk)
                    is_done = not chunk
                if is_done:
                    poll.unregister(descriptor)
                    is_open.remove(descriptor)
                    os.close(descriptor)
    finally:
        _close(*is_open)


def _write(target: int, unwritten: memoryview) -> memoryview:
    try:
        return unwritten[os.write(target, unwritten) :]
    except BrokenPipeError:  # git ended before it read all: its exit status tells
        return unwritten[:0]


def _run_portably(
    command: list[str], environment: dict[str, str], stdin: bytes, sink: Sink
) -> tuple[int, bytes]:
    import subprocess

    done = subprocess.run(  # noqa: S603 - the path is absolute, the arguments a list
        command,
        env=environment,
        input=stdin,
        capture_output=True,
        check=False,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    sink(done.stdout)
    return done.returncode, done.stderr
