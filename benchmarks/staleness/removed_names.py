"""What the rule removed-name would have said at each commit of public repositories.

`python benchmarks/staleness/removed_names.py run CLONES OUT [LIMIT] [NAME ...]` replays the main
line (first parents) of each clone, all of it or its newest LIMIT commits, through the functions of
the rule, and writes the firings to OUT/NAME.json with the page's line, the removed lines and what
became of the mention. Finished repositories are not repeated.

`... speed` measures the rule on 5 staged files of a generated repository with 2,000 sources and 300
pages, in milliseconds of CPU (git's included).

`... table OUT [JUDGED]` prints how often the rule raises an alarm and, by the judgements in
`benchmarks/data/removed_names.tsv`, how often it is right: one row for each commit and page.
"""

import csv
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import pygit2

from benchmarks.common.measure import Shape, generate, wilson
from ubp.answers.checks.check import CheckRequest
from ubp.bindings.path_words import is_test
from ubp.checks.removed_names import (
    NewMention,
    PageCode,
    RemovedMention,
    changed_source,
    describes_present,
    find_changed_manifest,
    find_removed_names,
    find_removed_paths,
    is_example,
    is_source,
    read_page_code,
)
from ubp.checks.snapshot_names import find_new_mention, find_outdated_by_change
from ubp.code.definitions import (
    SUFFIX,
    Language,
    find_definitions,
    find_keys,
    is_program,
    language_of,
)
from ubp.code.removed import MIN_LETTERS, ChangedSource, SourceChange, may_spell
from ubp.core.config import Config, is_document
from ubp.core.model import FilePath, ObjectId
from ubp.core.names import fold_name, is_constant, name_key
from ubp.git.repository import open_repository
from ubp.index.name_keys import spelling_key
from ubp.index.session import Target
from ubp.staleness.state import open_change
from ubp.workspace import Workspace

JUDGED = Path(__file__).parents[1] / "data" / "removed_names.tsv"
MAX_BYTES = 2_000_000
MAX_SOURCE = 400_000  # what `find_keys` reads of a source
MAX_PAGE_LINE = 2_000
CONFIG = Config()


Record = dict[str, Any]
Changes = dict[str, pygit2.Oid | None]
MONTH = 30 * 86_400
WORDS = re.compile(r"-{0,2}[A-Za-z_][\w.-]*")
PATHS = re.compile(r"(?:[\w.@~+-]*/)+[\w.@~+-]*")
TOKENS = re.compile(rb"[a-z_]\w*(?:-+\w+)*")
OPTIONS = re.compile(rb"(?<![\w-])--[a-z][a-z0-9]+(?![\w-])")
DOTTED = re.compile(rb"""["'`-]([a-z][\w-]*(?:\.[a-z][\w-]*)+)""")
read_keys = lru_cache(maxsize=5_000)(find_keys)
read_code = lru_cache(maxsize=500)(read_page_code)
key_of = lru_cache(maxsize=None)(name_key)


class Commit(NamedTuple):
    """A commit of the main line and what it changes."""

    id: pygit2.Oid
    time: int
    changes: Changes


class Keys(dict[bytes, tuple[int, ...]]):
    """The keys of a token of a source, in lower case: those that any page ever has."""

    def __init__(self, wanted: frozenset[int]) -> None:
        self.wanted = wanted

    def __missing__(self, token: bytes) -> tuple[int, ...]:
        text = token.decode("utf-8", "replace")
        names = {fold_name(text), *map(fold_name, text.split("-"))}
        names |= {name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX)}
        self[token] = keys = tuple(self.wanted.intersection(map(key_of, names)))
        return keys


class Replay:
    """The names of one commit after the other; what the rule asks of the index and of history.

    Of the sources only the names that pages have are counted: `find_keys` of every version, of all
    names, takes three times as long.
    """

    def __init__(self, repository: pygit2.Repository, commits: Sequence[Commit]) -> None:
        self.repository = repository
        self.opened = open_repository(repository.path, os.environ)
        self.commits = commits
        self.number = -1
        self.all_files: set[str] = set()
        self.sources: dict[str, pygit2.Oid] = {}
        self.pages: dict[str, pygit2.Oid] = {}
        self.edited: dict[str, pygit2.Oid | None] = {}
        self._origins: dict[str, str] = {}
        self.added: set[int] = set()
        self._read_words = lru_cache(maxsize=30_000)(lambda blob: find_words(self.content(blob)))
        self._read_source = lru_cache(maxsize=30_000)(self._read_source_keys)
        self._keys = Keys(frozenset().union(*map(self._page_keys, commits)))
        self._alive: Counter[int] = Counter()
        self._crossings: dict[int, list[tuple[int, bool]]] = defaultdict(list)
        self._pages_by_key: dict[int, set[str]] = defaultdict(set)
        self._versions: dict[str, list[tuple[int, pygit2.Oid]]] = {}

    def pages_with(self, keys: Collection[int]) -> dict[int, Collection[str]]:
        """Return the pages whose code may have each of these keys."""
        return {key: self._pages_by_key.get(key, ()) for key in keys}

    def pages_spelling(self, spellings: Collection[str]) -> dict[str, Collection[str]]:
        """Return the pages whose code may have each of these words and options."""
        return {text: self._pages_by_key.get(spelling_key(text), ()) for text in spellings}

    def occurring(self, keys: Collection[int]) -> set[int]:
        """Return those of these keys that the sources have."""
        found = {key for key in keys if self._alive[key] > 0}
        if others := set(keys) - self._keys.wanted:  # programs, qualifiers, fragments
            for path, blob in self.sources.items():
                found |= others & read_living(path, self.content(blob))
        return found

    def is_spelled(self, spelling: str) -> bool:
        """Return whether a source has a word or option in this very spelling."""
        key = key_of(fold_name(spelling))
        return any(
            may_spell(path, self.content(blob), spelling)
            for path, blob in self.sources.items()
            if key in self._read_source(path, blob)
        )

    def is_written(self, name: str) -> bool:
        """Return whether a source has a name of several words exactly so."""
        key = key_of(fold_name(name))
        written = re.compile(rb"(?<![\w-])" + re.escape(name.encode()) + rb"(?![\w-])")
        return any(
            written.search(self.content(blob))
            for path, blob in self.sources.items()
            if key in self._read_source(path, blob)
        )

    def building(self, keys: Collection[int]) -> set[int]:
        """Return those of these keys that the commit adds."""
        return self.added.intersection(keys)

    def code(self, page: str) -> PageCode:
        """Return the names in a page's code, and its lines."""
        return read_code(self.content(self.pages[page]))

    def read_before(self, page: str) -> bytes | None:
        """Return the contents of an edited or moved page before the commit."""
        blob = self.edited[page]
        return None if blob is None else self.content(blob)

    def is_edited(self, page: str) -> bool:
        """Return whether the commit edits a page."""
        return page in self.edited

    def find_addition(self, page: str, text: str) -> NewMention | None:
        """Return the commit of the main line that added a text to a page, across renames."""
        key = key_of(fold_name(text))
        versions = self._versions.get(page, [])
        first = next((n for n, blob in versions if key in self._read_words(blob)), None)
        if first is None:
            return None
        commit = self.commits[first]
        is_young = commit.time - self.commits[0].time <= MONTH
        if is_young and self.repository[self.commits[0].id].parents:  # not followed so far back
            before = ObjectId(str(self.commits[self.number - 1].id))
            old_path = FilePath(self._origins.get(page, page))
            return find_new_mention(self.opened, before, old_path, text)
        changed = [path for path in commit.changes if is_source(path)]

        def is_name_new() -> bool:
            month = [number for number, is_alive in self._crossings[key] if is_alive]
            born = [self.commits[n].time for n in month if n <= first]
            return self._lives(key, first) and bool(born) and commit.time - born[-1] <= MONTH

        return NewMention(str(commit.id), changed, is_name_new, is_young)

    def _lives(self, key: int, number: int) -> bool:
        states = [is_alive for at, is_alive in self._crossings[key] if at <= number]
        return bool(states) and states[-1]

    def files(self) -> Collection[str]:
        """Return all files."""
        return self.all_files

    def read_files(self, paths: Collection[str]) -> dict[str, bytes]:
        """Return the contents of these files."""
        return {path: self.content(self.sources[path]) for path in paths if path in self.sources}

    def read_tests(self) -> dict[str, ChangedSource]:
        """Return the tests that the commit touches."""
        old, new = (self.commits[n] for n in (self.number - 1, self.number))
        before = self.repository[old.id].tree
        contents = {
            path: (
                self.content(before[path].id) if path in before else None,
                None if blob is None else self.content(blob),
            )
            for path, blob in new.changes.items()
            if is_test(path) and path not in self.edited
        }
        return {path: changed_source(path, *versions) for path, versions in contents.items()}

    def mentions(self, page: str, key: int) -> bool:
        """Return whether a page has a key."""
        return page in self.pages and any(
            name.key == key for name in read_code(self.content(self.pages[page])).names.names
        )

    def content(self, blob: pygit2.Oid) -> bytes:
        """Return the contents of a blob; none where it is too large."""
        found = self.repository.get(blob)
        is_blob = isinstance(found, pygit2.Blob) and found.size <= MAX_BYTES
        return found.data if is_blob else b""

    def advance(self) -> tuple[dict[str, ChangedSource], list[str], set[int]]:
        """Move to the next commit; return its sources, the deleted files, the names that died."""
        self.number += 1
        changes = self.commits[self.number].changes
        deleted, lost = [], Counter[int]()
        versions: dict[str, tuple[pygit2.Oid | None, pygit2.Oid | None]] = {}
        pages = [path for path in changes if is_document(CONFIG, path)]
        self.edited = {path: self.pages.get(path) for path in pages}
        self._origins.clear()
        for path, blob in changes.items():
            if blob is None:
                self.all_files.discard(path)
                deleted.append(path)
            else:
                self.all_files.add(path)
            if path not in self.edited and is_source(path):
                versions[path] = self.sources.get(path), blob
                lost.update(self._set_source(path, blob))
        self._set_pages({path: changes[path] for path in pages})
        died = self._subtract(lost)
        died = {key for key in died if self._pages_by_key.get(key)}
        changed = {}
        for path, (old, new) in versions.items():
            before = None if old is None else self.content(old)
            after = None if new is None else self.content(new)
            changed[path] = changed_source(path, before, after)
        return changed, deleted, died

    def _set_source(self, path: str, blob: pygit2.Oid | None) -> dict[int, int]:
        """Return in how many sources fewer each name is."""
        old = self.sources.pop(path, None)
        before = frozenset[int]() if old is None else self._read_source(path, old)
        after = frozenset[int]() if blob is None else self._read_source(path, blob)
        if blob is not None:
            self.sources[path] = blob
        return dict.fromkeys(before - after, 1) | dict.fromkeys(after - before, -1)

    def _subtract(self, lost: Counter[int]) -> set[int]:
        died = set()
        for key, count in lost.items():
            was_alive = self._alive[key] > 0
            self._alive[key] -= count
            if was_alive != (self._alive[key] > 0):
                self._crossings[key].append((self.number, not was_alive))
                died.update({key} if was_alive else ())
        return died

    def _read_source_keys(self, path: str, blob: pygit2.Oid) -> frozenset[int]:
        data = self.content(blob)
        if is_example(path):
            return read_living(path, data) & self._keys.wanted
        if b"\0" in data[:8_000]:
            return frozenset()
        lower = data[:MAX_SOURCE].lower()
        found: set[int] = set()
        for token in set(re.findall(TOKENS, lower)):
            found.update(self._keys[token])
        names = {option.decode() for option in re.findall(OPTIONS, lower)}
        names |= {fold_name(name.decode("utf-8", "replace")) for name in re.findall(DOTTED, lower)}
        return frozenset(found | self._keys.wanted.intersection(map(key_of, names)))

    def _page_keys(self, commit: Commit) -> frozenset[int]:
        blobs = (
            blob
            for path, blob in commit.changes.items()
            if blob is not None and is_document(CONFIG, path) and describes_present(path)
        )
        return frozenset().union(*map(self._read_words, blobs))

    def _set_pages(self, pages: Changes) -> None:
        removed = {path: self.pages.pop(path) for path in pages if path in self.pages}
        for path, blob in removed.items():
            for key in self._read_words(blob):
                self._pages_by_key[key].discard(path)
        for path, blob in pages.items():
            if blob is None or not describes_present(path):
                continue
            self.pages[path] = blob
            keys = self._read_words(blob)
            for key in keys:
                self._pages_by_key[key].add(path)
            if path not in removed:
                gone = [old for old in removed if pages[old] is None]
                origin = max(
                    gone, key=lambda p: len(self._read_words(removed[p]) & keys), default=""
                )
                is_same = origin and 2 * len(self._read_words(removed[origin]) & keys) > len(keys)
                self._versions[path] = [*self._versions.get(origin, ())] if is_same else []
                if is_same:
                    self.edited[path], self._origins[path] = removed[origin], origin
            self._versions.setdefault(path, []).append((self.number, blob))


def find_words(data: bytes) -> frozenset[int]:
    """Return the keys of the words in a page's lines with code: of its names, and some more."""
    lines, fence = [], False
    front = data[:3] == b"---"
    for line in data.decode("utf-8", "replace").split("\n"):
        start = line.lstrip(" \t>")
        is_fence = start.startswith(("```", "~~~"))
        fence = fence != is_fence
        front = front and not (lines and line.startswith("---"))
        if not is_fence and (fence or front or "`" in line or line.startswith((":::", "    "))):
            lines.append(line[:MAX_PAGE_LINE])
    words: set[str] = set()
    for word in set(re.findall(WORDS, "\n".join(lines))):
        words.update((word, word.lstrip("-"), *word.split("."), *re.split(r"[.-]+", word)))
    words = {word for word in words if len(word) >= MIN_LETTERS}
    keys = {key_of(fold_name(word)) for word in words}
    keys |= {
        spelling_key(word.lstrip("-")) for word in words if "_" not in word or is_constant(word)
    }
    for path in set(re.findall(PATHS, "\n".join(lines))):
        text = path.removeprefix("./").rstrip("/.")
        keys.update((key_of(text), key_of(f"{text}/")))
    return frozenset(keys)


def read_living(path: str, data: bytes) -> frozenset[int]:
    """Return the keys of the names that a source keeps alive."""
    if is_example(path):
        language = language_of(path) if is_program(path) else None
        return read_definitions(data, language) if language else frozenset()
    return read_keys(data)


def read_commits(repository: pygit2.Repository, limit: int | None) -> list[Commit]:
    """Return the newest commits of the main line, the oldest first."""
    walker = repository.walk(repository.head.target, pygit2.enums.SortMode.TOPOLOGICAL)
    walker.simplify_first_parent()
    commits, previous = [], None
    for name in [commit.id for commit in walker][:limit][::-1]:
        commit = repository[name]
        commits.append(Commit(name, commit.commit_time, read_changes(previous, commit.tree)))
        previous = commit.tree
    return commits


def replay(clone: Path, name: str, limit: int | None) -> Record:
    """Return what the rule says at each commit of a clone's main line."""
    repository = pygit2.Repository(str(clone))
    started = time.process_time()
    commits = read_commits(repository, limit)
    names = Replay(repository, commits)
    firings, pending, spoken = [], {}, 0
    for number, commit in enumerate(commits):
        changed, deleted, died = names.advance()
        subject = repository[commit.id].message.split("\n")[0][:120]
        for (key, page), firing in list(pending.items()):
            fate = "page gone" if page not in names.pages else ""
            if not fate and page in names.edited:
                fate = "" if names.mentions(page, key) else "mention gone"
            fate = fate or ("name back" if names.occurring([key]) else "")
            if fate:
                days = round((commit.time - firing["time"]) / 86_400, 1)
                firing["fate"] = [fate, str(commit.id)[:10], days, subject]
                del pending[key, page]
        if number == 0:
            continue
        found = [
            *find_names(changed, died, names),
            *find_removed_paths(deleted, names),
        ]
        spoken += bool(found)
        for mention in found:
            firing = describe(mention, changed, names) | {
                "repository": name,
                "commit": str(commit.id)[:12],
                "subject": subject,
                "files": len(commit.changes),
                "time": commit.time,
            }
            firings.append(firing)
            pending[mention.mention.key, mention.page] = firing
    return {
        "repository": name,
        "head": str(commits[-1].id),
        "commits": len(commits),
        "pages": len(names.pages),
        "sources": len(names.sources),
        "spoken": spoken,
        "seconds": round(time.process_time() - started, 1),
        "firings": firings,
    }


def find_names(
    changed: dict[str, ChangedSource], died: set[int], names: Replay
) -> Iterator[RemovedMention]:
    """Return what the rule finds in these sources."""
    names.added.clear()
    for path, source in changed.items():
        if source.after is not None and died:
            names.added |= read_living(path, source.after)
    for source in changed.values():
        if source.before is not None and names.added:
            names.added -= read_keys(source.before)
    change = SourceChange(changed, names.read_tests)
    return find_removed_names(died, change.removed_spellings, change, names)


@lru_cache(maxsize=5_000)
def read_definitions(data: bytes, language: Language) -> frozenset[int]:
    """Return the keys of the names that a source defines."""
    definitions = find_definitions(data, language)
    return frozenset(name_key(fold_name(n)) for n in definitions.names | definitions.keys)


def read_changes(previous: pygit2.Tree | None, tree: pygit2.Tree) -> Changes:
    """Return the files that differ between two trees: the new blob, None for a deleted one.

    A link is a file with its target as contents, a submodule one without any.
    """
    difference = tree.diff_to_tree(swap=True) if previous is None else previous.diff_to_tree(tree)
    changes: Changes = {}
    for delta in difference.deltas:
        if delta.status == pygit2.enums.DeltaStatus.DELETED:
            changes.setdefault(delta.old_file.path, None)  # a file may become a link
        else:
            changes[delta.new_file.path] = delta.new_file.id
    return changes


def describe(found: RemovedMention, changed: dict[str, ChangedSource], names: Replay) -> Record:
    """Return a firing with what a reader needs to judge it."""
    lines = [line.decode("utf-8", "replace") for line in names.code(found.page).lines]
    line = found.mention.line
    old = []
    replacement = manifest = None
    if found.removed:
        before = changed[found.removed.path].before.decode("utf-8", "replace")
        old = [text.strip()[:160] for text in before.split("\n") if found.name in text][:3]
        replacement = SourceChange(changed).find_replacement(found.removed)
        manifest = None if replacement else find_changed_manifest(changed, found.removed.path)
    return {
        "page": found.page,
        "line": line,
        "place": found.mention.place,
        "mention": found.mention.text,
        "name": found.name,
        "source": found.removed.path if found.removed else None,
        "replacement": replacement and list(replacement),
        "manifest": manifest,
        "evidence": found.evidence and list(found.evidence),
        "text": "\n".join(lines[max(0, line - 2) : line + 1])[:500],
        "old": old,
        "fate": None,
    }


def run(clones: Path, out: Path, wanted: list[str], limit: int | None = None) -> None:
    """Replay the clones of these names (none: all) that have no result yet."""
    out.mkdir(parents=True, exist_ok=True)
    for name in wanted or sorted(path.name for path in clones.iterdir() if "+" in path.name):
        target = out / f"{name}.json"
        if not target.exists():
            result = replay(clones / name / "repo", name, limit)
            target.write_text(json.dumps(result, indent=1))
            print(name, result["commits"], result["spoken"], len(result["firings"]), flush=True)


SPEED = Shape(pages=300, references=3, sources=2_000, commits=300)
SOURCE = """
class Reader{number}:
    limit_{number} = 3

    def read_part_{number}(self, max_bytes, *, close_after=None):
        buffer = self.open_part(max_bytes)
        return buffer.read(max_bytes) if close_after else None
"""


def measure_speed(repeat: int = 9) -> None:
    """Print what the rule costs on commits of 5 files."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "repository"
        generate(root, SPEED)
        git = ["git", "-C", str(root)]
        tracked = subprocess.run([*git, "ls-files"], capture_output=True, text=True, check=True)
        files = tracked.stdout.split()
        pages = [root / name for name in files if name.endswith(".md")]
        sources = [root / name for name in files if name.endswith(".py")]
        for number, source in enumerate(sources):
            source.write_text("".join(SOURCE.format(number=f"{number}_{n}") for n in range(20)))
        for number, page in enumerate(pages):
            names = (f"`Reader{number * 5}_{n}.read_part_{number * 5}_{n}()`" for n in range(20))
            page.write_text(page.read_text() + "\n\n".join(names) + "\n")
        subprocess.run([*git, "commit", "-qam", "Names"], check=True)
        size = sum(source.stat().st_size for source in sources) // len(sources)
        print(f"{len(sources)} sources of {size} bytes, {len(pages)} pages")
        started = cpu()
        with Workspace.open(str(root)) as workspace:
            workspace.ask(CheckRequest(rules=("removed-name",)))
        print(f"first `ubp check --rule removed-name`: {cpu() - started:.0f} ms")
        for title, old, new in (
            ("nothing removed", "        return", "        x = 1\n        return"),
            ("100 names removed that no page has", "    limit_", "    bound_"),
            ("5 names removed that pages have", "    def read_part_{}_0(", "    def take_part("),
            ("100 names removed that pages have", "    def read_part_", "    def take_part_"),
        ):
            times, found = [], 0
            for turn in range(repeat):
                for source in sources[turn * 5 : turn * 5 + 5]:
                    number = sources.index(source)
                    source.write_text(source.read_text().replace(old.format(number), new))
                subprocess.run([*git, "add", "--all"], check=True)
                with Workspace.open(str(root)) as workspace:
                    change = open_change(workspace.session, Target(staged=True))
                    started = cpu()
                    found = len([*find_outdated_by_change(change, workspace.session.is_hidden)])
                    times.append(cpu() - started)
                subprocess.run([*git, "reset", "-q", "--hard"], check=True)
            print(f"{title}: {statistics.median(times):.1f} ms, {found} found")


def cpu() -> float:
    """Return the CPU time of this process and its children in milliseconds."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return 1000 * sum(usage.ru_utime + usage.ru_stime for usage in usages)


def table(out: Path, judged: Path) -> None:
    """Print the table of results and judgements."""
    with judged.open() as file:
        rows = {
            (row["repository"], row["commit"], row["page"]): row
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        }
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    print("| repository | set | commits | commits with alarms | pages | right |")
    print("|---|---|---|---|---|---|")
    for path in sorted(out.glob("*.json")):
        result = json.loads(path.read_text())
        name = result["repository"]
        pages = {(f["repository"], f["commit"], f["page"]) for f in result["firings"]}
        missing = pages - rows.keys()
        if missing:
            raise SystemExit(f"not judged: {sorted(missing)[:3]}")
        right = sum(rows[page]["verdict"] == "right" for page in pages)
        group = "refined on" if name in REFINED_ON else "held out"
        counts = Counter(commits=result["commits"], spoken=result["spoken"], pages=len(pages))
        counts["right"] = right
        totals[group] += counts
        totals["all"] += counts
        cells = (name.replace("+", "/"), group, f"{result['commits']:,}", result["spoken"])
        print("|", " | ".join(map(str, (*cells, len(pages), right))), "|")
    for group in ("refined on", "held out", "all"):
        counts = totals[group]
        low, high = wilson(counts["right"], counts["pages"])
        share = counts["right"] / max(1, counts["pages"])
        spoken = f"{counts['spoken']} ({counts['spoken'] / counts['commits']:.2%})"
        right = f"{counts['right']} ({share:.2f}, {low:.2f} to {high:.2f})"
        print(f"| **{group}** | | {counts['commits']:,} | {spoken} | {counts['pages']} | {right} |")


# The rule was refined by reading its firings in these; the others were replayed once, at the end.
REFINED_ON = frozenset(
    {
        "BurntSushi+ripgrep",
        "axios+axios",
        "encode+django-rest-framework",
        "encode+httpx",
        "encode+starlette",
        "encode+uvicorn",
        "fastify+fastify",
        "go-task+task",
        "koajs+koa",
        "mermaid-js+mermaid",
        "mkdocs+mkdocs",
        "redux-saga+redux-saga",
        "rollup+rollup",
        "rust-lang+mdBook",
        "sharkdp+bat",
        "sindresorhus+got",
        "spf13+cobra",
        "tiangolo+fastapi",
        "tiangolo+typer",
        "traefik+traefik",
        "webpack+webpack-dev-server",
        "zk-org+zk",
    }
)

if __name__ == "__main__":
    if sys.argv[1] == "speed":
        measure_speed()
    elif sys.argv[1] == "run":
        names = sys.argv[4:]
        limit = int(names.pop(0)) if names and names[0].isdecimal() else None
        run(Path(sys.argv[2]), Path(sys.argv[3]), names, limit)
    else:
        table(Path(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else JUDGED)
