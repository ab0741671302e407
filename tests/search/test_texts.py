"""Texts of pages that are shown again: read once, and as in each snapshot."""

import pytest

from ubp.index.session import Target
from ubp.index.view import View
from ubp.search import results as texts
from ubp.search.results import find_linked, read_texts
from ubp.workspace import Workspace


@pytest.fixture
def workspace(repository):
    for name in "abc":
        repository.write(f"{name}.md", f"---\ntags: [{name}]\n---\n# Page {name}\n\nIts text.\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as opened:
        yield opened


@pytest.fixture
def read(monkeypatch):
    """The paths whose bytes were asked for."""
    asked = []
    read_bytes = View.read

    def count(view, paths):
        asked.extend(paths)
        return read_bytes(view, paths)

    monkeypatch.setattr(View, "read", count)
    return asked


def shown(workspace, *paths, ref=None):
    view = workspace.session.view(Target(ref))
    return {path: text.data.decode() for path, text in read_texts(view, paths).items()}


def tags(workspace, *paths, ref=None):
    pages = workspace.session.view(Target(ref)).pages_at(paths)
    return {path: page.facts.tags for path, page in pages.items()}


def test_text_shown_again_is_read_once(workspace, read):
    once = read_texts(workspace.session.view(), ["a.md", "b.md"])
    again = read_texts(workspace.session.view(), ["b.md", "a.md", "c.md"])
    assert {path: again[path] for path in once} == once
    assert read == ["a.md", "b.md", "c.md"]


def test_same_bytes_at_another_path_have_that_path(workspace, repository, read):
    shown(workspace, "a.md")
    (repository.root / "a.md").rename(repository.root / "d.md")
    repository.commit()
    found = read_texts(workspace.session.view(), ["d.md"])
    assert (found["d.md"].page.filepath, read) == ("d.md", ["a.md"])


def test_page_is_shown_as_in_each_snapshot(workspace, repository):
    old = shown(workspace, "a.md")
    new = {"a.md": "# Another\n\nText.\n"}
    repository.write("a.md", new["a.md"])
    assert shown(workspace, "a.md") == new
    assert shown(workspace, "a.md", ref="HEAD") == old
    repository.commit()
    assert shown(workspace, "a.md") == new
    assert shown(workspace, "a.md", ref="HEAD~") == old
    repository.remove("a.md")
    assert shown(workspace, "a.md") == {}


def test_cache_of_texts_has_a_limit_in_bytes(workspace, monkeypatch, read):
    size = len(shown(workspace, "a.md")["a.md"]) + 2 * texts.BYTES_PER_PART
    monkeypatch.setattr(texts, "MAX_CACHED_BYTES", 2 * size)
    for path in ("b.md", "a.md", "c.md", "a.md", "b.md"):
        shown(workspace, path)
    assert read == ["a.md", "b.md", "c.md", "b.md"]


def test_page_has_in_each_snapshot_the_facts_of_that_snapshot(workspace, repository):
    every = {f"{name}.md": (name,) for name in "abc"}
    assert tags(workspace, *every) == every
    repository.write("a.md", "---\ntags: [other]\n---\n")
    repository.remove("b.md")
    changed = {"c.md": ("c",), "a.md": ("other",)}
    assert list(tags(workspace, "c.md", "b.md", "a.md").items()) == list(changed.items())
    assert tags(workspace, *every, ref="HEAD") == every
    repository.commit()
    assert tags(workspace, *every) == changed
    assert tags(workspace, *every, ref="HEAD~") == every


def test_facts_of_the_pages_of_a_commit_are_read_once(workspace, monkeypatch):
    tags(workspace, "a.md", "b.md")
    monkeypatch.setattr(
        workspace.session.store.facts, "read", lambda *_: pytest.fail("asked again")
    )
    assert tags(workspace, "b.md", "a.md") == {"b.md": ("b",), "a.md": ("a",)}


def test_linked_page_is_summarized_once_and_as_in_each_snapshot(workspace, repository, read):
    repository.write("a.md", "# A\n\nSee [[b]].\n")
    repository.commit()

    def summary(ref=None):
        (linked,) = find_linked(workspace.session.view(Target(ref)), ["a.md"])["a.md"]
        return linked.summary

    assert [summary(), summary(), read.count("b.md")] == ["Its text.", "Its text.", 1]
    repository.write("b.md", "# B\n\nEdited.\n")
    assert [summary(), summary("HEAD")] == ["Edited.", "Its text."]
    repository.commit()
    assert [summary(), summary("HEAD~")] == ["Edited.", "Its text."]
