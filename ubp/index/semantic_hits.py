"""What a search by meaning finds, in a module that loads neither numpy nor the model's library."""

from typing import NamedTuple

from ubp.core.model import FilePath, ObjectId


class SimilarChunk(NamedTuple):
    """A chunk of a document and its cosine with a text, from -1 to 1."""

    path: FilePath
    blob: ObjectId
    number: int
    score: float


class SemanticHit(NamedTuple):
    """The same with its location.

    Lines count from 1, both ends included; the bytes from `byte_start` to `byte_end` are its text.
    """

    path: FilePath
    blob: ObjectId
    number: int
    score: float
    heading_path: tuple[str, ...]
    line_start: int
    line_end: int
    byte_start: int
    byte_end: int
