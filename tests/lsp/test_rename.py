"""Renames and code actions, applied to the work tree and verified by `ubp check`."""

import pytest
from lsprotocol import types

from ubp.answers.checks.check import CheckRequest
from ubp.lsp.text import Place, Text
from ubp.workspace import Workspace

FILES = {
    "docs/auth.md": """\
---
source_refs:
  - src/auth.py
---
# Authentication

![Logo](img/logo.png) and [[guide]], [sessions](sessions.md), [up](../README.md).

## Token life

See [below](#token-life).
""",
    "docs/guide.md": (
        "# Guide\r\n\r\n日本😀 [[auth|see]], [life](auth.md#token-life), [[auth#Token life]].\r\n"
    ),
    "docs/sessions.md": "# Sessions\n\n[a]: ./auth.md\n\nSee [a] and [[docs/auth]].\n",
    "README.md": (
        "---\nsource_refs: [docs/auth.md, src/auth.py]\n---\n# Read\n\n[auth](docs/auth.md)\n"
    ),
    "src/auth.py": "def login(): ...\n",
    "docs/img/logo.png": "png",
}


NEW = "api/login%20page.md"
LOGO = "+![Logo](../img/logo.png) and [[guide]], [sessions](../sessions.md), [up](../../README.md)."


@pytest.fixture
def moving(repository_in, tmp_path, editor):
    repository = repository_in(tmp_path / "project")
    for path, text in FILES.items():
        repository.write(path, text)
    repository.commit("Begin")
    editor.root = repository.root  # one server serves the repositories of all tests
    return repository, editor


def findings(repository):
    with Workspace.open(str(repository.root)) as workspace:
        return [
            (finding.filepath, finding.rule, finding.message)
            for finding in workspace.ask(CheckRequest()).findings
            if finding.rule != "stale-doc"  # a page that lists an edited one
        ]


def apply(repository, edit):
    """Apply the edits of files to the disk, as an editor does before it saves."""
    changes = dict(edit.changes or {})
    for change in edit.document_changes or ():
        if isinstance(change, types.TextDocumentEdit):
            changes[change.text_document.uri] = change.edits
    for uri, edits in changes.items():
        file = repository.root / uri.removeprefix(repository.root.as_uri() + "/")
        text = Text(file.read_bytes().decode())
        for text_edit in sorted(edits, key=lambda e: e.range.start, reverse=True):
            text = text.replace(
                Place(text_edit.range.start.line, text_edit.range.start.character),
                Place(text_edit.range.end.line, text_edit.range.end.character),
                text_edit.new_text,
            )
        file.write_bytes(text.text.encode())


def ask_moves(editor, **moves):
    files = [types.FileRename(editor.uri(old), editor.uri(new)) for old, new in moves.items()]
    return editor.ask(types.WORKSPACE_WILL_RENAME_FILES, types.RenameFilesParams(files))


def test_moved_page_keeps_every_link_and_source(moving):
    repository, editor = moving
    assert findings(repository) == []
    edit = ask_moves(editor, **{"docs/auth.md": "docs/api/login page.md"})
    apply(repository, edit)
    (repository.root / "docs/api").mkdir()
    repository.git("mv", "docs/auth.md", "docs/api/login page.md")
    assert findings(repository) == []
    changed = repository.git("diff", "HEAD", "-M20", "--unified=0", "--no-color").splitlines()
    assert [line for line in changed if line.startswith("+") and line[1] != "+"] == [
        '+source_refs: ["docs/api/login page.md", src/auth.py]',
        "+[auth](docs/api/login%20page.md)",
        LOGO,
        f"+日本😀 [[login page|see]], [life]({NEW}#token-life), [[login page#Token life]].",
        "+[a]: ./api/login%20page.md",
        "+See [a] and [[docs/api/login page]].",
    ]
    assert (repository.root / "docs/guide.md").read_bytes().count(b"\r\n") == 3


def test_moved_folder_and_source_keep_their_links(moving):
    repository, editor = moving
    apply(repository, ask_moves(editor, docs="manual", **{"src/auth.py": "src/login.py"}))
    repository.git("mv", "docs", "manual")
    repository.git("mv", "src/auth.py", "src/login.py")
    assert findings(repository) == []


def test_relative_links_that_move_with_their_folders_stay(repository_in, tmp_path, editor):
    repository = repository_in(tmp_path / "project")
    editor.root = repository.root
    repository.write("mkdocs.yml", "site_name: Guide\n")
    repository.write("README.md", "# Read\n\n[files](docs/files/), [data](docs/files/data.csv)\n")
    repository.write("docs/advanced.md", "# Advanced\n")
    repository.write("docs/tips.md", "# Tips\n\n[there](../advanced/) and [files](files/)\n")
    repository.write("docs/in/page.md", "# Page\n\n[files](../../docs/files/)\n")
    repository.write("docs/files/data.csv", "a,b\n")
    repository.commit("Begin")
    apply(repository, ask_moves(editor, docs="documentation"))
    tips = (repository.root / "docs/tips.md").read_text()
    assert tips == "# Tips\n\n[there](../advanced/) and [files](files/)\n"
    readme = (repository.root / "README.md").read_text()
    assert readme.count("(documentation/files/") == 2
    assert "(../files" in (repository.root / "docs/in/page.md").read_text()


@pytest.mark.parametrize(
    "case",
    [
        (
            "docs/a.md",
            "[b](b.md)",
            {"docs/a.md": "notes/a.md", "docs/b.md": "archive/b.md"},
            "[b](../archive/b.md)",
        ),
        (
            "docs/index.md",
            "[b](g/b.md)",
            {"docs/index.md": "README.md", "docs/g": "guide"},
            "[b](guide/b.md)",
        ),
        ("docs/g/a.md", "[b](../b/)", {"docs/g": "guide"}, "[b](b/)"),
    ],
)
def test_links_of_pages_that_leave_their_site_are_written_anew(
    repository_in, tmp_path, editor, case
):
    source, text, moves, expected = case
    repository = repository_in(tmp_path / "project")
    editor.root = repository.root
    repository.write("mkdocs.yml", "site_name: x\n")
    for path in ("docs/index.md", "docs/b.md", "docs/g/b.md", source):
        repository.write(path, "# Page\n")
    repository.write(source, f"# Page\n\n{text}\n")
    repository.commit("Begin")
    apply(repository, ask_moves(editor, **moves))
    assert (repository.root / source).read_text() == f"# Page\n\n{expected}\n"


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (
            {"docs/conf.py": "extensions = ['myst_parser']\n"},
            "```{{toctree}}\n/guide/{0}\nTitle <guide/{0}.md>\n```\n\n{{doc}}`guide/{0}`\n",
        ),
        (
            {"hugo.toml": "contentDir = 'docs'\n"},
            '[a]({{{{< ref "guide/{0}.md" >}}}}) [b]({{{{< relref /guide/{0} >}}}})\n',
        ),
    ],
)
def test_references_of_a_generator_follow_a_renamed_page(
    repository_in, tmp_path, editor, config, text
):
    repository = repository_in(tmp_path / "project")
    editor.root = repository.root
    for path, content in config.items():
        repository.write(path, content)
    repository.write("docs/use.md", f"# Use\n\n{text.format('old')}")
    repository.write("docs/guide/old.md", "# Old\n")
    repository.commit("Begin")
    apply(repository, ask_moves(editor, **{"docs/guide/old.md": "docs/guide/new.md"}))
    renamed = (repository.root / "docs/use.md").read_text()
    assert renamed == f"# Use\n\n{text.format('new')}"
    repository.git("mv", "docs/guide/old.md", "docs/guide/new.md")
    assert findings(repository) == []


def test_label_is_no_path_that_follows_a_moved_page(repository_in, tmp_path, editor):
    repository = repository_in(tmp_path / "project")
    editor.root = repository.root
    text = "# Use\n\n[settings](config/intro) [](config/intro) [b](b.md)\n"
    repository.write("docs/conf.py", "extensions = ['myst_parser']\n")
    repository.write("docs/guide/use.md", text)
    repository.write("docs/guide/b.md", "(config/intro)=\n# B\n")
    repository.commit("Begin")
    apply(repository, ask_moves(editor, **{"docs/guide/use.md": "docs/use.md"}))
    moved = (repository.root / "docs/guide/use.md").read_text()
    assert moved == text.replace("(b.md)", "(guide/b.md)")


@pytest.mark.parametrize(
    "case",
    [
        ("hugo.toml", '{{< ref "old" >}}', "old page", "old%20page"),
        ("conf.py", "{doc}`old`", "old [2]", "old%20%5B2%5D"),
    ],
)
def test_reference_stays_where_it_cannot_have_the_new_name(repository_in, tmp_path, editor, case):
    config, ref, name, address = case
    repository = repository_in(tmp_path / "project")
    editor.root = repository.root
    repository.write(f"content/{config}", "extensions = ['myst_parser']\ncontentDir = '.'\n")
    repository.write("content/use.md", f"# Use\n\n{ref} [b](old.md)\n")
    repository.write("content/old.md", "# Old\n")
    repository.commit("Begin")
    apply(repository, ask_moves(editor, **{"content/old.md": f"content/{name}.md"}))
    renamed = (repository.root / "content/use.md").read_text()
    assert renamed == f"# Use\n\n{ref} [b]({address}.md)\n"


def test_renamed_heading_keeps_its_links(moving):
    repository, editor = moving
    document = editor.document("docs/auth.md")
    place = types.Position(8, 5)
    prepared = editor.ask(
        types.TEXT_DOCUMENT_PREPARE_RENAME, types.PrepareRenameParams(document, place)
    )
    assert prepared.placeholder == "Token life"
    params = types.RenameParams(document, place, "寿命 of tokens (new)")
    apply(repository, editor.ask(types.TEXT_DOCUMENT_RENAME, params))
    assert findings(repository) == []
    assert "[[auth#寿命 of tokens (new)]]" in (repository.root / "docs/guide.md").read_text()
    assert "[below](#寿命-of-tokens-new)" in (repository.root / "docs/auth.md").read_text()


def test_page_is_renamed_at_a_link_to_it(moving):
    repository, editor = moving
    document, place = editor.document("docs/guide.md"), types.Position(2, 9)
    prepared = editor.ask(
        types.TEXT_DOCUMENT_PREPARE_RENAME, types.PrepareRenameParams(document, place)
    )
    line = "日本😀 [[auth|see]]"
    start = len(line[: line.index("auth")].encode("utf-16-le")) // 2
    span = types.Range(types.Position(2, start), types.Position(2, start + len("auth")))
    assert (prepared.placeholder, prepared.range) == ("auth", span)
    edit = editor.ask(types.TEXT_DOCUMENT_RENAME, types.RenameParams(document, place, "login"))
    moved = edit.document_changes[-1]
    assert (moved.old_uri, moved.new_uri) == (
        editor.uri("docs/auth.md"),
        editor.uri("docs/login.md"),
    )
    apply(repository, edit)
    repository.git("mv", "docs/auth.md", "docs/login.md")
    assert findings(repository) == []


@pytest.mark.parametrize(
    ("part", "old", "new"),
    [("auth.md#", "auth", "login"), ("token-life", "Token life", "Lifetime")],
)
def test_part_of_a_link_to_a_heading_decides_what_is_renamed(moving, part, old, new):
    repository, editor = moving
    line = (repository.root / "docs/guide.md").read_text().splitlines()[2]
    start = line.index("](auth.md#") + "](auth.md#token-life".index(part) + 1
    place = types.Position(2, len(line[:start].encode("utf-16-le")) // 2)
    document = editor.document("docs/guide.md")
    prepared = editor.ask(
        types.TEXT_DOCUMENT_PREPARE_RENAME, types.PrepareRenameParams(document, place)
    )
    assert prepared.placeholder == old
    edit = editor.ask(types.TEXT_DOCUMENT_RENAME, types.RenameParams(document, place, new))
    apply(repository, edit)
    if new == "login":
        repository.git("mv", "docs/auth.md", "docs/login.md")
    assert findings(repository) == []
    texts = {"login": "[life](login.md#token-life)", "Lifetime": "[life](auth.md#lifetime)"}
    assert texts[new] in (repository.root / "docs/guide.md").read_text()


def actions(editor, path, line, kind=None):
    span = types.Range(types.Position(line, 0), types.Position(line, 99))
    context = types.CodeActionContext(
        [], trigger_kind=types.CodeActionTriggerKind.Invoked, only=kind
    )
    found = editor.ask(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionParams(editor.document(path), span, context),
    )
    return {action.title: action for action in found}


def test_actions_fix_links_create_pages_and_acknowledge(moving):
    repository, editor = moving
    editor.open(
        "docs/sessions.md",
        "# S\n\n[x](guidee.md) and [[New topic]] ![[a.png]] [[b.pdf]] [[Giude|x]]\n",
    )
    found = actions(editor, "docs/sessions.md", 2)
    assert list(found) == [
        "Change the link to guide.md",
        "Create docs/guidee.md",
        "Create docs/New topic.md",
        "Change the link to guide",
        "Create docs/Giude.md",
    ]
    created = found["Create docs/New topic.md"].edit.document_changes
    assert created[0].uri == editor.uri("docs/New topic.md")
    assert created[1].edits[0].new_text == "# New topic\n"
    editor.close("docs/sessions.md")

    editor.open("docs/auth.md")
    editor.open("src/auth.py", "def login(name): ...\n")
    assert list(actions(editor, "docs/auth.md", 2)) == ["Acknowledge: the page is still accurate"]
    command = types.ExecuteCommandParams("ubp.acknowledge", [editor.uri("docs/auth.md")])
    assert editor.ask(types.WORKSPACE_EXECUTE_COMMAND, command) is True
    apply(repository, editor.applied.get(timeout=5))
    repository.write("src/auth.py", "def login(name): ...\n")
    pin = repository.git("hash-object", "src/auth.py")[:7]
    assert f"blob: {pin}" in (repository.root / "docs/auth.md").read_text()


def test_page_of_a_reference_is_created_where_the_site_has_it(repository_in, tmp_path, editor):
    repository = repository_in(tmp_path / "project")
    editor.root = repository.root
    repository.write("docs/conf.py", "extensions = ['myst_parser']\n")
    text = "# Index\n\n```{toctree}\n/guide/none.md\n```\n\n{ref}`none.md`\n"
    repository.write("docs/index.md", text)
    repository.write("docs/guide/use.md", "# Use\n")
    repository.commit("Begin")
    editor.open("docs/index.md")
    assert list(actions(editor, "docs/index.md", 3)) == ["Create docs/guide/none.md"]
    assert list(actions(editor, "docs/index.md", 6)) == []
    editor.close("docs/index.md")


def test_actions_apply_what_diagnostics_suggest(moving):
    _, editor = moving
    text = "# S\n\n[x](guied.md) [x](auth.md#token-lfe) [[auth|depend_on]]\n"
    editor.open("docs/sessions.md", text)
    found = actions(editor, "docs/sessions.md", 2)
    assert [title for title in found if title.startswith("Change")] == [
        "Change the link to guide.md",
        "Change the link to #token-life",
        "Change the link to |depends_on",
    ]
    (edits,) = found["Change the link to #token-life"].edit.changes.values()
    assert edits[0].range == types.Range(types.Position(2, 26), types.Position(2, 35))
    editor.close("docs/sessions.md")


def test_commands_search_count_and_propose(moving):
    repository, editor = moving

    def run(name, *arguments):
        return editor.ask(
            types.WORKSPACE_EXECUTE_COMMAND, types.ExecuteCommandParams(name, list(arguments))
        )

    repository.write("docs/guide.md", "# Guide\n\nA zeppelin, and `src/auth.py`.\n")
    editor.open("docs/guide.md", "# Guide\r\n\r\nNot saved: `src/auth.py`.\r\n")
    editor.found("docs/guide.md")
    found, *_ = run("ubp.search", "zeppelin")
    assert (found["path"], found["line"]) == ("docs/guide.md", 3)
    counts = run("ubp.status")[-1]
    assert (counts["bound"], counts["fresh"], counts["folder"]) == (2, 2, str(repository.root))
    proposed = run("ubp.proposeSources", editor.uri("docs/guide.md"))
    assert proposed[0]["path"] == "src/auth.py"
    assert run("ubp.bind", editor.uri("docs/guide.md"), ["src/auth.py"]) is True
    (edits,) = editor.applied.get(timeout=5).changes.values()
    assert (
        "source_refs:\r\n  - src/auth.py" in edits[0].new_text or "source_refs" in edits[0].new_text
    )
