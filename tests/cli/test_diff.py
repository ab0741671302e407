"""`ubp diff`: two versions of this repository and of collections, in three formats."""

from types import SimpleNamespace

import pytest


@pytest.fixture
def versions(repository):
    repository.write("docs/a.md", "# Title\n\n## Part {#Own}\n\nIt is never late for a *change*.\n")
    repository.commit()
    repository.git("tag", "v1")
    repository.write("docs/a.md", "# Title\n\n## Part {#Own}\n\nIt is often late for a change.\n")
    repository.commit()
    return repository


def test_diff_text_shows_words_as_git_does(ubp, versions):
    answer = ubp(versions, "diff", "v1..HEAD")
    old, new = versions.git("rev-parse", "v1")[:10], versions.head()[:10]
    assert answer.out == (
        "changed  docs/a.md#Own  Title > Part\n"
        "  Part It is [-never-] {+often+} late for a change.\n\n"
        f"{old}..{new}: 1 section: 1 changed.\n"
    )


def test_diff_json_has_positions_and_words(asked, versions):
    record = asked(versions, "diff", "v1..HEAD", "docs/a.md#Own")
    change = record["changes"][0]
    assert change["new"] == {
        "filepath": "docs/a.md",
        "id": "Own",
        "heading_path": ["Title", "Part"],
        "line": 3,
    }
    assert {"kind": "added", "text": "often"} in change["words"]


def test_diff_markdown_is_a_list(ubp, versions):
    answer = ubp(versions, "diff", "v1..", "docs/a.md", "--format", "markdown")
    assert answer.out.endswith(
        "- **changed** docs/a.md\\#Own  Title \\> Part\n"
        "  Part It is ~~never~~ **often** late for a change.\n"
    )


def test_paths_are_relative_to_the_working_directory(versions, ubp):
    below = SimpleNamespace(root=versions.root / "docs")
    assert "changed" in ubp(below, "diff", "v1..HEAD", "a.md").out


@pytest.mark.parametrize("span", ["v1", "..v1", "v1...HEAD"])
def test_argument_that_is_not_two_versions_is_refused(ubp, versions, span):
    answer = ubp(versions, "diff", span)
    assert answer.status == 2
    assert f"Not two versions: {span}." in answer.err


def test_revision_with_an_at_sign_is_not_a_collection(ubp, versions):
    assert ubp(versions, "diff", "main@{1}..HEAD").status == 0


def test_versions_of_a_collection_are_compared(
    ubp, versions, new_repository, tmp_path, monkeypatch
):
    monkeypatch.setenv("UBP_COLLECTIONS", str(tmp_path / "collections"))
    ubp(versions, "collections", "add", "spec", versions.root.as_uri(), "--yes")
    answer = ubp(new_repository("elsewhere"), "diff", "spec@v1..HEAD")
    assert answer.status == 2
    assert "The version v1 of the collection spec was not fetched yet." in answer.err
    assert "ubp collections sync spec@v1" in answer.err
    ubp(versions, "collections", "sync", "spec@v1")
    answer = ubp(versions, "diff", "spec@v1..HEAD")
    assert "{+often+}" in answer.out
