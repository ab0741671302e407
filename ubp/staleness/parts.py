"""Compare parts of files: symbols, sections and ranges of lines.

Git's walk knows files only. Where a file differs from its baseline, the part is read from both
versions by the same parser, and a commit counts as drift only if it changed the part.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from ubp.core.model import (
    Commit,
    Entry,
    FilePath,
    ObjectId,
    PartNote,
    ReferenceVerdict,
    SourceReference,
    Verdict,
)
from ubp.core.paths import closest_path
from ubp.core.source import Part, PartSource, digest
from ubp.git.trees import diff_trees, first_parents, resolve_objects
from ubp.index.parts import FileVersion, PartReader, PartsFault
from ubp.staleness.baseline import Baseline, BaselineRequest
from ubp.staleness.drift import UNCOMMITTED, DriftSince, Moves
from ubp.staleness.model import StalenessContext, compare
from ubp.staleness.references import LocatedSource

MAX_FILES = 100  # in which a removed part is searched for: reading 100 files takes 0.2 s

_NOTES: Mapping[PartsFault, PartNote] = {
    "absent": "no_blob",
    "extra": "no_parser",
    "language": "no_language",
}


class PartVerdict(NamedTuple):
    """The verdict for a part; `note`: why it is that of the file, or unknown."""

    verdict: Verdict
    note: PartNote | None = None


class PartMove(NamedTuple):
    """The place that a part moved to; `fragment` begins with "#"."""

    path: FilePath
    fragment: str


class _Key(NamedTuple):
    """A part in a version of its file; lines are those of the baseline."""

    source: PartSource
    version: FileVersion
    baseline: FileVersion


class _State(NamedTuple):
    """The digest of a part, None where it does not exist; `fault`: why it is not known."""

    digest: str | None
    parts: tuple[Part, ...] = ()
    fault: PartsFault | None = None


_ABSENT = _State(None)


class PartComparison:
    """The comparison of the parts that references name with their baselines."""

    def __init__(
        self,
        context: StalenessContext,
        baselines: Mapping[BaselineRequest, Baseline],
        located: Mapping[SourceReference, LocatedSource],
    ) -> None:
        """Compare the parts of these references; both states of their sources are known."""
        self._context = context
        self._reader = PartReader(context.view.context)
        self._baselines: dict[BaselineRequest, _Key] = {}
        self._verdicts = self._compare(baselines, located)

    def apply(self, request: BaselineRequest, verdict: ReferenceVerdict) -> ReferenceVerdict:
        """Return a verdict on a file as one on its part."""
        if request not in self._verdicts:
            return verdict
        part_verdict, note = self._verdicts[request]
        is_absent = part_verdict in {"deleted", "not_found"}
        return verdict._replace(
            verdict=part_verdict,
            note=note,
            level="fresh" if part_verdict == "fresh" else "unknown",
            current_blob=None if is_absent else verdict.current_blob,
        )

    def _compare(
        self,
        baselines: Mapping[BaselineRequest, Baseline],
        located: Mapping[SourceReference, LocatedSource],
    ) -> dict[BaselineRequest, PartVerdict]:
        full_ids = self._full_ids(baselines.values())
        current: dict[BaselineRequest, _Key] = {}
        for request, baseline in baselines.items():
            source, new = part_of(baseline), located[request.reference].id
            # A pin may be shortened. Where Git has no such object, it is the id of no blob.
            old = full_ids.get(baseline.id or "") or ObjectId(baseline.id or new or "")
            if new is not None and new.startswith(old):
                old = new
            baseline_version = FileVersion(source.path, old, is_current=old == new)
            if baseline.id is not None:
                self._baselines[request] = _Key(source, baseline_version, baseline_version)
            if new is not None:
                version = FileVersion(source.path, new, is_current=True)
                current[request] = _Key(source, version, baseline_version)
        changed = [key for request, key in self._baselines.items() if request in current]
        states = self._read(changed)
        untouched = self._reader.find_untouched(
            {
                (key.source, key.version): current[request].version
                for request, key in self._baselines.items()
                if request in current and current[request] != key
            }
        )
        same = {
            request: key
            for request, key in self._baselines.items()
            if (key.source, key.version) in untouched
        }
        states |= self._read([key for request, key in current.items() if request not in same])
        current |= same
        verdicts = {}
        for request, baseline in baselines.items():
            verdict = compare(baseline.id, located[request.reference].id)
            if request in current:
                old_state = states[self._baselines[request]] if baseline.id else _ABSENT
                verdicts[request] = _compare_states(verdict, old_state, states[current[request]])
            else:
                verdicts[request] = PartVerdict(verdict)
        return verdicts

    def narrow(
        self, drifts: Mapping[BaselineRequest, DriftSince]
    ) -> dict[BaselineRequest, DriftSince]:
        """Return the drifts of parts: of their files' drifts, the commits that changed the part.

        Where the verdict is the file's, so is the drift.
        """
        steps = self._steps(
            {
                request: drift
                for request, drift in drifts.items()
                if request in self._baselines and self._verdicts[request].note is None
            }
        )
        keys = {key for pairs in steps.values() for _, *pair in pairs for key in pair if key}
        states = self._read([*keys, *(self._baselines[request] for request in steps)])
        narrowed = dict(drifts)
        for request, pairs in steps.items():
            baseline = states[self._baselines[request]]
            changing: list[Commit] = []
            for commit, before, after in reversed(pairs):
                old, new = (states[key] if key else _ABSENT for key in (before, after))
                if old.fault or new.fault:
                    break
                if old.digest != new.digest:
                    # A commit that restores the baseline ends the drift before it.
                    changing = [] if new.digest == baseline.digest else [commit, *changing]
            else:
                drift = _narrow(drifts[request], tuple(changing))
                last = pairs[0][2] if pairs else None
                is_deleted = self._verdicts[request].verdict == "deleted"
                is_committed = last is None or states[last].digest is None
                narrowed[request] = drift._replace(
                    is_uncommitted=drift.is_uncommitted or (is_deleted and not is_committed)
                )
        return narrowed

    def _steps(
        self, drifts: Mapping[BaselineRequest, DriftSince]
    ) -> dict[BaselineRequest, list[tuple[Commit, _Key | None, _Key | None]]]:
        """Return the commits of these drifts, each with the part before and after it."""
        commits = {commit.id for drift in drifts.values() for commit in drift.commits}
        if not commits:
            return {}
        parents = first_parents(self._context.repository, commits)
        paths: dict[ObjectId, set[FilePath]] = {}
        for request, drift in drifts.items():
            for commit in drift.commits:
                for revision in filter(None, (commit.id, parents.get(commit.id))):
                    paths.setdefault(revision, set()).add(self._baselines[request].source.path)
        entries = self._context.history.entries_at(paths)

        def key_at(request: BaselineRequest, revision: ObjectId | None) -> _Key | None:
            source, _, baseline = self._baselines[request]
            entry = entries[revision, source.path] if revision else None
            if entry is None or not entry.is_file:
                return None
            return _Key(source, FileVersion(source.path, entry.id, is_current=False), baseline)

        return {
            request: [
                (commit, key_at(request, parents.get(commit.id)), key_at(request, commit.id))
                for commit in drift.commits
            ]
            for request, drift in drifts.items()
        }

    def resolve_deleted(
        self, request: BaselineRequest, drift: DriftSince, moves: Moves
    ) -> tuple[Verdict, FilePath | None, str]:
        """Return `deleted`, or `moved` with the new path and, if the body is the same, the name."""
        source = self._baselines[request].source
        if move := self.find_move(request, drift):
            return "moved", *move
        if self._context.view.entry(source.path) is None:
            if request.reference.pin and not drift.existed:
                return "not_found", None, ""
            moved_to = moves.follow(source.path, drift)
            if moved_to and self.has_part(request, moved_to):
                return "moved", moved_to, ""
        return "deleted", None, ""

    def find_move(self, request: BaselineRequest, drift: DriftSince) -> PartMove | None:
        """Return where a removed part is now, under its name or another one, with the same body.

        Only the files that the removing commit (or the uncommitted change) touched are searched.
        """
        key = self._baselines.get(request)
        if key is None or key.source.kind == "lines":
            return None
        parts = self._read([key])[key].parts
        if not parts:
            return None
        candidates = self._candidates(key, parts[0], drift)
        same_name = [(path, part) for path, part in candidates if part.names == parts[0].names]
        simple_name = _simple_name(parts[0])
        same_name = same_name or [
            (path, part) for path, part in candidates if _simple_name(part) == simple_name
        ]
        found = same_name or candidates
        if not found or (not same_name and len(found) > 1):
            return None  # of several with other names, none is the same more than another
        closest = closest_path(key.source.path, [path for path, _ in found])
        path, part = next((path, part) for path, part in found if path == closest)
        fragment = self._fragment_now(key.source, path, parts[0], part)
        return PartMove(path, f"#{fragment}") if fragment else None

    def has_part(self, request: BaselineRequest, path: FilePath) -> bool:
        """Return whether a file of the snapshot has the part of a reference, too."""
        source = self._baselines[request].source._replace(path=path)
        return source.kind == "lines" or bool(self._parts_now(source))

    def _full_ids(self, baselines: Iterable[Baseline]) -> Mapping[str, ObjectId]:
        pins = {baseline.id for baseline in baselines if baseline.kind == "pin" and baseline.id}
        if not pins:
            return {}
        objects = resolve_objects(sorted(pins), self._context.repository)
        return {pin: entry.id for pin, entry in objects.items()}

    def _read(self, keys: Collection[_Key]) -> dict[_Key, _State]:
        """Return the state of each part in each version."""
        named = {(key.source, key.version) for key in keys if key.source.kind != "lines"}
        found = self._reader.find(named) if named else {}
        lines = [key for key in keys if key.source.kind == "lines"]
        versions = {version for key in lines for version in key[1:]}
        contents = self._reader.read(versions) if lines else {}
        states: dict[_Key, _State] = {}
        for key in keys:
            if key.source.kind == "lines":
                states[key] = _lines_state(
                    key.source, contents[key.baseline.blob], contents[key.version.blob]
                )
                continue
            parts = found[key.source, key.version]
            if isinstance(parts, str):
                states[key] = _State(None, fault=parts)
            elif parts:
                states[key] = _State(digest(part.digest for part in parts), parts)
            else:
                states[key] = _ABSENT
        return states

    def _candidates(self, key: _Key, old: Part, drift: DriftSince) -> list[tuple[FilePath, Part]]:
        """Return the parts with the same body that the removing change added."""
        found = []
        for path, before, after in self._touched_files(key, drift):
            source = key.source._replace(path=path)
            added = {part.names: part for part in self._reader.all(source, after)}
            if not any(part.nameless == old.nameless for part in added.values()):
                continue
            if before:
                for part in self._reader.all(source, before):
                    added.pop(part.names, None)
            found += [(path, part) for part in added.values() if part.nameless == old.nameless]
        return found

    def _touched_files(
        self, key: _Key, drift: DriftSince
    ) -> Iterator[tuple[FilePath, FileVersion | None, FileVersion]]:
        """Yield the files of the removing change that may have the part now, before and after."""
        context, view = self._context, self._context.view
        commit = drift.commits[0].id if drift.commits else None
        if commit is None:
            changes: Mapping[FilePath, Entry | None] = view.snapshot.changes
            before = view.base_entries(list(changes))
            after = view.entries(list(changes))
        else:
            parent = first_parents(context.repository, {commit}).get(commit)
            if parent is None:
                return
            after = diff_trees(context.repository, parent, commit)
            entries = context.history.entries_at({parent: list(after)})
            before = {path: entries[parent, path] for path in after}
        suffix = key.source.path.rpartition(".")[2]
        paths = [
            path
            for path, entry in after.items()
            if entry
            and entry.is_file
            and path.rpartition(".")[2] == suffix
            and not context.rules.is_hidden(path)
        ]
        for path in sorted(paths, key=lambda path: path != key.source.path)[:MAX_FILES]:
            old, new = before[path], after[path]
            if new is not None:
                yield (
                    path,
                    FileVersion(path, old.id, is_current=False) if old and old.is_file else None,
                    FileVersion(path, new.id, is_current=commit is None),
                )

    def _parts_now(self, source: PartSource) -> tuple[Part, ...]:
        entry = self._context.view.entry(source.path)
        if entry is None or not entry.is_file:
            return ()
        version = FileVersion(source.path, entry.id, is_current=True)
        parts = self._reader.find([(source, version)])[source, version]
        return () if isinstance(parts, str) else parts

    def _fragment_now(self, source: PartSource, path: FilePath, old: Part, new: Part) -> str | None:
        """Return the fragment that names a moved part in the snapshot, written like the old one."""
        written = source.fragment
        separator = "::" if "::" in written else "."
        fragments = [written, new.names[0]]
        if source.kind == "symbol":
            before, _, after = written.rpartition(_simple_name(old))
            fragments[1:] = [
                f"{before}{_simple_name(new)}{after}",
                new.names[0].replace(".", separator),
            ]
        for fragment in fragments:
            parts = self._parts_now(source._replace(path=path, fragment=fragment))
            if any(part.names == new.names for part in parts):
                return fragment
        return None


def part_of(baseline: Baseline) -> PartSource:
    """Return the source of a baseline, which must be a part."""
    assert isinstance(baseline.source, PartSource)  # noqa: S101 - for the type checker
    return baseline.source


def _compare_states(file_verdict: Verdict, old: _State, new: _State) -> PartVerdict:
    """Return the verdict on a part of a file that exists; `old` is absent if the file was."""
    fault = new.fault or (old.fault if file_verdict == "modified" else None)
    if fault == "language":
        return PartVerdict(file_verdict, "no_language")
    if fault:
        if file_verdict == "fresh":
            return PartVerdict("fresh")
        return PartVerdict("unknown" if fault == "extra" else file_verdict, _NOTES[fault])
    return PartVerdict(compare(old.digest, new.digest))


def _lines_state(source: PartSource, baseline: bytes | None, data: bytes | None) -> _State:
    """Return a state that is the baseline's if the lines occur in the file, wherever they moved."""
    if baseline is None or data is None:
        return _State(None, fault="absent")
    first, last = source.lines
    pinned = baseline.splitlines()[first - 1 : last]
    if not pinned:
        return _ABSENT
    if baseline is data:
        return _State("same")
    text, pinned_text = b"\n".join([b"", *data.splitlines(), b""]), b"\n".join([b"", *pinned, b""])
    return _State("same" if pinned_text in text else "other")


def _narrow(drift: DriftSince, commits: tuple[Commit, ...]) -> DriftSince:
    if not commits:
        # The part is at its baseline in HEAD: the change is not committed.
        return UNCOMMITTED._replace(existed=drift.existed)
    date = None if drift.date is None else min(commit.date for commit in commits)
    return drift._replace(commits=commits, date=date)


def _simple_name(part: Part) -> str:
    return part.names[0].rpartition(".")[2]
