"""Files that a link to nothing leads to but for a typing error in one name of its path."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ubp.core.model import FilePath
from ubp.core.paths import normalize_path, without_page_suffix
from ubp.core.typos import meant_name
from ubp.index.link_graph import GraphEdge
from ubp.index.view import View
from ubp.markdown.resolve import is_from_source, source_folders
from ubp.search.graph import Graph


class _Gap(NamedTuple):
    """A path without one of its names."""

    place: int
    others: tuple[str, ...]


_NamesByGap = Mapping[_Gap, Mapping[str, list[FilePath]]]


class Misspelt:
    """The files of a snapshot by the names in their paths."""

    def __init__(self, view: View, graph: Graph) -> None:
        self._view = view
        self._graph = graph
        self._names: dict[str, _NamesByGap] = {}

    def meant_paths(self, edge: GraphEdge) -> tuple[FilePath, ...]:
        """Return the files of the page's site of which a link has one name misspelt."""
        target, site = edge.link.target, self._graph.sites.of(edge.source)
        folders = [edge.source.rpartition("/")[0]]
        if target.startswith("/"):
            folders = ["", *(root.folder for root in site.roots)] if site else [""]
        elif site and is_from_source(edge.link):
            folders = [*source_folders(target, site)]
        written = (normalize_path(f"{folder}/{target}".lstrip("/")) for folder in folders)
        found = {other for path in written if path for other in self._near(path)}
        return tuple(
            sorted(
                path for path in found if path != edge.source and self._graph.sites.of(path) == site
            )
        )

    def _near(self, path: FilePath) -> Iterator[FilePath]:
        """Yield the files whose paths differ from a path by a typing error in one name."""
        bare, suffix = _split(path)
        names = self._names_of(suffix)
        for gap, name in _gaps(bare):
            siblings = names.get(gap, {})
            if meant := meant_name(name, siblings):
                yield from siblings[meant]

    def _names_of(self, suffix: str) -> _NamesByGap:
        """Return the names of the files with a suffix, "" for pages."""
        if suffix not in self._names:
            paths: Iterable[FilePath] = self._view.document_paths()
            if suffix:
                paths = (path for path, _ in self._view.files() if path.endswith(suffix))
            names: dict[_Gap, dict[str, list[FilePath]]] = {}
            for path in paths:
                for gap, name in _gaps(_split(path)[0]):
                    names.setdefault(gap, {}).setdefault(name, []).append(path)
            self._names[suffix] = names
        return self._names[suffix]


def _split(path: FilePath) -> tuple[str, str]:
    """Return a path without its suffix, and the suffix; that of a page may be left out."""
    bare = without_page_suffix(path.rstrip("/"))
    name = bare.rpartition("/")[2]
    if bare != path or "." not in name.lstrip("."):
        return bare, ""
    suffix = name[name.rindex(".") :]
    return bare.removesuffix(suffix), suffix


def _gaps(bare: str) -> Iterator[tuple[_Gap, str]]:
    names = bare.split("/")
    for place, name in enumerate(names):
        yield _Gap(place, (*names[:place], *names[place + 1 :])), name
