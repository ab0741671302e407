"""Whether an answer depends on what the index happens to contain, over random histories.

python benchmarks/robustness/index_states.py [--seeds 300] [--first 0] [--questions 40] [--quick]

Each seed makes a history of 30 commits (pages with front matter, sources, links, aliases and
copies, renames, deletions, options in code and pages, configurations, merges), leaves a few changes
in the work tree and the staging area, and draws questions: reading commands with `--json`. Each is
asked with no index, which is the expected answer; with an index that was built for another commit;
and in random order with the index that all the others leave behind.
Exits 1 if an answer differs.
"""

import argparse
import difflib
import io
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from benchmarks.common.measure import START, forget_index, index_of, print_table
from ubp.__main__ import main as run_ubp
from ubp.index.embed import model
from ubp.index.store.file import write_stamp

COMMITS = 30
QUICK_SEEDS, QUICK_QUESTIONS = 10, 2
DAY = 86_400
MAX_SHOWN = 20  # lines of a difference

# Of the moment, or of the index itself.
VOLATILE = frozenset({"query_time_ms", "index", "pending"})

WORDS = ("alpha", "billing", "cache", "delivery", "engine", "filter", "gateway", "history")
VERBS = ("build", "fetch", "parse", "render", "settle", "update")
FOLDERS = ("", "docs/", "docs/guide/", "docs/guide/deep/", "docs/api/", "notes/")
SOURCE_FOLDERS = ("src/", "src/core/", "lib/")
SUFFIXES = (".py", ".py", ".ts", ".go")
CONFIGURATIONS = (
    "{}",
    '{"exclude_docs": ["notes/**"]}',
    '{"exclude": ["lib/**"]}',
    '{"docs_dir": "docs"}',
    '{"staleness": {"keys": ["source_refs", "code"]}}',
    '{"check": {"severity": {"stale-doc": "error", "orphan-page": "warning"}}}',
)
MODES = ("fulltext", "semantic", "hybrid")
LEARN = (  # every kind of fact, for one commit
    ("check",),
    ("search", "cache", "--mode", "hybrid"),
    ("bind", "--all"),
)

_FUNCTION = re.compile(r"(?:def|func|function) (\w+)")
_NAME = re.compile(r"(?:(?:def|func|function) |--)(\w+)")
Files = dict[str, str]


class History:
    """A random history, written to a repository with `git fast-import`."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self.chance = random.Random(seed)
        self.files: Files = {}
        self.commits: list[str] = []

    def write(self) -> None:
        """Create the repository with its commits, and leave changes in the work tree."""
        self.root.mkdir(parents=True)
        self.git("init", "-q", "-b", "main", ".")
        stream = bytearray()
        states: list[Files] = []
        for _ in range(4):
            self._add_source()
            self._add_page()
        for number in range(COMMITS):
            for _ in range(self.chance.randint(1, 4)):
                self._change()
            parents = [number] if number else []
            if number > 4 and self.chance.random() < 0.1:  # the other side of a merge: taken in
                side = self.chance.randint(1, number - 2)
                parents.append(side)
                for path in self.chance.sample(sorted(states[side - 1]), 1):
                    self.files.setdefault(path, states[side - 1][path])
            states.append(dict(self.files))
            _commit(stream, number + 1, parents, self.files)
        marks = self.root / ".git" / "marks"
        self.git("fast-import", "--quiet", f"--export-marks={marks}", stdin=bytes(stream))
        lines = sorted(marks.read_text().splitlines(), key=lambda line: int(line[1:].split()[0]))
        self.commits = [line.split()[1] for line in lines]
        self.git("reset", "-q", "--hard")

    def edit_worktree(self) -> None:
        """Stage some changes, and leave others in the work tree."""
        for is_staged in (True, False):
            before = dict(self.files)
            for _ in range(self.chance.randint(0, 3)):
                self._change()
            for path in before.keys() - self.files.keys():
                (self.root / path).unlink()
            for path, text in self.files.items():
                if before.get(path) != text:
                    file = self.root / path
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(text)
            if is_staged:
                self.git("add", "--all")

    def visit(self, commit: str) -> None:
        """Check a commit out; the work tree must be clean."""
        self.git("checkout", "-q", commit)

    def git(self, *arguments: str, stdin: bytes | None = None) -> None:
        """Run git here."""
        subprocess.run(["git", *arguments], cwd=self.root, input=stdin, check=True)

    def pages(self) -> list[str]:
        """The paths of the pages."""
        return sorted(path for path in self.files if path.endswith(".md"))

    def sources(self) -> list[str]:
        """The paths of the sources."""
        return sorted(path for path in self.files if path.endswith(SUFFIXES))

    def new_name(self) -> str:
        """A name that sources may define; hardly ever one that they have."""
        verb, word = self.chance.choice(VERBS), self.chance.choice(WORDS)
        return f"{verb}_{word}_{self.chance.randint(1, 99)}"

    def known_name(self) -> str:
        """A name or option that a source defines, if there is any."""
        sources = self.sources()
        text = self.files[self.chance.choice(sources)] if sources else ""
        return self.chance.choice(_NAME.findall(text) or ["no_name"])

    def _change(self) -> None:
        actions: Sequence[tuple[int, Callable[[], None]]] = (
            (4, self._edit_source),
            (3, self._edit_page),
            (2, self._add_source),
            (2, self._add_page),
            (2, self._delete),
            (2, self._rename),
            (2, self._copy),
            (1, self._configure),
        )
        weights = [weight for weight, _ in actions]
        (action,) = self.chance.choices([action for _, action in actions], weights)
        action()

    def _add(self, path: str, text: str) -> None:
        # A file takes the place of a folder, as little as a folder that of a file.
        is_taken = any(f"{other}/".startswith(f"{path}/") for other in self.files if other != path)
        if not is_taken and not any(path.startswith(f"{other}/") for other in self.files):
            self.files[path] = text

    def _add_source(self) -> None:
        folder, suffix = self.chance.choice(SOURCE_FOLDERS), self.chance.choice(SUFFIXES)
        self._add(f"{folder}{self.chance.choice(WORDS)}{suffix}", self._source(suffix))

    def _source(self, suffix: str) -> str:
        parts = []
        for _ in range(self.chance.randint(1, 4)):
            name = self.known_name() if self.chance.random() < 0.4 else self.new_name()
            number = self.chance.randint(1, 3)
            if suffix == ".py":
                parts.append(f"def {name}(total):\n    return total * {number}\n")
            elif suffix == ".ts":
                parts.append(f"export function {name}(total: number) {{ return {number}; }}\n")
            else:
                parts.append(f"func {name}(total int) int {{ return {number} }}\n")
        if self.chance.random() < 0.5:
            parts.append(f'parser.add_argument("--{self.new_name()}")\n')
        return "\n".join(parts)

    def _edit_source(self) -> None:
        if sources := self.sources():
            path = self.chance.choice(sources)
            text = self.files[path]
            names = _NAME.findall(text)
            if names and self.chance.random() < 0.6:
                text = text.replace(self.chance.choice(names), self.new_name())
            elif self.chance.random() < 0.5:
                text = self._source(path[path.rindex(".") :])
            else:
                text += f"# {self.chance.choice(WORDS)}\n"
            self.files[path] = text

    def _add_page(self) -> None:
        name = self.chance.choice((*WORDS, "README", "index"))
        self._add(f"{self.chance.choice(FOLDERS)}{name}.md", self._page())

    def _edit_page(self) -> None:
        if pages := self.pages():
            path = self.chance.choice(pages)
            is_rewritten = self.chance.random() < 0.5
            self.files[path] = self._page() if is_rewritten else self.files[path] + self._sentence()

    def _page(self) -> str:
        chance = self.chance
        title = chance.choice(WORDS).title()
        lines = []
        if chance.random() < 0.8:
            lines += ["---", f"title: {title}"]
            if chance.random() < 0.3:
                lines.append(f"aliases: [{chance.choice(WORDS)}, {chance.choice(WORDS)} guide]")
            if chance.random() < 0.3:
                lines.append(f"tags: [{chance.choice(WORDS)}]")
            if chance.random() < 0.3:
                lines.append(f"doc_type: {chance.choice(('design', 'api', 'decision'))}")
            references = [self._reference() for _ in range(chance.randint(0, 3))]
            if references:
                lines.append(chance.choice(("source_refs:", "source_refs:", "code:")))
                lines += [f"  - {reference}" for reference in references]
            if chance.random() < 0.2 and (pages := self.pages()):
                lines += ["depends_on:", f"  - {chance.choice(pages)}"]
            lines.append("---")
        lines.append(f"# {title}\n")
        text = "\n".join(lines) + "\n"
        for _ in range(chance.randint(1, 3)):
            sentences = [self._sentence() for _ in range(chance.randint(1, 4))]
            text += f"## {chance.choice(WORDS).title()}\n\n" + "".join(sentences) + "\n"
        return text

    def _reference(self) -> str:
        sources = self.sources() or ["src/absent.py"]
        path = self.chance.choice(sources)
        names = _FUNCTION.findall(self.files.get(path, ""))
        kind = self.chance.random()
        if kind < 0.2 and names:
            return f'"{path}#{self.chance.choice(names)}"'
        if kind < 0.3:
            return self.chance.choice(SOURCE_FOLDERS)
        if kind < 0.4:
            return f'"{self.chance.choice(SOURCE_FOLDERS)}*.py"'
        if kind < 0.5 and (pages := self.pages()):
            return self.chance.choice(pages)
        return path

    def _sentence(self) -> str:
        chance = self.chance
        pages = self.pages() or ["docs/absent.md"]
        word = chance.choice(WORDS)
        forms = (
            f"Call `{self.known_name()}` for the {word}.",
            f"The option `--{self.known_name()}` sets the {word}.",
            f"The {word} is in `{chance.choice(self.sources() or ['src/absent.py'])}`.",
            f"See [{word}](/{chance.choice(pages)}).",
            f"See [{word}]({chance.choice(pages).rpartition('/')[2]}#{word}).",
            f"See [[{word}]] and [[{word} guide]].",
            f"See [{word}](../{word}.md).",
            f"Nobody reads about the {word} twice.",
            f"```python\n{self.known_name()}(3)\n```",
        )
        return chance.choice(forms) + "\n"

    def _delete(self) -> None:
        if len(self.files) > 6:
            del self.files[self.chance.choice(sorted(self.files))]

    def _rename(self) -> None:
        path = self.chance.choice(sorted(self.files))
        text = self.files.pop(path)
        folder = self.chance.choice(FOLDERS if path.endswith(".md") else SOURCE_FOLDERS)
        suffix = path[path.rindex(".") :]
        if suffix == ".json":
            folder, suffix = "old/", ".json"
        if self.chance.random() < 0.4:
            text += "\n"
        self._add(f"{folder}{self.chance.choice(WORDS)}{suffix}", text)

    def _copy(self) -> None:
        path = self.chance.choice(sorted(self.files))
        folder = self.chance.choice((*FOLDERS, *SOURCE_FOLDERS))
        self._add(folder + path.rpartition("/")[2], self.files[path])

    def _configure(self) -> None:
        if self.chance.random() < 0.3:
            self._add("mkdocs.yml", "site_name: X\n")
        else:
            self._add(".ubp/config.json", self.chance.choice(CONFIGURATIONS))


def _commit(stream: bytearray, mark: int, parents: Sequence[int], files: Files) -> None:
    stream += f"commit refs/heads/main\nmark :{mark}\n".encode()
    stream += f"committer Ann <ann@example.com> {START + mark * DAY} +0000\n".encode()
    stream += f"data {len(str(mark))}\n{mark}\n".encode()
    for keyword, parent in zip(("from", "merge"), parents, strict=False):
        stream += f"{keyword} :{parent}\n".encode()
    stream += b"deleteall\n"
    for path, text in files.items():
        data = text.encode()
        stream += f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n"


def draw_questions(history: History, count: int) -> list[tuple[str, ...]]:
    """Return different reading commands about a history, the first about what a change removed."""
    chance, questions = history.chance, dict[tuple[str, ...], None]()
    ref = chance.choice(history.commits[1:])
    questions["check", "--base", f"{ref}^", "--ref", ref, "--rule", "removed-name"] = None
    while len(questions) < count:
        questions[chance.choice(list(_questions(history)))] = None
    return list(questions)


def _questions(history: History) -> Iterator[tuple[str, ...]]:
    """Yield one question of each kind."""
    chance = history.chance
    older, newer = sorted(chance.sample(range(COMMITS), 2))
    base, ref = history.commits[older], history.commits[newer]
    page, source = chance.choice(history.pages()), chance.choice(history.sources() or ["src"])
    at = chance.choice(((), ("--ref", ref)))
    query = f"{chance.choice(WORDS)} {chance.choice(VERBS)}"
    change = chance.choice(
        (("--base", base, "--ref", ref), ("--base", f"{ref}^", "--ref", ref), ("--base", base))
    )
    yield "stale", "--all", *at
    yield "stale", "--all", "--diff", *at
    yield "stale", *change
    yield "stale", "--staged"
    yield "stale", "--since", base
    yield "check", *at
    yield "check", *change
    yield "check", "--staged"
    yield "affected", source, *at
    yield "search", query, "--mode", chance.choice(MODES), *at
    yield "search", query, "--fulltext", *at
    yield "get-page", page, *at
    yield "get-page", "--title", chance.choice(WORDS).title(), *at
    yield "list-pages", "--sort", chance.choice(("title", "updated_at", "created_at")), *at
    yield "get-context", page, *at
    yield "impact", chance.choice((page, source)), *at
    yield "get-graph", *at
    yield "get-graph", "--center", page, *at
    yield "suggest-links", "--min-score", "0.3", *at
    yield "diff", f"{base}..{ref}"
    yield "coverage", *at
    yield ("status",)
    yield "report", *at
    yield "badge", *at
    yield ("bind",)
    yield "bind", "--all", "--explain"
    yield "bind", "--review"
    yield "notes", "trends", "--period", "1m"
    yield (
        "sql",
        chance.choice(("SELECT * FROM documents", "SELECT * FROM links", "SELECT * FROM sections")),
    )


def ask(root: Path, question: Sequence[str]) -> str:
    """Return the exit status and the record of a command, without what is of the moment."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with redirect_stdout(out), redirect_stderr(io.TextIOWrapper(io.BytesIO(), "utf-8")):
        status = run_ubp(["-C", str(root), "--json", *question])
    out.flush()
    text = out.buffer.getvalue().decode()  # type: ignore[attr-defined]  # it is a BytesIO
    record = _without_volatile(json.loads(text))
    return json.dumps({"status": status, "record": record}, indent=1, ensure_ascii=False)


def _without_volatile(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_volatile(v) for k, v in value.items() if k not in VOLATILE}
    return [_without_volatile(item) for item in value] if isinstance(value, list) else value


def compare_states(root: Path, seed: int, count: int) -> Counter[str]:
    """Return the number of comparisons, and of the wrong answers in each state."""
    history = History(root, seed)
    history.write()
    kept = root.with_name(root.name + ".kept")
    other = history.chance.choice(history.commits[:-1])
    history.visit(other)
    for learn in LEARN:
        ask(root, learn)
    shutil.copytree(index_of(root).parent, kept)
    history.visit("main")
    history.edit_worktree()
    questions = draw_questions(history, count)

    expected = {}
    for question in questions:
        forget_index(root)
        expected[question] = ask(root, question)

    counts = Counter[str]()

    def compare(state: str, question: tuple[str, ...]) -> None:
        counts["answers"] += 1
        answer = ask(root, question)
        if answer != expected[question]:
            counts[state] += 1
            print(f"\nseed {seed}, {state}: ubp {shlex.join(question)}", file=sys.stderr)
            lines = difflib.unified_diff(
                expected[question].splitlines(), answer.splitlines(), "expected", "answer", n=2
            )
            print(*list(lines)[:MAX_SHOWN], sep="\n", file=sys.stderr)

    for question in questions:
        forget_index(root)
        shutil.copytree(kept, index_of(root).parent)
        write_stamp(str(index_of(root)))
        compare("built for another commit", question)
    for question in history.chance.sample(questions, len(questions)):
        compare("after other commands", question)
    return counts


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--questions", type=int, default=40, help="about each history")
    parser.add_argument("--quick", action="store_true", help="ten seeds, two questions each")
    options = parser.parse_args()
    if options.quick:
        options.seeds, options.questions = QUICK_SEEDS, QUICK_QUESTIONS
    model._LOADED = {}  # type: ignore[assignment]  # noqa: SLF001  # keeps it loaded
    os.environ["UBP_NOW"] = str(START + (COMMITS + 10) * DAY)
    counts = Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.first, options.first + options.seeds):
            root = Path(folder) / f"history{seed}"
            counts += compare_states(root, seed, options.questions)
            shutil.rmtree(root)
            shutil.rmtree(root.with_name(root.name + ".kept"))
    wrong = [counts["built for another commit"], counts["after other commands"]]
    header = ["histories", "answers", "wrong: built for another commit", "after other commands"]
    row = list(map(str, (options.seeds, counts["answers"], *wrong)))
    print_table("Answers and the index", header, [row])
    sys.exit(1 if any(wrong) else 0)


if __name__ == "__main__":
    main()
