"""Sources renamed in a page's front matter in place: no byte is touched but their paths'."""

from collections.abc import Iterator, Mapping, Sequence

from ubp.errors import PageError
from ubp.model import FilePath
from ubp.parse.edits import Edit, EditError, Text
from ubp.parse.page import parse_page, read_head
from ubp.parse.references import Named, find_references
from ubp.parse.yaml_tree import write_word


def rename_sources(data: bytes, keys: Sequence[str], renames: Mapping[FilePath, FilePath]) -> bytes:
    """Return the page with these sources renamed, from `literal` paths (see SourceReference).

    A tail such as `#symbol` stays, and so do quotes.

    Raises:
        PageError: the page names no such source, or cannot be edited in place.
    """
    found = read_head(data, keys)
    named = {one.reference.literal: one for one in find_references(found, keys)[0]}
    if lacking := sorted(renames.keys() - named.keys()):
        raise PageError(f"The page does not name {', '.join(lacking)}.")
    text = Text(found.text)
    try:
        edits = list(_edits(text, {named[old]: new for old, new in renames.items()}))
    except EditError as error:
        raise PageError("The sources cannot be renamed in place.", cause=str(error)) from error
    result = text.apply(edits).encode("utf-8", "surrogateescape") + data[found.body :]
    if not _is_as_wanted(data, result, keys, renames):
        raise PageError(
            "The sources cannot be renamed in place.",
            cause="The page would then say something else than it does now.",
        )
    return result


def _edits(text: Text, renames: Mapping[Named, FilePath]) -> Iterator[Edit]:
    for one, path in renames.items():
        source = one.place.source
        if source.is_shared:
            raise EditError("It stands behind an anchor (&) or an alias (*), so others share it.")
        if source.style in {"|", ">"} or source.tag:
            raise EditError("Its path is a block of text, or has a tag.")
        written = path + (one.reference.fragment or "")
        yield Edit(source.start, text.end(source), write_word(written, source.style))


def _is_as_wanted(
    data: bytes, result: bytes, keys: Sequence[str], renames: Mapping[FilePath, FilePath]
) -> bool:
    before, after = parse_page(data, keys), parse_page(result, keys)
    expected = [
        (renames.get(one.literal, one.source_path), one.fragment, one.line, one.pin, one.reason)
        for one in before.references
    ]
    found = [
        (one.source_path, one.fragment, one.line, one.pin, one.reason) for one in after.references
    ]
    return (
        found == expected
        and after._replace(references=()) == before._replace(references=())
        and data[read_head(data, keys).body :] == result[read_head(result, keys).body :]
    )
