"""Whether UBP reads history as git does: pages, the sources that they name, and what drifted.

python benchmarks/staleness/history_agreement.py [--limit 300] [--key NAME] [--synthetic]
    REPOSITORY...

`last_changes` is held against `git log -1 HEAD -- PAGE` for every Markdown page of HEAD, with UBP's
two exceptions worked out by git commands. For pages that name sources under one of the keys, the
sources' ids at that commit are held against git's, and the drift of those that differ today against
`git log COMMIT..HEAD -- SOURCE`, down to where the source is what it was. Exit 1: they disagree.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import NamedTuple

from benchmarks.common.measure import Shape, generate, print_table
from ubp.core.model import BaselineQuery, Entry, FilePath, LastChange, ObjectId
from ubp.core.paths import is_glob
from ubp.git.history import find_drifts, last_changes
from ubp.git.repository import Repository, open_repository
from ubp.git.trees import entries_at, list_tree
from ubp.markdown.document import parse_page

KEYS = (
    *("source_refs", "related_files", "source_files", "related_code", "code_refs", "covers"),
    *("code_paths", "code_references[].ref"),
)
SYNTHETIC = Shape(pages=200, references=3, sources=2000, commits=14_000)

PAGES = ("repository", "commits", "pages", "agreed", "by mode", "by rename", "disagreed")
SOURCES = ("repository", "sources", "agreed", "drifts", "agreed", "by merge", "disagreed")
TIMES = ("UBP ms", "git ms", "git/UBP", "MB")


class Compared(NamedTuple):
    """One table's row, and what disagreed."""

    row: tuple[str, ...]
    differences: tuple[str, ...]


def main() -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repositories", nargs="*", metavar="REPOSITORY")
    parser.add_argument("--limit", type=int, default=sys.maxsize, help="at most so many pages each")
    parser.add_argument("--key", action="append", help="front matter key that names sources")
    parser.add_argument("--synthetic", action="store_true", help="14,000 generated commits as well")
    options = parser.parse_args()
    keys = tuple(options.key or KEYS)
    with tempfile.TemporaryDirectory() as folder:
        repositories = list(options.repositories)
        if options.synthetic:
            generate(Path(folder) / "synthetic", SYNTHETIC)
            repositories.append(str(Path(folder) / "synthetic"))
        # A process for each: what it imports and the memory that it takes are its own.
        with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
            jobs = [pool.submit(compare, name, options.limit, keys) for name in repositories]
            both = [job.result() for job in jobs]
    print_table("Pages", (*PAGES, *TIMES), [pages.row for pages, _ in both])
    print_table("Sources", (*SOURCES, *TIMES), [sources.row for _, sources in both])
    differences = [line for pair in both for compared in pair for line in compared.differences]
    print("", *differences, sep="\n")
    return 1 if differences else 0


def compare(folder: str, limit: int, keys: Sequence[str]) -> tuple[Compared, Compared]:
    """Hold one repository's answers against git's."""
    git = Git(folder)
    with open_repository(folder, os.environ) as repository:
        head = repository.resolve("HEAD")
        tree = list_tree(repository, head)
        pages = sorted(p for p, e in tree.items() if e.is_file and p.endswith((".md", ".markdown")))
        pages = sorted(random.Random(1).sample(pages, min(limit, len(pages))))
        begun = cpu_ms()
        changes = last_changes(repository, head, pages, {})
        spent = cpu_ms() - begun
        pages_compared = compare_pages(git, head, changes, spent)
        bound = bound_sources(repository, {page: tree[page] for page in pages}, keys)
        pairs = {(changes[page].commit, source) for page, source in bound}
        return pages_compared, compare_sources(git, repository, head, sorted(pairs))


def compare_pages(
    git: "Git", head: ObjectId, changes: Mapping[FilePath, LastChange], spent: float
) -> Compared:
    """Each page's last change against `git log -1`."""
    begun = cpu_ms()
    logged = {page: git.last_commit(head, page) for page in changes}
    git_spent = cpu_ms() - begun
    kinds: Counter[str] = Counter()
    differences = []
    for page, change in changes.items():
        kind, expected = git.last_change(logged[page], page)
        kinds[kind if change.commit == expected else "disagreed"] += 1
        if change.commit != expected:
            differences.append(f"{git.name}: {page}: {change.commit}, git: {expected}")
    counts = [len(changes), *(kinds[kind] for kind in ("agreed", "mode", "rename", "disagreed"))]
    row = git.name, git.run("rev-list", "--count", head).strip(), *map(str, counts)
    return Compared((*row, *times(spent, git_spent)), tuple(differences))


def bound_sources(
    repository: Repository, pages: Mapping[FilePath, Entry], keys: Sequence[str]
) -> list[tuple[FilePath, FilePath]]:
    """The pages' sources, globs left out: git has no id for them."""
    blobs = repository.read_blobs({entry.id for entry in pages.values()})
    return [
        (page, reference.source_path)
        for page, entry in pages.items()
        for reference in parse_page(blobs[entry.id] or b"", keys).references
        if reference.source_path and not is_glob(reference.source_path)
    ]


def compare_sources(
    git: "Git", repository: Repository, head: ObjectId, pairs: Sequence[tuple[ObjectId, FilePath]]
) -> Compared:
    """The sources' ids at the pages' commits, and the drift of those that differ today."""
    wanted: dict[ObjectId, list[FilePath]] = {}
    for commit, source in (*pairs, *((head, source) for _, source in pairs)):
        wanted.setdefault(commit, []).append(source)
    entries = entries_at(repository, wanted)
    found = {pair: entry.id if entry else None for pair, entry in entries.items()}
    theirs = git.ids(found)
    differences = [
        f"{git.name}: {pair}: {found[pair]}" for pair in found if found[pair] != theirs[pair]
    ]
    drifted = [(c, source) for c, source in pairs if found[c, source] != found[head, source]]
    searches = [BaselineQuery(source, None, found[c, source], c) for c, source in drifted]
    begun = cpu_ms()
    drifts = find_drifts(repository, head, searches, {})
    spent = cpu_ms() - begun
    begun = cpu_ms()
    logged = {search: git.log(head, search) for search in searches}
    git_spent = cpu_ms() - begun
    kinds: Counter[str] = Counter()
    for search in searches:
        kind = git.judge(search, drifts[search].commits, logged[search])
        kinds[kind] += 1
        if kind == "disagreed":
            differences.append(f"{git.name}: {search}: {drifts[search].commits}")
    agreed = len(found) - sum(found[pair] != theirs[pair] for pair in found)
    counts = [
        len(found),
        agreed,
        len(searches),
        *(kinds[k] for k in ("agreed", "merge", "disagreed")),
    ]
    row = git.name, *map(str, counts), *times(spent, git_spent)
    return Compared(row, tuple(differences))


class Git:
    """The git command's answers, and UBP's exceptions worked out with them."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.name = Path(folder).resolve().name

    def run(self, *args: str, stdin: str = "") -> str:
        """Run git."""
        command = [
            "git",
            "-c",
            "core.quotePath=false",
            "-C",
            self.folder,
            "--literal-pathspecs",
            *args,
        ]
        done = subprocess.run(command, input=os.fsencode(stdin), capture_output=True, check=True)
        return os.fsdecode(done.stdout)

    def last_commit(self, revision: str, path: str) -> ObjectId:
        """What `git log -1` says."""
        return ObjectId(self.run("log", "-1", "--format=%H", revision, "--", path).strip())

    def last_change(self, commit: ObjectId, path: str) -> tuple[str, ObjectId]:
        """From what `git log -1` said past changes of mode alone and pure renames."""
        kind = "agreed"
        step = self._exception(commit, path)
        while step is not None:
            kind, parent, path = step
            commit = self.last_commit(parent, path)
            step = self._exception(commit, path)
        return kind, commit

    def _exception(self, commit: ObjectId, path: str) -> tuple[str, str, str] | None:
        parents = self.run("rev-list", "--parents", "-1", commit).split()[1:]
        found = self.ids((ObjectId(c), FilePath(path)) for c in (commit, *parents))
        blob, *blobs = found.values()
        for parent, other in zip(parents, blobs, strict=True):
            if other == blob:
                return "mode", parent, path
        for parent, other in zip(parents, blobs, strict=True):
            olds = self._removed(commit, parent, str(blob)) if other is None else []
            if olds:
                return "rename", parent, min(olds, key=lambda old: distance(old, path))
        return None

    def _removed(self, commit: str, parent: str, blob: str) -> list[str]:
        options = ("-r", "-z", "--no-renames", "--diff-filter=D")
        fields = self.run("diff-tree", *options, parent, commit).split("\0")
        removed = zip(fields[::2], fields[1::2], strict=False)
        return [path for facts, path in removed if facts.split(" ")[2] == blob]

    def ids(
        self, pairs: Iterable[tuple[ObjectId, FilePath]]
    ) -> dict[tuple[ObjectId, FilePath], ObjectId | None]:
        """What `git rev-parse COMMIT:PATH` says, for many at once."""
        pairs = list(pairs)
        names = "".join(f"{commit}:{path}\n" for commit, path in pairs)
        lines = self.run("cat-file", "--batch-check=%(objectname)", stdin=names).splitlines()
        return {
            pair: None if line.endswith(" missing") else ObjectId(line)
            for pair, line in zip(pairs, lines, strict=True)
        }

    def log(self, head: ObjectId, search: BaselineQuery) -> dict[ObjectId, list[ObjectId]]:
        """What `git log` lists since the baseline's commit, with the parents that it shows."""
        span = f"{search.commit}..{head}"
        path = search.path or "."
        lines = self.run("log", "--format=%H %P", "--parents", span, "--", path).splitlines()
        return {ObjectId(line[:40]): [ObjectId(p) for p in line.split()[1:]] for line in lines}

    def judge(
        self,
        search: BaselineQuery,
        ours: Sequence[ObjectId],
        logged: Mapping[ObjectId, list[ObjectId]],
    ) -> str:
        """Whether our drift is git's, down to the baseline; a merge that dropped it may be more."""
        shown = {*logged, *(parent for parents in logged.values() for parent in parents)}
        ids = self.ids((commit, search.path) for commit in shown)
        expected: set[ObjectId] = set()
        seen: set[ObjectId] = set()
        todo = list(logged)[:1]
        while todo:
            commit = todo.pop()
            state = ids[commit, search.path]
            if commit in logged and commit not in seen and state != search.baseline:
                seen.add(commit)
                same = [p for p in logged[commit] if ids[p, search.path] == state]  # but for mode
                todo += same[:1] or logged[commit]
                expected |= set() if same else {commit}
        more = set(ours) - expected
        if not more and expected <= set(ours):
            return "agreed"
        is_one_more = expected <= set(ours) and len(more) == 1
        return "merge" if is_one_more and self._has_dropped(more.pop(), search) else "disagreed"

    def _has_dropped(self, merge: ObjectId, search: BaselineQuery) -> bool:
        parents = self.run("rev-list", "--parents", "-1", merge).split()[1:]
        ids = self.ids((ObjectId(commit), search.path) for commit in (merge, *parents))
        followed = [p for p in parents if ids[ObjectId(p), search.path] == ids[merge, search.path]]
        base = str(search.commit)
        return (
            bool(followed) and self._contains(merge, base) and not self._contains(followed[0], base)
        )

    def _contains(self, commit: str, ancestor: str) -> bool:
        return self.run("merge-base", commit, ancestor).strip() == ancestor


def distance(old: str, new: str) -> tuple[bool, int, str]:
    """How far one name is from another."""
    shared = len(os.path.commonprefix([old, new]))  # noqa: RUF071 - of characters
    return old.rpartition("/")[2] != new.rpartition("/")[2], -shared, old


def times(ours: float, theirs: float) -> tuple[str, str, str, str]:
    """CPU times, their ratio, and the memory at its peak."""
    peak = getrusage(RUSAGE_SELF).ru_maxrss // 1024
    return f"{ours:.0f}", f"{theirs:.0f}", f"{theirs / ours:.1f}" if ours else "", str(peak)


def cpu_ms() -> float:
    """User and system time of this process and of those it ran."""
    usages = getrusage(RUSAGE_SELF), getrusage(RUSAGE_CHILDREN)
    return 1000 * sum(usage.ru_utime + usage.ru_stime for usage in usages)


if __name__ == "__main__":
    sys.exit(main())
