"""What the rule unbound-page reports: apart from the rule, because few commands need it.

The pages of a change's base are compared with what the change leaves of them: the same path, or
where it moved them to. Nothing else is read unless a reference or a pin is missing there.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from itertools import chain

from ubp.checks.renames import Renames
from ubp.checks.unbinding import Loss, Unbinding
from ubp.core.model import FilePath, Page, SourceReference
from ubp.core.source import GlobSource, PartSource, PathSource, Source, file_of
from ubp.git.trees import resolve_objects
from ubp.staleness.model import Change, StalenessContext
from ubp.staleness.references import candidates, collection_of, locate

# Of what a file lost, so much must be in another one for the code to have moved there: Git's own
# share for renames.
MIN_MOVED = 0.5


def find_unbound(change: Change, after: StalenessContext, renames: Renames) -> Iterator[Unbinding]:
    """Yield what the base of a change binds, and the change does not.

    `after` is the state after the change with the change's own configuration, where `change` itself
    has the base's.
    """
    if change.before:
        yield from _Comparison(change, after, renames).run()


class _Comparison:
    """The pages of the first state before a change, compared with the state after it."""

    def __init__(self, change: Change, after: StalenessContext, renames: Renames) -> None:
        self._change = change
        self._before = change.before[0]
        self._others = change.before[1:]
        self._after = after
        self._renames = renames

    def run(self) -> Iterator[Unbinding]:
        view = self._before.view
        if self._after is self._change.after:
            old_pages = view.pages_at(self._change.changes)
        else:  # the configuration may unbind a page that the change does not touch
            translated = view.document_paths() if self._before.rules.translations else ()
            paths = chain(self._change.changes, translated)
            old_pages = {page.filepath: page for page in view.bound_pages()}
            old_pages |= view.pages_at(list(paths))
        old_pages = {
            path: bound
            for path, page in old_pages.items()
            if (bound := _bound(page, self._before)).facts.references
        }
        present = self._after.view.pages_at(old_pages)
        for path, old in old_pages.items():
            page = present.get(path)
            if page and page.blob == old.blob and self._after is self._change.after:
                continue  # the mode changed
            yield from self._compare(old, page)

    def _compare(self, old: Page, page: Page | None) -> Iterator[Unbinding]:
        view, path = self._after.view, old.filepath
        if page is None:
            entry = view.entry(path)
            if entry is None or entry.is_directory:
                moved_to = self._renames.new_path(path) or self._renames.similar_path(path)
                if moved_to is None:
                    return  # deleted
                path = moved_to
                page = view.page(path)
        if self._is_taken_from_other(path):
            return
        if page is None:
            if sources := self._missing(old, ()):
                names = tuple(reference.literal for reference, _ in sources)
                yield Unbinding("no_page", path, old.filepath, names)
            return
        bound = _bound(page, self._after)
        references = bound.facts.references
        if not references and self._after.rules.is_record(page):
            names = tuple(reference.literal for reference in old.facts.references)
            yield Unbinding("record", path, old.filepath, names)
            return
        yield from self._compare_references(old, bound)

    def _compare_references(self, old: Page, page: Page) -> Iterator[Unbinding]:
        path, references = page.filepath, page.facts.references
        if self._is_another(old, page):
            return
        for reference, moved_to in self._missing(old, references):
            if not self._is_missing_in_other(path, reference):
                yield Unbinding(
                    "reference",
                    path,
                    old.filepath,
                    (reference.literal,),
                    moved_to=moved_to,
                    is_translation=reference.language is not None,
                )
        yield from self._compare_pins(old, page)

    def _is_another(self, old: Page, page: Page) -> bool:
        """Return whether a new page is but similar to a removed one: no source is common to them.

        Pages made from one template are similar.
        """
        if page.filepath == old.filepath or page.blob == old.blob or not page.facts.references:
            return False
        return _literals(page).isdisjoint(_literals(old)) and not any(
            self._covering(reference, page.facts.references) for reference in old.facts.references
        )

    def _compare_pins(self, old: Page, page: Page) -> Iterator[Unbinding]:
        by_literal = {reference.literal: reference for reference in page.facts.references}
        changed: list[tuple[SourceReference, SourceReference]] = []
        for reference in old.facts.references:
            if not reference.pin:
                continue
            same = by_literal.get(reference.literal)
            covering = [same] if same else self._covering(reference, page.facts.references)
            if covering and not any(new.pin for new in covering):
                if not self._is_unpinned_in_other(page.filepath, reference):
                    yield self._pin_loss("pin", old, page, reference, covering[0])
            elif same and same.pin != reference.pin:
                changed.append((reference, same))
        for reference, same in self._with_unknown_pins(changed):
            yield self._pin_loss("unknown_pin", old, page, reference, same)

    @staticmethod
    def _pin_loss(
        loss: Loss, old: Page, page: Page, reference: SourceReference, new: SourceReference
    ) -> Unbinding:
        return Unbinding(
            loss,
            page.filepath,
            old.filepath,
            (reference.literal,),
            new.line,
            new.pin or "",
            is_translation=reference.language is not None,
        )

    def _missing(
        self, old: Page, references: Sequence[SourceReference]
    ) -> list[tuple[SourceReference, FilePath | None]]:
        """Return the references that no other one replaces, with the new path of a moved source.

        A source that does not exist any more needs no reference, nor does one that another page of
        the change lists instead.
        """
        literals = {reference.literal for reference in references}
        absent = [
            reference
            for reference in old.facts.references
            if reference.literal not in literals and not self._covering(reference, references)
        ]
        if not absent:
            return []
        before = locate(self._before.view, set(absent))
        after = locate(self._after.view, set(absent))
        collections = self._after.rules.collections
        gone = self._gone_parts([after[r].source for r in absent if after[r].id])
        missing: list[tuple[SourceReference, FilePath | None]] = []
        for reference in absent:
            source = file_of(before[reference].source)
            moved: tuple[FilePath, ...] = ()
            if not collection_of(reference.source_path, collections):
                if before[reference].id is None or after[reference].source in gone:
                    continue
                if after[reference].id is None:
                    moved = self._moved_files(source)
                    if not moved or self._list_any(references, moved):
                        continue
            if self._is_followed(reference, source, old, references):
                continue
            if not self._is_listed_elsewhere(source, moved, old.filepath):
                missing.append((reference, moved[0] if moved else None))
        return missing

    def _covering(
        self, reference: SourceReference, references: Sequence[SourceReference]
    ) -> list[SourceReference]:
        """Return the references to the same file, to a part of it, or to a folder around it."""
        return [
            new
            for new in references
            if new.literal != reference.literal
            and (new.language is None) == (reference.language is None)
            and _overlap(_source(reference), _source(new))
        ]

    def _gone_parts(self, sources: Sequence[Source]) -> Collection[Source]:
        """Return the symbols and sections that their files do not have any more."""
        from ubp.index.parts import is_readable, part_lines  # 2 ms, for few changes

        parts = [s for s in sources if isinstance(s, PartSource) and is_readable(s)]
        if not parts:
            return ()
        lines = part_lines(self._after.view, parts)
        return {part for part in parts if not lines[part]}

    def _moved_files(self, source: PathSource | GlobSource) -> tuple[FilePath, ...]:
        """Return the new paths of the files of a source that does not exist any more."""
        removed = [path for path, entry in self._change.changes.items() if entry is None]
        files = [path for path in removed if source.matches(path)]
        return tuple(new for path in files if (new := self._renames.new_path(path)))

    @staticmethod
    def _list_any(references: Sequence[SourceReference], paths: Sequence[FilePath]) -> bool:
        return any(_source(new).matches(path) for new in references for path in paths)

    def _is_followed(
        self,
        reference: SourceReference,
        source: PathSource | GlobSource,
        old: Page,
        references: Sequence[SourceReference],
    ) -> bool:
        """Return whether the page lists the file to which the change moved code of the source.

        That file gained at least half of what the source lost, in bytes of equal lines.
        """
        known = _literals(old)
        added = [
            _source(new).path
            for new in references
            if new.literal not in known and (new.pin or not reference.pin)
        ]
        gained = [path for path in added if path in self._change.changes]
        if not gained or source.path not in self._change.changes:
            return False
        lost = self._lines(self._before, source.path) - self._lines(self._after, source.path)
        size = _size(lost)
        return size > 0 and any(
            _size(lost & (self._lines(self._after, path) - self._lines(self._before, path)))
            >= size * MIN_MOVED
            for path in gained
        )

    def _lines(self, context: StalenessContext, path: FilePath) -> Counter[bytes]:
        """Return how often a file has each line, without indentation; none of a folder."""
        entry = context.view.entry(path)
        if entry is None or not entry.is_file:
            return Counter()
        data = context.repository.read_blobs([entry.id])[entry.id] or b""
        return Counter(stripped for line in data.splitlines() if (stripped := line.strip()))

    def _is_listed_elsewhere(
        self, source: PathSource | GlobSource, moved: Sequence[FilePath], page: FilePath
    ) -> bool:
        """Return whether the change adds the source to another page."""
        return any(
            path != page and (_overlap(source, new) or any(new.matches(file) for file in moved))
            for path, new in self._added_references
        )

    @cached_property
    def _added_references(self) -> list[tuple[FilePath, PathSource | GlobSource]]:
        """The sources that pages list since the change, with the path that the page had before."""
        pages = self._after.view.pages_at(self._change.changes)
        origins = {path: self._renames.origin(path) or path for path in pages}
        old_pages = self._before.view.pages_at(set(origins.values()))
        added = []
        for path, page in pages.items():
            old = old_pages.get(origins[path])
            known = _literals(old) if old else set()
            added += [
                (origins[path], _source(reference))
                for reference in page.facts.references
                if reference.literal not in known
            ]
        return added

    def _with_unknown_pins(
        self, changed: Sequence[tuple[SourceReference, SourceReference]]
    ) -> list[tuple[SourceReference, SourceReference]]:
        """Return those pairs of an old and a new reference whose new pin is not an object here.

        In a shallow clone it may be one all the same, as that of a document of a collection.
        """
        own = [
            (old, new)
            for old, new in changed
            if not collection_of(new.source_path, self._after.rules.collections)
        ]
        repository = self._after.repository
        if not own or repository.is_shallow or repository.is_partial():
            return []
        names = sorted({new.pin for _, new in own if new.pin})
        known = resolve_objects(names, repository, has_commits=True)
        return [(old, new) for old, new in own if new.pin not in known]

    def _is_taken_from_other(self, path: FilePath) -> bool:
        """Return whether a merge has the file as the other side left it."""
        entry = self._after.view.entry(path)
        return any(other.view.entry(path) == entry for other in self._others)

    def _is_missing_in_other(self, path: FilePath, reference: SourceReference) -> bool:
        """Return whether the other side of a merge did without the reference already."""
        return any(reference.literal not in literals for literals, _ in self._other_sides(path))

    def _is_unpinned_in_other(self, path: FilePath, reference: SourceReference) -> bool:
        return any(reference.literal not in pinned for _, pinned in self._other_sides(path))

    def _other_sides(self, path: FilePath) -> Iterator[tuple[set[FilePath], set[FilePath]]]:
        """Yield what the page lists, and what of it has pins, in the other states of a merge."""
        for other in self._others:
            if page := other.view.page(path):
                references = _bound(page, other).facts.references
                yield {r.literal for r in references}, {r.literal for r in references if r.pin}


def _bound(page: Page, context: StalenessContext) -> Page:
    """Return a page with all that is verified in it: none of a record, and a page's original."""
    references = () if context.rules.is_record(page) else page.facts.references
    if context.rules.translations:
        from ubp.staleness.translations import as_translation  # few projects have any

        if translation := as_translation(page, context.rules.translations):
            references += translation.facts.references
    return page._replace(facts=page.facts._replace(references=references))


def _size(lines: Counter[bytes]) -> int:
    return sum(len(line) * count for line, count in lines.items())


def _literals(page: Page) -> set[FilePath]:
    return {reference.literal for reference in page.facts.references}


def _source(reference: SourceReference) -> PathSource | GlobSource:
    """Return the file, folder or glob that a reference means by its text."""
    return file_of(candidates(reference)[-1])


def _overlap(one: PathSource | GlobSource, other: PathSource | GlobSource) -> bool:
    """Return whether two sources are the same file, or one of them contains the other."""
    return one.overlaps(other.path) if isinstance(one, GlobSource) else other.overlaps(one.path)
