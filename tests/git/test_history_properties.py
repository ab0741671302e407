"""Generated histories: the answers are git's own, and do not depend on how they are found."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ubp.git.commits_cli
import ubp.git.commits_libgit2
from ubp.core.model import BaselineQuery, Drift, Entry, FilePath, LastChange, ObjectId
from ubp.core.paths import Glob, closest_path
from ubp.git.history import find_drifts, first_changes, last_changes
from ubp.git.repository import Repository, open_repository
from ubp.git.trees import tree_id

PATHS = (
    "a.md",
    "b.md",
    "src",
    "src/a.md",
    "src/lib/b.md",
    "src/lib/c d.md",
    "文書/b.md",
    "文書/c d.md",
)
PLACES = (*PATHS, "src/lib", "文書", "", "none.md")
GLOBS = ("**/*.md", "src/**/b.md", "文書/*.md", "src/*")
CONTENTS = ("", "one\n", "two\n", "three\n", "four\n")
FILE, EXECUTABLE = "100644", "100755"

Tree = dict[str, tuple[str, str]]
Firsts = Mapping[FilePath, LastChange]


class Step(NamedTuple):
    """Numbers that `Story` makes a commit of."""

    shape: int
    others: tuple[int, int]
    choices: int
    edits: tuple[tuple[int, int, int], ...]
    skew: int


class Made(NamedTuple):
    """A commit to be made."""

    parents: tuple[int, ...]
    tree: Tree
    date: int


class Story:
    """A history as values: what git is to be fed with, and what is to be expected of it."""

    def __init__(
        self, steps: tuple[Step, ...], *, has_modes: bool, has_growing_dates: bool, has_skew: bool
    ) -> None:
        self.commits: list[Made] = []
        self.has_modes = has_modes
        self.has_growing_dates = has_growing_dates
        self.has_skew = has_skew
        for step in steps:
            self._add(step)

    def _add(self, step: Step) -> None:
        made = self.commits
        parents: list[int] = [len(made) - 1] if made else []
        if made and step.shape in {5, 6}:  # a branch
            parents = [step.others[0] % len(made)]
        elif made and step.shape >= 7:  # a merge; 9: of three
            for other in step.others[: 2 if step.shape == 9 else 1]:
                parents.append(other % len(made))
            parents = list(dict.fromkeys(parents))
        tree: Tree = {}
        if not made and step.shape >= 3:  # most stories begin with files that are there already
            tree = {path: (FILE, CONTENTS[n % 4]) for n, path in enumerate(PATHS) if path != "src"}
        if parents:
            trees = [made[parent].tree for parent in parents]
            names = sorted({name for tree in trees for name in tree})
            for number, name in enumerate(names):
                chosen = trees[(step.choices >> 2 * number) % len(trees)]
                if name in chosen:
                    _put(tree, name, chosen[name])
        for edit in step.edits:
            self._edit(tree, parents, *edit)
        date = (
            1_700_000_000
            + (len(made) * 100 if self.has_growing_dates else 0)
            + (step.skew if self.has_skew else 0)
        )
        made.append(Made(tuple(parents), tree, date))

    def _edit(self, tree: Tree, parents: list[int], kind: int, number: int, choice: int) -> None:
        path = PATHS[number % len(PATHS)]
        other = PATHS[choice % len(PATHS)]
        if kind <= 2:
            _put(tree, path, (tree.get(path, (FILE,))[0], CONTENTS[choice % len(CONTENTS)]))
        elif kind == 3:
            tree.pop(path, None)
        elif kind in {4, 5, 9} and path in tree and path != other:  # renamed; 5: copied
            entry = tree[path] if kind == 5 else tree.pop(path)
            _put(tree, other, entry)
        elif kind == 6 and self.has_modes and path in tree:
            mode, content = tree[path]
            tree[path] = (EXECUTABLE if mode == FILE else FILE, content)
        elif kind == 7 and self.commits:  # back to what it once was
            old = self.commits[choice % len(self.commits)].tree.get(path)
            if old is not None:
                _put(tree, path, old)
        elif kind == 8 and parents:  # a folder moves
            for name in [name for name in tree if name.startswith("src/lib/")]:
                _put(tree, name.replace("src/lib/", "文書/"), tree.pop(name))

    def ancestors(self, number: int) -> set[int]:
        """A commit and all that it builds upon."""
        found: set[int] = set()
        todo = [number]
        while todo:
            commit = todo.pop()
            if commit not in found:
                found.add(commit)
                todo += self.commits[commit].parents
        return found


def _put(tree: Tree, path: str, entry: tuple[str, str]) -> None:
    for name in list(tree):
        if name.startswith(f"{path}/") or path.startswith(f"{name}/"):
            del tree[name]
    tree[path] = entry


class GitLog:
    """A story in a repository."""

    def __init__(self, folder: Path, story: Story, *, has_modes: bool = True) -> None:
        self.folder = folder
        self.story = story
        self.ids = self._feed(has_modes=has_modes)
        self.numbers = {name: number for number, name in enumerate(self.ids)}

    def _feed(self, *, has_modes: bool) -> list[ObjectId]:
        lines = []
        for number, commit in enumerate(self.story.commits, 1):
            lines += ["reset refs/heads/story", "commit refs/heads/story", f"mark :{number}"]
            lines += [
                f"committer Ann <ann@example.com> {commit.date} +0000",
                "data 2",
                f"{number:02}",
            ]
            lines += [
                f"{word} :{parent + 1}"
                for word, parent in zip(["from", "merge", "merge"], commit.parents, strict=False)
            ]
            lines += ["deleteall"]
            for path, (mode, content) in commit.tree.items():
                lines += [f"M {mode if has_modes else FILE} inline {path}", f"data {len(content)}"]
                lines += [content.removesuffix("\n")] if content else []
        marks = self.folder / "marks"
        stream = "\n".join([*lines, "done", ""]).encode()
        self.git(
            "fast-import", "--quiet", "--done", "--force", f"--export-marks={marks}", stdin=stream
        )
        made = dict(line.split(" ") for line in marks.read_text().splitlines())
        return [ObjectId(made[f":{number}"]) for number in range(1, len(made) + 1)]

    def git(self, *args: str, stdin: bytes = b"") -> str:
        command = ["git", "-c", "core.quotePath=false", *args]
        done = subprocess.run(
            command, cwd=self.folder, input=stdin, capture_output=True, check=True
        )
        return done.stdout.decode()

    @cached_property
    def states(self) -> Mapping[tuple[int, str], ObjectId | None]:
        """What git has at each place of each commit."""
        asked = [(number, place) for number in range(len(self.ids)) for place in PLACES]
        names = "".join(f"{self.ids[number]}:{place}\n" for number, place in asked)
        lines = self.git(
            "cat-file", "--batch-check=%(objectname)", stdin=names.encode()
        ).splitlines()
        return {
            place: None if line.endswith("missing") else ObjectId(line)
            for place, line in zip(asked, lines, strict=True)
        }

    def state(self, number: int, search: BaselineQuery) -> ObjectId | None:
        """What a search finds in a commit."""
        if search.pattern is None:
            return self.states[number, search.path]
        glob = Glob(search.pattern)
        tree = self.story.commits[number].tree
        matched = {
            FilePath(path): Entry(int(mode, 8), self.blob(content))
            for path, (mode, content) in tree.items()
            if glob.matches(path)
        }
        return tree_id(matched.items()) if matched else None

    def blob(self, content: str) -> ObjectId:
        """The id of a file's content."""
        data = content.encode()
        return ObjectId(sha1(b"blob %d\0" % len(data) + data).hexdigest())

    def last_change(self, start: int, path: str) -> ObjectId:
        """By `git log -1`, again and again where the commit only renamed the file."""
        commit, name = self.ids[start], path
        while True:
            commit = ObjectId(self.git("log", "-1", "--format=%H", commit, "--", name).strip())
            number = self.numbers[commit]
            for parent in self.story.commits[number].parents:
                old_name = self._old_name(number, parent, name)
                if old_name is not None:
                    commit, name = self.ids[parent], old_name
                    break
            else:
                return commit

    def births(self, start: int, path: str) -> set[ObjectId]:
        """By the definition, commit after commit."""
        state, parents = self.states[start, path], self.story.commits[start].parents
        same = [parent for parent in parents if self.states[parent, path] == state]
        if same:
            return self.births(same[0], path)
        found: set[ObjectId] = set()
        is_born = state is not None
        for parent in parents:
            old_name = self._old_name(start, parent, path) if state else None
            is_born = is_born and self.states[parent, path] is None and old_name is None
            found |= self.births(parent, old_name or path)
        return found | ({self.ids[start]} if is_born else set())

    def logged_births(self, start: int, path: str) -> set[ObjectId]:
        """By `git log`: those of the path's commits that have it and whose parents have it not."""
        commits = map(ObjectId, self.git("log", "--format=%H", self.ids[start], "--", path).split())
        numbers = [self.numbers[commit] for commit in commits]
        return {
            self.ids[number]
            for number in numbers
            if self.states[number, path]
            and not any(self.states[p, path] for p in self.story.commits[number].parents)
        }

    def is_renamed(self, start: int, path: str) -> bool:
        """Whether some commit renamed the path: `git log` knows it under this name only."""
        return any(
            self.story.commits[number].tree.get(path)
            and self._old_name(number, parent, path) is not None
            for number in self.story.ancestors(start)
            for parent in self.story.commits[number].parents
        )

    def _old_name(self, number: int, parent: int, path: str) -> str | None:
        after, before = self.story.commits[number].tree, self.story.commits[parent].tree
        if self.states[parent, path] is not None:
            return None
        removed = [
            FilePath(old)
            for old, (_, content) in before.items()
            if old not in after and content == after[path][1]
        ]
        return closest_path(FilePath(path), removed)

    def drift(self, start: int, search: BaselineQuery) -> Drift:
        """By the definition, over all states of all commits."""
        baseline = search.baseline
        if _equal(self.state(start, search), baseline):
            return Drift((), is_complete=True, existed=baseline is not None)
        base = self.numbers[search.commit] if search.commit else None
        ended = self.story.ancestors(base) if base is not None else set()
        counted: set[int] = set()
        met: set[int] = set()
        seen: set[int] = set()
        todo = [start]
        while todo:
            number = todo.pop()
            if number in seen | ended:
                continue
            seen.add(number)
            state = self.state(number, search)
            if _equal(state, baseline):
                met.add(number)
                continue
            parents = self.story.commits[number].parents
            same = [parent for parent in parents if self.state(parent, search) == state]
            if same:
                todo.append(same[0])
            elif parents or state is not None:
                counted.add(number)
                todo += parents
        if base is None:
            counted -= {old for number in met for old in self.story.ancestors(number)}
        else:
            counted |= self.dropping_merge(start, search)
        return Drift(
            tuple(self.ids[number] for number in sorted(counted, reverse=True)),
            is_complete=base is not None or bool(met),
            existed=base is not None or any(self.state(number, search) for number in seen),
        )

    def dropping_merge(self, start: int, search: BaselineQuery) -> set[int]:
        """Where a path's only line never meets its baseline: the last that has it behind."""
        base = self.numbers[ObjectId(str(search.commit))]
        dropping = number = start
        while number not in self.story.ancestors(base):
            if base in self.story.ancestors(number):
                dropping = number
            state = self.state(number, search)
            parents = self.story.commits[number].parents
            same = [parent for parent in parents if self.state(parent, search) == state]
            if not parents:
                break
            if len(parents) > 1 and not same:
                return set()  # it has more than one line
            number = (same or parents)[0]
            if _equal(self.state(number, search), search.baseline):
                return set()
        return {dropping}

    def logged_drift(self, start: int, search: BaselineQuery) -> set[ObjectId]:
        """By `git log BASE..START`, cut off where the path is at its baseline."""
        span = f"{search.commit}..{self.ids[start]}"
        lines = self.git("log", "--format=%H %P", "--parents", span, "--", search.path).splitlines()
        parents = {words[0]: words[1:] for words in map(str.split, lines)}
        found: set[ObjectId] = set()
        todo = [lines[0][:40]] if lines else []
        while todo:
            commit = ObjectId(todo.pop())
            is_new = commit in parents and commit not in found
            if is_new and self.state(self.numbers[commit], search) != search.baseline:
                found.add(commit)
                todo += parents[commit]
        return found

    def git_looks_past(self, start: int, search: BaselineQuery) -> bool:
        """Whether a merge leads back behind the baseline, where `git log` may not simplify."""
        base = self.numbers[ObjectId(str(search.commit))]
        behind = self.story.ancestors(base) - {base}
        return any(
            len(self.story.commits[number].parents) > 1
            and behind.intersection(self.story.commits[number].parents)
            for number in self.story.ancestors(start) - behind
        )


def _equal(state: ObjectId | None, baseline: str | None) -> bool:
    if state is None or baseline is None:
        return state is baseline
    return state.startswith(baseline)


numbers = st.integers(min_value=0, max_value=99)
steps = st.builds(
    Step,
    shape=st.integers(min_value=0, max_value=9),
    others=st.tuples(numbers, numbers),
    choices=st.integers(min_value=0, max_value=65535),
    edits=st.lists(
        st.tuples(st.integers(min_value=0, max_value=9), numbers, numbers), max_size=5
    ).map(tuple),
    skew=st.integers(min_value=-20_000, max_value=20_000),
)
step_lists = st.lists(steps, min_size=5, max_size=22).map(tuple)
stories = st.builds(
    Story,
    step_lists,
    has_modes=st.booleans(),
    has_growing_dates=st.booleans(),
    has_skew=st.booleans(),
)
plain_stories = st.builds(
    Story,
    step_lists,
    has_modes=st.just(value=False),
    has_growing_dates=st.just(value=True),
    has_skew=st.just(value=False),
)
few = settings(
    deadline=None,
    derandomize=True,
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", "--bare", "."], cwd=tmp_path, check=True)
    subprocess.run(["git", "config", "core.fsync", "none"], cwd=tmp_path, check=True)
    return tmp_path


@pytest.fixture
def story_repository(folder: Path) -> Iterator[Repository]:
    with open_repository(str(folder), os.environ) as repository:
        yield repository


@few
@given(story=stories)
def test_last_change_equals_that_of_git_log(
    folder: Path, story_repository: Repository, story: Story
) -> None:
    git_log = GitLog(folder, story)
    # Modes do not count: the same history without them is what git is asked about.
    plain = GitLog(folder, story, has_modes=False)
    start = len(story.commits) - 1
    expected = {
        path: LastChange(
            git_log.ids[plain.numbers[plain.last_change(start, path)]], is_boundary=False
        )
        for path in story.commits[start].tree
    }

    paths = [FilePath(path) for path in (*story.commits[start].tree, "none.md")]
    assert last_changes(story_repository, git_log.ids[start], paths, {}) == expected


@few
@given(story=stories)
def test_births_match_their_definition(
    folder: Path, story_repository: Repository, story: Story
) -> None:
    git_log = GitLog(folder, story, has_modes=False)
    start = len(story.commits) - 1
    paths = [FilePath(path) for path in (*story.commits[start].tree, "none.md")]

    found = first_changes(story_repository, git_log.ids[start], paths, {})

    assert found.keys() == set(story.commits[start].tree)
    for path, births in found.items():
        assert {birth.commit for birth in births} == git_log.births(start, path)
        assert not any(birth.is_boundary for birth in births)


@few
@given(story=plain_stories)
def test_births_equal_those_of_git_log(
    folder: Path, story_repository: Repository, story: Story
) -> None:
    git_log = GitLog(folder, story)
    start = len(story.commits) - 1
    paths = [FilePath(p) for p in story.commits[start].tree if not git_log.is_renamed(start, p)]

    found = first_changes(story_repository, git_log.ids[start], paths, {})

    for path, births in found.items():
        assert {birth.commit for birth in births} == git_log.logged_births(start, path)


@few
@given(story=stories, heads=st.tuples(numbers, numbers))
def test_first_changes_are_independent_of_known_heads_and_reader(
    folder: Path, story_repository: Repository, story: Story, heads: tuple[int, int]
) -> None:
    git_log = GitLog(folder, story)
    known = {
        git_log.ids[number]: firsts(git_log, number, story_repository, {})
        for number in {head % len(git_log.ids) for head in heads}
    }
    start = len(git_log.ids) - 1

    expected = firsts(git_log, start, story_repository, {})

    assert firsts(git_log, start, story_repository, known) == expected
    with libgit2_alone():
        assert firsts(git_log, start, story_repository, known) == expected
    with libgit2_alone(many=0):
        assert firsts(git_log, start, story_repository, {}) == expected


def firsts(
    git_log: GitLog, number: int, repository: Repository, known: Mapping[ObjectId, Firsts]
) -> Firsts:
    """Of the births of each path the first by date."""
    paths = [FilePath(path) for path in git_log.story.commits[number].tree]
    births = first_changes(repository, git_log.ids[number], paths, known)

    def date(birth: LastChange) -> tuple[int, ObjectId]:
        return git_log.story.commits[git_log.numbers[birth.commit]].date, birth.commit

    return {path: min(several, key=date) for path, several in births.items()}


def searches_of(git_log: GitLog, start: int) -> list[BaselineQuery]:
    """Every place as it was at every ancestor, by commit and by pin."""
    searches = []
    for base in sorted(git_log.story.ancestors(start)):
        for place in PLACES:
            state = git_log.states[base, place]
            searches.append(BaselineQuery(FilePath(place), None, state, git_log.ids[base]))
            if state:
                searches.append(BaselineQuery(FilePath(place), None, state[: 7 + base], None))
        for glob in GLOBS:
            search = BaselineQuery(Glob(glob).prefix, glob, None, git_log.ids[base])
            state = git_log.state(base, search)
            searches.append(search._replace(baseline=state))
            if state:
                searches.append(search._replace(baseline=state, commit=None))
    searches += [BaselineQuery(FilePath(place), None, "0" * 40, None) for place in PLACES]
    return searches


def plainly(drifts: Mapping[BaselineQuery, Drift]) -> dict[BaselineQuery, Drift]:
    """With the commits in one order, for commits of one second have none."""
    return {s: d._replace(commits=tuple(sorted(d.commits))) for s, d in drifts.items()}


@few
@given(story=stories)
def test_drift_matches_its_definition(
    folder: Path, story_repository: Repository, story: Story
) -> None:
    git_log = GitLog(folder, story)
    start = len(story.commits) - 1
    searches = searches_of(git_log, start)

    found = find_drifts(story_repository, git_log.ids[start], searches, {})

    expected = {search: git_log.drift(start, search) for search in searches}
    assert plainly(found) == plainly(expected)


@few
@given(story=plain_stories, choice=numbers)
def test_drift_equals_that_of_git_log(
    folder: Path, story_repository: Repository, story: Story, choice: int
) -> None:
    git_log = GitLog(folder, story)
    start = len(story.commits) - 1
    searches = [
        search
        for search in searches_of(git_log, start)
        if search.commit and search.path and not search.pattern
        if git_log.state(start, search) != search.baseline
        and not git_log.git_looks_past(start, search)
    ][choice % 7 :: 7]

    found = find_drifts(story_repository, git_log.ids[start], searches, {})

    for search in searches:
        commits = found[search].commits
        dropping = {git_log.ids[number] for number in git_log.dropping_merge(start, search)}
        assert set(commits) == git_log.logged_drift(start, search) | dropping, search
        assert [git_log.numbers[commit] for commit in commits] == sorted(
            (git_log.numbers[commit] for commit in commits), reverse=True
        )


@few
@given(story=stories, heads=st.tuples(numbers, numbers))
def test_last_changes_are_independent_of_known_heads_and_reader(
    folder: Path, story_repository: Repository, story: Story, heads: tuple[int, int]
) -> None:
    git_log = GitLog(folder, story)
    start = git_log.ids[-1]
    known = {}
    for number in {head % len(git_log.ids) for head in heads}:
        paths = [FilePath(path) for path in story.commits[number].tree]
        known[git_log.ids[number]] = last_changes(story_repository, git_log.ids[number], paths, {})
    paths = [FilePath(path) for path in (*story.commits[-1].tree, "none.md")]

    expected = last_changes(story_repository, start, paths, {})

    assert last_changes(story_repository, start, paths, known) == expected
    with libgit2_alone():
        assert last_changes(story_repository, start, paths, known) == expected
    with libgit2_alone(many=0):
        assert last_changes(story_repository, start, paths, {}) == expected


@few
@given(story=stories, heads=st.tuples(numbers, numbers))
def test_drifts_are_independent_of_known_heads_and_reader(
    folder: Path, story_repository: Repository, story: Story, heads: tuple[int, int]
) -> None:
    git_log = GitLog(folder, story)
    start = len(git_log.ids) - 1
    known = {
        git_log.ids[number]: find_drifts(
            story_repository, git_log.ids[number], searches_of(git_log, number), {}
        )
        for number in {head % len(git_log.ids) for head in heads}
    }
    searches = searches_of(git_log, start)

    expected = plainly(find_drifts(story_repository, git_log.ids[start], searches, {}))

    assert plainly(find_drifts(story_repository, git_log.ids[start], searches, known)) == expected
    with libgit2_alone():
        assert (
            plainly(find_drifts(story_repository, git_log.ids[start], searches, known)) == expected
        )
    with libgit2_alone(many=0):
        assert plainly(find_drifts(story_repository, git_log.ids[start], searches, {})) == expected


@contextmanager
def libgit2_alone(many: int = ubp.git.commits_libgit2.MAX_LOOKUPS) -> Iterator[None]:
    """Let no number of new commits be few enough for git; `many` names are compared at once."""
    ubp.git.commits_cli.read_new_commits.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ubp.git.commits_cli, "MAX_NEW_COMMITS", -1)
        patch.setattr(ubp.git.commits_libgit2, "MAX_LOOKUPS", many)
        yield
    ubp.git.commits_cli.read_new_commits.cache_clear()
