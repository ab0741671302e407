"""Several repositories are searched as one: the answer is that of a repository with all pages."""

import pytest

from ubp.core.model import plain_path, repository_of
from ubp.index.session import Session
from ubp.search.pages import PageQuery
from ubp.search.run import search_pages

PAGES = {
    "bread": {
        "cut.md": "# Slices of bread\n\nBread is cut into slices. See [dough](dough.md).\n",
        "dough.md": "# Dough\n\nFlour and water. The maps of a baker are recipes.\n",
        "sub/guide.md": "---\ntags: [kitchen]\n---\n# Guide\n\nHow to bake.\n",
    },
    "maps": {
        "maps.md": "# Maps\n\nA map has keys and values. See [slices](slices.md).\n",
        "slices.md": "# Slices\n\nA slice has a length.\n\n## Growing\n\nUse `append`.\n",
        "ja.md": "# 認証\n\nトークンの有効期限が切れると再発行する。\n",
        "sub/guide.md": "# Guide\n\nHow to keep keys.\n",
    },
}
FOLDERS = {"bread": "p", "maps": "q"}
QUESTIONS = [
    "slices",
    "map keys bread",
    "how does one bake a loaf?",
    "有効期限",
    "guide",
    "the keys of the maps",
    '"flour and water"',
    "sli*",
    "slices -bread",
    "tag:kitchen bake",
    "path:sub/ keys",
    "ppen",
    "dough",
]


@pytest.fixture(scope="module")
def sessions(repository_in, tmp_path_factory):
    """A repository of all pages, and one for each folder of it."""
    root = tmp_path_factory.mktemp("together")
    together = repository_in(root / "all")
    apart = {name: repository_in(root / name) for name in PAGES}
    for folder, pages in PAGES.items():
        for path, text in pages.items():
            together.write(f"{FOLDERS[folder]}/{path}", text)
            apart[folder].write(path, text)
    opened = []
    for repository in (together, *apart.values()):
        repository.commit()
        opened.append(Session.open(str(repository.root)))
    yield opened
    for session in opened:
        session.close()


@pytest.mark.parametrize("mode", ["fulltext", "semantic", "hybrid"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_repositories_that_are_searched_as_one_answer_as_one(sessions, question, mode):
    whole, first, second = sessions
    query = PageQuery(question, mode, limit=20)
    expected = search_pages(whole, query).answer
    found = search_pages(first, query, others=[second]).answer
    folders = {".": "p", ".@1": "q"}

    def located(hit):
        path = f"{folders[repository_of(hit.page.filepath)]}/{plain_path(hit.page.filepath)}"
        return path, hit.name, hit.reason, hit.matched

    assert expected.pages or mode == "semantic"
    assert [located(hit) for hit in found.pages] == [
        (hit.page.filepath, hit.name, hit.reason, hit.matched) for hit in expected.pages
    ]
    scores = [hit.score for hit in expected.pages]
    assert [hit.score for hit in found.pages] == pytest.approx(scores, abs=1e-6)
    assert (found.total, found.is_exact) == (expected.total, expected.is_exact)
