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
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pygit2

from benchmarks.common.measure import Shape, generate, wilson
from ubp.answers.checks.check import CheckRequest
from ubp.checks.removed_names import (
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
from ubp.checks.snapshot_names import find_outdated_by_change
from ubp.code.definitions import Language, find_definitions, find_keys, language_of
from ubp.code.removed import ChangedSource, SourceChange
from ubp.core.config import Config, is_document
from ubp.core.names import fold_name, name_key
from ubp.index.session import Target
from ubp.markdown.code_names import read_code_names
from ubp.staleness.state import open_change
from ubp.workspace import Workspace

JUDGED = Path(__file__).parents[1] / "data" / "removed_names.tsv"
MAX_BYTES = 2_000_000
CONFIG = Config()


Record = dict[str, Any]
Changes = dict[str, pygit2.Oid | None]
read_keys = lru_cache(maxsize=5_000)(find_keys)


class Replay:
    """The names of one commit after the other; what the rule asks of the index."""

    def __init__(self, repository: pygit2.Repository) -> None:
        self.repository = repository
        self.all_files: set[str] = set()
        self.sources: dict[str, pygit2.Oid] = {}
        self.pages: dict[str, pygit2.Oid] = {}
        self.edited: dict[str, pygit2.Oid | None] = {}
        self.added: set[int] = set()
        self._alive: Counter[int] = Counter()
        self._mentions: dict[str, frozenset[int]] = {}
        self._pages_by_key: dict[int, set[str]] = defaultdict(set)

    def pages_with(self, keys: Collection[int]) -> dict[int, Collection[str]]:
        """Return the pages whose code has each of these keys."""
        return {key: self._pages_by_key.get(key, ()) for key in keys}

    def occurring(self, keys: Collection[int]) -> set[int]:
        """Return those of these keys that the sources have."""
        return {key for key in keys if self._alive[key] > 0}

    def building(self, keys: Collection[int]) -> set[int]:
        """Return those of these keys that the commit adds."""
        return self.added.intersection(keys)

    def code(self, page: str) -> PageCode:
        """Return the names in a page's code, and its lines."""
        return read_page_code(self.content(self.pages[page]))

    def read_before(self, page: str) -> bytes | None:
        """Return the contents of an edited page before the commit."""
        blob = self.edited[page]
        return None if blob is None else self.content(blob)

    def is_edited(self, page: str) -> bool:
        """Return whether the commit edits a page."""
        return page in self.edited

    def files(self) -> Collection[str]:
        """Return all files."""
        return self.all_files

    def read_files(self, paths: Collection[str]) -> dict[str, bytes]:
        """Return the contents of these files."""
        return {path: self.content(self.sources[path]) for path in paths if path in self.sources}

    def mentions(self, page: str, key: int) -> bool:
        """Return whether a page has a key."""
        return key in self._mentions.get(page, ())

    def content(self, blob: pygit2.Oid) -> bytes:
        """Return the contents of a blob; none where it is too large."""
        found = self.repository.get(blob)
        is_blob = isinstance(found, pygit2.Blob) and found.size <= MAX_BYTES
        return found.data if is_blob else b""

    def advance(self, changes: Changes) -> tuple[dict[str, ChangedSource], list[str]]:
        """Move to the next commit; return the sources that it changed, and the deleted files."""
        changed, deleted = {}, []
        pages = [path for path in changes if is_document(CONFIG, path)]
        self.edited = {path: self.pages.get(path) for path in pages}
        for path, blob in changes.items():
            if blob is None:
                self.all_files.discard(path)
                deleted.append(path)
            else:
                self.all_files.add(path)
            if path in self.edited:
                self._set_page(path, blob)
            elif is_source(path):
                before, after = self._set_source(path, blob)
                changed[path] = changed_source(path, before, after)
        return changed, deleted

    def _set_page(self, path: str, blob: pygit2.Oid | None) -> None:
        for key in self._mentions.pop(path, ()):
            self._pages_by_key[key].discard(path)
        self.pages.pop(path, None)
        if blob is not None and describes_present(path):
            self.pages[path] = blob
            names = read_code_names(self.content(blob)).names
            keys = {name.key for name in names}
            self._mentions[path] = frozenset(keys)
            for key in keys:
                self._pages_by_key[key].add(path)

    def _set_source(self, path: str, blob: pygit2.Oid | None) -> tuple[bytes | None, bytes | None]:
        old = self.sources.pop(path, None)
        before = after = None
        if old is not None:
            before = self.content(old)
            self._alive.subtract(read_living(path, before))
        if blob is not None:
            after = self.content(blob)
            self.sources[path] = blob
            self._alive.update(read_living(path, after))
        return before, after


def read_living(path: str, data: bytes) -> frozenset[int]:
    """Return the keys of the names that a source keeps alive."""
    if is_example(path):
        language = language_of(path)
        return read_definitions(data, language) if language else frozenset()
    return read_keys(data)


def replay(clone: Path, name: str, limit: int | None) -> Record:
    """Return what the rule says at each commit of a clone's main line."""
    repository = pygit2.Repository(str(clone))
    walker = repository.walk(repository.head.target, pygit2.enums.SortMode.TOPOLOGICAL)
    walker.simplify_first_parent()
    commits = [commit.id for commit in walker][:limit][::-1]
    names = Replay(repository)
    firings, pending, spoken = [], {}, 0
    started = time.process_time()
    previous = None
    for number, commit_id in enumerate(commits):
        commit = repository[commit_id]
        changes = read_changes(previous, commit.tree)
        previous = commit.tree
        changed, deleted = names.advance(changes)
        for (key, page), firing in list(pending.items()):
            fate = "page gone" if page not in names.pages else ""
            fate = fate or ("" if names.mentions(page, key) else "mention gone")
            fate = fate or ("name back" if names.occurring([key]) else "")
            if fate:
                days = round((commit.commit_time - firing["time"]) / 86_400, 1)
                subject = commit.message.split("\n")[0][:90]
                firing["fate"] = [fate, str(commit_id)[:10], days, subject]
                del pending[key, page]
        if number == 0:
            continue
        found = [
            *find_names(changed, names),
            *find_removed_paths(deleted, names),
        ]
        spoken += bool(found)
        for mention in found:
            firing = describe(mention, changed, names) | {
                "repository": name,
                "commit": str(commit_id)[:12],
                "subject": commit.message.split("\n")[0][:120],
                "files": len(changes),
                "time": commit.commit_time,
            }
            firings.append(firing)
            pending[mention.mention.key, mention.page] = firing
    return {
        "repository": name,
        "head": str(commits[-1]),
        "commits": len(commits),
        "pages": len(names.pages),
        "sources": len(names.sources),
        "spoken": spoken,
        "seconds": round(time.process_time() - started, 1),
        "firings": firings,
    }


def find_names(changed: dict[str, ChangedSource], names: Replay) -> Iterator[RemovedMention]:
    """Return what the rule finds in these sources."""
    removed: set[int] = set()
    for source in changed.values():
        if source.before is not None and source.language:
            removed |= read_definitions(source.before, source.language)
    names.added.clear()
    for path, source in changed.items():
        if source.after is not None and removed:
            names.added |= read_living(path, source.after)
    removed -= names.added
    for source in changed.values():
        if source.before is not None and names.added:
            names.added -= read_keys(source.before)
    return find_removed_names(removed, lambda: SourceChange(changed), names)


@lru_cache(maxsize=5_000)
def read_definitions(data: bytes, language: Language) -> frozenset[int]:
    """Return the keys of the names that a source defines."""
    definitions = find_definitions(data, language)
    return frozenset(name_key(fold_name(n)) for n in definitions.names | definitions.keys)


def read_changes(previous: pygit2.Tree | None, tree: pygit2.Tree) -> Changes:
    """Return the files that differ between two trees: the new blob, None for a deleted one."""
    difference = tree.diff_to_tree(swap=True) if previous is None else previous.diff_to_tree(tree)
    changes = {}
    for delta in difference.deltas:
        if delta.status == pygit2.enums.DeltaStatus.DELETED:
            changes[delta.old_file.path] = None
        else:
            is_file = delta.new_file.mode & 0o170000 == 0o100000
            changes[delta.new_file.path] = delta.new_file.id if is_file else None
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
