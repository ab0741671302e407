"""What a leg of a search finds: places in pages, and a score for each page."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from ubp.model import FilePath


class Place(NamedTuple):
    """A chunk of a page, or (`number` None) a page as a whole; larger scores are better."""

    path: FilePath
    number: int | None
    score: float


class Leg(NamedTuple):
    """What a leg finds, the best places first; a page's score is its best place's.

    `is_cut`: it would find more if it were asked for more.
    """

    places: tuple[Place, ...] = ()
    scores: Mapping[FilePath, float] = {}
    is_cut: bool = False

    def within(self, paths: Collection[FilePath] | None) -> "Leg":
        """What of it lies in these pages; None: all of it."""
        if paths is None:
            return self
        return make_leg((one for one in self.places if one.path in paths), is_cut=self.is_cut)


def make_leg(places: Iterable[Place], *, is_cut: bool = False) -> Leg:
    """The leg with these places, the best first."""
    found = tuple(places)
    scores: dict[FilePath, float] = {}
    for place in found:
        scores.setdefault(place.path, place.score)
    return Leg(found, scores, is_cut)
