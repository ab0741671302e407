"""Starting git: without deadlocks, without harm, and with errors that help."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ubp.core.errors import GitCommandError, GitMissingError
from ubp.git.command import argument_chunks, find_git, run_git, stream_git


@pytest.fixture(params=["spawned", "portable"])
def way(request, monkeypatch):
    if request.param == "portable":
        monkeypatch.delattr(os, "posix_spawn", raising=False)


BOTH_WAYS = pytest.mark.usefixtures("way")


@BOTH_WAYS
def test_output_is_returned_as_bytes(repository):
    repository.write("a.txt", "a\n")
    head = repository.commit()
    assert run_git(["rev-parse", "HEAD"], cwd=str(repository.root)) == f"{head}\n".encode()


@BOTH_WAYS
def test_input_and_output_larger_than_pipes_do_not_block(repository):
    repository.write("a.txt", "a\n")
    blob = repository.blob("a.txt")
    repository.commit()
    lines = f"{blob}\n".encode() * 50_000
    output = run_git(["cat-file", "--batch-check"], cwd=str(repository.root), stdin=lines)
    assert output == f"{blob} blob 2\n".encode() * 50_000


@BOTH_WAYS
def test_git_that_ends_before_reading_its_input_is_no_error(repository):
    output = run_git(["version"], cwd=str(repository.root), stdin=b"x" * 1_000_000)
    assert output.startswith(b"git version")


@BOTH_WAYS
def test_large_standard_error_does_not_block(repository):
    noise = "alias.noise=!head -c 1000000 /dev/zero >&2; echo done"
    assert run_git(["-c", noise, "noise"], cwd=str(repository.root)) == b"done\n"


@BOTH_WAYS
def test_failure_has_the_message_and_status_of_git(repository):
    with pytest.raises(GitCommandError) as raised:
        run_git(["cat-file", "blob", "0" * 40], cwd=str(repository.root))
    error = raised.value
    assert (error.message, error.cause, error.hint, error.status) == (
        f"`git cat-file` failed in {repository.root}.",
        f"git cat-file {'0' * 40}: bad file",
        "Run `git cat-file` there; if it succeeds, report this as a bug.",
        128,
    )


@BOTH_WAYS
def test_expected_statuses_are_not_failures(repository):
    assert run_git(["config", "no.such"], cwd=str(repository.root), ok=(0, 1)) == b""


@BOTH_WAYS
def test_nul_byte_in_an_argument_is_a_ubp_error(repository):
    with pytest.raises(GitCommandError) as raised:
        run_git(["rev-parse", "a\0b"], cwd=str(repository.root))
    assert raised.value.cause == "embedded null byte"


@BOTH_WAYS
def test_arguments_that_the_system_cannot_take_are_a_ubp_error(repository):
    with pytest.raises(GitCommandError):
        run_git(["ls-files", "x" * 40_000_000], cwd=str(repository.root))


def test_output_can_be_read_in_pieces(repository):
    repository.write("big.bin", b"x" * 300_000)
    repository.commit()
    pieces: list[bytes] = []
    stream_git(["cat-file", "blob", "HEAD:big.bin"], pieces.append, cwd=str(repository.root))
    assert (b"".join(pieces), len(pieces) > 2) == (b"x" * 300_000, True)


@pytest.mark.skipif(
    not os.path.exists(f"/proc/self/task/{os.getpid()}/children"), reason="reads /proc"
)
def test_interruption_ends_git_and_leaves_no_descriptor(repository):
    repository.write("big.bin", b"x" * 3_000_000)
    repository.commit()

    def interrupt(_: bytes) -> None:
        raise KeyboardInterrupt

    def open_now() -> tuple[list[str], str]:
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii")
        return os.listdir("/proc/self/fd"), children

    before = open_now()
    with pytest.raises(KeyboardInterrupt):
        stream_git(["cat-file", "blob", "HEAD:big.bin"], interrupt, cwd=str(repository.root))
    assert open_now() == before


def test_error_without_git_on_path_names_the_cause(repository, tmp_path):
    with pytest.raises(GitMissingError) as raised:
        run_git(["version"], cwd=str(repository.root), environment={"PATH": str(tmp_path)})
    error = raised.value
    assert (error.message, error.cause, error.hint) == (
        "Git was not found.",
        "PATH contains no executable named git.",
        "Install git 2.30 or newer, or add its folder to PATH.",
    )


def test_git_in_the_working_directory_is_never_run(repository, monkeypatch):
    program = repository.write("git", "#!/bin/sh\necho harm\n")
    program.chmod(0o755)
    monkeypatch.chdir(repository.root)
    with pytest.raises(GitMissingError):
        find_git({"PATH": os.pathsep.join(["", ".", "folder"])})


def test_fsmonitor_program_of_the_repository_is_not_run(repository):
    repository.write("a.txt", "a\n")
    repository.commit()
    monitor = repository.write("monitor.sh", "#!/bin/sh\ntouch harm\n")
    monitor.chmod(0o755)
    repository.git("config", "core.fsmonitor", str(monitor))
    run_git(["status", "--porcelain"], cwd=str(repository.root))
    assert not (repository.root / "harm").exists()


def test_index_is_never_rewritten(repository):
    page = repository.write("a.txt", "a\n")
    repository.commit()
    os.utime(page, (1, 1))
    index = repository.root / ".git" / "index"
    before = index.read_bytes()
    run_git(["status", "--porcelain"], cwd=str(repository.root))
    assert index.read_bytes() == before


@pytest.mark.parametrize(
    "name", ["GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"]
)
def test_paths_are_literal_whatever_the_user_configures(repository, name):
    repository.write("a.txt", "a\n")
    repository.write("*.txt", "star\n")
    repository.commit()
    args = ["ls-files", "-z", "--", "*.txt"]
    environment = {**os.environ, name: "1"}
    assert run_git(args, cwd=str(repository.root), environment=environment) == b"*.txt\0"


def test_replaced_objects_are_read_unreplaced(repository):
    repository.write("a.txt", "a\n")
    first = repository.commit()
    repository.write("a.txt", "b\n")
    second = repository.commit()
    repository.git("replace", first, second)
    tree = repository.git("--no-replace-objects", "rev-parse", f"{first}^{{tree}}")
    output = run_git(["rev-parse", f"{first}^{{tree}}"], cwd=str(repository.root))
    assert output == f"{tree}\n".encode()


def test_paths_are_split_into_command_lines_that_fit():
    paths = [f"{'x' * 990}/{i:08d}" for i in range(50)]
    chunks = list(argument_chunks(paths))
    assert [path for chunk in chunks for path in chunk] == paths
    assert [len(chunk) for chunk in chunks] == [24, 24, 2]


@pytest.mark.skipif(not hasattr(os, "posix_spawn"), reason="Windows goes through subprocess")
def test_starting_git_imports_nothing_heavy(repository):
    repository.write("a.txt", "a\n")
    repository.commit()
    script = (
        "import os, sys; from ubp.git.repository import open_repository; "
        "from ubp.git.snapshot import read_index, read_worktree; from ubp.git import trees; "
        "r = open_repository(sys.argv[1], os.environ); read_worktree(r); read_index(r); r.close(); "
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", script, str(repository.root)],
        capture_output=True,
        text=True,
        check=True,
    )
    heavy = {
        *("asyncio", "argparse", "dataclasses", "datetime", "hashlib", "inspect", "logging"),
        *("pathlib", "pygit2", "shutil", "subprocess", "tempfile", "uuid", "yaml"),
    }
    assert heavy & set(done.stdout.split()) == set()


@pytest.mark.skipif(not hasattr(os, "posix_spawn"), reason="Windows has no signals to ignore")
def test_git_runs_in_a_program_that_ignores_its_children(repository):
    repository.write("a.txt", "a\n")
    head = repository.commit()
    script = (
        "import signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); "
        "from ubp.git.command import run_git; "
        "sys.stdout.buffer.write(run_git(['rev-parse', 'HEAD'], cwd=sys.argv[1]))"
    )
    command = [sys.executable, "-I", "-c", script, str(repository.root)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"{head}\n"


def test_working_directory_with_an_unusual_name_works(new_repository):
    repository = new_repository('it\'s [odd] "name"\nwith a newline')
    output = run_git(["rev-parse", "--show-toplevel"], cwd=str(repository.root))
    assert Path(os.fsdecode(output[:-1])) == repository.root
