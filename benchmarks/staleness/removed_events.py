"""Names that went away while a page had them, found without UBP: what removed-name should report.

`python benchmarks/staleness/removed_events.py run CLONES OUT LIMIT NAME ...` follows the newest
LIMIT commits of each clone's main line. A code span of a page is an event if the name in it dies
while the page has it (no file but pages, tests, examples, lock files and changelogs has it any
more), and a later commit drops the name from the page and keeps most of the page.

`... table OUT FIRINGS [JUDGED]` prints the events, and whether the firings of `removed_names.py` in
FIRINGS have them: the same repository, page and name, from the commit of the death on.
"""

import csv
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import pygit2

from benchmarks.common.measure import wilson

JUDGED = Path(__file__).parents[1] / "data" / "removed_events.tsv"
MAX_BYTES = 1_500_000
# The share of a page's lines that a fixing commit keeps; below it the page was written anew.
MIN_KEPT = 0.6

PAGE = re.compile(r"(?i)\.(?:md|mdx|markdown)$")
PAST = re.compile(
    r"(?i)change|history|release|news|migrat|upgrad|blog|/adr|roadmap|versioned|_posts|contributors"
)
NO_SOURCE = re.compile(
    r"(?i)\.(?:md|mdx|markdown|rst|txt|lock|svg|png|jpg|snap|po|ipynb|html|map|csv)$"
    r"|(?:^|/)(?:tests?|__tests__|e2e|fixtures?|testdata|node_modules|vendor|examples?|\.github"
    r"|changelog|news)(?:/|$|\.)|(?:^|/)test_|[_.](?:test|spec)\.|lock\.(?:json|yaml)$"
)
TOKEN = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*")
FENCED = re.compile(r"(?ms)^\s*(```|~~~).*?^\s*\1")
SPAN = re.compile(r"`([^`\n]{4,80})`")
NAME = re.compile(r"(?:--?)?(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*(?:-\w+)*)(?:\(.*\)|[= ].*)?")

Changes = dict[str, pygit2.Oid | None]


class Death(NamedTuple):
    """A commit after which no source has a name."""

    commit: str
    time: int
    subject: str


def find_spans(text: str) -> frozenset[str]:
    """Return the names in the code spans of a page."""
    spans = (span.strip() for span in SPAN.findall(FENCED.sub("", text)))
    names = (match[1] for span in spans if (match := NAME.fullmatch(span)))
    return frozenset(name for name in names if len(name) >= 4)  # as the pattern


class Wanted(dict[bytes, frozenset[str]]):
    """The names that a token of a source gives, with hyphens and with underscores, if wanted."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(names)

    def __missing__(self, token: bytes) -> frozenset[str]:
        text = token.decode()
        parts = {text, *text.split("-")}
        spellings = {part.replace(old, new) for part in parts for old, new in ("-_", "_-")}
        self[token] = found = self.names & (parts | spellings)
        return found


def find_tokens(data: bytes, wanted: Wanted) -> frozenset[str]:
    """Return the wanted names in a source."""
    if b"\0" in data[:2000] or len(data) > MAX_BYTES:
        return frozenset()
    return frozenset().union(*map(wanted.__getitem__, set(TOKEN.findall(data))))


class Main:
    """A main line, one commit after the other: which names live, and which pages have dead ones."""

    def __init__(self, repository: pygit2.Repository, name: str, pages: Iterable[Changes]) -> None:
        self.repository = repository
        self.name = name
        self._alive: Counter[str] = Counter()
        self._sources: dict[str, pygit2.Oid] = {}
        self._pages: dict[str, str] = {}
        self._with_name: dict[str, set[str]] = defaultdict(set)
        self._dead: dict[tuple[str, str], Death] = {}
        self._tokens = lru_cache(maxsize=20_000)(self._read_tokens)
        texts = (self._set_page(path, of[path]) for of in pages for path in of if PAGE.search(path))
        self._wanted = Wanted(frozenset().union(*(find_spans(text) for _, text in texts)))
        self._pages.clear()

    def advance(self, commit: pygit2.Commit, changes: Changes) -> Iterator[dict[str, Any]]:
        """Move to a commit, and yield the events that it ends."""
        edited = {
            path: self._set_page(path, changes[path]) for path in changes if PAGE.search(path)
        }
        lost = self._set_sources({path: changes[path] for path in changes.keys() - edited.keys()})
        deaths = [token for token, count in lost.items() if 0 < self._alive[token] <= count]
        self._alive.subtract(lost)
        for page, (old, new) in edited.items():
            spans, kept = find_spans(old), find_spans(new)
            for token in spans - kept:
                self._with_name[token].discard(page)
                death = self._dead.pop((token, page), None)
                old_lines, new_lines = set(old.split("\n")), set(new.split("\n"))
                if death and len(old_lines & new_lines) > MIN_KEPT * len(old_lines):
                    lines = [line for line in old_lines - new_lines if token in line]
                    yield {
                        "repository": self.name,
                        "name": token,
                        "page": page,
                        **death._asdict(),
                        "fix": str(commit.id)[:12],
                        "fix_subject": _subject(commit),
                        "days": round((commit.commit_time - death.time) / 86_400, 1),
                        "line": min(lines, default="").strip()[:200],
                    }
            for token in kept:
                self._with_name[token].add(page)
        death = Death(str(commit.id)[:12], commit.commit_time, _subject(commit))
        for token in deaths:
            for page in self._with_name[token]:
                self._dead.setdefault((token, page), death)
        for token, page in [key for key in self._dead if self._alive[key[0]] > 0]:
            del self._dead[token, page]

    def _set_page(self, path: str, blob: pygit2.Oid | None) -> tuple[str, str]:
        """Return the text of a page before and after."""
        old, new = self._pages.pop(path, ""), ""
        found = self.repository.get(blob) if blob and not PAST.search(path) else None
        if isinstance(found, pygit2.Blob):
            new = self._pages[path] = found.data.decode("utf-8", "replace")
        return old, new

    def _set_sources(self, changes: Changes) -> Counter[str]:
        """Return in how many sources fewer each name is."""
        lost: Counter[str] = Counter()
        for path, blob in changes.items():
            if NO_SOURCE.search(path):
                continue
            before = self._sources.pop(path, None)
            if before is not None:
                lost.update(self._tokens(before))
            if blob is not None:
                self._sources[path] = blob
                lost.subtract(self._tokens(blob))
        return lost

    def _read_tokens(self, blob: pygit2.Oid) -> frozenset[str]:
        found = self.repository.get(blob)
        return (
            find_tokens(found.data, self._wanted) if isinstance(found, pygit2.Blob) else frozenset()
        )


def _subject(commit: pygit2.Commit) -> str:
    return str(commit.message).split("\n")[0][:100]


def find_events(clone: Path, name: str, limit: int) -> Iterator[dict[str, Any]]:
    """Yield the events in the newest commits of a clone's main line."""
    repository = pygit2.Repository(str(clone))
    walker = repository.walk(repository.head.target, pygit2.enums.SortMode.TOPOLOGICAL)
    walker.simplify_first_parent()
    commits = [commit.id for commit in walker][:limit][::-1]
    trees = [repository[commit].tree for commit in commits]
    changes = [*map(_changes, [None, *trees], trees)]
    main = Main(repository, name, changes)
    for commit, changed in zip(commits, changes, strict=True):
        yield from main.advance(repository[commit], changed)


def _changes(previous: pygit2.Tree | None, tree: pygit2.Tree) -> Changes:
    difference = tree.diff_to_tree(swap=True) if previous is None else previous.diff_to_tree(tree)
    changes: Changes = {}
    for delta in difference.deltas:
        is_gone = delta.status == pygit2.enums.DeltaStatus.DELETED
        is_file = delta.new_file.mode & 0o170000 == 0o100000
        path = delta.old_file.path if is_gone else delta.new_file.path
        changes[path] = delta.new_file.id if is_file and not is_gone else None
    return changes


def run(clones: Path, out: Path, limit: int, names: list[str]) -> None:
    """Write the events of these clones that have no result yet."""
    out.mkdir(parents=True, exist_ok=True)
    for name in names:
        target = out / f"{name}.json"
        if not target.exists():
            events = list(find_events(clones / name / "repo", name, limit))
            target.write_text(json.dumps(events, indent=1))
            print(name, len(events), flush=True)


def table(out: Path, firings: Path, judged: Path) -> None:
    """Print the events that are judged real, and the share of them that the rule reported."""
    with judged.open() as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        real = {
            (row["repository"], row["page"], row["name"]): row["verdict"] == "real" for row in rows
        }
    found = total = unjudged = 0
    for path in sorted(out.glob("*.json")):
        result = firings / path.name
        if not result.exists():
            continue
        reported = {
            (firing["page"], re.sub(r"[-_]", "", firing["mention"].strip("-/")).lower())
            for firing in json.loads(result.read_text())["firings"]
        }
        for event in json.loads(path.read_text()):
            key = event["repository"], event["page"], event["name"]
            folded = re.sub(r"[-_]", "", event["name"]).lower()
            hit = any(
                page == event["page"] and (folded == name or folded in name.split("/"))
                for page, name in reported
            )
            unjudged += key not in real
            if real.get(key):
                total, found = total + 1, found + hit
            print(real.get(key), "found" if hit else "silent", *event.values(), sep="\t")
    low, high = wilson(found, total)
    share = found / max(1, total)
    print(f"{found} of {total} ({share:.2f}, {low:.2f} to {high:.2f}); {unjudged} not judged")


if __name__ == "__main__":
    if sys.argv[1] == "run":
        run(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
    else:
        table(
            Path(sys.argv[2]),
            Path(sys.argv[3]),
            Path(sys.argv[4]) if len(sys.argv) > 4 else JUDGED,  # optional
        )
