"""Whether a query is in another language than the pages it is asked of."""

import re

from ubp.indexing.fulltext import FullText
from ubp.search.query import Query
from ubp.search.terms import Term

# The commonest word of Japanese: of its sections nearly all have it, of others none.
OF_JAPANESE, MOST_SECTIONS = Term("の"), 1 / 2


def is_foreign(full_text: FullText, query: Query) -> bool:
    """Whether it is English, two plain words at least, and most sections are Japanese.

    Names from code (`std::vector`, useState, JSON) are at home in any language. What is Japanese
    finds next to no words of English pages, and needs no care.
    """
    if not _ENGLISH.fullmatch(query.wording):
        return False
    return full_text.frequency(OF_JAPANESE.expression) > full_text.size() * MOST_SECTIONS


_PLAIN = r"[A-Z]?[a-z]+(?:[-'][A-Za-z][a-z]*)*"
_ENGLISH = re.compile(f"{_PLAIN}(?: {_PLAIN})+")
