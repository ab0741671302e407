"""Written collections: what is stored, compared, expired, deleted and purged."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.sync.test_office import pdf, word
from ubp.answers.pages.get_context import ContextRequest
from ubp.answers.pages.get_graph import GraphRequest
from ubp.answers.pages.get_page import PageRequest
from ubp.answers.pages.list_pages import ListPagesRequest
from ubp.answers.search.fulltext_search import FulltextRequest
from ubp.answers.search.search import SearchRequest
from ubp.core.errors import PageNotFoundError, UsageError
from ubp.core.model import ignore_progress
from ubp.index.collections import repository_path
from ubp.markdown.new_page import read_metadata
from ubp.search.compare import compare_versions
from ubp.sync.documents import (
    PURGING,
    SOURCES,
    ExternalDocument,
    ImportedFolder,
    add_external,
    compare_folders,
    create_written,
    delete_documents,
    former_paths,
    import_files,
    prefix_of,
)
from ubp.sync.repositories import Context
from ubp.workspace import Workspace

LIST = ListPagesRequest()

SECRET = "kumquat-4711-marmalade"
HOUR = 3600


class Clock:
    """A clock that tests set."""

    now = 1_800_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def context(tmp_path, clock, monkeypatch):
    environment = {**os.environ, "UBP_COLLECTIONS": str(tmp_path / "collections")}
    monkeypatch.setenv("UBP_COLLECTIONS", environment["UBP_COLLECTIONS"])
    return Context(environment["UBP_COLLECTIONS"], environment, ignore_progress, clock)


@pytest.fixture
def collection(context):
    return create_written("kb", context)


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "papers"
    (root / "sub").mkdir(parents=True)
    (root / "a.md").write_text("---\ncategory: x\n---\n# A\n\nAlpha.\n")
    (root / "page.html").write_text("<title>P</title><h1>Page</h1><p>Some <b>bold</b> text.</p>")
    (root / "notes.txt").write_text("Plain words.\n")
    (root / "sub" / "deep.md").write_text("# Deep\n")
    (root / "binary.txt").write_bytes(b"\0\1\2")
    (root / "picture.png").write_bytes(b"\x89PNG")
    (root / "link.md").symlink_to(root / "a.md")
    return root


def git(collection, context, *args):
    path = repository_path(context.folder, collection)
    done = subprocess.run(["git", "--git-dir", path, *args], capture_output=True, check=True)
    return done.stdout.decode()


def tree(collection, context):
    names = git(collection, context, "ls-tree", "-r", "--name-only", "main").splitlines()
    return [name for name in names if name != SOURCES]


def read(collection, context, path):
    return git(collection, context, "show", f"main:{path}")


def source(folder, **options):
    return ImportedFolder(prefix_of(str(folder)), str(folder), **options)


def test_external_text_has_its_origin_and_expiry_in_front_matter(collection, context, clock):
    document = ExternalDocument(
        "jira", "Crash on login.\n", "https://t.example/1", "", 24, {"tags": ["a"], "created": "x"}
    )
    stored = add_external(collection, document, context)
    assert stored.expires_at == "2027-01-16T08:00:00Z"
    assert read(collection, context, stored.path) == (
        "---\ntags:\n- a\nsource_type: jira\nsource_url: https://t.example/1\n"
        "created: '2027-01-15T08:00:00Z'\nttl_hours: 24\n"
        "expires_at: '2027-01-16T08:00:00Z'\n---\n\nCrash on login.\n"
    )
    clock.now += HOUR
    again = add_external(collection, document._replace(content="Fixed.", ttl_hours=None), context)
    assert again == (stored.path, "")
    text = read(collection, context, stored.path)
    assert "created: '2027-01-15T08:00:00Z'" in text
    assert "expires_at" not in text
    assert text.endswith("Fixed.\n")


def test_the_same_text_again_is_no_commit(collection, context):
    for _ in range(2):
        add_external(collection, ExternalDocument("custom", "Words."), context)
    assert git(collection, context, "rev-list", "--count", "main") == "2\n"


def test_front_matter_in_a_text_is_text(collection, context):
    content = "---\nexpires_at: '2000-01-01T00:00:00Z'\n---\nWords."
    stored = add_external(collection, ExternalDocument("web", content), context)
    assert compare_folders(collection, context).deleted == ()
    with Workspace.open_collection("kb") as workspace:
        fields = workspace.session.view().fields([stored.path])[stored.path]
    assert fields["source_type"] == "web"
    assert "expires_at" not in fields


def test_what_has_expired_is_not_found_and_removed_by_the_next_comparison(
    collection, context, clock
):
    stored = add_external(collection, ExternalDocument("web", "Rare quince.", ttl_hours=1), context)

    def found():
        with Workspace.open_collection("kb", clock=clock) as workspace:
            pages = workspace.ask(SearchRequest("quince", mode="fulltext")).results
            sections = workspace.ask(FulltextRequest("quince")).results
            return len(pages), len(sections)

    assert found() == (1, 1)
    clock.now += HOUR - 1
    assert compare_folders(collection, context).deleted == ()
    assert found() == (1, 1)
    clock.now += 1
    assert found() == (0, 0)
    assert compare_folders(collection, context).deleted == (stored.path,)
    assert tree(collection, context) == []


def test_a_folder_is_imported_as_markdown(collection, context, folder):
    imported = import_files(
        collection, source(folder, is_recursive=True), context, is_updating=False
    )
    prefix = prefix_of(str(folder))
    names = ["a.md", "notes.txt.md", "page.html.md", "sub/deep.md"]
    assert tree(collection, context) == [f"{prefix}{name}" for name in names]
    assert sorted(imported.paths) == tree(collection, context)
    assert imported.chunks == 4
    assert {os.path.basename(p.address): p.reason for p in imported.problems} == {
        "link.md": "a symbolic link, which is not followed",
        "binary.txt.md": "binary.txt: not a text file",
    }
    assert read(collection, context, f"{prefix}a.md") == (folder / "a.md").read_text()
    html = read(collection, context, f"{prefix}page.html.md")
    assert html.endswith("---\n\n# Page\n\nSome **bold** text.\n")
    assert read(collection, context, f"{prefix}notes.txt.md").endswith(
        "# notes.txt\n\nPlain words.\n"
    )


def test_another_version_is_imported_only_as_an_update(collection, context, folder):
    wanted = source(folder, files=("a.md",))
    import_files(collection, wanted, context, is_updating=False)
    (folder / "a.md").write_text("# New\n")
    refused = import_files(collection, wanted, context, is_updating=False)
    assert refused.paths == ()
    assert "pass update" in refused.problems[0].reason
    assert len(import_files(collection, wanted, context, is_updating=True).paths) == 1
    assert read(collection, context, f"{wanted.prefix}a.md") == "# New\n"


def test_metadata_is_added_to_front_matter_and_does_not_replace_it(collection, context, folder):
    wanted = source(folder, files=("a.md",), fields={"category": "y", "author": "me"})
    import_files(collection, wanted, context, is_updating=False)
    text = read(collection, context, f"{wanted.prefix}a.md")
    assert "category: x\n" in text
    assert "author: me\n" in text
    assert text.endswith("# A\n\nAlpha.\n")
    assert compare_folders(collection, context).unchanged == 1


@pytest.mark.parametrize(
    ("head", "fields"),
    [
        ('{\n"title": "j"\n}\n', {"title": "j"}),
        ('{\n"title": "j",\n"a": {\n  "b": "---"\n}}\n}\n', {}),  # not valid JSON
        ('{\n"a": {"b": 1},\n"title": "j"\n}\n', {"title": "j"}),
        ('{"title": "j"}\n', {}),  # on one line it is not front matter
        ("---\ntitle: j\n---\n", {"title": "j"}),
        ("\ufeff---\ntitle: j\n---\n", {"title": "j"}),
        ("-----\ntitle: j\n-----\n", {"title": "j"}),
        ('---\ntitle: j\ntext: "a\n\n  ---b"\n---\n', {"title": "j"}),
        ("---\ntitle: j\n---x: y\n---\n", {"title": "j"}),
        ("---\ntitle: j\n...\n", {}),
        ("---\ntitle: [\n---\n", {}),
        ("---\n---\n", {}),
        ('+++\ntitle = "j"\n+++\n', {}),
        ("", {}),
    ],
    ids=repr,
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_metadata_leaves_the_text_below_any_front_matter(  # noqa: PLR0917  # fixtures
    collection, context, tmp_path, head, fields, newline
):
    body = "    code\n\n# J\n\n---\n\n{\n}\n\nThe end.\n"
    page = f"{head}\n{body}".replace("\n", newline)
    (tmp_path / "p.md").write_bytes(page.encode())
    wanted = ImportedFolder("p/", str(tmp_path), files=("p.md",), fields={"category": "c"})
    assert import_files(collection, wanted, context, is_updating=False).problems == ()
    stored = read(collection, context, "p/p.md")
    assert stored.endswith(body.replace("\n", newline).rstrip() + "\n")
    assert {"category": "c", **fields}.items() <= read_metadata(stored.encode()).items()


def test_a_comparison_finds_what_was_added_changed_and_removed(collection, context, folder):
    wanted = source(folder, is_recursive=True)
    import_files(collection, wanted, context, is_updating=False)
    (folder / "new.md").write_text("# New\n")
    (folder / "notes.txt").write_text("Other words.\n")
    (folder / "a.md").unlink()
    p = wanted.prefix
    kept = compare_folders(collection, context, removes=False)
    assert kept[:4] == ((f"{p}new.md",), (f"{p}notes.txt.md",), (), 2)
    assert compare_folders(collection, context)[:4] == ((), (), (f"{p}a.md",), 4)
    (folder / "sub" / "deep.md").write_text("# Deeper\n")
    (folder / "new.md").write_text("# Newer\n")
    within = compare_folders(collection, context, within=str(folder / "sub"))
    assert within.updated == (f"{p}sub/deep.md",)


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_what_cannot_be_listed_is_not_deleted(collection, context, folder, monkeypatch):
    wanted = source(folder, is_recursive=True)
    import_files(collection, wanted, context, is_updating=False)
    real = os.scandir

    def scandir(path):
        if str(path).endswith("sub"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    (folder / "a.md").unlink()
    compared = compare_folders(collection, context)
    assert compared.deleted == (f"{wanted.prefix}a.md",)
    assert any(problem.address == "sub" for problem in compared.problems)
    monkeypatch.undo()
    monkeypatch.setenv("UBP_COLLECTIONS", context.folder)
    folder.rename(folder.parent / "elsewhere")
    assert compare_folders(collection, context).deleted == ()
    assert len(tree(collection, context)) == 3


def test_what_was_deleted_does_not_come_back_until_it_is_imported_again(
    collection, context, folder
):
    wanted = source(folder)
    import_files(collection, wanted, context, is_updating=False)
    path = f"{wanted.prefix}a.md"
    assert delete_documents(collection, [path, "files/none.md"], context, purge=False) == (path,)
    assert compare_folders(collection, context).added == ()
    import_files(collection, wanted, context, is_updating=False)
    assert path in tree(collection, context)
    (folder / "a.md").write_text("# Changed\n")
    assert compare_folders(collection, context).updated == (path,)


def files_with(root, needle):
    """Return the files that contain some bytes, and the Git objects, decompressed."""
    files = [path for path in Path(root).rglob("*") if path.is_file()]
    found = [str(path) for path in files if needle in path.read_bytes()]
    objects = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch", "--unordered"],
        capture_output=True,
        check=True,
        cwd=root,
        env={**os.environ, "GIT_DIR": str(root)},
    )
    return found + ["an object"] * (needle in objects.stdout)


def test_a_purge_leaves_no_byte_in_the_repository_and_the_index(collection, context):
    text = f"# Secret\n\nThe word is {SECRET}. See [{SECRET}](other.md).\n\n## {SECRET}\n\nMore.\n"
    first = add_external(collection, ExternalDocument("web", text, "https://a.example/"), context)
    other = add_external(
        collection, ExternalDocument("web", "Kept.", "https://b.example/"), context
    )
    add_external(collection, ExternalDocument("web", f"v2 {SECRET}", "https://a.example/"), context)
    root = repository_path(context.folder, collection)
    git(collection, context, "repack", "-a", "-d", "-q")
    add_external(collection, ExternalDocument("web", f"v3 {SECRET}", "https://a.example/"), context)
    with Workspace.open_collection("kb") as workspace:
        assert workspace.ask(SearchRequest(SECRET, mode="fulltext")).total_found == 1
    needle = SECRET.encode()
    assert files_with(root, needle)
    delete_documents(collection, [first.path], context, purge=True)
    assert files_with(root, needle) == []
    assert files_with(root, b"kumquat") == []
    assert former_paths(collection, context) == (other.path,)
    assert read(collection, context, other.path).endswith("Kept.\n")
    git(collection, context, "fsck", "--strict")
    with Workspace.open_collection("kb") as workspace:
        assert workspace.ask(SearchRequest(SECRET, mode="fulltext")).total_found == 0
        assert workspace.ask(SearchRequest("kept", mode="fulltext")).total_found == 1


def test_a_purge_removes_a_pack_that_a_killed_import_kept(collection, context, tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(30):
        (folder / f"{number}.md").write_text(f"# {number}\n\n{SECRET} {number}\n")
    imported = import_files(collection, source(folder), context, is_updating=False)
    root = Path(repository_path(context.folder, collection))
    (pack,) = (root / "objects/pack").glob("*.pack")
    pack.with_suffix(".keep").write_text("fast-import\n")
    delete_documents(collection, imported.paths, context, purge=True)
    assert files_with(root, SECRET.encode()) == []
    git(collection, context, "fsck", "--strict")


def test_what_has_expired_is_nowhere(collection, context, clock):
    def store(name, text, **given):
        address = f"https://a.example/{name}"
        return add_external(collection, ExternalDocument("web", text, address, **given), context)

    brief = store("brief", f"# Brief\n\nThe word is {SECRET}.\n", ttl_hours=1)
    first = git(collection, context, "rev-parse", "main").strip()
    name = brief.path.rpartition("/")[2]
    kept = store("kept", f"# Kept\n\nSee [the brief]({name}) about marmalade.\n")
    store("last", "# Last\n\nEnd.\n")

    def everywhere(workspace):
        """Return where the brief is found."""
        page = workspace.session.view().page
        linked = workspace.ask(ContextRequest(kept.path)).related
        found = {
            "view": page(brief.path),
            "search": workspace.ask(SearchRequest("kumquat")).total_found,
            "sections": len(workspace.ask(FulltextRequest("kumquat")).results),
            "list": brief.path in {page.filepath for page in workspace.ask(LIST).pages},
            "context": brief.path in {related.filepath for related in linked},
            "graph": brief.path in {node.filepath for node in workspace.ask(GraphRequest()).nodes},
            "earlier": workspace.ask(SearchRequest("kumquat", ref=first)).total_found,
            "diff": any(
                place.filepath == brief.path
                for change in compare_versions(workspace.session, f"{first}~1", "HEAD").changes
                for place in (change.old, change.new)
                if place
            ),
        }
        return {where for where, is_found in found.items() if is_found}

    def read():
        with pytest.raises(PageNotFoundError):
            workspace.ask(PageRequest(brief.path))

    with Workspace.open_collection("kb", clock=clock) as workspace:
        places = {"view", "search", "sections", "list", "context", "graph", "earlier", "diff"}
        assert everywhere(workspace) == places
        clock.now += HOUR
        assert everywhere(workspace) == set()
        read()
        clock.now -= HOUR
        assert everywhere(workspace) == places
    clock.now += HOUR
    with Workspace.open_collection("kb", clock=clock) as workspace:
        assert everywhere(workspace) == set()
        read()
        assert workspace.session.view().count_documents() == 2
        compare_folders(collection, context)
    with Workspace.open_collection("kb", clock=clock) as workspace:
        assert everywhere(workspace) == set()


def test_an_index_that_is_open_is_left_behind_by_a_purge(collection, context):
    stored = add_external(collection, ExternalDocument("web", f"Word {SECRET}."), context)
    with Workspace.open_collection("kb") as workspace:
        assert workspace.ask(SearchRequest(SECRET, mode="fulltext")).total_found == 1
        delete_documents(collection, [stored.path], context, purge=True)
        root = repository_path(context.folder, collection)
        assert files_with(root, SECRET.encode()) == []
    assert files_with(root, SECRET.encode()) == []


def test_a_purge_that_was_killed_is_completed_by_the_next_change(collection, context, monkeypatch):
    stored = add_external(collection, ExternalDocument("web", f"Word {SECRET}."), context)
    root = repository_path(context.folder, collection)

    def kill(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("ubp.sync.documents.drop_unreachable", kill)
    with pytest.raises(KeyboardInterrupt):
        delete_documents(collection, [stored.path], context, purge=True)
    monkeypatch.undo()
    assert os.path.exists(os.path.join(root, "ubp", PURGING))
    assert files_with(root, SECRET.encode())
    add_external(collection, ExternalDocument("web", "Next."), context)
    assert files_with(root, SECRET.encode()) == []
    assert not os.path.exists(os.path.join(root, "ubp", PURGING))


def test_what_was_deleted_earlier_can_be_purged(collection, context):
    stored = add_external(collection, ExternalDocument("web", f"Word {SECRET}."), context)
    delete_documents(collection, [stored.path], context, purge=False)
    paths = former_paths(collection, context)
    assert paths == (stored.path,)
    delete_documents(collection, paths, context, purge=True)
    assert files_with(repository_path(context.folder, collection), SECRET.encode()) == []


def test_nothing_is_written_to_a_collection_of_another_kind(context, tmp_path):
    from ubp.index.collections import Collection, write_collection

    write_collection(context.folder, Collection("repo", "local", str(tmp_path)))
    with pytest.raises(UsageError) as caught:
        create_written("repo", context)
    assert caught.value.message == "Nothing can be written to the collection repo."
    with pytest.raises(UsageError):
        create_written("../x", context)


def test_an_older_version_can_be_searched_again(collection, context):
    add_external(collection, ExternalDocument("web", "Quinces.", "https://a.example/"), context)
    commit = git(collection, context, "rev-parse", "main").strip()
    add_external(collection, ExternalDocument("web", "Medlars.", "https://b.example/"), context)
    with Workspace.open_collection("kb") as newest:
        assert newest.ask(SearchRequest("medlars", mode="fulltext")).total_found == 1
    with Workspace.open_collection("kb", commit) as older:
        for _ in range(2):
            assert older.ask(SearchRequest("quinces", mode="fulltext")).total_found == 1
            assert older.ask(SearchRequest("medlars", mode="fulltext")).total_found == 0


def test_a_kept_collection_is_opened_again_when_it_has_changed(collection, context, repository):
    repository.write("README.md", "# Served\n")
    repository.commit()
    add_external(collection, ExternalDocument("web", "Quinces."), context)
    with Workspace.open(str(repository.root)) as workspace:
        kept = workspace.kept_collection("kb").session
        assert workspace.kept_collection("kb").session is kept
        add_external(collection, ExternalDocument("web", "Medlars."), context)
        again = workspace.kept_collection("kb")
        assert again.session is not kept
        assert again.ask(SearchRequest("medlars", mode="fulltext")).total_found == 1


def test_metadata_is_of_the_files_it_was_given_for(collection, context, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / f"{name}.md").write_text(f"# {name}\n")
    prefix = prefix_of(str(folder))
    import_files(collection, source(folder, fields={"category": "x"}), context, is_updating=False)
    single = source(folder, files=("a.md",), fields={"category": "y"})
    import_files(collection, single, context, is_updating=True)
    refused = import_files(
        collection, source(folder, fields={"author": "z"}), context, is_updating=False
    )
    assert len(refused.problems) == 3
    (folder / "b.md").write_text("# new\n")
    (folder / "d.md").write_text("# d\n")
    compare_folders(collection, context, is_full=True)
    fields = {
        name: read_metadata(read(collection, context, f"{prefix}{name}.md").encode())
        for name in ("a", "b", "c", "d")
    }
    for own in fields.values():
        own.pop("source_blob")
    assert fields == {
        "a": {"category": "y"},
        "b": {"category": "x"},
        "c": {"category": "x"},
        "d": {"category": "x", "author": "z"},
    }


@pytest.mark.parametrize("fields", [{}, {"category": "x"}])
def test_markdown_that_is_no_text_is_a_problem(collection, context, tmp_path, fields):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_bytes(b"\x89PNG\0\0")
    imported = import_files(
        collection, source(tmp_path / "notes", fields=fields), context, is_updating=False
    )
    assert imported.paths == ()
    assert [problem.reason for problem in imported.problems] == ["a.md: not a text file"]


def test_markdown_of_another_encoding_gets_no_fields(collection, context, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_bytes("# Übung\n".encode("latin-1"))
    folder = source(tmp_path / "notes", fields={"category": "x"})
    imported = import_files(collection, folder, context, is_updating=False)
    assert [problem.reason for problem in imported.problems] == ["a.md: not valid UTF-8"]


@pytest.mark.skipif(os.name == "nt", reason="files of POSIX")
def test_special_file_in_a_folder_is_a_problem_and_is_not_waited_for(collection, context, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# A\n")
    os.mkfifo(tmp_path / "notes" / "fifo.md")
    wanted = source(tmp_path / "notes")
    imported = import_files(collection, wanted, context, is_updating=False)
    assert imported.paths == (f"{wanted.prefix}a.md",)
    assert [problem.reason for problem in imported.problems] == ["fifo.md: not a regular file"]
    assert [p.reason for p in compare_folders(collection, context).problems] == [
        "fifo.md: not a regular file"
    ]


def test_word_and_pdf_files_and_notebooks_of_a_folder_are_converted(collection, context, tmp_path):
    papers = tmp_path / "office"
    papers.mkdir()
    (papers / "a.docx").write_bytes(word(("Title", "Handbook"), ("Normal", "Use the pool.")))
    (papers / "b.pdf").write_bytes(pdf(["Safety", "Wear gloves."]))
    (papers / "c.ipynb").write_text('{"cells": [{"cell_type": "markdown", "source": "# Churn"}]}')
    (papers / "scan.pdf").write_bytes(pdf([]))
    source = ImportedFolder(prefix_of(str(papers)), str(papers), fields={"category": "ops"})
    imported = import_files(collection, source, context, is_updating=False)
    prefix = source.prefix
    assert imported.paths == tuple(f"{prefix}{n}.md" for n in ("a.docx", "b.pdf", "c.ipynb"))
    reason = "scan.pdf: it has no text: its pages are probably scanned images"
    assert [problem.reason for problem in imported.problems] == [reason]
    manual = read(collection, context, f"{prefix}b.pdf.md")
    assert "## Page 1: Safety {#page=1}\n\nSafety\nWear gloves." in manual
    fields = read_metadata(manual.encode())
    assert (fields["original"], fields["category"]) == ("b.pdf", "ops")
    assert "# Churn" in read(collection, context, f"{prefix}c.ipynb.md")
    compared = compare_folders(collection, context)
    assert (compared.added, compared.updated, compared.deleted) == ((), (), ())
    (papers / "a.docx").write_bytes(word(("Title", "Handbook"), ("Normal", "Use no pool.")))
    assert compare_folders(collection, context).updated == (f"{prefix}a.docx.md",)


def test_deeply_nested_html_is_a_problem_and_is_not_parsed(collection, context, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.html").write_text("<div>" * 80_000 + "x")
    imported = import_files(collection, source(tmp_path / "notes"), context, is_updating=False)
    assert [p.reason for p in imported.problems] == ["a.html: its elements are nested too deeply"]
