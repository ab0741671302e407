"""Replay history: how often `ubp stale --base` would have raised an alarm, and what came of it.

    python benchmarks/staleness/replay.py [--commits 500] GIT_DIR[:KEY,KEY…]…

Each of the last commits of the main line is judged against its first parent, as a pull request is.

*Rules*: the rule of `ubp stale` beside others. A rule fires for a page at a commit; *every touched
pair* fires whenever a source of a page changes, and the page does not renew its reference to it in
the same commit; the rule of `ubp stale` fires only where the reference was fresh before, its source
is gone only now, or it is new and refers to nothing. *Later edits announced*: an edit of a page
that renews a reference to a source which had drifted is announced by a rule that fired for the page
within the 30 days before; the share is of the edits that the rule *every touched pair* announced.
`quiet_after N` does not fire for a page with N older firings since its last edit;
`ignore_commits WORDS` does not fire for commits whose subject begins with one of the words.

*Alarms*: at how many of the commits it would have raised one, about how many pages, and which share
of those pages somebody touched within the next 30 days. A page is one reported at one commit; its
window is left out where history ends before it is over. Beside it the same share of the pages that
it said nothing of at the same commits: without that, the first share says little.

*Misses*: a reference's drift begins where its source changes and ends where the page is edited
(the same commit may do both), its source comes back, or the reference goes. An edit is *unrelated*
where no line that it takes out or puts in names the source: by its path, its name, or an identifier
of a line that changed in the source (a word with an underscore, a digit or a capital inside).
Whether the edit was about the source in other words nobody can tell by machine, so the share is
the most that can have been missed; *slight* is the part of it that touched no more than two lines
or nothing but front matter, where hardly anybody will have looked at the source.
"""

import argparse
import re
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from benchmarks.common.measure import print_table
from ubp.answers.staleness.stale import report_stale
from ubp.core.model import ReferenceVerdict
from ubp.core.paths import Glob, is_glob
from ubp.index.session import Target
from ubp.workspace import Workspace

WINDOW = 30 * 86_400
SLIGHT_LINES = 2
SHORTEST_NAME = 4  # `app` and `cli` are words of everybody's prose
IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?:_\w|[a-z][A-Z]|\d)\w*")

Key = tuple[str, str]  # page, source


TOUCHED, FRESH_BEFORE, NAMED = "every touched pair", "ubp stale", "ubp stale --alarms named"
QUIET_AFTER = (1, 2, 3)
IGNORED_SUBJECTS = ("style", "refactor", "chore", "test", "ci")


class Step(NamedTuple):
    """A commit of the main line, when it came, its subject, and the files that it touched."""

    commit: str
    date: int
    subject: str
    touched: frozenset[str]


class State(NamedTuple):
    """What a reference and its page are at a commit."""

    page_blob: str
    verdict: ReferenceVerdict


class Edit(NamedTuple):
    """What an edit of a page was about, as far as a machine can tell."""

    is_related: bool
    is_slight: bool


class Renewal(NamedTuple):
    """An edit that ended the drift of an unpinned reference; `described` is the source's old id."""

    key: Key
    page_before: str
    page_after: str
    described: str | None
    current: str | None
    is_at_once: bool
    edit: Edit


class Alarms:
    """Counts what was told, and which of it was followed by an edit."""

    def __init__(self, steps: list[Step]) -> None:
        self._steps = steps
        self.spoken = self.pages = self.distinct_pages = 0
        self.told: Counter[bool] = Counter()
        self.others: Counter[bool] = Counter()
        self._names: set[str] = set()

    def add(self, number: int, told: Collection[str], bound: Collection[str]) -> None:
        """Count what is told at a step, beside the other pages that name sources."""
        if not told:
            return
        self.spoken += 1
        self.pages += len(told)
        self._names.update(told)
        self.distinct_pages = len(self._names)
        end = self._steps[number].date + WINDOW
        if end > self._steps[-1].date:
            return
        later: set[str] = set()
        for step in self._steps[number + 1 :]:
            if step.date <= end:
                later |= step.touched
        for page in bound:
            (self.told if page in told else self.others)[page in later] += 1

    def row(self, name: str, seconds: float) -> list[str]:
        """A line of the table."""
        commits = len(self._steps) - 1
        return [
            name,
            str(commits),
            f"{self.spoken} ({percent(self.spoken, commits)})",
            f"{self.pages} ({self.distinct_pages} different)",
            share(self.told),
            share(self.others),
            f"{seconds:.0f}",
        ]


class Rules:
    """Counts the firings of each rule, and the later edits that each announced."""

    def __init__(self, steps: list[Step]) -> None:
        self._steps = steps
        self._fired: dict[str, dict[str, list[int]]] = {}  # rule → page → steps
        self._edits: list[tuple[int, str]] = []
        self._edited: dict[str, int] = {}  # page → step of its last edit

    def add(self, number: int, touched: set[str], pages: set[str], named: set[str]) -> None:
        """Count the firings at a step: `pages` are those of `ubp stale`, `named` with evidence."""
        subject = self._steps[number].subject.lower()
        is_ignored = subject.startswith(IGNORED_SUBJECTS)
        quiet = {
            count: {page for page in pages if self._older_firings(page) < count}
            for count in QUIET_AFTER
        }
        fired = {TOUCHED: touched, FRESH_BEFORE: pages, NAMED: named}
        fired |= {f"quiet_after {count}": kept for count, kept in quiet.items()}
        fired[f"ignore_commits {' '.join(IGNORED_SUBJECTS)}"] = set() if is_ignored else pages
        for rule, names in fired.items():
            by_page = self._fired.setdefault(rule, {})
            for page in names:
                by_page.setdefault(page, []).append(number)

    def edit(self, number: int, before: Mapping[Key, State], now: Mapping[Key, State]) -> None:
        """Count the pages that a step edits so that a reference is fresh again."""
        edited = {key[0] for key in before.keys() & now.keys() if is_edited(before[key], now[key])}
        renewed = {
            key[0]
            for key in before.keys() & now.keys()
            if key[0] in edited
            and before[key].verdict.verdict not in {"fresh", "unknown"}
            and now[key].verdict.verdict == "fresh"
        }
        self._edits += [(number, page) for page in sorted(renewed)]
        self._edited |= dict.fromkeys(edited, number)

    def rows(self, name: str) -> list[list[str]]:
        """The lines of the table, one for each rule."""
        commits = len(self._steps) - 1
        all_firings = self._firings(TOUCHED)
        all_announced = self._announced(TOUCHED)
        rows = []
        for rule, by_page in self._fired.items():
            spoken = len({number for numbers in by_page.values() for number in numbers})
            firings, announced = self._firings(rule), self._announced(rule)
            rows.append(
                [
                    name,
                    rule,
                    f"{spoken} of {commits} ({percent(spoken, commits)})",
                    f"{firings} ({percent(firings, all_firings)})",
                    f"{len(announced)} ({percent(len(announced), len(all_announced))})",
                ]
            )
        return rows

    def _older_firings(self, page: str) -> int:
        since = self._edited.get(page, -1)
        fired = self._fired.get(FRESH_BEFORE, {}).get(page, ())
        return sum(number > since for number in fired)

    def _firings(self, rule: str) -> int:
        return sum(map(len, self._fired.get(rule, {}).values()))

    def _announced(self, rule: str) -> set[tuple[int, str]]:
        by_page = self._fired.get(rule, {})
        return {
            (number, page)
            for number, page in self._edits
            if any(
                fired < number and self._steps[number].date - self._steps[fired].date <= WINDOW
                for fired in by_page.get(page, ())
            )
        }


def is_edited(before: State, now: State) -> bool:
    """Whether a page has other bytes."""
    return before.page_blob != now.page_blob


def touched_pairs(before: Mapping[Key, State], now: Mapping[Key, State]) -> set[str]:
    """The pages with a reference that is not fresh and whose source changed, or that is new."""
    return {
        key[0]
        for key, state in now.items()
        if state.verdict.verdict not in {"fresh", "unknown"}
        and (
            key not in before
            or before[key].verdict.verdict == "fresh"
            or before[key].verdict.current_blob != state.verdict.current_blob
        )
    }


class Misses:
    """Counts how drift ended."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.ends: Counter[str] = Counter()
        self.slight = 0
        self._open: set[Key] = set()

    def add(self, before: Mapping[Key, State], now: Mapping[Key, State]) -> list[Renewal]:
        """Compare two commits that follow each other; return the drift that edits ended."""
        renewals = []
        for key in before.keys() - now.keys():
            self._end(key, "reference gone")
        for key in now.keys() & before.keys():
            old, new = before[key], now[key]
            if "pin" in {old.verdict.baseline, new.verdict.baseline}:
                continue
            was_edited = is_edited(old, new)
            is_changed = old.verdict.current_blob != new.verdict.current_blob
            was_fresh, is_fresh = (s.verdict.verdict == "fresh" for s in (old, new))
            if was_fresh and not is_fresh:
                self._open.add(key)
            elif was_edited and is_fresh and (is_changed or not was_fresh):
                renewals.append(self._cleared(key, old, new, was_fresh=was_fresh))
            elif not was_fresh and is_fresh:
                self._end(key, "source came back")
        return renewals

    def row(self, name: str) -> list[str]:
        """A line of the table."""
        ends = self.ends
        drifts = ends.total() + len(self._open)
        return [
            name,
            str(drifts),
            str(ends["at once, related"] + ends["at once, unrelated"]),
            str(ends["later, related"] + ends["later, unrelated"]),
            str(ends["reference gone"] + ends["source came back"]),
            str(len(self._open)),
            f"{ends['at once, unrelated']} ({percent(ends['at once, unrelated'], drifts)})",
            f"{ends['later, unrelated']} ({percent(ends['later, unrelated'], drifts)})",
            f"{self.slight} ({percent(self.slight, drifts)})",
        ]

    def _cleared(self, key: Key, old: State, new: State, *, was_fresh: bool) -> Renewal:
        described = old.verdict.current_blob if was_fresh else old.verdict.baseline_blob
        edit = self._judge(key, old, new, described)
        self._open.discard(key)
        when, what = (
            "at once" if was_fresh else "later",
            "related" if edit.is_related else "unrelated",
        )
        self.ends[f"{when}, {what}"] += 1
        self.slight += edit.is_slight and not edit.is_related
        current = new.verdict.current_blob
        return Renewal(key, old.page_blob, new.page_blob, described, current, was_fresh, edit)

    def _end(self, key: Key, how: str) -> None:
        if key in self._open:
            self._open.discard(key)
            self.ends[how] += 1

    def _judge(self, key: Key, old: State, new: State, described: str | None) -> Edit:
        lines = changed_lines(self._root, old.page_blob, new.page_blob)
        text = "\n".join(lines)
        source = key[1].rstrip("/")
        names = {source, source.rpartition("/")[2], Path(source).stem} if source else set()
        if is_glob(source):
            names = {Glob(source).prefix.rstrip("/")}
        changed = changed_lines(self._root, described, new.verdict.current_blob)
        names |= {word for line in changed for word in IDENTIFIER.findall(line)}
        words = set(re.findall(r"\w+", text))
        is_related = any(
            name in (words if name.isidentifier() else text)
            for name in names
            if len(name) >= SHORTEST_NAME
        )
        body = [line for line in lines if not re.match(r"[\w-]+:|\s*- |---|\s*$", line)]
        return Edit(is_related, len(lines) <= SLIGHT_LINES * 2 or not body)


def main() -> None:
    """Replay each repository and print two tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--commits", type=int, default=500)
    parser.add_argument("repository", nargs="+", metavar="GIT_DIR[:KEY,KEY…]")
    options = parser.parse_args()
    rules, alarms, misses = [], [], []
    for argument in options.repository:
        path, _, keys = argument.partition(":")
        tables = replay(Path(path), keys.split(",") if keys else [], options.commits)
        rules += tables[0]
        alarms.append(tables[1])
        misses.append(tables[2])
    compared = ["repository", "rule", "commits with alarms", "firings", "later edits announced"]
    print_table("Rules", compared, rules)
    spoken = [
        "repository",
        "commits",
        "commits with alarms",
        "reported pages",
        "reported, then touched in 30 days",
    ]
    print_table("Alarms", [*spoken, "not reported, touched nevertheless", "CPU s"], alarms)
    ended = ["page edited at once", "edited later", "ended otherwise", "still open"]
    missed = ["unrelated, at once", "unrelated, later", "slight ones among both"]
    print_table("Misses", ["repository", "drifts", *ended, *missed], misses)


def replay(
    git_dir: Path, keys: list[str], count: int
) -> tuple[list[list[str]], list[str], list[str]]:
    """Judge the last commits of a repository, in a clone that shares its objects."""
    begun = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        root = clone(git_dir, folder)
        steps = read_steps(root, count)
        rules, alarms, misses = Rules(steps), Alarms(steps), Misses(root)
        before: dict[Key, State] = {}
        with Workspace.open(str(root), keys=keys, alarms="any") as workspace:
            for number, step in enumerate(steps):
                now = read_states(workspace, step.commit)
                if number:
                    base = steps[number - 1].commit
                    change = report_stale(workspace.session, Target(step.commit, base=base))
                    told = {
                        assessment.page.filepath
                        for assessment in change.introduced
                        if assessment.level != "unknown"
                    }
                    named = {
                        assessment.page.filepath
                        for assessment in change.introduced
                        if any(
                            reference.evidence
                            for reference in assessment.references
                            if not reference.is_debt
                        )
                    }
                    rules.add(number, touched_pairs(before, now), told, named)
                    rules.edit(number, before, now)
                    alarms.add(number, told, {page for page, _ in now})
                    misses.add(before, now)
                before = now
        changed_lines.cache_clear()
    name = repository_name(git_dir)
    seconds = time.process_time() - begun
    return rules.rows(name), alarms.row(name, seconds), misses.row(name)


def clone(git_dir: Path, folder: str) -> Path:
    """Return a bare clone in a folder, which shares the objects of a repository."""
    root = Path(folder) / "clone.git"
    run = ["git", "clone", "--quiet", "--shared", "--bare", "--", str(git_dir), str(root)]
    subprocess.run(run, check=True)
    return root


def repository_name(git_dir: Path) -> str:
    """Return what a repository is called: the name of its folder."""
    return git_dir.name if git_dir.name not in {"repo", ".git"} else git_dir.parent.name


def read_states(workspace: Workspace, commit: str) -> dict[Key, State]:
    """Return the state of every reference at a commit."""
    return {
        (page.page.filepath, verdict.reference.literal): State(page.page.blob, verdict)
        for page in report_stale(workspace.session, Target(commit)).pages
        for verdict in page.references
    }


def read_steps(root: Path, count: int) -> list[Step]:
    """The last commits of the main line, oldest first, the one before them ahead."""
    out = git(
        *(root, "log", "--first-parent", "-m", "-z", "--name-only", "--no-renames"),
        *(f"--max-count={count + 1}", "--format=%x01%H %ct %s", "HEAD"),
    )
    steps = []
    for record in out.split("\x01")[1:]:
        head, *names = record.replace("\n", "\0").split("\0")
        commit, date, subject = head.split(" ", 2)
        steps.append(Step(commit, int(date), subject, frozenset(filter(None, names))))
    return steps[::-1]


@cache
def changed_lines(root: Path, old: str | None, new: str | None) -> tuple[str, ...]:
    """The lines that stand in one of two blobs or trees; none where Git has one of them not."""
    if old is None or new is None or old == new:
        return ()
    out = git(root, "diff", "--unified=0", "--no-color", "--no-ext-diff", old, new, "--")
    return tuple(
        line[1:] for line in out.splitlines() if line[:1] in "+-" and line[:3] not in {"+++", "---"}
    )


def git(root: Path, *args: str) -> str:
    """What git says; nothing where it cannot."""
    done = subprocess.run(["git", *args], cwd=root, check=False, capture_output=True)
    return done.stdout.decode(errors="replace") if done.returncode == 0 else ""


def share(counts: Counter[bool]) -> str:
    """How many of those whose window is over."""
    return f"{counts[True]} of {counts.total()} ({percent(counts[True], counts.total())})"


def percent(part: int, whole: int) -> str:
    """A share."""
    return f"{100 * part / whole:.0f} %" if whole else "-"


if __name__ == "__main__":
    main()
