"""The error for a PATH that is not a page."""

import pytest

from ubp.core.errors import PageNotFoundError
from ubp.index.select import select_pages, shorten_selection
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


@pytest.mark.parametrize(
    ("prefix", "arguments", "short"),
    [
        ("", ["docs/a.md", "docs/b.md", "docs/in/c.md"], ("docs",)),
        ("", ["docs/b.md", "docs/a.md"], ("docs/*.md",)),
        ("", ["docs/a.md", "docs/in/c.md"], ("docs/a.md", "docs/in/c.md")),
        ("", ["docs/a.md", "docs/b.md", "docs/in/c.md", "README.md"], (".",)),
        ("docs", ["a.md", "b.md"], ("*.md",)),
        ("docs", ["a.md", "b.md", "in/c.md"], (".",)),
        ("docs/in", ["../a.md", "../b.md", "../../README.md"], ("../*.md", "../../README.md")),
    ],
)
def test_shorter_arguments_select_the_same_pages(prefix, arguments, short, repository):
    for path in ("docs/a.md", "docs/b.md", "docs/in/c.md", "docs/in/code.py", "README.md"):
        repository.write(path, "# Page\n")
    repository.commit()
    with Session.open(str(repository.root / prefix)) as session:
        view, at = session.view(), session.repository
        assert shorten_selection(arguments, view, at) == short
        assert select_pages(short, view, at) == select_pages(arguments, view, at)
