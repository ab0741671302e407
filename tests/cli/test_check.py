"""`ubp check` and `ubp explain`: exit statuses, records, the calls that are wrong."""

import pytest

from ubp.checks.registry import NAMES, RULES


@pytest.fixture
def broken(repository, at):
    """A page with a link to a page that was renamed, and a link to a heading that is not there."""
    repository.write("docs/a.md", "# A\n\nSee [b](b.md) and [c](#c).\n")
    repository.write("docs/b.md", "# B\n")
    repository.commit()
    repository.git("mv", "docs/b.md", "docs/new.md")
    at(repository)
    return repository


def test_pages_in_other_formats_are_said_not_to_be_read(repository, at, asked, ubp):
    repository.write("a.md", "# A\n")
    repository.write("docs/b.rst", "B\n=\n")
    repository.write("docs/c.QMD", "# C\n")
    for name in "defg":
        repository.write(f"docs/{name}.rst", "D\n=\n")
    repository.write("node_modules/e/e.rst", "E\n=\n")
    repository.commit()
    at(repository)

    assert asked(repository, "check")["unread"] == {".rst": 5, ".qmd": 1}
    assert "\nNot read" in ubp(repository, "check").out
    shown = ubp(repository, "check").out
    assert "\nNot read, as UBP reads Markdown: 5 .rst, 1 .qmd.\n" in shown
    assert asked(repository, "check", "a.md")["unread"] == {}
    for number in range(60):
        repository.write(f"more/{number}.md", "# More\n")
    assert asked(repository, "check")["unread"] == {}


def test_finding_record_has_every_key(broken, asked):
    record = asked(broken, "check", "--staged", status=1)
    (finding,) = record["findings"]
    assert finding == {
        "doc_id": finding["doc_id"],
        "filepath": "docs/a.md",
        "line": 3,
        "column": 5,
        "rule": "broken-link",
        "severity": "error",
        "message": "b.md does not exist.",
        "hint": "Did you mean docs/new.md?",
        "related": "docs/new.md",
        "is_fixable": True,
        "fingerprint": "3458e8b90a7eec01f3edb259ff0e1bb3",
    }
    assert {key: value for key, value in record.items() if key != "findings"} == {
        "summary": {
            "documents": 2,
            "errors": 1,
            "warnings": 0,
            "fixable": 1,
            "ignored": 0,
            "accepted": 0,
            "unverified": 0,
        },
        "ignored": {},
        "accepted": {},
        "rules": [rule.name for rule in RULES if rule.severity != "off"],
        "not_checked": [],
        "unconfirmed": [],
        "lacks_history": False,
        "unread": {},
        "unverified": [],
        "behind": [],
        "noted": [],
        "denied": [],
        "judge": None,
        "obsolete_debts": 0,
        "snapshot": {"kind": "staged", "commit": broken.head()},
        "is_change": True,
        "fix": None,
    }


def test_page_that_fix_skips_is_not_offered_to_it_again(broken, ubp):
    broken.write("src/a.py", "1\n")
    broken.write("src/b.py", "b\n" * 9)
    broken.page("docs/c.md", "src/a.py", "src/b.py")
    broken.commit()
    broken.write("src/a.py", "2\n")
    broken.git("mv", "src/b.py", "src/c.py")
    broken.commit()
    assert "fixes 1 of them" in ubp(broken, "check").out
    done = ubp(broken, "check", "--fix").out
    assert "Pin its baseline first: ubp ack --history docs/c.md\n" in done
    assert "of them" not in done


def test_fix_record_has_every_key(broken, asked):
    dry = asked(broken, "check", "--fix", "--dry-run", status=1)
    assert dry["fix"]["is_dry_run"]
    assert dry["fix"]["diff"] == (
        "--- a/docs/a.md\n+++ b/docs/a.md\n@@ -2,2 +2,2 @@\n \n"
        "-See [b](b.md) and [c](#c).\n+See [b](new.md) and [c](#c).\n"
    )
    assert dry["summary"]["errors"] == 1
    done = asked(broken, "check", "--fix")
    (applied,) = done["fix"]["fixed"]
    assert (applied["rule"], applied["before"], applied["after"]) == (
        "broken-link",
        "b.md",
        "new.md",
    )
    assert done["summary"]["errors"] == 0


def test_rule_records_have_every_key(repository, asked):
    assert [row["rule"] for row in asked(repository, "explain")["rules"]] == list(NAMES)
    (described,) = asked(repository, "explain", "orphan-doc")["rules"]
    assert (described["severity"], described["summary"]) == (
        "off",
        "No other page links to this page.",
    )
    assert described["manual"].startswith(described["summary"])


@pytest.mark.parametrize(
    ("tokens", "status"),
    [
        ([], 1),
        (["--fail-on", "never"], 0),
        (["--rule", "missing-anchor"], 0),
        (["--rule", "missing-anchor", "--fail-on", "warning"], 1),
        (["--rule", "missing-anchor", "--rule", "broken-link"], 1),
        (["docs/new.md"], 0),
        (["--ref", "HEAD"], 0),
        (["--staged"], 1),
        (["--base", "HEAD"], 0),
        (["--rule", "nonsense"], 2),
        (["--fail-on", "nonsense"], 2),
        (["--dry-run"], 2),
        (["--fix", "--staged"], 2),
        (["--fix", "--ref", "HEAD"], 2),
        (["nonsense.md"], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_exit_status_shows_the_outcome(broken, ubp, tokens, status):
    assert ubp(broken, "check", *tokens).status == status


def test_unverifiable_source_in_a_shallow_clone_is_no_success(repository, shallow, ubp, at):
    at(repository)
    answer = ubp(shallow, "check")
    assert answer.status == 2
    assert answer.out == (
        "No findings in 1 page; 1 source could not be verified because this clone is shallow.\n"
        "Next:\n  git fetch --unshallow  fetches the history (in CI: fetch-depth: 0)\n"
    )
    assert ubp(shallow, "check", "--json").record["unverified"] == [
        {"filepath": "a.md", "line": 3, "source_path": "a.py", "note": None, "unfetched": None}
    ]
    assert ubp(shallow, "check", "--rule", "broken-link").status == 0


def test_quiet_check_prints_one_line_per_finding(broken, ubp):
    answer = ubp(broken, "check", "--quiet")
    assert answer.out.splitlines() == [
        "docs/a.md:3:5  error  broken-link: b.md does not exist.",
        "docs/a.md:3:19  warning  missing-anchor: docs/a.md has no heading #c.",
    ]
    assert ubp(broken, "check", "--fix", "--quiet").out == (
        "docs/a.md:3:21  warning  missing-anchor: docs/a.md has no heading #c.\n"
    )


def test_text_of_pages_never_reaches_the_terminal_raw(repository, ubp):
    repository.write("a.md", "[x](\x1b[31mx.md) [[\x9b31m]] [y](#\u202ey) [[b]]\n")
    repository.write("b.md", "# B\n")
    answer = ubp(repository, "check")
    assert answer.status == 1
    assert not {"\x1b", "\x9b", "\u202e"} & set(answer.out)


def test_check_without_pages_is_not_green(repository, ubp):
    assert ubp(repository, "check").out == "No pages found; nothing to check.\n"


def test_finding_repeated_in_translations_is_shown_once(repository, ubp):
    for language in ("de", "en", "ja"):
        repository.write(f"docs/{language}/a.md", "# A\n\n[b](b.md)\n")
    repository.write("docs/de/other.md", "# Other\n\n[c](c.md)\n")
    repository.write("docs/known.md", "# Known\n\n" + "[known](known.md) " * 12)
    repository.commit()
    text = ubp(repository, "check").out
    assert text.startswith(
        "docs/en/a.md:3:1  error  broken-link: b.md does not exist.\n"
        "  Also in docs/de/a.md:3, docs/ja/a.md:3\n"
        "docs/de/other.md:3:1  error  broken-link: c.md does not exist.\n"
        "\n4 errors in 4 of 5 pages.\n"
    )
    for language in ("es", "fr"):
        repository.write(f"docs/{language}/a.md", "# A\n\n[b](b.md)\n")
    also = "  Also in docs/de/a.md:3, docs/es/a.md:3, docs/fr/a.md:3, and 1 more place"
    assert f"{also} (--quiet lists all)\n" in ubp(repository, "check").out
    assert len(ubp(repository, "check", "--quiet").out.splitlines()) == 6
    assert len(ubp(repository, "check", "--json").record["findings"]) == 6


def test_links_to_a_renamed_page_are_one_finding_with_their_places(repository, ubp):
    repository.write("docs/resolution.md", "# Resolution\n\nText of the page.\n")
    for number in range(8):
        repository.write(f"docs/p{number}.md", "# P\n\n[r](resolution.md)\n")
        repository.write(f"docs/deep/q{number}.md", "# Q\n\n[r](../resolution.md#top)\n")
        repository.write(f"docs/deep/{number}/r.md", "# R\n\n[gone](gone.md)\n")
    repository.write("docs/known.md", "# Known\n\n" + "[known](known.md) " * 60)
    repository.commit()
    repository.git("mv", "docs/resolution.md", "docs/resolving.md")
    text = ubp(repository, "check").out
    assert text.startswith(
        "docs/deep/0/r.md:3:1  error  broken-link: gone.md does not exist.\n"
        "docs/deep/1/r.md:3:1  error  broken-link: gone.md does not exist.\n"
    )  # other files of the same name
    assert (
        "docs/deep/q0.md:3:1  error  broken-link: ../resolution.md does not exist.\n"
        "  Did you mean docs/resolving.md?\n"
        "  Also in docs/deep/q1.md:3, docs/deep/q2.md:3, docs/deep/q3.md:3,"
        " and 12 more places (--quiet lists all)\n"
        "\n24 errors in 24 of 26 pages.\n"
    ) in text
    assert len(ubp(repository, "check", "--json").record["findings"]) == 24
    comment = ubp(repository, "check", "--format", "markdown").out
    (line,) = [line for line in comment.splitlines() if "resolution.md" in line]
    assert line.startswith(
        "- `docs/deep/q0.md:3` `../resolution.md does not exist. Did you mean docs/resolving.md?`"
        " Also in `docs/deep/q1.md:3`, `docs/deep/q2.md:3`, "
    )
    assert line.endswith("`docs/p7.md:3`.")
    annotations = ubp(repository, "check", "--format", "sarif").out
    assert annotations.count("does not exist.\\nDid you mean docs/resolving.md?") == 16


def test_heading_missing_in_versions_and_in_pages_of_a_template_is_one_finding(repository, ubp):
    repository.write("docusaurus.config.js", "export default {};\n")
    repository.write("versions.json", '["v1.3"]')
    folders = (
        "docs",
        "versioned_docs/version-v1.3",
        "i18n/zh/docusaurus-plugin-content-docs/current",
    )
    page = "# A\n\n[x](#writeTo) [y](#a) [z](#write)\n\n## writeTo\n\n## Write\n"
    for folder in folders:
        repository.write(f"{folder}/api/a.md", page)
        repository.write(f"{folder}/api/b.md", page)
        repository.write(f"{folder}/guide/c.md", "# C\n\n[x](../api/a.md#writeTo)\n")
    repository.commit()
    text = ubp(repository, "check").out
    assert text.startswith(
        "docs/api/a.md:3:1  warning  missing-anchor: docs/api/a.md has no heading #writeTo.\n"
        "  Browsers distinguish capital letters in anchors. Did you mean #writeto?\n"
        "  Also in docs/api/b.md:3, i18n/zh/docusaurus-plugin-content-docs/current/api/a.md:3,"
        " i18n/zh/docusaurus-plugin-content-docs/current/api/b.md:3,"
        " and 2 more places (--quiet lists all)\n"
        "docs/guide/c.md:3:1  warning  missing-anchor: docs/api/a.md has no heading #writeTo.\n"
        "  Also in i18n/zh/docusaurus-plugin-content-docs/current/guide/c.md:3,"
        " versioned_docs/version-v1.3/guide/c.md:3\n"
        "\n9 warnings in 9 of 9 pages.\n"
    ), text


def test_explained_site_names_its_file_rules_and_forms_of_links(repository, ubp, at):
    repository.write("site/docs/.vitepress/config.mts", "export default { base: '/v/' }\n")
    repository.write("site/docs/index.md", "# Home\n\n[a](/guide) [b](#home) [c](gone.md)\n")
    ids = "".join(f"[{n}](@/{n})\n" for n in range(2))
    repository.write("site/docs/guide.md", f"# Guide\n\n{ids}")
    repository.write("README.md", "# Project\n")
    repository.commit()
    at(repository)
    answer = ubp(repository, "check", "--explain-site")
    assert answer.status == 0
    assert answer.out.splitlines() == [
        "site/docs/  vitepress, found by site/docs/.vitepress/config.mts: 2 pages",
        "  pages: site/docs/ at /",
        "  files: site/docs/public/ at /",
        "  base: /v/",
        (
            "  anchors: markdown-it-anchor's, with VitePress's slugs"
            " (makes anchors of links as of headings: yes)"
        ),
        "  links without a suffix are checked: every address below the site is one of a page here",
        "  links /…: 1, all lead somewhere",
        (
            "  links @/…: 2, 2 lead nowhere, 2 of them not reported: nothing else shows it,"
            " for example @/0 (site/docs/guide.md:3)"
        ),
        "  links ….md: 1, 1 lead nowhere, for example gone.md (site/docs/index.md:3)",
        "  headings: 1, all lead somewhere",
        "",
        "1 page of no site: a heading may have the anchor of any generator",
        "",
        "`sites` in .ubp/config.json names the generator of a folder, or none.",
    ]


def test_explained_site_record_has_links_that_no_file_can_verify(repository, ubp, at):
    repository.write("docusaurus.config.js", "module.exports = {}\n")
    repository.write("docs/a.md", "# A\n\n[a](/api) [b](/docs/a) [c](/img/x.png)\n")
    repository.write("static/img/x.png", "x")
    repository.commit()
    at(repository)
    record = ubp(repository, "check", "--explain-site", "--json").record
    assert [(form["written"], form["links"], form["unverified"]) for form in record["links"]] == [
        ("/…", 2, 1),
        ("/….png", 1, 0),
    ]


def test_explain_site_shows_what_the_configuration_of_mkdocs_says_of_paths(repository, ubp, at):
    repository.write(
        "mkdocs.yml",
        "site_name: x\nmarkdown_extensions:\n  - pymdownx.snippets:\n      base_path: [pieces]\n",
    )
    repository.write("docs/a.md", "# A\n")
    repository.commit()
    at(repository)
    out = ubp(repository, "check", "--explain-site").out
    assert "  anchors: Python-Markdown's toc\n" in out
    assert ": those from the root and below a folder are addresses of pages here\n" in out
    assert "  a path from the root (/page.md) is published as it is, and leads nowhere\n" in out
    assert "  paths of included files may begin in pieces/\n" in out


def test_explain_site_shows_where_the_languages_of_mkdocs_are(repository, ubp, at):
    repository.write(
        "mkdocs.yml",
        "site_name: x\nplugins:\n  - i18n:\n      languages: [{locale: de, default: true}]\n",
    )
    repository.write("docs/a.md", "# A\n")
    repository.commit()
    at(repository)
    out = ubp(repository, "check", "--explain-site").out
    assert "  page.md may be page.xx.md, in the language of the link's page or in de\n" in out


def test_explain_site_counts_pages_in_formats_that_are_not_read(repository, ubp, at):
    repository.write("book/_quarto.yml", "project:\n  type: book\n")
    repository.write("book/a.qmd", "# A\n")
    repository.write("book/part/b.qmd", "# B\n")
    config = "extensions = ['myst_parser', 'sphinx.ext.intersphinx', 'sphinx.ext.autosummary']\n"
    repository.write("docs/conf.py", config)
    repository.write("docs/a.md", "# A\n")
    repository.write("docs/b.rst", "B\n=\n")
    repository.write("c.qmd", "# C\n")
    repository.commit()
    at(repository)
    out = ubp(repository, "check", "--explain-site").out
    assert "book/  quarto, found by book/_quarto.yml: 0 pages\n" in out
    assert "  pages that are not read: 2 .qmd\n" in out
    assert "  pages that are not read: 1 .rst\n" in out
    assert (
        "  {ref}: a label that no page has is not checked, as other projects may have it\n" in out
    )
    assert "  {toctree}, {doc}: a page that no version had is not checked," in out


@pytest.mark.parametrize("languages", [1, 2])
def test_explain_site_shows_how_links_are_read_in_a_site_with_languages(
    repository, ubp, at, languages
):
    tables = "".join(f"[languages.l{number}]\nweight = 1\n" for number in range(languages))
    repository.write("one/hugo.toml", f"baseURL = 'https://example.org/'\n{tables}")
    repository.write("one/content/a.md", "# A\n")
    repository.write("two/docusaurus.config.js", "module.exports = {}\n")
    repository.write("two/docs/a.md", "# A\n")
    repository.commit()
    at(repository)
    out = ubp(repository, "check", "--explain-site").out
    is_path = "  relative links may also be paths from the folder of their file\n" in out
    assert is_path is (languages > 1)
    assert "  a link from the root (/page) begins in the language of its page" in out
    assert "  anchors: Hugo's, of Goldmark's headings\n" in out


def test_explain_site_with_options_of_a_check_is_refused(broken, ubp):
    answer = ubp(broken, "check", "--explain-site", "--staged")
    assert answer.status == 2
    assert "--explain-site cannot be combined" in answer.err


def test_statistics_count_the_findings_of_each_rule(broken, ubp):
    broken.write("docs/c.md", "# C\n\n[x](x.md) [y](y.md) [a](a.md)\n")
    answer = ubp(broken, "check", "--statistics")
    assert answer.status == 1
    assert answer.out == (
        "3  broken-link     error    in 2 pages, 1 fixable\n"
        "1  missing-anchor  warning  in 1 page\n"
        "\n"
        "3 errors, 1 warning in 2 of 3 pages.\n"
    )
    quiet = ubp(broken, "check", "--statistics", "--quiet", "--rule", "broken-link").out
    assert quiet == "3  broken-link  error    in 2 pages, 1 fixable\n"
    for option in (["--fix"], ["--format", "sarif"], ["--json"]):
        assert ubp(broken, "check", "--statistics", *option).status == 2


def test_next_step_explains_the_rule_of_errors_before_more_frequent_warnings(repository, ubp, at):
    repository.write("a.md", "# A\n\n[1](#x) [2](#y) [3](b.md)\n")
    repository.commit()
    at(repository)
    out = ubp(repository, "check").out
    assert "ubp explain broken-link" in out
    assert "ubp explain missing-anchor" not in out


@pytest.mark.parametrize(
    ("pages", "step"),
    [
        (
            ["docs/my page.md"],
            "  ubp stale --diff 'docs/my page.md'  shows what changed in its sources",
        ),
        (["docs/a.md", "docs/b.md"], "  ubp stale              shows the commits and authors"),
    ],
)
def test_next_step_of_a_stale_page_shows_its_diff(repository, ubp, pages, step):
    repository.write("src/a.py", "def read_all(): pass\n")
    for page in pages:
        repository.page(page, "src/a.py", body="# A\n\n`read_all`\n")
    repository.commit()
    repository.write("src/a.py", "def read_all(path): pass\n")
    repository.commit()
    assert step in ubp(repository, "check")[1].splitlines()


def test_link_with_a_path_from_the_root_gets_the_link_that_it_meant(repository, asked):
    repository.write("NOTES.md", "# Notes\n")
    repository.write("docs/guide/a.md", "# A\n\nSee [notes](NOTES.md).\n")
    repository.commit()
    (finding,) = asked(repository, "check", status=1)["findings"]
    assert finding["message"] == "NOTES.md does not exist."
    assert finding["hint"] == "Did you mean ../../NOTES.md?"
