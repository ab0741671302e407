"""The reverse question: which pages describe these files."""

from collections.abc import Sequence

from ubp.index import View
from ubp.model import FilePath
from ubp.paths import Glob, is_glob
from ubp.staleness.reference import Source, covers, locate
from ubp.staleness.report import Affected


def find_affected(view: View, paths: Sequence[FilePath]) -> tuple[Affected, ...]:
    """The pages that name one of these files, a folder around it, a file below it, or a glob.

    The files need not exist: what was deleted affects its pages most of all.
    """
    pages = view.bound_pages()
    located = locate(view, {reference for page in pages for reference in page.facts.references})
    meeting = {
        reference
        for reference, here in located.items()
        if any(meets(here.source, path) for path in paths)
    }
    affected = (
        Affected(page, tuple(r for r in page.facts.references if r in meeting)) for page in pages
    )
    return tuple(one for one in affected if one.references)


def meets(source: Source, path: FilePath) -> bool:
    """Whether a source is a file, lies below it or around it, or has it in common with a glob."""
    if covers(source, [path]):
        return True
    if is_glob(path) and not source.pattern:
        return Glob(path).matches(source.path)
    is_around = source.path == path and bool(source.pattern)
    return not path or is_around or source.path.startswith(path + "/")
