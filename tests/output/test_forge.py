"""Addresses of files and commits on forges and in editors."""

import pytest

from ubp.core.model import FilePath, ObjectId
from ubp.output.forge import Places, web_url

COMMIT = ObjectId("3f2a9c1d04ab3f2a9c1d04ab3f2a9c1d04ab3f2a")
PAGE, SOURCE = FilePath("docs/a b.md"), FilePath("src/a.py")


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("ssh://github.com/o/r.git", "https://github.com/o/r"),
        ("https://github.com/o/r.git", "https://github.com/o/r"),
        ("ssh://gitlab.example.org:2222/g/s/r.git", "https://gitlab.example.org/g/s/r"),
        ("http://gitea.local:3000/o/r", "http://gitea.local:3000/o/r"),
        ("git://codeberg.org/o/r.git", "https://codeberg.org/o/r"),
        ("ssh://example.org/o/r.git", ""),
    ],
)
def test_address_of_a_remote_is_one_for_browsers_if_the_host_is_known(address, url):
    assert web_url(address) == url


@pytest.mark.parametrize(
    ("url", "page", "line", "source", "commit"),
    [
        (
            "https://github.com/o/r",
            f"/blob/{COMMIT}/docs/a%20b.md",
            f"/blob/{COMMIT}/docs/a%20b.md?plain=1#L3",
            f"/blob/{COMMIT}/src/a.py#L3",
            f"/commit/{COMMIT}",
        ),
        (
            "https://gitlab.com/o/r",
            f"/-/blob/{COMMIT}/docs/a%20b.md",
            f"/-/blob/{COMMIT}/docs/a%20b.md?plain=1#L3",
            f"/-/blob/{COMMIT}/src/a.py#L3",
            f"/-/commit/{COMMIT}",
        ),
        (
            "https://codeberg.org/o/r",
            f"/src/commit/{COMMIT}/docs/a%20b.md",
            f"/src/commit/{COMMIT}/docs/a%20b.md?display=source#L3",
            f"/src/commit/{COMMIT}/src/a.py#L3",
            f"/commit/{COMMIT}",
        ),
        (
            "https://bitbucket.org/o/r",
            f"/src/{COMMIT}/docs/a%20b.md",
            f"/src/{COMMIT}/docs/a%20b.md#lines-3",
            f"/src/{COMMIT}/src/a.py#lines-3",
            f"/commits/{COMMIT}",
        ),
    ],
)
def test_pages_lines_and_commits_have_the_addresses_of_their_forge(url, page, line, source, commit):
    places = Places(url, COMMIT)
    found = [
        places.file_url(PAGE),
        places.file_url(PAGE, 3),
        places.file_url(SOURCE, 3),
        places.commit_url(COMMIT),
    ]
    assert found == [url + each for each in (page, line, source, commit)]


def test_editor_opens_files_of_the_checkout_and_commits_stay_on_the_forge():
    places = Places("https://github.com/o/r", COMMIT, editor="vscode", root="home/me/r")
    assert places.file_url(PAGE, 3) == "vscode://file/home/me/r/docs/a%20b.md:3"
    assert places._replace(editor="idea").file_url(SOURCE) == (
        "idea://open?file=/home/me/r/src/a.py&line=1"
    )
    assert places.commit_url(COMMIT) == f"https://github.com/o/r/commit/{COMMIT}"


def test_nothing_is_linked_without_a_forge_and_no_commit_that_it_does_not_have():
    assert (Places().file_url(PAGE), Places().commit_url(COMMIT)) == ("", "")
    places = Places("https://github.com/o/r", None, frozenset({COMMIT}))
    assert (places.file_url(PAGE), places.commit_url(COMMIT)) == ("", "")
