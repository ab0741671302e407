"""The definitions and sections of files as digests: two versions are compared without their text.

Names are digests, too: that of a heading is text of its page.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice

from ubp.core.config import is_document
from ubp.core.interruption import with_checkpoints
from ubp.core.model import FilePath, ObjectId
from ubp.core.source import DIGEST_BYTES, Part
from ubp.index.parts import find_all_parts, parser_label
from ubp.index.session import Session
from ubp.index.view import View

FILES_PER_BATCH = 64  # whose bytes are in memory
MAX_PARTS = 5_000  # of a file; one with more is compared as a whole
MAX_NAMES = 16  # of a part


@dataclass(frozen=True, slots=True)
class PartDigests:
    """A definition or section: the digests of its names, of its content, and without its name.

    The first name is the qualified one, or the own id or slug of a heading.
    """

    names: tuple[str, ...]
    digest: str
    nameless: str


@dataclass(frozen=True, slots=True)
class FileParts:
    """The parts of a blob, in order, as a parser of this version (`parser`) finds them.

    None: it is too large, has too many of them, or takes too long to parse.
    """

    blob: ObjectId
    parser: str
    parts: tuple[PartDigests, ...] | None


def name_digest(name: str) -> str:
    """Return the digest of a part's name."""
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).hexdigest()


def parsers_of(session: Session, view: View) -> dict[str, dict[ObjectId, FilePath]]:
    """Return the blobs of a view whose parts can be found, by the parser, each with a path.

    Of files in Markdown these are the documents; what the configuration excludes is left out.
    """
    found: dict[str, dict[ObjectId, FilePath]] = {}
    for path, entry in with_checkpoints(view.files()):
        label = parser_label(path) if entry.is_file and not session.is_hidden(path) else None
        if label and (not label.startswith("markdown ") or is_document(session.config, path)):
            found.setdefault(label, {}).setdefault(entry.id, path)
    return found


def find_parts_of(
    session: Session, parser: str, blobs: Mapping[ObjectId, FilePath]
) -> Iterator[FileParts]:
    """Yield the parts of those of these blobs that are present, each with a path of it."""
    remaining = iter(blobs.items())
    while batch := list(islice(remaining, FILES_PER_BATCH)):
        contents = session.repository.read_blobs([blob for blob, _ in batch])
        present = [
            (blob, path, data) for blob, path in batch if (data := contents[blob]) is not None
        ]
        answers = find_all_parts([(path, data) for _, path, data in present])
        for (blob, _, _), parts in zip(present, answers, strict=True):
            yield FileParts(blob, parser, _digests(parts, parser))


def _digests(parts: Sequence[Part] | None, parser: str) -> tuple[PartDigests, ...] | None:
    if parts is None or len(parts) > MAX_PARTS:
        return None
    is_section = parser.startswith("markdown ")
    return tuple(
        PartDigests(
            tuple(map(name_digest, part.names if is_section else _suffixes(part.names[0]))),
            part.digest,
            part.nameless,
        )
        for part in parts
    )


def _suffixes(name: str) -> Collection[str]:
    """Return `Session.login` and `login`: a reference may name a definition by either."""
    words = name.split(".")
    return [".".join(words[start:]) for start in range(min(len(words), MAX_NAMES))]
