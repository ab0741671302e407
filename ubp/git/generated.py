"""Which files `.gitattributes` calls generated or somebody else's."""

from collections.abc import Collection, Iterator

from ubp.git.records import path_of, raw_of
from ubp.git.repository import Repository
from ubp.model import FilePath

ATTRIBUTES = ("linguist-generated", "linguist-vendored")  # as GitHub hides them in diffs
YES = frozenset({b"set", b"true"})


def generated_files(repository: Repository, paths: Collection[FilePath]) -> frozenset[FilePath]:
    """Those of these files; attributes are read from the work tree, whatever is asked about."""
    stdin = b"".join(raw_of(path) + b"\0" for path in paths)
    output = repository.run("check-attr", "-z", "--stdin", *ATTRIBUTES, stdin=stdin)
    return frozenset(_told(output))


def _told(output: bytes) -> Iterator[FilePath]:
    tokens = iter(output.split(b"\0"))
    for path, _, value in zip(tokens, tokens, tokens, strict=False):
        if value in YES:
            yield path_of(path)
