"""Galleries among what was found: many pages of one folder that fit a query equally well. Pure.

A query that means one of them finds it clearly before the others. One that finds them all, such as
"install a theme" among a hundred themes, is about what they have in common, which the manual says.
"""

from collections.abc import Sequence

from ubp.core.model import FilePath, repository_of
from ubp.search.fusion import Fused
from ubp.search.lexical import FOLDER_PAGES

# Where of the first EXAMINED documents at least MIN_FOUND are in one folder, and MIN_EQUAL of these
# have EQUAL of the score of the best of them, the query means none of them: they get SHARE of their
# scores. Mean reciprocal rank of the manual's page (benchmarks/search/galleries.py), without, with
# 0.9, with 0.8: zola's manual beside 129 themes 0.849 0.875 0.879, obsidian-hub's guides beside
# 6,143 plugins, themes and people 0.913 0.955 0.993. Of sets whose answers may be in such folders:
# links of cpprefjp 0.933 0.933 0.933, of obsidian-hub 0.758 0.760 0.751, of kubernetes/community
# 0.474 0.470 0.468, headings of js-primer 0.612 0.615 0.615, places of hugoDocs 0.573 0.573 0.576.
# With 20 instead of MIN_FOUND obsidian-hub has 0.932, with 0.9 instead of EQUAL zola 0.849.
EXAMINED, MIN_FOUND = 100, 12
MIN_EQUAL, EQUAL = 5, 0.8
SHARE = 0.9


def demote_galleries(found: Sequence[Fused]) -> Sequence[Fused]:
    """Return what was found, best first, with lower scores for the pages of galleries.

    All pages of a folder keep their order.
    """
    folders: dict[tuple[str, str], list[Fused]] = {}
    for document in found[:EXAMINED]:
        folders.setdefault(_folder_of(document.path), []).append(document)
    galleries = {folder for folder, documents in folders.items() if _is_gallery(documents)}
    if not galleries or len(folders) == 1:
        return found
    lowered = [
        document._replace(score=document.score * SHARE)
        if _folder_of(document.path) in galleries
        else document
        for document in found
    ]
    return sorted(lowered, key=lambda document: -document.score)  # stable


def _is_gallery(documents: Sequence[Fused]) -> bool:
    least = documents[0].score * EQUAL
    return len(documents) >= MIN_FOUND and documents[MIN_EQUAL - 1].score >= least


def _folder_of(path: FilePath) -> tuple[str, str]:
    """Return the repository, and the folder that has a page, or of an index the folder above."""
    folder, _, name = path.rpartition("/")
    if name.rpartition(".")[0].lower() in FOLDER_PAGES:
        folder = folder.rpartition("/")[0]
    return repository_of(path), folder
