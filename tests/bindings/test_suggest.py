"""Sources that pages seem to describe: every kind of evidence, and what is never proposed."""

import json
import unicodedata

import pytest

import ubp.index.names
from ubp.answers.bindings.bind import BindRequest, propose
from ubp.bindings.features import BindingSuggestions
from ubp.workspace import Workspace


def suggest(repository, *pages, **options) -> BindingSuggestions:
    with Workspace.open(str(repository.root), model="none") as workspace:
        return propose(workspace.session, BindRequest(pages, **options))


def sources_of(found, page):
    (page_suggestions,) = [entry for entry in found.pages if entry.filepath == page]
    return {suggestion.source_path: suggestion for suggestion in page_suggestions.suggestions}


def kinds(suggestion):
    return {evidence.kind: (evidence.detail, evidence.line) for evidence in suggestion.evidence}


@pytest.fixture
def project(repository):
    """Twenty sources that each page could mean, and history that begins with all of them."""
    for number in range(20):
        repository.write(f"src/part_{number}.py", f"def work_{number}():\n    return shared\n")
    repository.write("src/auth/session.py", "# See docs/auth.md.\ndef open_session():\n    pass\n")
    repository.write("tests/test_session.py", "open_session()\n")
    repository.write("docs/other.md", "# Other\n")
    repository.commit("Begin")
    return repository


def test_proposals_begin_with_what_the_page_names_with_line_and_evidence(project):
    project.write("docs/auth.md", "# Auth\n\nIt is in `src/auth/session.py`: open_session().\n")
    project.write("src/auth/session.py", "# See docs/auth.md.\ndef open_session():\n    return 1\n")
    project.commit("Describe sessions")
    found = suggest(project)
    assert (found.documents, found.bound) == (2, 0)
    (first, *_) = sources_of(found, "docs/auth.md").values()
    assert first.source_path == "src/auth/session.py"
    assert first.confidence > 0.8
    assert kinds(first) == {
        "path": ("src/auth/session.py", 3),
        "identifier": ("open_session", 3),
        "link": ("it mentions this page", None),
        "commit": ("1 shared commit", None),
        "place": ("auth", None),
    }
    assert sum(item.weight for item in first.evidence) == pytest.approx(1)


def test_folder_of_a_page_is_no_mention_of_it(project):
    project.write("build.py", "copy('packages/auth')\nopen_session()\n")
    project.write("packages/auth/README.md", "# Authentication\n\n`open_session`\n")
    project.commit("Build")
    found = suggest(project)
    assert "link" not in kinds(sources_of(found, "packages/auth/README.md")["build.py"])


def test_translation_gets_the_proposals_of_its_bound_original_and_the_original_none_twice(project):
    project.page("docs/auth.md", "src/auth/session.py", body="# Auth\n\n`open_session`\n")
    project.write("docs/auth.ja.md", "# 認証\n\nセッションの説明。\n")
    project.commit("Describe")
    found = suggest(project, every=True)
    suggested = sources_of(found, "docs/auth.ja.md")["src/auth/session.py"]
    assert kinds(suggested)["sibling"] == ("docs/auth.md lists it", None)
    assert "src/auth/session.py" not in sources_of(found, "docs/auth.md")
    assert [page.filepath for page in suggest(project).pages] == [
        "docs/auth.ja.md",
        "docs/other.md",
    ]


def test_refused_hidden_ignored_and_unreadable_sources_are_never_proposed(project):
    names = ("private/key.py", ".env", "uv.lock", "logo.png", "build/out.py", "vendor/lib.py")
    for name in names:
        project.write(name, "def open_session(): pass\n")
    project.write(".gitignore", "build/\n")
    project.write(
        "docs/auth.md",
        f"# Auth\n\n{' '.join(names)} src/auth/session.py src/part_1.py .ubp/config.json work_1\n",
    )
    project.commit("Name all of them", "--quiet")
    project.write(
        ".ubp/config.json",
        json.dumps({"bind": {"refused": [{"page": "docs/auth.md", "source": "src/auth/"}]}}),
    )
    project.git("add", "--force", ".ubp/config.json")
    suggested = sources_of(suggest(project, "docs/auth.md"), "docs/auth.md")
    assert not suggested.keys() & {*names, "src/auth/session.py", ".ubp/config.json"}
    assert "src/part_1.py" in suggested


def test_name_in_another_unicode_form_is_proposed_but_a_symlink_is_not(project):
    project.write(unicodedata.normalize("NFD", "src/ガイド.py"), "def x_y(): pass\n")
    (project.root / "src/link.py").symlink_to("part_1.py")
    project.write("docs/guide.md", "# G\n\nsrc/ガイド.py and src/link.py\n")
    project.commit("Name them in the composed form")
    suggested = sources_of(suggest(project, "docs/guide.md"), "docs/guide.md")
    assert unicodedata.normalize("NFC", next(iter(suggested))) == "src/ガイド.py"
    assert "src/link.py" not in suggested


def test_second_page_of_a_snapshot_gathers_nothing_again(project, monkeypatch):
    project.write("docs/auth.md", "# Auth\n\n`src/part_7.py` and `open_session`\n")
    fresh = sources_of(suggest(project, "docs/auth.md"), "docs/auth.md")
    with Workspace.open(str(project.root), model="none") as workspace:
        session = workspace.session
        propose(session, BindRequest(("docs/other.md",)))
        monkeypatch.setattr("ubp.bindings.suggest.EvidenceIndex", None)
        again = sources_of(
            propose(workspace.session, BindRequest(("docs/auth.md",))), "docs/auth.md"
        )
    assert again == fresh
    assert "src/part_7.py" in again


def test_prose_that_is_not_a_document_is_proposed_only_where_the_page_names_it(project):
    project.write("docs/auth.md", "# Auth\n\n`open_session` as notes/auth.md tells\n")
    for name in ("auth/README.md", "notes/auth.md", "drafts/auth.markdown"):
        project.write(name, "# Auth\n\n`open_session` of docs/auth.md\n")
    project.write(".ubp/config.json", json.dumps({"source": {"include": ["docs/**/*.md"]}}))
    project.commit("Begin notes")
    suggested = sources_of(suggest(project, "docs/auth.md"), "docs/auth.md")
    assert [path for path in suggested if path.endswith((".md", ".markdown"))] == ["notes/auth.md"]


@pytest.mark.parametrize(
    "text",
    [
        '--8<-- "src/auth/session.py"',
        "```python\n{! ../src/auth/session.py !}\n```",
        "{* ../src/auth/session.py hl[1] *}",
        '{% include "src/auth/session.py" %}',
        "<<< @/src/auth/session.py{2}",
        "<!-- @include: ../src/auth/session.py -->",
        "{{#include ../src/auth/session.py:2}}",
        "```{literalinclude} ../src/auth/session.py\n```",
        "![session](../src/auth/session.py)",
        '<img alt="session" src="../src/auth/session.py">',
    ],
)
def test_included_file_is_not_proposed(project, text):
    project.write("docs/auth.md", f"# Auth\n\n{text}\n\n`open_session`, see `src/part_7.py`.\n")
    project.commit("Describe sessions")
    proposed = sources_of(suggest(project, "docs/auth.md"), "docs/auth.md")
    assert "src/part_7.py" in proposed
    assert not [path for path in proposed if path.startswith("src/auth")]


def test_sources_in_a_submodule_are_not_proposed(project, new_repository):
    inner = new_repository("inner")
    inner.write("session.py", "def open_session(): pass\n")
    inner.commit("Begin")
    project.git(
        "-c", "protocol.file.allow=always", "submodule", "-q", "add", str(inner.root), "sub"
    )
    project.write("docs/auth.md", "# Auth\n\nsub/session.py and sub/: `open_session`\n")
    project.commit("Name them")
    suggested = sources_of(suggest(project, "docs/auth.md"), "docs/auth.md")
    assert not [path for path in suggested if path.startswith("sub")]
    assert "src/auth/session.py" in suggested


def test_lines_may_end_in_crlf(project):
    project.write("src/renewal.py", "import x\r\ndef renew_login():\r\n    pass\r\n")
    project.write("docs/auth.md", "# Auth\r\n\r\n`renew_login`\r\n")
    project.commit("Begin renewals")
    (first, *_) = sources_of(suggest(project, "docs/auth.md"), "docs/auth.md").values()
    assert (first.source_path, kinds(first)["identifier"]) == (
        "src/renewal.py",
        ("renew_login", 3),
    )


def test_pruning_removes_names_that_no_snapshot_has(project):
    project.write("docs/auth.md", "# Auth\n\n`open_session`\n")
    suggest(project)
    with Workspace.open(str(project.root), model="none") as workspace:
        count = "SELECT count(*) FROM names WHERE kind IN ('source', 'page 6')"
        known = workspace.session.store.database.rows(count)
        (project.root / "src/part_1.py").unlink()
        project.commit("Take one away")
        workspace.session.view()
        workspace.session.store.prune()
        assert (known, workspace.session.store.database.rows(count)) == ([(24,)], [(23,)])


def test_suggestions_without_commits_or_sources_are_empty(repository):
    repository.write("a.md", "# A\n\nb.py: x_y\n")
    assert sources_of(suggest(repository), "a.md") == {}
    repository.write("b.py", "x_y = 1\n")
    assert [*sources_of(suggest(repository), "a.md")] == ["b.py"]


def test_suggestions_are_kept_until_a_change_and_sources_are_read_once(project, monkeypatch):
    first = suggest(project)
    read_names = ubp.index.names.read_names
    monkeypatch.setattr("ubp.index.names.read_names", None)
    assert suggest(project, limit=1) != first  # another question
    with monkeypatch.context() as patch:
        patch.setattr("ubp.bindings.suggest.EvidenceIndex", None)
        assert suggest(project, limit=1) == suggest(project, limit=1)
    project.write("docs/other.md", "# Other\n\n`src/part_3.py` does work_3.\n")
    assert next(iter(sources_of(suggest(project), "docs/other.md"))) == "src/part_3.py"
    pair = {"page": "docs/other.md", "source": "src/part_3.py"}
    project.write(".ubp/config.json", json.dumps({"bind": {"refused": [pair]}}))
    assert "src/part_3.py" not in sources_of(suggest(project), "docs/other.md")
    # A narrower scope forgets what came from all files: some are excluded now.
    monkeypatch.setattr("ubp.index.names.read_names", read_names)
    project.write(".ubp/config.json", json.dumps({"source": {"exclude": ["src/part_3.py"]}}))
    assert "src/part_3.py" not in sources_of(suggest(project), "docs/other.md")


def test_files_that_a_glob_of_the_page_matches_are_not_proposed(project):
    project.page("docs/auth.md", "src/auth/*.py", body="# Auth\n\n`src/auth/session.py`\n")
    project.page("docs/parts.md", "src/**/*.py", body="# Parts\n\nsrc/auth/ src/part_1.py\n")
    project.commit("Describe with globs")
    suggestions = suggest(project, every=True)
    assert "src/auth/session.py" not in sources_of(suggestions, "docs/auth.md")
    assert not [path for path in sources_of(suggestions, "docs/parts.md") if path.startswith("src")]


def test_source_refused_for_every_page_is_not_proposed(project):
    project.write("docs/auth.md", "# Auth\n\n`src/auth/session.py` and `src/part_1.py`\n")
    project.commit("Mention two sources")
    refused = {"bind": {"refused": [{"source": "src/auth/session.py"}]}}
    project.write(".ubp/config.json", json.dumps(refused))
    sources = sources_of(suggest(project, "docs/auth.md"), "docs/auth.md")
    assert "src/auth/session.py" not in sources
    assert "src/part_1.py" in sources


def test_empty_files_and_manifests_are_proposed_only_if_a_sibling_is_listed(project):
    names = ("src/auth/__init__.py", "package.json", "mkdocs.yml", "docs/.vitepress/config.ts")
    project.write(names[0], "")
    for name in names[1:]:
        project.write(name, '{"open_session": 1}\n')
    project.write("docs/setup.md", f"# Setup\n\n{' '.join(names)} `open_session`\n")
    project.commit("Describe the setup")
    assert not sources_of(suggest(project), "docs/setup.md").keys() & {*names}
    project.page("docs/setup.ja.md", "package.json")
    assert "package.json" in sources_of(suggest(project), "docs/setup.md")


def test_evidence_has_words_as_the_page_spells_them(project):
    project.write("src/job_status.py", "def run(): pass\n")
    project.write("docs/job-status.md", "# Jobs\n\nText.\n")
    project.commit("Describe jobs")
    suggestion = sources_of(suggest(project), "docs/job-status.md")["src/job_status.py"]
    assert kinds(suggestion)["place"] == ("job, status", None)


def test_private_module_is_proposed_for_the_page_that_names_it(project):
    project.write("src/_tokens.py", "def issue(): pass\n")
    project.write("docs/guide.md", "# Guide\n\nThe `tokens` module issues them.\n")
    project.commit("Describe tokens")
    suggestion = sources_of(suggest(project), "docs/guide.md")["src/_tokens.py"]
    assert kinds(suggestion)["file_name"] == ("tokens", 3)


def test_files_of_the_site_or_generated_from_pages_are_not_proposed(project):
    names = [
        "antora.yml",
        "docs/conf.py",
        "docs/.vuepress/config.js",
        "sidebars.js",
        "docs/flow.svg",
        "site/auth/index.html",
        "docs/Auth.canvas",
    ]
    for name in names:
        project.write(name, "def open_session(): pass\n")
    project.write("excluded/auth.ja.md", "open_session\n")
    project.write(".ubp/config.json", '{"source": {"exclude": ["excluded/**"]}}')
    project.write("docs/auth.md", "# Auth\n\nopen_session and work_1\n")
    project.write("src/conf.py", "def open_session(): pass\n")
    project.commit("Describe")
    found = sources_of(suggest(project, limit=50), "docs/auth.md")
    assert {"src/auth/session.py", "src/conf.py"} <= found.keys()
    assert found.keys().isdisjoint(names)


def test_named_translation_is_not_proposed(project):
    for name in ("notes/auth.ja.md", "notes/auth.md"):
        project.write(name, "[日本語](auth.ja.md) [English](auth.md) open_session\n")
    project.write(".ubp/config.json", '{"source": {"include": ["notes/auth.md"]}}')
    project.commit("Describe")
    found = sources_of(suggest(project, "notes/auth.md", limit=50), "notes/auth.md")
    assert "src/auth/session.py" in found
    assert "notes/auth.ja.md" not in found


def test_records_of_the_past_get_only_sources_that_they_name(repository):
    for path in ("CHANGELOG.md", "docs/release-notes.md", "docs/blog/first.md", "docs/tokens.md"):
        repository.write(path, "Tokens are in `src/tokens.py`.\n")
    repository.write("src/tokens.py", "TOKENS = 1\n")
    repository.commit()
    found = suggest(repository)
    assert [page.filepath for page in found.pages] == ["docs/tokens.md"]
    assert (found.documents, found.left_out) == (4, 3)
    assert "src/tokens.py" in sources_of(suggest(repository, "CHANGELOG.md"), "CHANGELOG.md")


@pytest.mark.parametrize(
    "body",
    [
        "::: pkg.part_3\n",
        "---\ntitle: P\n---\n\n# P\n\n::: src.part_3\n    options:\n      show: work_3\n",
        "# Part 3\n\n```{eval-rst}\n.. automodule:: src.part_3\n   :members: a, b\n```\n",
        "# Part 3\n\n```{autofunction} src.part_3.work_3\n```\n",
        "import Part3 from '@site/src/part_3'\n\n# Part 3\n\n<Part3 of='src/part_3.py' />\n",
        "<script>\nimport P from './src/part_3.py'\nlet work_3 = 1\n</script>\n\n<P>\n</P>\n",
    ],
)
def test_page_that_a_build_makes_of_a_module_gets_no_proposals(project, body):
    project.write("docs/part_3.md", body)
    prose = " ".join(
        ["It calls `work_3` of `src/part_3.py` for every file that a reader names."] * 2
    )
    project.write("docs/part_3_guide.md", f"{body}\n{prose}\n")
    project.commit()
    found = suggest(project)
    assert sources_of(found, "docs/part_3.md") == {}
    assert "src/part_3.py" in sources_of(found, "docs/part_3_guide.md")


def test_fixtures_workflows_and_what_builds_the_site_are_proposed_only_by_their_path(project):
    paths = [
        ".github/workflows/install.yml",
        "docs/main.py",
        "docs/plugins/people.yml",
        "packages/a/__snapshots__/install.test.ts.snap",
        "docs/locale/ja/LC_MESSAGES/install.po",
        "tests/fixtures/install.json",
        "jest.config.js",
        ".wordlist-en.txt",
        "styles/config/vocabularies/people/accept.txt",
    ]
    for path in paths:
        project.write(path, "install_everything: run_all_people\n")
    names = ", ".join(f"`{path.rpartition('/')[2]}`" for path in paths)
    page = f"# Install people\n\n`install_everything`, `run_all_people`: {names}\n"
    project.write("docs/install.md", page)
    project.commit()
    assert set(sources_of(suggest(project), "docs/install.md")).isdisjoint(paths)
    project.write("docs/install.md", f"{page}\nSee `.github/workflows/install.yml`.\n")
    assert set(sources_of(suggest(project), "docs/install.md")) & {*paths} == {paths[0]}


def test_settings_of_git_and_manifests_that_list_pages_are_not_proposed(project):
    names = [".all-contributorsrc", ".gitattributes", "mix.exs", "work.gemspec", "docs/_meta.json"]
    for name in names:
        project.write(name, "docs/auth.md open_session\n")
    project.write("docs/auth.md", f"# Auth\n\nopen_session: {' '.join(names)}\n")
    project.commit("Describe")
    found = sources_of(suggest(project, limit=50), "docs/auth.md")
    assert "src/auth/session.py" in found
    assert found.keys().isdisjoint(names)


def test_state_of_editors_is_proposed_only_by_its_path_and_files_of_systems_never(project):
    names = ["docs/.DS_Store", "Thumbs.db", ".obsidian/bookmarks.json", ".vscode/launch.json"]
    for name in names:
        project.write(name, "open_session\n")
    text = "# Debug\n\nopen_session with `bookmarks.json`, `launch.json`, docs/.DS_Store\n"
    project.write("docs/debug.md", text)
    project.commit("Describe")
    found = suggest(project, limit=50)
    assert sources_of(found, "docs/debug.md").keys().isdisjoint(names)
    project.write("docs/debug.md", f"{text}Edit `.vscode/launch.json`.\n")
    found = suggest(project, limit=50)
    assert sources_of(found, "docs/debug.md").keys() & {*names} == {".vscode/launch.json"}


def test_relative_path_names_the_file_that_it_leads_to_and_no_version_of_it(project):
    files = [
        f"{folder}/examples/auth/main.py"
        for folder in ("docs", "versioned_docs/version-1", "versioned_docs/version-2", "old")
    ]
    for file in files:
        project.write(file, "open_session(work_1)\n")
    project.write(
        "docs/start/auth.mdx", "import it from '!!raw-loader!../examples/auth/main.py';\n"
    )
    project.commit("Show it")
    found = sources_of(suggest(project, limit=50), "docs/start/auth.mdx")
    assert kinds(found[files[0]])["path"] == ("../examples/auth/main.py", 1)
    named = [source for source, suggestion in found.items() if "path" in kinds(suggestion)]
    assert named == [files[0]]
    assert found.keys().isdisjoint(files[1:3])


def test_path_from_the_page_comes_before_the_same_path_from_the_root(project):
    for folder in ("", "packages/shop/"):
        project.write(f"{folder}src/basket.py", "def fill_basket():\n    return 1\n")
    project.write(
        "packages/shop/README.md",
        "# Shop\n\n`fill_basket` fills the `basket`.\n\nSee `src/basket.py`.\n",
    )
    project.commit("Shop")
    sources = sources_of(suggest(project), "packages/shop/README.md")
    assert kinds(sources["packages/shop/src/basket.py"])["path"] == ("src/basket.py", 5)
    assert "path" not in kinds(sources["src/basket.py"])


def test_inline_code_that_is_a_path_with_a_space_names_the_file_there(project):
    for path in ("src/my queue.py", "tools/検索 器.rb", "src/worker.py"):
        project.write(path, "def fill_queue():\n    return 1\n")
    project.write(
        "docs/queue.md",
        "# Filling\n\n`src/my queue.py` is called by `検索 器.rb` not by `python src/worker.py`.\n",
    )
    project.commit("Fill")
    sources = sources_of(suggest(project), "docs/queue.md")
    assert kinds(sources["src/my queue.py"])["path"] == ("src/my queue.py", 3)
    assert kinds(sources["tools/検索 器.rb"])["file_name"] == ("検索 器.rb", 3)
    assert kinds(sources["src/worker.py"])["path"] == ("src/worker.py", 3)


def test_link_to_a_page_of_the_site_names_no_module_with_its_path(project):
    project.write("docs/auth.md", "# Sessions\n\n[Sessions](/auth/session) and `/auth/session`\n")
    project.write("docs/guide.md", "# Guide\n\nSee [Sessions](/auth/session).\n")
    project.commit("Guide")
    found = suggest(project)
    assert "path" in kinds(sources_of(found, "docs/auth.md")["src/auth/session.py"])
    sources = sources_of(found, "docs/guide.md")
    assert "src/auth/session.py" not in sources or "path" not in kinds(
        sources["src/auth/session.py"]
    )


@pytest.mark.parametrize(
    ("name", "fences", "text", "proposed"),
    [
        ("camera", ["cpp", "c++", "yaml"], "", {"cpp"}),
        ("camera", ["cpp"], "`py/camera.py` wraps it.", {"cpp", "py"}),
        ("camera", ["cpp"], "`camera.py` wraps it.", {"cpp", "py"}),
        ("camera", ["cpp", "python"], "", {"cpp", "py"}),
        ("camera", ["rust"], "", {"cpp", "py"}),
        ("camera", [], "", {"cpp", "py"}),
        ("main", ["cpp"], "", {"cpp", "py"}),
    ],
)
def test_page_describes_the_namesake_in_the_language_of_its_examples(
    name, fences, text, proposed, project
):
    for suffix in ("cpp", "py"):
        project.write(f"{suffix}/{name}.{suffix}", "start_video_streaming = 1\n")
    project.write(
        "docs/camera.md",
        f"# Camera\n\n`start_video_streaming` {text}\n\n"
        + "".join(f"```{fence}\nstart_video_streaming\n```\n" for fence in fences),
    )
    project.commit("Stream")
    found = sources_of(suggest(project), "docs/camera.md")
    assert {suffix for suffix in ("cpp", "py") if f"{suffix}/{name}.{suffix}" in found} == proposed


@pytest.mark.parametrize(
    ("address", "is_own"),
    [
        ("https://github.com/acme/api/blob/main/src/part_7.py#L3", True),
        ("https://gitlab.example.com/group/team/API/-/blob/v1/src/part_7.py", True),
        ("https://codeberg.org/fork/api/src/branch/main/src/part_7.py", True),
        ("https://github.com/acme/app/blob/main/src/part_7.py", False),
    ],
)
def test_link_to_a_file_at_a_forge_is_evidence_if_it_leads_to_this_repository(
    project, address, is_own
):
    project.git("remote", "add", "upstream", "git@github.com:acme/api.git")
    project.write("docs/seventh.md", f"# Seventh\n\nSee [`src/part_7.py`]({address}).\n")
    project.commit("Link to a forge")
    found = sources_of(suggest(project), "docs/seventh.md")
    named = {source: kinds(found[source]).get("path") for source in found}
    expected = ("src/part_7.py", 3) if is_own else None
    assert named.get("src/part_7.py") == expected
