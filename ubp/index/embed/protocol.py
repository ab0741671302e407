"""What an embedding model is, wherever it runs: in this process, or on a server of the user's."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from ubp.index.embed.known import Scale
from ubp.index.embed.vectors import Matrix


class EmbeddingModel(Protocol):
    """A model that gives texts vectors; those with equal fingerprints give equal ones.

    `max_unasked` is the number of texts that a search may embed, None for any. What asks of one
    that is not `is_local` costs time and money.
    """

    is_local: bool
    fingerprint: bytes
    scale: Scale
    max_unasked: int | None

    @property
    def name(self) -> str:
        """The name as configured."""

    @property
    def dimensions(self) -> int:
        """The number of components of a vector."""

    def is_current(self) -> bool:
        """Return whether the model that is configured is still this one."""

    def text_of(self, title: str | None, heading_path: Sequence[str], body: str) -> str:
        """Return the text that is embedded for a chunk."""

    def encode_query(self, text: str) -> Matrix:
        """Return the vector of a query."""

    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of several queries."""

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of texts that `text_of` returned."""

    def overlaps(self, text: str, passages: Sequence[str]) -> list[float]:
        """Return how much of a text's tokens each passage has, or near ones; []: unknown."""

    def encode_parts(self, texts: Sequence[str]) -> Iterator[tuple[Sequence[int], Matrix]]:
        """Yield the vectors of some texts and their numbers, as soon as they are known."""
