"""Find the pages of all readable repositories that describe a source."""

from ubp.answers.hub.impact import HubImpactRecord, HubImpactRequest, read_source
from ubp.code.symbols import normalize_symbol
from ubp.core.model import FilePath
from ubp.core.paths import ancestors
from ubp.core.source import LINES, PartSource, possible_sources
from ubp.core.text import slug
from ubp.hub.database import Connection
from ubp.hub.pages import describing_records
from ubp.hub.references import (
    StoredReference,
    find_files,
    find_references,
    find_tips,
    former_paths,
    is_folder,
    tip_states,
)
from ubp.hub.repositories import all_names

# References that may overlap: they name the path, something below it, or something above it; the
# few patterns are compared one by one.
_CONDITION = """
(x.repository = any(%(names)s) or x.repository = '' and x.ref = %(ref)s)
and (%(is_all)s or x.path = any(%(around)s) or x.path ~ '[*?[]'
     or exists (select from unnest(%(paths)s::text[]) as path
                where starts_with(x.path, path || '/')))
"""


def run(connection: Connection, reader: str, request: HubImpactRequest) -> HubImpactRecord:
    """Return the references to a source, and what became of it at the tip.

    Raises:
        BadArgumentError: the source names no repository.
    """
    asked, path, fragment = read_source(request.source)
    name, names = all_names(connection, reader, asked)
    ref = find_tips(connection, reader, [name]).get(name)
    former: tuple[str, ...] = ()
    exists = None
    if ref is not None:
        former = former_paths(connection, ref, path) if path else ()
        exists = bool(find_files(connection, reader, [(name, path)])) or is_folder(
            connection, ref, path
        )
    paths = [path, *former]
    found = find_references(
        connection,
        reader,
        _CONDITION,
        {
            "names": names,
            "ref": ref,
            "is_all": not path,
            "paths": paths,
            "around": [*paths, *(folder for each in paths for folder in ancestors(each))],
        },
    )
    overlapping = [
        reference
        for reference in found
        if any(overlaps(reference, each, fragment) for each in paths)
    ]
    shown = overlapping[: request.limit]
    states = tip_states(connection, reader, shown)
    return HubImpactRecord(
        repository=name,
        path=f"{path}#{fragment}" if fragment else path,
        exists=exists,
        former_paths=former,
        pages=describing_records(connection, reader, shown, states),
        total=len(overlapping),
        truncated_count=len(overlapping) - len(shown),
    )


def overlaps(reference: StoredReference, path: str, fragment: str) -> bool:
    """Return whether a reference has something in common with a file, a folder, or a part."""
    suffix = f"#{reference.fragment}" if reference.fragment else None
    sources = possible_sources(FilePath(reference.path), suffix)
    if path and not any(source.overlaps(path) for source in sources):
        return False
    part = sources[0]
    if not fragment or not isinstance(part, PartSource) or part.path != path:
        return True
    return is_named_alike(part.fragment, fragment, is_section=part.kind == "section")


def is_named_alike(one: str, other: str, *, is_section: bool) -> bool:
    """Return whether two parts are the same by their names, or one is in the other.

    Lines are compared with nothing: they may be those of any part.
    """
    if LINES.fullmatch(one) or LINES.fullmatch(other):
        return True
    if is_section:
        return slug(one) == slug(other)
    names = sorted((normalize_symbol(name).split(".") for name in (one, other)), key=len)
    short, long = names
    places = range(len(long) - len(short) + 1)
    return any(long[place : place + len(short)] == short for place in places)
