"""The meaning leg: chunks close in meaning to what a query says."""

from collections.abc import Collection

from ubp.indexing.meaning import Meaning
from ubp.model import FilePath
from ubp.search.leg import Leg, Place, make_leg
from ubp.search.query import Query

# Cosines in the bundled model. Of the paragraphs that answer a question of XQuAD a twentieth are
# below 0.21 and a tenth below 0.26, of JSQuAD 0.32 and 0.37. Of questions about anything else half
# find nothing above 0.22, and a tenth nothing above 0.15. What is farther than that is not told
# unless it holds the words; what is not CLOSE may be chance, and says so.
FAR, CLOSE = 0.15, 0.25


def find_meaning(
    meaning: Meaning, query: Query, limit: int, within: Collection[FilePath] | None
) -> Leg:
    """The best `limit` chunks, in the pages `within` if these are given."""
    if not query.wording:
        return Leg()
    hits = meaning.nearest(query.wording, limit, within)
    places = [Place(hit.path, hit.number, hit.score) for hit in hits]
    return make_leg(places, is_cut=len(hits) == limit and hits[-1].score >= FAR)
