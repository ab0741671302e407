"""What else the index contains changes no rank: other versions, other branches, other pages."""

import random
import shutil

import pytest

from ubp.answers.search.fulltext_search import FulltextRequest
from ubp.answers.search.search import SearchRequest
from ubp.workspace import Workspace

WORDS = ("token", "session", "login", "cookie", "configure", "認証", "設定", "の")
QUERIES = (
    "token",
    "token login configured",
    "認証の設定",
    '"token session"',
    "tok*",
    "token AND login NOT cookie",
    "-cookie token session",
    "tags:a token",
)


def page(chance):
    words = " ".join(chance.choice(WORDS) for _ in range(chance.randint(3, 60)))
    return f"---\ntags: [{chance.choice('ab')}]\n---\n# {chance.choice(WORDS)}\n\n{words}.\n"


def answers(root, ref=None):
    """All ranks and scores, to the last digit."""
    with Workspace.open(str(root)) as workspace:
        return [
            (
                [(page.filepath, page.score) for page in found.results],
                [(hit.filepath, hit.rank) for hit in sections.results],
            )
            for query in QUERIES
            for found in [workspace.ask(SearchRequest(query, mode="fulltext", ref=ref))]
            for sections in [workspace.ask(FulltextRequest(query, ref=ref))]
        ]


@pytest.fixture
def history(repository):
    """Twelve commits, each of which changes five of twenty pages and adds one."""
    chance = random.Random(3)
    commits = []
    for number in range(12):
        repository.write(f"new{number}.md", page(chance))
        for changed in chance.sample(range(20), 20 if not number else 5):
            repository.write(f"{changed}.md", page(chance))
        commits.append(repository.commit())
    return repository, commits


def test_ranks_are_the_same_with_an_index_of_all_versions_as_with_an_empty_one(history):
    repository, commits = history
    expected = answers(repository.root)
    shutil.rmtree(repository.index.parent)
    for commit in commits:
        answers(repository.root, commit)
    assert answers(repository.root) == expected


def test_ranks_in_an_older_version_and_in_the_work_tree_do_not_count_what_they_lack(history):
    repository, commits = history
    old = answers(repository.root, commits[4])
    shutil.rmtree(repository.index.parent)
    repository.write("3.md", page(random.Random(9)))
    repository.remove("4.md")
    edited = answers(repository.root)
    assert answers(repository.root, commits[4]) == old
    shutil.rmtree(repository.index.parent)
    repository.commit()
    assert answers(repository.root) == edited
