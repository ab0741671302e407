"""The error for a PATH that is not a page."""

import pytest

from ubp.core.errors import PageNotFoundError
from ubp.index.select import select_pages
from ubp.index.session import Session


@pytest.fixture
def error(repository):
    """Return the error of a PATH in a repository with one page, `docs/installing.md`."""
    repository.write("docs/installing.md", "# Installing\n")
    repository.commit()

    def ask(path):
        with (
            Session.open(str(repository.root)) as session,
            pytest.raises(PageNotFoundError) as info,
        ):
            select_pages([path], session.view(), session.repository)
        return info.value

    return ask


def test_similar_page_is_named_before_a_branch(repository, error):
    repository.git("branch", "install")
    repository.git("branch", "v2")
    assert error("install").near == ("docs/installing.md",)
    assert error("install").hint == "Did you mean docs/installing.md?"
    assert error("v2").cause == "It is a revision."


def test_revision_is_what_git_takes_for_one(repository, error):
    repository.commit(message="words of a message")
    assert error(":/words").cause == "It is a revision."
    assert error("HEAD:docs").cause == "No document in this snapshot has this path."


def test_link_is_neither_folder_nor_page(repository, error):
    (repository.root / "latest").symlink_to("docs")
    repository.write("src/a.py", "a\n")
    repository.commit()
    assert error("latest").cause == "It is not a page."
    assert error("latest/installing.md").cause == (
        "latest is a submodule or a symbolic link, in which Git lists no files."
    )
    assert error("latest/installing.md").near == ()
    assert error("src").cause == "No page is in it."
    assert error("src/a.py").cause == "It is a file that is not a page."
