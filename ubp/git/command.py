"""Run the git command: hardened against what a repository contains, and without deadlocks.

`subprocess` costs 11 ms of CPU to import, a fifth of what a warm `ubp stale` may take, so POSIX
systems call `posix_spawn` and `poll`; others (Windows) go through `subprocess`.
"""

import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from ubp.core.errors import GitCommandError, GitMissingError
from ubp.core.interruption import checkpoint
from ubp.core.model import FilePath

Sink = Callable[[bytes], object]
"""Receives git's output piece by piece, where all of it would take too much memory."""

# The scopes of Git's configuration that come from outside a repository.
USER_SCOPES = frozenset({"system", "global", "command"})

READ_BYTES = 1 << 16  # the capacity of a pipe on Linux: a larger buffer would never be filled
MAX_ARGUMENT_BYTES = 24_000  # a command line may be 32,767 characters long on Windows
MILLISECONDS_BETWEEN_CHECKPOINTS = 50
SIGPIPE = 13  # on every POSIX system; Python ignores it, and git must not inherit that
SIGTERM = 15  # `import signal` costs 1 ms

DISCOVERY_OPTIONS = (
    "--no-optional-locks",  # else `git status` would rewrite the user's index
    "-c",
    "core.fsmonitor=",  # empty, not "false": before 2.36 the value was a program to run
    # Threads cost more than they save where the files are cached: 19 instead of 13 ms of CPU for
    # 2,300 files, 442 instead of 408 for 26,000, in the same time.
    "-c",
    "core.preloadIndex=false",
    "-c",
    "core.quotePath=false",
)
OPTIONS = (
    *DISCOVERY_OPTIONS,
    # A commit can add a directory that git takes for a bare repository, with programs in its
    # configuration. Git before 2.38 ignores this: `ubp.git.locate` rejects such directories first.
    "-c",
    "safe.bareRepository=explicit",
)
# For `git status` on a copy of the index, which it may update.
SAVING_OPTIONS = (
    *(option for option in OPTIONS if option != "--no-optional-locks"),
    "-c",
    "core.splitIndex=false",  # else git would write a part of the copy beside the user's index
)
LITERAL = "GIT_LITERAL_PATHSPECS"
NOT_LITERAL = frozenset({"check-ignore"})  # it takes paths, and fails where the variable is set
# Git lists a whole difference in memory before it prints any of it: a million paths take 0.2 GB.
# What it maps of packs does not count. Only Linux can limit another process.
MEMORY_LIMITED = frozenset({"diff-tree"})
MAX_GIT_MEMORY = 384 << 20
NO_PROTOCOLS = "none"  # which also prevents lazy fetching in git before 2.44
SET_VARIABLES = {
    LITERAL: "1",  # `pages/[id].ts` and `*` are file names
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",  # libgit2 ignores them too; both must read the same history
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",  # error messages are parsed
}
UNSET_VARIABLES = (
    "GIT_EXTERNAL_DIFF",
    "GIT_GLOB_PATHSPECS",  # git rejects these three together with GIT_LITERAL_PATHSPECS
    "GIT_ICASE_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
)


def run_git(  # noqa: PLR0913  # all but the arguments are named
    args: Sequence[str],
    *,
    cwd: str,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    ok: Container[int] = (0,),
    options: Sequence[str] = OPTIONS,
    protocols: str = NO_PROTOCOLS,
) -> bytes:
    """Run git as if started in `cwd` and return its standard output.

    With DISCOVERY_OPTIONS git also finds a bare repository around `cwd` that GIT_DIR does not name.
    Such a call must not run a program that a repository's configuration can name. `protocols` are
    those that git may use to reach other repositories, with colons between them.

    Raises:
        GitMissingError: `PATH` has no git.
        GitCommandError: the exit status is not in `ok`.
    """
    output = bytearray()
    status, stderr = _run(options, args, cwd, environment, stdin, output.extend, protocols)
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
    """Run git and pass its output to `sink`; raise as `run_git` does."""
    status, stderr = _run(OPTIONS, args, cwd, environment, stdin, sink, NO_PROTOCOLS)
    if status:
        raise _command_error(args, cwd, status, stderr)


def commit_with_hooks(
    args: Sequence[str], *, cwd: str, stdin: bytes, environment: Mapping[str, str]
) -> None:
    """Run `git commit` for the user, as if typed: with hooks, signing and the user's settings.

    Raises:
        GitCommandError: it failed; the cause is what git and the hooks printed.
    """
    import subprocess

    command = [find_git(environment), "-C", cwd, "commit", *args]
    variables = {**environment, LITERAL: "1"}
    done = subprocess.run(  # noqa: S603  # git itself
        command,
        input=stdin,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        output = done.stdout.decode("utf-8", "replace")
        raise _command_error(["commit"], cwd, done.returncode, output)


def argument_chunks(paths: Iterable[FilePath]) -> Iterator[list[FilePath]]:
    """Yield the paths in lists that fit on a command line."""
    chunk: list[FilePath] = []
    size = 0
    for path in paths:
        length = len(path.encode(errors="replace")) + 1
        if chunk and size + length > MAX_ARGUMENT_BYTES:
            yield chunk
            chunk, size = [], 0
        chunk.append(path)
        size += length
    if chunk:
        yield chunk


def find_git(environment: Mapping[str, str]) -> str:
    """Return git's absolute path.

    Relative parts of `PATH` do not count: a repository could contain a program of this name.

    Raises:
        GitMissingError: `PATH` has no git.
    """
    name = "git.exe" if os.name == "nt" else "git"
    for folder in environment.get("PATH", os.defpath).split(os.pathsep):
        candidate = os.path.join(folder, name)
        if os.path.isabs(folder) and os.access(candidate, os.X_OK) and os.path.isfile(candidate):
            return candidate
    raise _git_missing()


def _git_missing() -> GitMissingError:
    return GitMissingError(
        "Git was not found.",
        cause="PATH contains no executable named git.",
        hint="Install git 2.30 or newer, or add its folder to PATH.",
    )


def _run(  # noqa: PLR0913, PLR0917  # called twice, above
    options: Sequence[str],
    args: Sequence[str],
    cwd: str,
    environment: Mapping[str, str] | None,
    stdin: bytes,
    sink: Sink,
    protocols: str,
) -> tuple[int, str]:
    """Run git, pass its output to `sink`, and return its exit status and standard error."""
    if environment is None:
        environment = os.environ
    command = [find_git(environment), *options, "-C", cwd, *args]
    inherited = {name: value for name, value in environment.items() if name not in UNSET_VARIABLES}
    run = _run_posix if hasattr(os, "posix_spawn") else _run_subprocess
    try:
        variables = {**inherited, **SET_VARIABLES, "GIT_ALLOW_PROTOCOL": protocols}
        if args[0] in NOT_LITERAL:
            del variables[LITERAL]
        status, stderr = run(command, variables, stdin, sink)
    except FileNotFoundError as error:
        raise _git_missing() from error
    except (OSError, ValueError) as error:  # too many arguments, a NUL byte in one
        raise _command_error(args, cwd, -1, str(error)) from error
    return status, stderr.decode("utf-8", "replace")


def _command_error(args: Sequence[str], cwd: str, status: int, stderr: str) -> GitCommandError:
    message = stderr.strip().removeprefix("fatal: ").removeprefix("error: ")
    ended = f"exit status {status}" if status >= 0 else f"signal {-status}"
    return GitCommandError(
        f"`git {args[0]}` failed in {cwd}.",
        cause=message or f"It ended with {ended} and printed no message.",
        hint=f"Run `git {args[0]}` there; if it succeeds, report this as a bug.",
        status=status,
        stderr=stderr,
    )


def _run_posix(
    command: list[str], environment: dict[str, str], stdin: bytes, sink: Sink
) -> tuple[int, bytes]:
    pipes = [os.pipe(), os.pipe(), os.pipe()]
    (child_stdin, stdin_pipe), (stdout_pipe, child_stdout), (stderr_pipe, child_stderr) = pipes
    try:
        process = os.posix_spawn(
            command[0],
            command,
            environment,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, child_stdin, 0),
                (os.POSIX_SPAWN_DUP2, child_stdout, 1),
                (os.POSIX_SPAWN_DUP2, child_stderr, 2),
            ],
            setsigdef=[SIGPIPE],
        )
    except BaseException:
        _close(stdin_pipe, stdout_pipe, stderr_pipe)
        raise
    finally:
        _close(child_stdin, child_stdout, child_stderr)
    if not MEMORY_LIMITED.isdisjoint(command):
        _limit_memory(process)
    stderr = bytearray()
    try:
        _transfer(stdin_pipe, stdin, {stdout_pipe: sink, stderr_pipe: stderr.extend})
    except BaseException:
        with suppress(ProcessLookupError):
            os.kill(process, SIGTERM)
        _exit_status(process)
        raise
    return _exit_status(process), bytes(stderr)


def _limit_memory(process: int) -> None:
    import resource

    if hasattr(resource, "prlimit"):
        with suppress(OSError):  # it has ended, or has a lower limit
            resource.prlimit(process, resource.RLIMIT_DATA, (MAX_GIT_MEMORY, MAX_GIT_MEMORY))


def _exit_status(process: int) -> int:
    try:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    except ChildProcessError:  # the process that started us has set SIGCHLD to be ignored
        return 0


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _transfer(stdin_pipe: int, stdin: bytes, sinks: dict[int, Sink]) -> None:
    """Write and read in turns until every pipe is closed, so that neither side blocks the other."""
    import select

    poll = select.poll()
    unwritten = memoryview(stdin)
    open_pipes = set(sinks)
    try:
        for pipe in sinks:
            poll.register(pipe, select.POLLIN)
        if unwritten:
            os.set_blocking(stdin_pipe, False)
            open_pipes.add(stdin_pipe)
            poll.register(stdin_pipe, select.POLLOUT)
        else:
            os.close(stdin_pipe)
        while open_pipes:
            checkpoint()
            for descriptor, _ in poll.poll(MILLISECONDS_BETWEEN_CHECKPOINTS):
                if descriptor == stdin_pipe:
                    unwritten = _write(stdin_pipe, unwritten)
                    is_done = not unwritten
                else:
                    chunk = os.read(descriptor, READ_BYTES)
                    sinks[descriptor](chunk)
                    is_done = not chunk
                if is_done:
                    poll.unregister(descriptor)
                    open_pipes.remove(descriptor)
                    os.close(descriptor)
    finally:
        _close(*open_pipes)


def _write(stdin_pipe: int, unwritten: memoryview) -> memoryview:
    try:
        return unwritten[os.write(stdin_pipe, unwritten) :]
    except BrokenPipeError:  # git ended before it had read everything; its exit status shows why
        return unwritten[:0]


def _run_subprocess(
    command: list[str], environment: dict[str, str], stdin: bytes, sink: Sink
) -> tuple[int, bytes]:
    import subprocess

    process = subprocess.run(  # noqa: S603 - the path is absolute, the arguments a list
        command,
        env=environment,
        input=stdin,
        capture_output=True,
        check=False,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    sink(process.stdout)
    return process.returncode, process.stderr
