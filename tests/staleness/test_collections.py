"""References to documents of collections, whose version the configuration pins."""

import json

import pytest

from ubp.__main__ import main
from ubp.answers.staleness.ack import AcknowledgeRequest
from ubp.board.read import read_board
from ubp.index.collections import same_repository
from ubp.workspace import Workspace

SPEC = """# Spec

## Slices {#Slice_types}

A slice has a length of 30.

## Maps

A map has `max_keys` keys.
"""
CODE = "def login(user):\n    return check(user)\n\n\ndef logout(user):\n    forget(user)\n"


@pytest.fixture(scope="module")
def upstream(isolate, repository_in, tmp_path_factory):
    """A mirror with four versions: its code, maps and slices change, and then its file moves."""
    root = tmp_path_factory.mktemp("shared")
    with pytest.MonkeyPatch.context() as monkeypatch:
        isolate(monkeypatch)
        monkeypatch.setenv("UBP_COLLECTIONS", str(root / "collections"))
        spec = repository_in(root / "spec")
        spec.git("config", "uploadpack.allowFilter", "true")
        spec.write("spec.md", SPEC)
        spec.write("src/auth.py", CODE)
        versions = [spec.commit("Begin")]
        spec.write("src/auth.py", CODE.replace("forget", "remove"))
        spec.write("spec.md", SPEC.replace("max_keys", "max_entries"))
        versions.append(spec.commit("Rename max_keys"))
        spec.write("spec.md", SPEC.replace("length of 30", "length of 40"))
        versions.append(spec.commit("Lengthen slices"))
        spec.git("mv", "spec.md", "language.md")
        versions.append(spec.commit("Rename the file"))
        add = ("collections", "add", "spec", spec.root.as_uri(), "--include", "**", "--yes")
        assert main(["-C", str(root), "-q", *add]) == 0
        names = [f"spec@{version}" for version in versions]
        assert main(["-C", str(root), "-q", "collections", "sync", *names]) == 0
    spec.versions = versions
    return spec


@pytest.fixture
def project(repository, upstream, monkeypatch):
    """A project with pages about three parts of the first version."""
    monkeypatch.setenv("UBP_COLLECTIONS", str(upstream.root.parent / "collections"))
    pin(repository, upstream, 0)
    repository.page("docs/slices.md", "spec:spec.md#Slice_types", body="Slices of 30.\n")
    repository.page("docs/maps.md", "spec:spec.md#Maps", body="Maps use `max_keys`.\n")
    repository.page("docs/login.md", "spec:src/auth.py#login")
    repository.commit("pages")
    return repository


def pin(repository, upstream, version):
    setting = {"git": upstream.root.as_uri(), "include": ["**"]}
    if version is not None:
        setting["at"] = upstream.versions[version]
    repository.write(".ubp/config.json", json.dumps({"collections": {"spec": setting}}))


@pytest.fixture
def ubp(capsys):
    """Run a command in a repository and return what it prints: `ubp(repository, "stale")`."""

    def run(repository, *tokens, status=0):
        capsys.readouterr()
        found = main(["-C", str(repository.root), *tokens])
        out, err = capsys.readouterr()
        assert found == status, out + err
        return out

    return run


def verdicts(report):
    return {
        page.page.filepath.removeprefix("docs/").removesuffix(".md"): page.references[0]
        for page in report.pages
    }


def test_a_part_of_a_collection_is_compared_between_two_pinned_versions(project, upstream, ask):
    assert all(found.verdict == "fresh" for found in verdicts(ask(project, every=True)).values())
    pin(project, upstream, 1)
    found = verdicts(ask(project))
    assert {name: verdict.verdict for name, verdict in found.items()} == {
        "maps": "modified",
        "slices": "fresh",
        "login": "fresh",
    }
    assert found["maps"].collection == "spec"
    assert found["maps"].name == "spec:spec.md#Maps"
    assert [commit.id for commit in found["maps"].commits] == [upstream.versions[1]]


def test_the_drift_is_that_between_the_two_pinned_versions(project, upstream, ask):
    pin(project, upstream, 1)
    project.page("docs/maps.md", "spec:spec.md#Maps", body="Maps use `max_entries`.\n")
    project.commit("move the pin")
    pin(project, upstream, 2)
    found = verdicts(ask(project))
    assert [commit.id for commit in found["maps"].commits] == [upstream.versions[2]]
    assert [commit.id for commit in found["slices"].commits] == [upstream.versions[2]]
    assert found["login"].verdict == "fresh"


def test_a_change_that_moves_the_version_fails_for_the_pages_about_changed_sections(
    project, upstream, ask
):
    pin(project, upstream, 1)
    project.git("add", "-A")
    (page,) = ask(project, staged=True).introduced
    assert page.page.filepath == "docs/maps.md"
    assert [evidence.name for evidence in page.references[0].evidence] == ["max_keys"]
    project.commit("move the pin")
    (page,) = ask(project, base="HEAD~1").introduced
    assert page.page.filepath == "docs/maps.md"
    project.page("docs/maps.md", "spec:spec.md#Maps", body="Maps use `max_entries`.\n")
    project.commit("describe it")
    assert ask(project, base="HEAD~2").introduced == ()


def test_an_edited_page_describes_the_version_that_is_pinned_now(project, upstream, ask):
    pin(project, upstream, 2)
    project.page("docs/maps.md", "spec:spec.md#Maps", body="Edited.\n")
    assert verdicts(ask(project))["maps"].verdict == "fresh"


def test_a_pin_of_a_reference_is_the_blob_of_the_file_in_the_collection(project, upstream, ask):
    pin(project, upstream, 1)
    with Workspace.open(str(project.root)) as workspace:
        (acknowledged,) = workspace.ask(AcknowledgeRequest(("docs/maps.md",), diff=True)).documents
    (pinned,) = acknowledged.pinned
    assert upstream.git("rev-parse", f"{upstream.versions[1]}:spec.md").startswith(pinned.pin)
    assert "-A map has `max_keys` keys.\n+A map has `max_entries` keys." in pinned.diff.text
    found = verdicts(ask(project))["maps"]
    assert (found.verdict, found.baseline) == ("fresh", "pin")
    pin(project, upstream, 2)
    assert verdicts(ask(project))["maps"].verdict == "modified"


def test_ack_with_history_pins_what_the_page_described(project, upstream, ask):
    pin(project, upstream, 1)
    with Workspace.open(str(project.root)) as workspace:
        (acknowledged,) = workspace.ask(
            AcknowledgeRequest(("docs/maps.md",), history=True)
        ).documents
    (pinned,) = acknowledged.pinned
    assert upstream.git("rev-parse", f"{upstream.versions[0]}:spec.md").startswith(pinned.pin)
    assert verdicts(ask(project))["maps"].verdict == "modified"


def test_a_file_that_moved_in_the_collection_is_found_there(project, upstream, ask):
    pin(project, upstream, 3)
    found = verdicts(ask(project))["slices"]
    assert (found.verdict, found.new_name) == ("moved", "spec:language.md#Slice_types")


def test_directories_and_globs_of_a_collection_are_compared(project, upstream, ask):
    project.page("docs/all.md", "spec:src")
    project.page("docs/pages.md", "spec:*.md")
    project.page("docs/none.md", "spec:../spec.md", "spec:other.md")
    project.commit("more pages")
    pin(project, upstream, 2)
    found = verdicts(ask(project))
    assert (found["all"].verdict, found["pages"].verdict) == ("modified", "modified")
    assert found["none"].verdict == "not_found"


def test_without_the_collection_nothing_is_verified_and_a_hook_only_warns(
    project, upstream, ubp, monkeypatch
):
    blob = upstream.git("rev-parse", "HEAD~3:spec.md")
    pinned = f"---\nsource_refs:\n  - path: spec:spec.md#Maps\n    blob: {blob[:12]}\n---\n"
    project.write("docs/pinned.md", pinned)
    monkeypatch.setenv("UBP_COLLECTIONS", str(project.root / "empty"))
    shown = ubp(project, "stale", "docs/maps.md", "docs/pinned.md", status=2)
    assert shown.count("; fetch it: ubp collections sync spec\n") == 2
    assert "fresh" not in shown
    pin(project, upstream, 1)
    project.git("add", "-A")
    for command in ("stale", "check"):
        assert "not be verified" in ubp(project, command, "--staged")
    project.commit()
    assert "not be verified" in ubp(project, "check", "--base", "HEAD~1", status=2)


def test_an_unpinned_collection_says_nothing_about_what_a_page_described(project, upstream, ask):
    pin(project, upstream, None)
    project.page("docs/login.md", "spec:src/auth.py#login", body="Committed with no version.\n")
    project.commit("unpin")
    found = verdicts(ask(project))["login"]
    assert (found.verdict, found.note) == ("unknown", "no_version")
    with Workspace.open(str(project.root)) as workspace:
        workspace.ask(AcknowledgeRequest(("docs/login.md",)))
    assert verdicts(ask(project, every=True))["login"].verdict == "fresh"


def test_page_older_than_the_setting_of_its_collection_cannot_be_verified(
    repository, upstream, ask, ubp, monkeypatch
):
    monkeypatch.setenv("UBP_COLLECTIONS", str(upstream.root.parent / "collections"))
    repository.write(".ubp/config.json", "{}")
    repository.page("docs/maps.md", "spec:spec.md#Maps")
    repository.commit("page")
    pin(repository, upstream, 0)
    repository.commit("add the collection")
    found = verdicts(ask(repository))["maps"]
    assert (found.verdict, found.note) == ("unknown", "no_version")
    assert "ubp ack PAGE  pins what you reviewed" in ubp(repository, "check", status=2)


def test_a_version_that_was_not_fetched_is_named(project, upstream, ubp, monkeypatch, tmp_path):
    monkeypatch.setenv("UBP_COLLECTIONS", str(tmp_path / "other"))
    add = ("collections", "add", "spec", upstream.root.as_uri(), "--include", "**", "--yes")
    ubp(upstream, "-q", *add)
    pin(project, upstream, 2)
    ubp(upstream, "-q", "collections", "sync", f"spec@{upstream.versions[2]}")
    command = f"ubp collections sync spec@{upstream.versions[0][:12]}"
    reason = "one of its versions is not on this machine, or too large or too slow to parse"
    assert f"{reason}; fetch it: {command}" in (ubp(project, "stale", "docs/slices.md"))
    out = ubp(project, "collections", "sync")
    assert "1 page has stale sources in collections: ubp stale" in out
    assert command not in ubp(project, "stale", "docs/slices.md")


def test_a_collection_of_excerpts_shows_no_more_of_its_changes(project, upstream, ubp, monkeypatch):
    monkeypatch.setattr("ubp.core.policy.EXCERPT_CHARACTERS", 50)
    config = json.loads((project.root / ".ubp/config.json").read_text())
    config["collections"]["spec"] |= {"at": upstream.versions[1], "policy": "excerpt_only"}
    project.write(".ubp/config.json", json.dumps(config))
    shown = ubp(project, "stale", "--diff", "docs/maps.md")
    assert "+++ b/spec.md" in shown
    assert "+A map has" not in shown


def test_affected_and_impact_know_the_sources_in_collections(project, ubp):
    assert "docs/maps.md:3" in ubp(project, "affected", "spec:spec.md#Maps")
    assert "docs/slices.md" not in ubp(project, "affected", "spec:spec.md#Maps")
    shown = ubp(project, "impact", "spec:spec.md")
    assert "docs/maps.md:3  describes spec:spec.md#Maps" in shown


@pytest.mark.parametrize("has_pin", [False, True])
def test_the_original_of_a_translation_may_be_in_a_collection(project, upstream, ask, has_pin):
    def configure(version):
        pin(project, upstream, version)
        config = json.loads((project.root / ".ubp/config.json").read_text())
        rule = {"page": "{lang}/{path}", "source": "{path}", "collection": "spec"}
        config["translations"] = [rule | ({"pin": "translated_from"} if has_pin else {})]
        project.write(".ubp/config.json", json.dumps(config))

    configure(0)
    head = f"---\ntranslated_from: {upstream.versions[0]}\n---\n" if has_pin else ""
    project.write("ja/spec.md", f"{head}# 仕様\n")
    project.commit("translate")
    assert [page.level for page in ask(project).translations] == ["fresh"]
    configure(1)
    project.git("add", "-A")
    (translation,) = ask(project, staged=True).outdated_translations
    (verdict,) = translation.references
    assert (verdict.verdict, verdict.name) == ("modified", "spec:spec.md")
    assert [commit.id for commit in verdict.commits] == [upstream.versions[1]]
    if has_pin:
        with Workspace.open(str(project.root)) as workspace:
            workspace.ask(AcknowledgeRequest(("ja/spec.md",)))
        assert upstream.versions[1] in (project.root / "ja/spec.md").read_text()
        assert [page.level for page in ask(project).translations] == ["fresh"]


@pytest.fixture
def checkout(upstream, monkeypatch, tmp_path, ubp):
    """A clone of the upstream repository, registered as `spec` by its path."""
    monkeypatch.setenv("UBP_COLLECTIONS", str(tmp_path / "collections"))
    upstream.git("clone", "-q", upstream.root.as_uri(), str(tmp_path / "checkout"))
    ubp(upstream, "-q", "collections", "add", "spec", str(tmp_path / "checkout"), "--yes")
    return tmp_path / "checkout"


def test_registered_checkout_serves_as_the_repository_at_its_address(
    project, upstream, checkout, ask, ubp
):
    assert checkout.is_dir()
    pin(project, upstream, 1)
    project.commit("move the pin")
    found = verdicts(ask(project, every=True))
    assert (found["slices"].verdict, found["maps"].verdict) == ("fresh", "modified")
    assert "spec:spec.md" in ubp(project, "search", "--in", "spec", "slice")


def test_address_of_a_registered_checkout_is_added_without_fetching(
    repository, upstream, checkout, ubp
):
    repository.write(".ubp/config.json", "{}")
    repository.commit()
    add = ("collections", "add", "spec", upstream.root.as_uri(), "--language", "spec", "--yes")
    assert f"Use the checkout of {upstream.root.as_uri()} in {checkout} as" in ubp(repository, *add)
    config = json.loads((repository.root / ".ubp/config.json").read_text())
    setting = {"git": upstream.root.as_uri(), "at": upstream.versions[-1], "language": "spec"}
    assert config["collections"] == {"spec": setting}
    ubp(repository, *add, "--at", upstream.versions[0])
    config = json.loads((repository.root / ".ubp/config.json").read_text())
    assert config["collections"]["spec"]["at"] == upstream.versions[0]
    shown = ubp(repository, "collections")
    assert (
        f"spec  mirror, spec: {upstream.root.as_uri()}\n  read from the checkout {checkout}\n"
        in (shown)
    )
    ubp(repository, *add, "--at", "1" * 40, status=2)
    ubp(repository, "collections", "add", "spec", "https://example.com/other.git", status=2)


def test_checkout_that_was_cloned_by_ssh_is_added_by_that_address(
    repository, upstream, checkout, ubp
):
    address = "git@example.com:acme/spec.git"
    upstream.git("-C", str(checkout), "remote", "set-url", "origin", address)
    ubp(upstream, "-q", "collections", "add", "spec", str(checkout), "--yes")
    repository.write(".ubp/config.json", "{}")
    ubp(repository, "collections", "add", "spec", address, "--yes")
    config = json.loads((repository.root / ".ubp/config.json").read_text())
    assert config["collections"]["spec"]["git"] == address


def test_version_that_a_checkout_lacks_is_fetched_there(project, checkout, ubp):
    config = json.loads((project.root / ".ubp/config.json").read_text())
    config["collections"]["spec"]["at"] = "1" * 40
    project.write(".ubp/config.json", json.dumps(config))
    shown = ubp(project, "collections", "sync", status=2)
    assert f"git -C {checkout} fetch" in shown


def test_checkout_of_another_repository_is_not_that_of_the_address(project, checkout, ubp):
    config = json.loads((project.root / ".ubp/config.json").read_text())
    config["collections"]["spec"]["git"] = "https://example.com/other.git"
    assert checkout.is_dir()
    project.write(".ubp/config.json", json.dumps(config))
    assert "is taken on this machine" in ubp(project, "collections", "sync", status=2)


@pytest.mark.parametrize(
    ("address", "other", "is_same"),
    [
        ("https://example.com/a/b.git", "git@example.com:a/b", True),
        ("ssh://git@Example.com/a/b/", "https://user@example.com/a/b.git", True),
        ("https://example.com/a/b", "https://example.org/a/b", False),
        ("https://example.com/a/b", "https://example.com/A/b", False),
        ("file:///a/b", "https://a/b", False),
    ],
)
def test_addresses_of_a_repository_are_compared_by_host_and_path(address, other, is_same):
    assert same_repository(address, other) is is_same


def test_collection_that_the_configuration_lacks_is_named(repository, ubp):
    repository.page("docs/limits.md", "api:docs/limits.md#Limits")
    repository.commit()
    shown = ubp(repository, "stale")
    assert (
        "api:docs/limits.md#Limits  names a collection `api` that the configuration lacks" in shown
    )
    assert "If api is a collection, add it: ubp collections add api SOURCE\n" in shown
    assert "remove the references" not in shown
    assert "  Add it: ubp collections add api SOURCE\n" in ubp(repository, "check", status=1)


def test_local_path_is_not_written_to_the_configuration_and_add_says_so(
    repository, upstream, tmp_path, monkeypatch, ubp
):
    monkeypatch.setenv("UBP_COLLECTIONS", str(tmp_path / "collections"))
    repository.write(".ubp/config.json", "{}")
    repository.commit()
    upstream.git("clone", "-q", upstream.root.as_uri(), str(tmp_path / "checkout"))
    add = ("collections", "add", "spec", str(tmp_path / "checkout"), "--yes")
    entry = json.dumps({"collections": {"spec": {"git": upstream.root.as_uri()}}})
    assert f"add its address to .ubp/config.json: {entry}\n" in ubp(repository, *add)
    assert (repository.root / ".ubp/config.json").read_text() == "{}"
    repository.write(".ubp/config.json", entry)
    assert "add its address" not in ubp(repository, *add)


def test_source_of_another_repository_without_a_pin_does_not_make_a_clone_shallow(
    repository, capsys
):
    name = "github.com/acme/api:src/pay.py"
    repository.page("docs/pay.md", name)
    repository.commit()
    at = ["-C", str(repository.root)]
    reason = "could not be verified: it is in another repository, and the reference has no pin"
    for command in ("stale", "check", "ack"):
        main([*at, command, "docs/pay.md"])
    printed = capsys.readouterr().out
    assert f"{name}  {reason}" in printed
    assert "1 source could not be verified because a source in another repository" in printed
    assert "git rev-parse HEAD:PATH" in printed
    assert f"{name}  skipped: the source is in another repository; add to the reference" in printed
    assert not any(word in printed for word in ("shallow", "does not exist", "ubp ack"))
    main([*at, "check", "--format", "github"])
    printed = capsys.readouterr().out
    assert "no pin.%0APin the source: add its blob in that repository as `blob`.\n" in printed
    assert "history" not in printed
    with Workspace.open(str(repository.root)) as workspace:
        board = read_board(workspace.session, "HEAD")
    page = next(file.page for file in board.files if file.path == "docs/pay.md")
    assert [(found.verdict, found.note) for found in page.references] == [("unknown", None)]
