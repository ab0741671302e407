"""Translations: pages whose original a rule of the configuration names, and pins by commit."""

import json

import pytest

from ubp.__main__ import main
from ubp.answers.staleness.check_staleness import CheckStalenessRequest
from ubp.answers.staleness.stale import report_stale
from ubp.answers.staleness.translations import count_translations, propose_missing_rules
from ubp.core.translations import TranslationRule
from ubp.index.session import Target
from ubp.output.records import RECORDS
from ubp.staleness.translation_rules import find_unclear_layouts, propose_rules
from ubp.workspace import Workspace

RULE = {"page": "docs/{lang}/{path}", "source": "docs/en/{path}", "pin": "i18n.commit"}


def configure(repository, *rules, **settings):
    repository.write(".ubp/config.json", json.dumps({"translations": rules or [RULE], **settings}))


def translate(repository, path, pin="", text="Text."):
    front_matter = f"---\ni18n:\n  commit: {pin}\n---\n" if pin else ""
    repository.write(path, f"{front_matter}# Page\n\n{text}\n")


@pytest.fixture
def project(repository):
    """Two originals; a is translated into German and Japanese, both pinned, b only into German."""
    configure(repository)
    repository.write("docs/en/a.md", "# A\n\nFirst.\n")
    repository.write("docs/en/b.md", "# B\n")
    pin = repository.commit("originals")
    translate(repository, "docs/de/a.md", pin)
    translate(repository, "docs/de/b.md", pin)
    translate(repository, "docs/ja/a.md", pin[:10])
    repository.commit("translations")
    return repository


def edit_original(repository, path="docs/en/a.md"):
    repository.write(path, "# A\n\nSecond.\n")
    return repository.commit("edit the original")


def verdicts(report):
    return {page.page.filepath: page.references[0].verdict for page in report.translations}


def count(repository, *paths):
    """The numbers of each language: fresh, stale, missing, orphaned, unknown."""
    with Workspace.open(str(repository.root)) as workspace:
        report = report_stale(workspace.session, Target(), paths)
        return {
            language.language: (
                language.fresh,
                language.stale,
                len(language.missing),
                language.orphaned,
                language.unknown,
            )
            for language in count_translations(workspace.session, report)
        }


def run(repository, *arguments):
    return main(["-C", str(repository.root), *arguments])


def test_languages_are_counted_by_verdict(project):
    assert count(project) == {"de": (2, 0, 0, 0, 0), "ja": (1, 0, 1, 0, 0)}
    edit_original(project)
    project.remove("docs/en/b.md")
    project.commit("remove an original")
    assert count(project) == {"de": (0, 1, 0, 1, 0), "ja": (0, 1, 0, 0, 0)}


def test_spellings_of_a_language_are_one(repository):
    rule = {"page": "{path}.{lang}.md", "source": "{path}.md"}
    repository.write(".ubp/config.json", json.dumps({"translations": [rule]}))
    for page in "abcd":
        repository.write(f"{page}.md", "# Page\n")
    for name in ("a.pt-BR.md", "b.pt-BR.md", "c.pt-br.md"):
        repository.write(name, "# Página\n")
    repository.commit()
    assert count(repository) == {"pt-BR": (3, 0, 1, 0, 0)}


def test_verdict_of_a_commit_and_of_a_blob_equals_that_of_git(project, ask):
    blob = project.blob("docs/en/a.md")
    translate(project, "docs/fr/a.md", blob)
    project.commit("a translation that is pinned to a blob")
    assert verdicts(ask(project))["docs/fr/a.md"] == "fresh"
    changed = edit_original(project)
    report = ask(project)
    assert verdicts(report) == {
        "docs/de/a.md": "modified",
        "docs/fr/a.md": "modified",
        "docs/ja/a.md": "modified",
        "docs/de/b.md": "fresh",
    }
    commits = {page.references[0].commits[0].id for page in report.translations[:3]}
    assert commits == {changed}
    assert report.pages == ()


def test_edit_renews_an_unpinned_translation_but_no_pin(project, ask):
    translate(project, "docs/fr/a.md")
    project.commit("an unpinned translation")
    edit_original(project)
    assert verdicts(ask(project))["docs/fr/a.md"] == "modified"
    translate(project, "docs/fr/a.md", text="Nouveau.")
    translate(project, "docs/de/a.md", project.git("rev-parse", "HEAD~2").strip(), text="Neu.")
    project.commit("edit two translations")
    assert verdicts(ask(project))["docs/fr/a.md"] == "fresh"
    assert verdicts(ask(project))["docs/de/a.md"] == "modified"


def test_deleted_original_is_deleted_and_moved_original_is_moved(project, ask):
    project.git("mv", "docs/en/a.md", "docs/en/c.md")
    project.remove("docs/en/b.md")
    project.commit("move one, remove the other")
    report = ask(project)
    assert verdicts(report) == {
        "docs/de/a.md": "moved",
        "docs/de/b.md": "deleted",
        "docs/ja/a.md": "moved",
    }
    moved = {page.page.filepath: page.references[0].moved_to for page in report.translations}
    assert moved["docs/ja/a.md"] == "docs/en/c.md"


def test_original_and_translation_that_moved_together_are_compared_as_before(project, ask):
    translate(project, "docs/fr/a.md")
    translate(project, "docs/fr/b.md")
    project.commit("unpinned translations")
    edit_original(project, "docs/en/b.md")
    for language in ("en", "fr"):
        project.git("mv", f"docs/{language}/a.md", f"docs/{language}/new.md")
        project.git("mv", f"docs/{language}/b.md", f"docs/{language}/later.md")
    expected = {"docs/fr/new.md": "fresh", "docs/fr/later.md": "modified"}
    assert verdicts(ask(project)).items() >= expected.items()
    project.commit("move both")
    assert verdicts(ask(project)).items() >= expected.items()
    edit_original(project, "docs/en/new.md")
    assert verdicts(ask(project))["docs/fr/new.md"] == "modified"


def test_language_without_a_translation_of_any_original_is_not_counted(project):
    translate(project, "docs/ko/own.md")
    project.commit("a page of the Korean team")
    assert count(project).keys() == {"de", "ja"}


def test_next_step_for_a_page_of_the_root_names_a_folder(repository, capsys):
    configure(repository, {"page": "{path}.{lang}.md", "source": "{path}.md"})
    repository.write("README.md", "# A\n")
    repository.write("README.ja.md", "# A\n")
    repository.commit("both")
    edit_original(repository, "README.md")
    assert run(repository, "stale", "--translations") == 0
    assert "  ubp stale --translations .  list" in capsys.readouterr().out


def test_page_that_never_had_an_original_is_no_translation(project):
    translate(project, "docs/ja/own.md")
    project.commit("a page of the Japanese team")
    assert count(project)["ja"] == (1, 0, 1, 0, 0)


def test_pin_that_git_lacks_is_unknown_with_a_reason(project, capsys):
    translate(project, "docs/de/a.md", "0123456789ab")
    project.commit("a pin that a squash lost")
    assert count(project)["de"] == (1, 0, 0, 0, 1)
    assert run(project, "stale", "--translations", "--all") == 2
    assert "its pin is the id of no commit or file in this repository" in capsys.readouterr().out


def test_changed_original_is_mentioned_and_fails_only_as_an_error(project, capsys):
    base = project.head()
    edit_original(project)
    assert run(project, "stale", "--base", base) == 0
    assert "docs/en/a.md: de, ja" in capsys.readouterr().out
    assert run(project, "check", "--base", base) == 0
    assert "warning" in capsys.readouterr().out
    configure(project, check={"severity": {"stale-translation": "error"}})
    assert run(project, "stale", "--base", base) == 1
    assert run(project, "check", "--base", base) == 1
    configure(project, check={"severity": {"stale-translation": "off"}})
    capsys.readouterr()
    assert run(project, "stale", "--base", base) == 0
    assert "docs/en/a.md" not in capsys.readouterr().out


def test_translation_that_was_behind_before_a_change_is_not_mentioned(project, ask):
    edit_original(project)
    base = project.head()
    project.write("docs/en/a.md", "# A\n\nThird.\n")
    project.commit("edit it again")
    assert ask(project, base=base).outdated_translations == ()


def test_ack_writes_the_commit_that_last_changed_the_original(project):
    changed = edit_original(project)
    project.write("other.txt", "other")
    project.commit("something else")
    assert run(project, "ack", "docs/de/a.md", "docs/ja/a.md") == 0
    german = (project.root / "docs/de/a.md").read_text()
    assert german == f"---\ni18n:\n  commit: {changed}\n---\n# Page\n\nText.\n"
    assert f"commit: {changed[:12]}\n" in (project.root / "docs/ja/a.md").read_text()
    assert count(project) == {"de": (2, 0, 0, 0, 0), "ja": (1, 0, 1, 0, 0)}


def test_ack_of_a_folder_skips_translations_unless_requested(project):
    edit_original(project)
    assert run(project, "ack", "docs/de") == 0
    assert run(project, "ack", "--all") == 0
    assert count(project)["de"] == (1, 1, 0, 0, 0)
    assert run(project, "ack", "--translations", "docs/de") == 0
    assert count(project)["de"] == (2, 0, 0, 0, 0)


def test_ack_refuses_a_commit_for_an_uncommitted_original(project, capsys):
    project.write("docs/en/a.md", "# A\n\nNot committed.\n")
    before = (project.root / "docs/de/a.md").read_bytes()
    assert run(project, "ack", "docs/de/a.md") == 1
    assert "commit it first" in capsys.readouterr().out
    assert (project.root / "docs/de/a.md").read_bytes() == before


def test_json_record_lists_missing_originals(project, capsys, valid):
    edit_original(project)
    assert run(project, "stale", "--translations", "--diff", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    valid(next(row.schema for row in RECORDS if row.name == "stale-translations"), record)
    languages = {row["language"]: row for row in record["languages"]}
    assert languages["ja"]["missing_originals"] == ["docs/en/b.md"]
    assert languages["de"]["stale"] == 1
    (reference,) = record["documents"][0]["references"]
    assert (reference["language"], reference["pin_key"]) == ("de", "i18n.commit")
    assert "+Second." in reference["diff"]["text"]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (
            ["docs/en/a.md", "docs/ja/a.md", "docs/de/x/b.md", "docs/en/x/b.md"],
            [("docs/{lang}/{path}", "docs/en/{path}")],
        ),
        (
            ["guide/a.md", "guide/b.md", "guide/zh/a.md", "guide/zh/b.md"],
            [("guide/{lang}/{path}", "guide/{path}")],
        ),
        (
            [
                *("docs/a.md", "docs/b.md"),
                *(f"i18n/fr/docusaurus-plugin-content-docs/current/{name}.md" for name in "ab"),
            ],
            [("i18n/{lang}/docusaurus-plugin-content-docs/current/{path}", "docs/{path}")],
        ),
        (["a.md", "a.ja.md", "b.md", "b.ja.md"], [("{path}.{lang}.md", "{path}.md")]),
        (
            ["README.md", "README_zh.md", "by-id.md", "by.md"],
            [("{path}_{lang}.md", "{path}.md")],
        ),
        (["api/it/a.md", "api/no/b.md", "api/c.md"], []),
    ],
)
def test_layout_of_translations_is_recognized(repository, paths, expected):
    for path in paths:
        repository.write(path, "# Page\n")
    repository.commit("pages")
    with Workspace.open(str(repository.root)) as workspace:
        rules = propose_rules(workspace.session.view(), workspace.session.repository)
    assert [(proposed.rule.page, proposed.rule.source) for proposed in rules] == expected


def proposed_sources(repository):
    """The originals that rules are proposed for, and the layouts whose originals are unclear."""
    with Workspace.open(str(repository.root)) as workspace:
        view = workspace.session.view()
        rules = propose_rules(view, workspace.session.repository)
        return [rule.rule.source for rule in rules], find_unclear_layouts(view)


CROWDIN = "files:\n  - source: /locales/de.yml\n  - source: /content/ja/docs/**/*.*\n"
HUGO = "defaultContentLanguage = '{}'\n[languages.en]\ncontentDir = 'content/en'\n"
HUGO += "[languages.ja]\ncontentDir = 'content/ja'\n"
MKDOCS = """\
docs_dir: content
plugins:
  - i18n:
      docs_structure: folder
      languages:
        - locale: en
        - locale: ja
          default: true
"""


@pytest.mark.parametrize(
    ("files", "language"),
    [
        ({}, "en"),
        ({"crowdin.yml": CROWDIN}, "ja"),
        ({"hugo.toml": HUGO.format("ja")}, "ja"),
        ({"hugo.toml": HUGO.format("en"), "crowdin.yml": CROWDIN}, None),
        ({"hugo.toml": HUGO.format("ja"), "crowdin.yml": CROWDIN}, "ja"),
        ({"mkdocs.yml": MKDOCS}, "ja"),
    ],
)
def test_configuration_shows_the_language_of_the_originals(repository, files, language):
    for path, text in files.items():
        repository.write(path, text)
    for page in ("en/docs/a", "en/docs/b", "ja/docs/a", "ja/docs/b"):
        repository.write(f"content/{page}.md", "# Page\n")
    repository.commit("Begin")
    unclear = () if language else ("content/{lang}/{path}",)
    sources = [f"content/{language}/{{path}}"] if language else []
    assert proposed_sources(repository) == (sources, unclear)


def test_language_in_which_most_pages_are_missing_is_unclear(repository):
    repository.write("hugo.toml", HUGO.format("ja"))
    for page in ("en/a", "en/b", "en/c", "en/d", "en/e", "ja/a", "ja/b"):
        repository.write(f"content/{page}.md", "# Page\n")
    repository.commit("Begin")
    assert proposed_sources(repository) == ([], ("content/{lang}/{path}",))


@pytest.mark.parametrize(
    ("japanese", "english", "source"),
    [
        ("abc", "", "docs/ja/{path}"),
        ("a", "", "docs/en/{path}"),
        ("ab", "c", "docs/ja/{path}"),
        ("ab", "cd", None),
    ],
)
def test_language_that_had_most_pages_first_has_the_originals(
    repository, japanese, english, source
):
    for language, pages in (("ja", japanese), ("en", english)):
        for page in pages:
            repository.write(f"docs/{language}/{page}.md", "# Page\n")
    repository.commit("Begin")
    for page in "abcd":
        for language in ("ja", "en"):
            repository.write(f"docs/{language}/{page}.md", "# Page\n")
    repository.commit("Translate")
    expected = ([source], ()) if source else ([], ("docs/{lang}/{path}",))
    assert proposed_sources(repository) == expected


def test_key_of_existing_pins_is_recognized(project):
    (project.root / ".ubp/config.json").unlink()
    with Workspace.open(str(project.root)) as workspace:
        (proposed,) = propose_missing_rules(workspace.session)
    assert proposed.setting == RULE


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("docs/ja/a/b.md", ("ja", "docs/en/a/b.md")),
        ("docs/zh-Hant/a.md", ("zh-Hant", "docs/en/a.md")),
        ("docs/en/a.md", None),
        ("docs/api/a.md", None),
        ("docs/ja.md", None),
    ],
)
def test_rule_gives_the_original_of_a_translation(path, expected):
    assert TranslationRule(RULE["page"], RULE["source"]).match(path) == expected


def test_page_is_pinned_by_commit_under_the_key_of_its_project(repository, ask):
    repository.write(".ubp/config.json", '{"staleness": {"pin": "verified-at"}}')
    repository.write("src/a.py", "a = 1\n")
    repository.write("src/b.py", "b = 1\n")
    first = repository.commit("sources")
    page = "---\nverified-at: {}\nsource_refs: [src/a.py, src/b.py]\n---\n# Page\n"
    repository.write("docs/page.md", page.format(first))
    repository.commit("page")
    assert [p.level for p in ask(repository).pages] == ["fresh"]
    repository.write("src/b.py", "b = 2\n")
    second = repository.commit("change b")
    repository.write("docs/page.md", page.format(first) + "An edit.\n")
    repository.commit("edit the page")
    (assessed,) = ask(repository).pages
    assert [verdict.verdict for verdict in assessed.references] == ["fresh", "modified"]
    assert run(repository, "ack", "docs/page.md") == 0
    assert (repository.root / "docs/page.md").read_text() == page.format(second) + "An edit.\n"


def test_agent_gets_a_translation_with_its_original_and_otherwise_the_counts(project):
    edit_original(project)
    with Workspace.open(str(project.root)) as workspace:
        found = workspace.ask(CheckStalenessRequest(filepath="docs/de/a.md"))
        (page,) = found.documents
        assert (page.staleness, page.references[0].language) != ("fresh", None)
        assert page.references[0].source_path == "docs/en/a.md"
        counts = workspace.ask(CheckStalenessRequest()).translations
        assert [(row.language, row.stale, row.missing) for row in counts] == [
            ("de", 1, 0),
            ("ja", 1, 1),
        ]


def test_original_with_other_sources_alone_is_unchanged(project):
    project.write("docs/en/b.md", "---\ntitle: B\nsource_refs:\n- a.py\n---\n# B\n")
    project.write("a.py", "a = 1\n")
    pin = project.commit("list a source")
    translate(project, "docs/de/b.md", pin)
    project.commit("renew the translation")
    for listed in ("- path: a.py\n  pin: 1234567", "- a.py\n- docs/en/a.md"):
        project.write("docs/en/b.md", f"---\ntitle: B\nsource_refs:\n{listed}\n---\n# B\n")
        project.commit("list another source")
        assert count(project)["de"] == (2, 0, 0, 0, 0)
    project.write("docs/en/b.md", "---\ntitle: C\nsource_refs:\n- a.py\n---\n# B\n")
    project.commit("another title")
    assert count(project)["de"] == (1, 1, 0, 0, 0)


def test_original_that_lists_its_first_source_is_unchanged(project):
    project.write("docs/en/a.md", "---\nsource_refs:\n- a.py\n---\n# A\n\nFirst.\n")
    project.commit("list a source")
    assert count(project)["de"] == (2, 0, 0, 0, 0)
