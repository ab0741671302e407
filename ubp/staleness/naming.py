"""Which pages name which sources, for many questions about one snapshot."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from ubp.index import View
from ubp.model import Assessment, FilePath, Page, SourceReference
from ubp.paths import Glob
from ubp.staleness.affected import meets
from ubp.staleness.reference import Located, Source, locate

Judge = Callable[[Collection[FilePath]], Mapping[FilePath, Assessment]]


class Naming(NamedTuple):
    """A page names a source; `moved_to` is where that stands, if not where the page says."""

    page: FilePath
    reference: SourceReference
    source: Source
    moved_to: FilePath | None = None


class Namings:
    """The references of a snapshot's pages, by what they name; those to hidden sources apart."""

    def __init__(self, namings: Collection[Naming]) -> None:
        self._all = tuple(namings)
        self._paths: dict[FilePath, list[Naming]] = {}
        self._globs: list[tuple[Glob, Naming]] = []
        for one in self._all:
            if one.source.pattern:
                self._globs.append((Glob(one.source.pattern), one))
            else:
                self._paths.setdefault(one.moved_to or one.source.path, []).append(one)

    def meeting(self, path: FilePath) -> list[Naming]:
        """Those that name a path, a folder around it, a file below it, or a glob for it.

        It need not exist: what moved away is named by where it stood and by where it stands.
        """
        return [
            one
            for one in self._all
            if meets(one.source, path) or (one.moved_to and meets(Source(one.moved_to), path))
        ]

    def covering(self, path: FilePath) -> Iterator[Naming]:
        """Those that name a file, a folder around it, or a glob for it."""
        at = path
        while at:
            yield from self._paths.get(at, ())
            at = FilePath(at.rpartition("/")[0])
        yield from (one for glob, one in self._globs if glob.matches(path))

    def is_described(self, path: FilePath) -> bool:
        """Whether a page names a file, a folder around it, or a glob for it."""
        return next(self.covering(path), None) is not None


def read_namings(view: View, is_hidden: Callable[[FilePath], bool], judge: Judge) -> Namings:
    """Read what the pages name. `judge` is asked about pages whose sources do not stand there."""
    pages = [page for page in view.bound_pages() if page.facts.references]
    located = locate(view, {reference for page in pages for reference in page.facts.references})
    lost = [page.filepath for page in pages if _has_lost(page, located)]
    moved = {
        (path, answer.reference): answer.moved_to
        for path, one in (judge(lost) if lost else {}).items()
        for answer in one.references
    }
    return Namings(
        [
            Naming(
                page.filepath,
                reference,
                located[reference].source,
                moved.get((page.filepath, reference)),
            )
            for page in pages
            for reference in page.facts.references
            if not is_hidden(located[reference].source.name)
        ]
    )


def _has_lost(page: Page, located: Mapping[SourceReference, Located]) -> bool:
    return any(located[reference].id is None for reference in page.facts.references)
