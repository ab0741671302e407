"""The first day with UBP, replayed: from `pip install` to a hook that stops the right commits.

    python benchmarks/commands/first_day.py CLONES [OWNER+NAME …] [--log FOLDER] [--python PYTHON]

CLONES holds `OWNER+NAME/repo`, the repositories of DAYS. Each is cloned twice, and lived through
once in its root and once in a directory of its pages: this checkout is installed from the package
index, `ubp init --yes` is run, its hook is configured, and every command that UBP prints is run as
it is printed. A harmless commit must pass pre-commit, one that removes a name and one that changes
a bound source must not. A printed command that fails ends the run with what was printed; `--log`
keeps all of it, to be read.
"""

import argparse
import json
import os
import pty
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.common.measure import print_table

CHECKOUT = Path(__file__).parents[2]
LEFT_OUT = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE", "XDG_CACHE_HOME", "NO_COLOR")
LIMIT = 120  # seconds, for each day on a machine that does nothing else
LATE = " (too long)"
# What people type: after two spaces, a colon, "then", "use", or in a code span.
PRINTED = re.compile(
    r"(?:^ {0,2}|: | then | use |`)((?:ubp|git|pip|pipx|uv|uvx|pre-commit|claude) [^`\n]+?)"
    r"(?=  |`|, then |, so | for one |[,.;]?$)",
    re.MULTILINE,
)
# These print pages, changes or manuals, whose commands are not meant to be typed now.
QUOTING = ("ubp search", "ubp explain", "ubp stale --diff")
# These change something: they are run where their turn is. What starts an agent's server is too.
STATES = re.compile(r"ubp bind .*--(?:write|interactive)|ubp (?:ack|debt)|git |claude |pre-commit ")


class Day(NamedTuple):
    """A repository: a directory of pages, a name in code, and the one that takes its place."""

    directory: str
    name: str
    new_name: str


DAYS = {
    "encode+httpx": Day("docs/advanced", "max_keepalive_connections", "max_idle_connections"),
    "fastapi+fastapi": Day(
        "docs/en/docs", "separate_input_output_schemas", "split_input_output_schemas"
    ),
    "vuejs-translations+docs-ja": Day("src/guide", "docState", "documentState"),
}


class Answer(NamedTuple):
    """What a command printed, both streams, and its exit status."""

    status: int
    text: str


class Failure(SystemExit):
    """A command did not do what it should; the message has what was printed."""


class Shell:
    """Runs commands as a person types them, and keeps what they print."""

    def __init__(self, directory: Path, environment: Mapping[str, str], log: Path | None) -> None:
        self.directory = directory
        self.environment = environment
        self.seconds: dict[str, float] = {}
        self.cpu = 0.0
        self.commands: list[str] = []
        self._log = log
        if log:
            log.write_text("")

    def run(
        self, command: str, step: str, expected: Sequence[int] = (0, 1), *, typed: bytes = b""
    ) -> Answer:
        """Run a command line, on a terminal if something is `typed`, and count its time."""
        started, cpu = time.perf_counter(), children_cpu()
        answer = self._on_terminal(command, typed) if typed else self._run(command)
        self.seconds[step] = self.seconds.get(step, 0) + time.perf_counter() - started
        self.cpu += children_cpu() - cpu
        self.commands.append(command)
        if self._log:
            with self._log.open("a", encoding="utf-8") as file:
                file.write(f"$ {command}\n{answer.text}[{answer.status}]\n\n")
        if answer.status not in expected or "Traceback" in answer.text:
            raise Failure(
                f"{self.directory}: `{command}`: exit {answer.status}, expected"
                f" {' or '.join(map(str, expected))}\n{answer.text}"
            )
        return answer

    def _run(self, command: str) -> Answer:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        return Answer(done.returncode, done.stdout.decode("utf-8", "replace"))

    def _on_terminal(self, command: str, typed: bytes) -> Answer:
        controller, terminal = pty.openpty()
        with subprocess.Popen(
            ["bash", "-c", command],
            cwd=self.directory,
            env=self.environment,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
        ) as process:
            os.close(terminal)
            os.write(controller, typed)
            printed = bytearray()
            try:
                while part := os.read(controller, 65_536):
                    printed += part
            except OSError:  # how Linux reports that the other end is closed
                pass
        os.close(controller)
        return Answer(process.returncode, printed.decode("utf-8", "replace").replace("\r", ""))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clones", type=Path)
    parser.add_argument("names", nargs="*", help="repositories; none: all")
    parser.add_argument("--log", type=Path, help="keep what was printed in this folder")
    parser.add_argument("--python", default=sys.executable, help="the machine's Python")
    given = parser.parse_args()
    if given.log:
        given.log.mkdir(parents=True, exist_ok=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        place, tools = Path(folder), Path(folder) / "tools"
        install(tools, given.python, ["pre-commit"])
        for name in given.names or DAYS:
            venv = place / name / "venv"
            started, cpu = time.perf_counter(), children_cpu()
            install(venv, given.python, [f"{CHECKOUT}[full]"])
            installed, cpu = time.perf_counter() - started, children_cpu() - cpu
            for number, directory in enumerate((".", DAYS[name].directory)):
                label = f"{name.replace('+', '/')} {directory}"
                log = given.log and given.log / f"{label.replace('/', '-').replace(' ', '_')}.txt"
                root = place / name / f"clone-{number}"
                environment = clean_environment(place / name / f"home-{number}", venv, tools)
                shell = Shell(root / directory, environment, log)
                live(given.clones / name / "repo", root, DAYS[name], shell)
                shell.cpu += cpu
                rows.append(row(label, installed, shell))
    steps = ("init", "printed commands", "bind", "passes", "stopped")
    columns = ("repository, directory", "pip install", *steps, "commands", "all", "CPU")
    print_table("The first day, seconds", columns, rows)
    if late := [label for label, *_, total, _ in rows if LATE in total]:
        raise SystemExit(f"longer than {LIMIT} s: {', '.join(late)}")


def install(venv: Path, python: str, packages: Sequence[str]) -> None:
    """Install packages into a new virtual environment."""
    clean = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
    pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([python, "-m", "venv", str(venv)], check=True, env=clean)
    subprocess.run([*pip, *packages], check=True, env=clean, stderr=subprocess.DEVNULL)


def live(clone: Path, root: Path, day: Day, shell: Shell) -> None:
    """Live through the day in a fresh clone."""
    subprocess.run(["git", "clone", "-q", str(clone), str(root)], check=True)
    for command in (
        "git config --global user.name Ann",
        "git config --global user.email ann@example.com",
        f"git remote set-url origin https://github.com/{clone.parent.name.replace('+', '/')}.git",
    ):
        shell.run(command, "", (0,))
    answer = shell.run("ubp init --yes", "init", (0,))
    use_snippets(shell, answer.text, root)
    run_printed(shell, answer.text)
    shell.run("pre-commit install", "passes", (0,))
    shell.run("git add -A $(git rev-parse --show-toplevel)", "passes", (0,))
    shell.run("git commit -qm 'Use UBP'", "passes", (0,))
    bound = bind(shell)
    shell.run("git commit -qam 'List sources'", "passes", (0,))
    commit(shell, root, day, bound)


def clean_environment(home: Path, *programs: Path) -> dict[str, str]:
    """Return the environment of a person who has these programs and no configuration."""
    home.mkdir()
    path = os.pathsep.join([*(str(venv / "bin") for venv in programs), os.environ["PATH"]])
    kept = {key: value for key, value in os.environ.items() if key not in LEFT_OUT}
    git = {"GIT_CONFIG_GLOBAL": str(home / ".gitconfig"), "GIT_CONFIG_NOSYSTEM": "1"}
    return {**kept, **git, "HOME": str(home), "PATH": path, "COLUMNS": "100"}


def use_snippets(shell: Shell, text: str, root: Path) -> None:
    """Write the hook's configuration, and start each agent's server."""
    hook = 0
    for snippet in re.split(r"^-- ", text, flags=re.MULTILINE)[1:]:
        title, _, rest = snippet.partition("\n")
        body = rest.partition("\n\n")[0] + "\n"
        if title.startswith("pre-commit:"):
            hook += 1
            config = root / ".pre-commit-config.yaml"
            old = config.read_text() if config.exists() else ""
            # people indent a list as the file does
            own = re.search(r"^( *)- repo:", old, re.MULTILINE)
            if old and own:
                body = re.sub(r"^  ", own[1], body, flags=re.MULTILINE)
                old = "repos:\n" + body + "default_stages: [pre-commit]\n"
                body = ""
            config.write_text(old + body)
        elif body.startswith("{"):
            (servers,) = json.loads(body).values()
            server = servers["ubp"]
            words = [server["command"], *server["args"]]
            serve = shlex.join(words).replace("'${workspaceFolder}'", shlex.quote(str(root)))
            shell.run(serve, "printed commands", (0,))
        elif body.startswith("claude "):
            shell.run(body.partition(" -- ")[2].strip(), "printed commands", (0,))
        else:
            raise Failure(f"a snippet of no known kind: {title}")
    if hook != 1:
        raise Failure(f"{hook} snippets for pre-commit\n{text}")


def printed(text: str) -> list[str]:
    """Return the commands in what was printed, each once."""
    return list(dict.fromkeys(match[1].strip() for match in PRINTED.finditer(text)))


def run_printed(shell: Shell, text: str) -> None:
    """Run the commands that were printed, and those that they print, if they change nothing."""
    waiting = printed(text)
    while waiting:
        command = waiting.pop(0)
        if command in shell.commands:
            continue
        if command.startswith("git add"):
            shell.run(command, "printed commands", (0,))
        elif not STATES.match(command):
            answer = shell.run(command, "printed commands")
            if not command.startswith(QUOTING):
                waiting += printed(answer.text)


def bind(shell: Shell) -> list[str]:
    """Write proposals in each way that `ubp bind` prints; return the bound pages that are fresh."""
    scopes = [command for command in shell.commands if command.startswith("ubp bind")]
    answer = shell.run(scopes[0] if scopes else "ubp bind", "bind", (0,))
    commands = printed(answer.text)
    for command in [command for command in commands if "--interactive" in command]:
        shell.run(command, "bind", (0,), typed=b"y\nq\n")
        shell.run("git reset -q --hard", "bind", (0,))
    writing = [command for command in commands if "--write" in command]
    if len(writing) != 2:
        raise Failure(f"`ubp bind` prints {writing}\n{answer.text}")
    for command in writing:
        answer = shell.run(command, "bind", (0,))
        for following in printed(answer.text):
            told = shell.run(following, "bind")
            for last in printed(told.text):
                acknowledged = shell.run(last, "bind", (0,))
                for add in printed(acknowledged.text) if last.startswith("ubp ack") else ():
                    shell.run(add, "bind", (0,))
        if command != writing[-1]:
            shell.run("git reset -q --hard", "bind", (0,))
    shell.run("git add -u", "bind", (0,))
    # pages that are stale already stay so, whatever happens to their sources
    listed = json.loads(shell.run("ubp stale --json --all", "", (0,)).text)["documents"]
    return [page["filepath"] for page in listed if page["staleness"] == "fresh"]


def commit(shell: Shell, root: Path, day: Day, bound: Sequence[str]) -> None:
    """Make a harmless commit and two harmful ones."""
    files = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    sources = {source for page in bound for source in named_sources(root / page)}
    harmless = next(
        file
        for file in files
        if file.endswith((".py", ".ts", ".js"))
        and not any(file == source or file.startswith(source) for source in sources)
        and (root / file).stat().st_size > 500
    )
    mark = "\n# Harmless\n" if harmless.endswith(".py") else "\n// Harmless\n"
    append(root / harmless, mark)
    shell.run("git commit -qam 'Add a comment'", "passes", (0,))

    renamed = 0
    for file in filter(None, files):
        path = root / file
        if path.is_file() and not path.is_symlink() and not file.endswith((".md", ".lock")):
            data = path.read_bytes()
            if day.name.encode() in data:
                path.write_bytes(data.replace(day.name.encode(), day.new_name.encode()))
                renamed += 1
    answer = shell.run("git commit -qam 'Rename it'", "stopped", (1,))
    if f"`{day.name}` was removed" not in answer.text or not renamed:
        raise Failure(f"{root}: the removed name was not found\n{answer.text}")
    run_printed(shell, answer.text)
    shell.run("git reset -q --hard", "", (0,))

    source = next(source for source in sorted(sources) if (root / source).is_file())
    append(root / source, "\n")
    answer = shell.run("git commit -qam 'Change a bound source'", "stopped", (1,))
    if source not in answer.text or "stale-doc" not in answer.text:
        raise Failure(f"{root}: the stale page was not found\n{answer.text}")
    for command in printed(answer.text):
        told = shell.run(command, "stopped", (0,))
        if command.startswith("ubp ack"):
            for following in printed(told.text):
                shell.run(following, "stopped", (0,))
    shell.run("git commit -qm 'Change a bound source'", "passes", (0,))


def named_sources(page: Path) -> Iterator[str]:
    """Yield the sources in a page's front matter."""
    front_matter = page.read_text(encoding="utf-8").split("---")[1]
    for line in front_matter.split("\n"):
        match = re.fullmatch(r"\s+- (?:path: )?(?P<quote>['\"]?)(?P<source>.+)(?P=quote)", line)
        if match:
            yield match["source"]


def append(path: Path, text: str) -> None:
    """Add a text at the end of a file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def row(label: str, installed: float, shell: Shell) -> tuple[str, ...]:
    """Return the seconds of each step."""
    steps = ("init", "printed commands", "bind", "passes", "stopped")
    seconds = [installed, *(shell.seconds.get(step, 0) for step in steps)]
    total = sum(seconds)
    late = LATE if total > LIMIT else ""
    cells = (f"{value:.1f}" for value in seconds)
    return (label, *cells, str(len(shell.commands)), f"{total:.1f}{late}", f"{shell.cpu:.1f}")


def children_cpu() -> float:
    """Return the seconds of CPU that ended children have taken."""
    times = os.times()
    return times.children_user + times.children_system


if __name__ == "__main__":
    main()
