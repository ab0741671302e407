"""Mirrors of file:// remotes: versions, missing blobs, pins, and what a configuration may name."""

import json
import os

import pytest

from ubp.core.errors import CollectionError
from ubp.index.collections import open_collection, resolve_version
from ubp.sync.mirror import propose_include
from ubp.sync.repositories import Context
from ubp.sync.run import AddRequest, plan_collection


@pytest.fixture
def upstream(new_repository):
    """A repository with two tagged versions of a specification, and code beside it."""
    repository = new_repository("upstream")
    repository.git("config", "uploadpack.allowFilter", "true")
    repository.write("spec/types.md", "# Types\n\n## Slices\n\nOne.\n")
    repository.write("src/main.c", "int main;\n")
    repository.commit("v1")
    repository.git("tag", "v1")
    repository.write("spec/types.md", "# Types\n\n## Slices\n\nTwo.\n")
    repository.commit("v2")
    repository.git("tag", "-a", "-m", "v2", "v2")
    repository.git("branch", "maintained", "v1")
    return repository


def url(upstream):
    return upstream.root.as_uri()


def add(run, upstream, *options, status=0, cwd=None):
    tokens = ("collections", "add", "spec", url(upstream), "--yes", *options)
    return run(*tokens, status=status, cwd=cwd)


def present(stored):
    output = stored("spec", "cat-file", "--batch-all-objects", "--batch-check")
    return {line.split()[0] for line in output.split("\n") if " blob " in line}


def test_mirror_has_the_documents_of_the_head_and_no_other_blob(run, upstream, stored):
    out = add(run, upstream)
    assert f"spec  updated, at {upstream.head()[:10]}, 1 file: 1 added" in out
    assert present(stored) == {upstream.blob("spec/types.md")}
    stored("spec", "fsck", "--connectivity-only")


def test_mirror_has_the_configuration_of_the_site(run, upstream, stored):
    upstream.write("mkdocs.yml", "site_name: Spec\n")
    upstream.write("vendor/mkdocs.yml", "site_name: Other\n")
    upstream.commit()
    out = add(run, upstream)
    assert present(stored) == {upstream.blob("spec/types.md"), upstream.blob("mkdocs.yml")}
    assert "1 file: 1 added" in out


def test_include_fetches_other_files(run, upstream, stored):
    add(run, upstream, "--include", "src/**")
    assert present(stored) == {upstream.blob("src/main.c")}


def test_another_version_fetches_only_its_new_blobs(run, upstream, stored):
    add(run, upstream)
    before = present(stored)
    assert "(has v1)" in run("collections", "sync", "spec@v1")
    assert len(present(stored) - before) == 1
    assert "unchanged" in run("collections", "sync", "spec@maintained")
    assert "the upstream has no such version" in run("collections", "sync", "spec@v9", status=2)


def test_sync_fetches_new_commits_and_moved_tags(run, upstream, stored):
    add(run, upstream)
    upstream.write("spec/new.md", "# New\n")
    upstream.commit("v3")
    upstream.git("tag", "-f", "v1")
    out = run("collections", "sync")
    assert "2 files: 1 added" in out
    assert stored("spec", "rev-parse", "main") == stored("spec", "rev-parse", "v1")


def test_missing_upstream_keeps_the_collection(run, upstream, stored, tmp_path):
    add(run, upstream)
    upstream.root.rename(tmp_path / "moved")
    assert "Cannot fetch spec" in run("collections", "sync", status=2)
    assert stored("spec", "show", "main:spec/types.md").endswith("Two.")


def test_project_pins_a_version_and_sync_keeps_it(run, upstream, stored, repository):
    repository.write(".ubp/config.json", "{}\n")
    setting = {"git": url(upstream), "at": upstream.git("rev-parse", "v1")}
    add(run, upstream, "--at", "v1")
    repository.write(".ubp/config.json", json.dumps({"collections": {"spec": setting}}))
    upstream.write("spec/new.md", "# New\n")
    upstream.commit("v3")
    before = stored("spec", "rev-parse", "main")
    assert "unchanged" in run("collections", "sync", cwd=repository.root)
    assert stored("spec", "rev-parse", "main") == before
    run("collections", "sync", "--update", cwd=repository.root)
    config = json.loads((repository.root / ".ubp/config.json").read_text())
    assert config == {"collections": {"spec": {**setting, "at": upstream.head()}}}


def test_configuration_cannot_name_a_local_path(run, upstream, repository):
    for address in (url(upstream), str(upstream.root), "ext::sh -c touch% x", "--upload-pack=x"):
        setting = {"collections": {"spec": {"git": address}}}
        repository.write(".ubp/config.json", json.dumps(setting))
        out = run("collections", "sync", cwd=repository.root, status=2)
        assert "failed" in out
        assert "The collection spec is not fetched" in out or "Cannot fetch from" in out


def test_name_in_use_is_refused(run, upstream, repository, new_repository):
    add(run, upstream)
    other = new_repository("other")
    other.write("a.md", "# A\n")
    other.commit()
    out = run("collections", "add", "spec", other.root.as_uri(), "--yes", status=2)
    assert "The name spec is taken" in out
    setting = {"collections": {"spec": {"git": "https://example.org/x.git"}}}
    repository.write(".ubp/config.json", json.dumps(setting))
    out = run("collections", "sync", cwd=repository.root, status=2)
    assert "The name spec is taken on this machine" in out


def test_remove_keeps_the_content_and_purge_deletes_it(run, upstream, folder):
    add(run, upstream)
    run("collections", "remove", "spec")
    assert (folder / "spec.git").is_dir()
    assert "No collections" in run("collections")
    add(run, upstream)
    run("collections", "remove", "spec", "--purge")
    assert [path.name for path in folder.iterdir()] == ["spec.lock"]
    assert "There is no collection spec" in run("collections", "remove", "spec", status=2)


def test_local_repository_is_used_in_place(run, upstream, registered):
    run("collections", "add", "near", str(upstream.root), "--yes")
    assert registered("near").kind == "local"
    assert "near  local: " in run("collections")
    out = run("collections", "add", "far", str(upstream.root), "--include", "x", "--yes", status=2)
    assert "A local collection is used as it is" in out


def test_collection_that_is_added_again_keeps_its_settings(run, upstream, registered):
    settings = ("--language", "CEL", "--policy", "excerpt_only")
    run("collections", "add", "near", str(upstream.root), *settings, "--yes")
    assert "a specification of CEL" in run("collections", "add", "near", str(upstream.root), "-y")
    kept = registered("near")
    assert (kept.language, kept.policy) == ("CEL", "excerpt_only")
    run("collections", "add", "near", str(upstream.root), "--policy", "fulltext", "--yes")
    assert (registered("near").language, registered("near").policy) == ("CEL", "fulltext")
    add(run, upstream, "--include", "spec/*", *settings)
    add(run, upstream, "--language", "other")
    kept = registered("spec")
    assert kept.include == ("spec/*",)
    assert (kept.language, kept.policy) == ("other", "excerpt_only")


def test_new_patterns_of_a_mirror_fetch_its_versions_again(run, upstream, stored):
    add(run, upstream)
    add(run, upstream, "--include", "**")
    assert upstream.blob("src/main.c") in present(stored)


def test_locks_of_a_killed_git_do_not_stop_the_next_sync(run, upstream, folder):
    add(run, upstream)
    upstream.write("spec/new.md", "# New\n")
    upstream.commit("v3")
    for name in ("refs/heads/main.lock", "config.lock", "packed-refs.lock"):
        (folder / "spec.git" / name).touch()
    assert "spec  updated" in run("collections", "sync")


def test_home_directory_under_git_hides_no_collection(
    run, upstream, folder, repository_in, monkeypatch
):
    home = repository_in(folder.parent / "home")
    monkeypatch.setenv("UBP_COLLECTIONS", str(home.root / "data"))
    add(run, upstream)
    assert "unchanged" in run("collections", "sync")


def test_add_without_a_confirmation_fetches_nothing(run, upstream, folder):
    out = run("collections", "add", "spec", url(upstream), status=2)
    assert "Confirm it with --yes" in out
    assert not (folder / "spec.git").exists()


def test_json_lists_collections_with_their_outcome(run, upstream):
    synced = json.loads(add(run, upstream, "--json"))
    assert synced["collections"][0]["outcome"] == "updated"
    listed = json.loads(run("collections", "--json"))
    assert listed["collections"][0]["versions"][:2] == ["v2", "v1"]


def test_version_is_found_by_tag_branch_and_commit(run, upstream, registered, folder):
    add(run, upstream)
    run("collections", "sync", "spec@v1")
    with open_collection(str(folder), registered("spec"), os.environ) as opened:
        commits = {
            resolve_version(opened, registered("spec"), name)
            for name in ("v1", "maintained", upstream.git("rev-parse", "v1"))
        }
        assert commits == {upstream.git("rev-parse", "v1")}
        assert resolve_version(opened, registered("spec"), "") == upstream.head()


def test_version_is_found_by_its_number_with_and_without_the_letter_of_its_tag(
    run, upstream, registered, folder
):
    upstream.git("tag", "3.0", "v1")
    add(run, upstream)
    run("collections", "sync", "spec@1", "spec@v3.0")
    with open_collection(str(folder), registered("spec"), os.environ) as opened:
        for name in ("1", "v1", "3.0", "v3.0"):
            found = resolve_version(opened, registered("spec"), name)
            assert found == upstream.git("rev-parse", "v1")
        with pytest.raises(CollectionError, match="no version 4"):
            resolve_version(opened, registered("spec"), "4")


@pytest.mark.parametrize(
    ("paths", "proposed"),
    [
        (["README.md", "spec/A.md", "spec/B.md", "spec/C.md", "docs/x.md"], ("spec/**",)),
        (["README.md", "src/a.md", "src/types/b.md", "src/types/c.md"], ("src/**",)),
        (["README.md", "text/en/a.md", "text/en/b.md"], ("text/en/**",)),
        (["toml.md", "README.md", "docs/a.md"], ()),
        (["spec/A.md", "spec/B.md", "spec/C.md"], ()),
    ],
)
def test_folder_of_a_specification_is_proposed_where_it_is_clear(paths, proposed):
    assert propose_include(paths) == proposed


def test_mirror_of_a_specification_without_patterns_says_which_folder_has_it(run, upstream):
    for name in "ABC":
        upstream.write(f"spec/{name}.md", f"# {name}\n")
    upstream.write("CONTRIBUTING.md", "# Contributing\n")
    upstream.commit()
    address = upstream.root.as_uri()
    out = run("collections", "add", "gql", address, "--language", "gql", "--yes")
    assert "To keep the specification: add it again with '--include=spec/**'" in out
    again = ("collections", "add", "gql", address, "--language", "gql", "--include", "spec/**")
    assert "To keep the specification" not in run(*again, "--yes")


def test_text_that_a_pattern_names_is_the_document(run, upstream):
    upstream.write("spec.txt", "# Fences\n\nThree backticks.\n")
    upstream.write("README.md", "# Read me\n")
    upstream.commit()
    add(run, upstream, "--include", "spec.txt")
    assert (
        json.loads(run("list-pages", "--in", "spec", "--json"))["pages"][0]["filepath"]
        == "spec.txt"
    )
    assert "Three backticks." in run("get-page", "--in", "spec", "spec.txt#fences")


def test_address_of_a_known_specification_is_mirrored_as_it_is_known(folder, monkeypatch):
    monkeypatch.setattr("ubp.sync.run.read_upstream_head", lambda *_: None)
    context = Context(str(folder), {}, lambda *_: None, lambda: 0.0)
    request = AddRequest("gql", "https://github.com/graphql/graphql-spec")
    planned = plan_collection(request, context)
    assert (planned.include, planned.language) == (("spec/**",), "graphql")
    assert planned.address == "https://github.com/graphql/graphql-spec.git"
