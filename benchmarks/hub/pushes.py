"""Push commits of real repositories to an embedded hub, and compare after each of them.

    python benchmarks/hub/pushes.py [--commits 20] [--seed 34 --draw 4] REPOSITORY...

REPOSITORY is a clone or a mirror; with `--draw` so many are drawn of them at random: those with
enough commits and at most 5,000 files. For each push it prints what differed from the clone (`ubp
hub diff`), what was sent, and the CPU seconds of the client; then the sums. `unchanged` repeats the
last push.
"""

import argparse
import os
import random
import resource
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ubp.answers.hub.compare import compare_with_hub
from ubp.answers.hub.push import PushRequest
from ubp.workspace import Workspace

MAX_FILES = 5_000


# Only HEAD is moved: mirrors may lack large files, and nothing of the work tree is pushed.
def git(repository: Path, *words: str) -> str:
    """Return what git prints."""
    done = subprocess.run(["git", "-C", repository, *words], check=True, capture_output=True)
    return done.stdout.decode(errors="replace")


def fits(repository: Path, commits: int) -> bool:
    """Return whether a repository has enough commits, and not too many files."""
    try:
        lines = git(repository, "rev-list", "--first-parent", f"--max-count={commits}", "HEAD")
        files = git(repository, "ls-tree", "-r", "--name-only", "HEAD").count("\n")
    except subprocess.CalledProcessError:
        return False
    return lines.count("\n") >= commits and 0 < files <= MAX_FILES


def draw(repositories: list[Path], number: int, commits: int, seed: int) -> list[Path]:
    """Return repositories that fit, in the order of a draw."""
    shuffled = sorted(repositories)
    random.Random(seed).shuffle(shuffled)
    found: list[Path] = []
    for repository in shuffled:
        if len(found) < number and fits(repository, commits):
            found.append(repository)
    return found


@contextmanager
def hub() -> Iterator[tuple[str, str]]:
    """Run an embedded hub, and yield its address and the file of its token."""
    with tempfile.TemporaryDirectory(prefix="ubp-hub-") as folder:
        os.chmod(folder, 0o711)
        command = ["python", "-m", "ubp", "hub", "up", "--embedded", "--data", folder]
        with subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            try:
                yield process.stdout.readline().decode().split()[1], f"{folder}/development-token"
            finally:
                process.terminate()


def cpu() -> float:
    """Return the CPU seconds of this process and its children."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def push(clone: Path, name: str, url: str, token: str) -> tuple[str, str, int]:
    """Push HEAD, and return the outcome, a line, and the number of differences."""
    start = cpu()
    with Workspace.open(str(clone)) as workspace:
        record = workspace.ask(
            PushRequest(to=url, token_file=token, repository=name, ref="refs/heads/main")
        )
        seconds = cpu() - start
        found = compare_with_hub(workspace.session, url, token, name, "refs/heads/main")
    sent = f"{record.sent_pieces} pieces, {record.sent_parts} blobs"
    line = f"{record.outcome:9} {record.files:5} files {record.pages:5} pages, sent {sent}"
    return record.outcome, f"{line}, {seconds:.2f} CPU s", len(found)


def main() -> None:
    """Run the pushes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--commits", type=int, default=20)
    parser.add_argument("--draw", type=int, default=0)
    parser.add_argument("--seed", type=int, default=34)
    options = parser.parse_args()
    chosen = options.repositories
    if options.draw:
        chosen = draw(chosen, options.draw, options.commits, options.seed)
    pushes = differing = 0
    with hub() as (url, token), tempfile.TemporaryDirectory() as folder:
        for number, repository in enumerate(chosen):
            clone = Path(folder) / str(number)
            subprocess.run(
                ["git", "clone", "--quiet", "--no-checkout", repository, clone], check=True
            )
            log = git(clone, "rev-list", "--first-parent", f"-{options.commits}", "HEAD")
            name = f"github.com/bench/r{number}"
            print(repository, flush=True)
            for commit in reversed(log.split()):
                git(clone, "update-ref", "--no-deref", "HEAD", commit)
                _, line, found = push(clone, name, url, token)
                pushes += 1
                differing += found > 0
                print(f"  {commit[:10]} {line}, {found} differences", flush=True)
            print(f"  again      {push(clone, name, url, token)[1]}", flush=True)
    print(f"{pushes} pushes, {differing} with differences")


if __name__ == "__main__":
    main()
