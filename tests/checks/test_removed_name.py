"""removed-name: what a change removes from the sources, and pages still mention in code."""

import pytest

from ubp.checks import snapshot_names
from ubp.checks.accept import accept_findings

DAY = 86_400
CLIENT = """\
import os


class Client:
    def __init__(self, *, read_timeout=None):
        self.base_url = ""

    def read_all(self):
        chunk_size = 3
        return os.environ["CLIENT_TRACE_FILE"]
"""
PAGE = """\
# Client

`Client.read_all()` reads everything; `--read-timeout` limits it.

```python
client = Client(read_timeout=3)
chunk_size = 1
```

`$CLIENT_TRACE_FILE`, the `chunk_size`, [scripts](x) in `scripts/serve.sh`, and `Accept_Header`.
"""


@pytest.fixture
def client(repository):
    """A package, its page, and a source that knows none of the names."""
    repository.write("src/client.py", CLIENT)
    repository.write("src/main.py", 'parser.add_argument("--read-timeout")\n')
    repository.write("scripts/serve.sh", "run\n")
    repository.write("docs/client.md", PAGE)
    repository.commit()
    return repository


@pytest.fixture
def removed(check):
    """The mentions of removed names; each as "severity page:line message"."""

    def ask(repository, **question):
        report = check(repository, rules=["removed-name"], **question)
        return [f"{f.severity} {f.filepath}:{f.line} {f.message}" for f in report.findings]

    return ask


def stage(repository, path, old, new):
    file = repository.root / path
    repository.write(path, file.read_text().replace(old, new))
    repository.git("add", "--all")


def test_removed_method_is_found_where_a_page_mentions_it(client, removed):
    stage(client, "src/client.py", CLIENT[CLIENT.index("    def read_all") :], "")
    assert removed(client, staged=True) == [
        "error docs/client.md:3 `read_all` was removed from src/client.py, and no source has it.",
        (
            "error docs/client.md:10 `CLIENT_TRACE_FILE` was removed from src/client.py,"
            " and no source has it."
        ),
    ]


def test_renamed_method_is_reported_with_its_new_name(client, removed, check):
    stage(client, "src/client.py", "read_all", "aread_all")
    assert removed(client, staged=True) == [
        (
            "error docs/client.md:3 `read_all` was removed;"
            " `aread_all` took its place in src/client.py."
        )
    ]
    (finding,) = check(client, staged=True, rules=["removed-name"]).findings
    assert (finding.hint, finding.related) == (
        "Write `aread_all` instead, if the text is still right.",
        "src/client.py",
    )


def test_new_option_is_proposed_in_the_spelling_of_the_page(client, removed):
    client.write("src/cli.py", 'option("--page-size", page_size)\n')
    client.write("docs/cli.md", "Set `page_size`.\n")
    client.commit()
    client.remove("docs/client.md")
    client.write("src/cli.py", 'option("--sheet-size", sheet_size)\n')
    client.git("add", "--all")
    assert removed(client, staged=True) == [
        "error docs/cli.md:1 `page_size` was removed; `sheet_size` took its place in src/cli.py."
    ]


def test_spellings_of_a_name_are_equivalent(client, removed):
    stage(client, "src/client.py", "read_timeout=None", "")
    assert removed(client, staged=True) == []  # an option still has the name
    client.remove("src/main.py")
    client.git("add", "--all")
    assert [line.partition(" was")[0] for line in removed(client, staged=True)] == [
        "error docs/client.md:3 `--read-timeout`"
    ]


@pytest.mark.parametrize(
    ("path", "is_found"),
    [
        ("src/other.go", False),
        ("src/release/release.ts", False),
        ("src/history.py", False),
        ("lib/client/test_helpers.rb", False),
        ("tests/test_helpers.rb", True),
        ("src/test_client.py", True),
        ("changes.yml", True),
        ("src/CMakeLists.txt", False),
        ("src/notes.txt", True),
        ("examples/use.py", True),
        ("tests/test_client.py", True),
        ("CHANGES.txt", True),
        ("notes.org", True),
        ("changelogs/unreleased/12-fix", True),
        ("uv.lock", True),
        ("phpstan-baseline.neon", True),
        (".phpstan/phpstan-baseline-strict.php", True),
        ("phpstan.neon", False),
        ("src/baseline.php", False),
        ("src/testfixtures/use.py", True),
        (".github/workflows/ci.yml", True),
    ],
)
def test_name_that_only_tests_or_examples_still_use_is_removed(client, removed, path, is_found):
    client.write(path, "read_all\n")
    client.commit()
    stage(client, "src/client.py", "def read_all", "def receive")
    assert bool(removed(client, staged=True)) is is_found


def test_test_with_the_former_contents_of_a_source_does_not_keep_its_names(client, removed):
    client.write("tests/test_client.py", CLIENT)
    client.commit()
    assert removed(client) == []  # the contents are known now
    client.remove("src/client.py")
    client.git("add", "--all")
    assert "`read_all` was removed" in removed(client, staged=True)[0]
    client.write("src/copy.py", CLIENT)
    client.git("add", "--all")
    assert removed(client, staged=True) == []


def test_names_that_the_change_builds_at_run_time_are_not_removed(client, removed):
    build = 'def call(self, what):\n    return getattr(self, "read_" + what)\n'
    client.write("src/names.py", build)
    stage(client, "src/client.py", "def read_all", "def receive")
    assert removed(client, staged=True) == []


def test_name_is_removed_beside_a_fragment_that_the_sources_had_before(client, removed):
    client.write("src/names.py", 'namespaces = ("read_", "write_")\n')
    client.commit()
    stage(client, "src/client.py", "def read_all", "def receive")
    assert len(removed(client, staged=True)) == 1


def test_names_that_sources_only_used_are_not_reported(client, removed):
    client.write("src/web.py", "send(Accept_Header, close_now(3))\n")
    client.write("docs/web.md", "`Accept_Header`, `close_now()`\n")
    client.commit()
    client.remove("src/web.py")
    client.git("add", "--all")
    assert removed(client, staged=True) == []


def test_lines_that_the_change_writes_and_pages_about_the_past_are_skipped(client, removed):
    client.write("docs/migration.md", "Replace `read_all()`.\n")
    client.write("docs/old.md", "`read_all()` was removed.\n")
    client.commit()
    client.write("docs/client.md", PAGE.replace("`Client.read_all()` reads", "No `read_all()`:"))
    stage(client, "src/client.py", "def read_all", "def receive")
    assert removed(client, staged=True) == []


def test_mention_in_a_page_that_the_change_moves_is_reported(client, removed):
    client.git("mv", "docs/client.md", "docs/guide.md")
    stage(client, "src/client.py", "def read_all", "def receive")
    assert [line.split()[1] for line in removed(client, staged=True)] == ["docs/guide.md:3"]


@pytest.mark.parametrize(
    ("old", "new", "is_found"),
    [
        ("limits it", "bounds it", True),
        ("`Client.read_all()` reads", "No `Client.read_all()` reads", False),
    ],
)
def test_mention_is_reported_if_the_change_leaves_the_words_around_it(
    client, removed, old, new, is_found
):
    client.write("docs/client.md", PAGE.replace(old, new))
    stage(client, "src/client.py", "def read_all", "def receive")
    assert bool(removed(client, staged=True)) is is_found


@pytest.mark.parametrize(
    "line",
    [
        "- `--drop-cache`: Remove files that no project uses.",
        "- `--drop-cache` can be used to delete files.",
        "- `--drop-cache` (deprecated)",
    ],
)
def test_page_that_describes_a_removed_option_is_reported(client, removed, line):
    client.write("src/cli.py", 'add_argument("--drop-cache")\n')
    client.write("docs/cli.md", f"{line}\n")
    client.commit()
    client.remove("src/cli.py")
    client.git("add", "--all")
    assert removed(client, staged=True) == [
        "error docs/cli.md:1 `--drop-cache` was removed from src/cli.py, and no source has it."
    ]


@pytest.mark.parametrize(
    "path",
    [
        "PREVIEW-CHANGELOG.md",
        "changelog_unreleased/cli/10217.md",
        "docs/changes/latest.md",
        ".changeset-test-alpha/curly-windows.md",
        "docs/v2-release-notes/a.md",
        "docs/client-1.x/a.md",
        "docs/notes/core-2026-01-02.md",
        "docs/guide-migration.md",
        "docs/reader/plan.md",
        "docs/removal-work-queue.md",
        "docs/LIMITS_REVIEW_NOTES.md",
        "projects/reader/dispatches/01-read.md",
        "docs-old/guide.md",
        "revdep/problems.md",
        "docs/archived/guide.md",
    ],
)
def test_page_with_a_path_about_the_past_is_a_record(client, removed, path):
    client.write(path, "`read_all`\n")
    client.write("docs/client.md", "# Client\n\n## 1.2.0\n\n`read_all` is new.\n")
    client.commit()
    stage(client, "src/client.py", "read_all", "aread_all")
    assert removed(client, staged=True) == []


@pytest.mark.parametrize(
    ("new_line", "new_name"),
    [
        ("    def aread_all(self):", "aread_all"),
        ("    def receive(self):", None),
        ("    def aread_all(self, limit):", None),
        ("    def read_all_a(self):\n        ...\n\n    def read_all_b(self):", None),
    ],
    ids=["renamed", "no common word", "other parameters", "two new names"],
)
def test_replacement_is_the_one_name_with_a_common_word_on_an_equal_line(
    client, check, new_line, new_name
):
    stage(client, "src/client.py", "    def read_all(self):", new_line)
    (finding,) = check(client, staged=True, rules=["removed-name"]).findings
    assert finding.hint == (
        f"Write `{new_name}` instead, if the text is still right."
        if new_name
        else "Update the page: it also names `read_timeout` of src/client.py."
    )


def test_name_that_another_package_may_have_now_is_a_warning(client, removed, check):
    client.write("pyproject.toml", "[project]\ndependencies = []\n")
    client.commit()
    client.write("pyproject.toml", '[project]\ndependencies = ["reader>=2"]\n')
    stage(client, "src/client.py", "def read_all", "def receive")
    assert removed(client, staged=True) == [
        (
            "warning docs/client.md:3 `read_all` was removed from src/client.py,"
            " and no source has it; it may come from another package now."
        )
    ]
    (finding,) = check(client, staged=True, rules=["removed-name"]).findings
    assert (
        finding.hint == "Update the page, unless another package has the name; see pyproject.toml."
    )


def test_name_of_a_package_that_the_change_deletes_whole_is_a_warning(client, removed):
    client.git("mv", "src", "client")
    client.write("client/pyproject.toml", '[project]\ndependencies = ["reader>=2"]\n')
    client.write("other/main.py", "1\n")
    client.commit()
    client.git("mv", "client/pyproject.toml", "other/pyproject.toml")
    stage(client, "client/client.py", "def read_all", "def receive")
    assert [line.partition(" ")[0] for line in removed(client, staged=True)] == ["error"]
    client.git("rm", "-qrf", "other/pyproject.toml")
    assert [line.partition(" ")[0] for line in removed(client, staged=True)] == ["warning"]


def test_example_keeps_only_the_names_that_it_defines(client, removed):
    client.write("examples/use.py", "client.read_all()\n")
    client.commit()
    assert removed(client) == []  # the example is indexed now
    stage(client, "src/client.py", "def read_all", "def receive")
    assert len(removed(client, staged=True)) == 1
    client.write("examples/config.yaml", "read_all: true\n")  # what it sets others define
    client.git("add", "--all")
    assert len(removed(client, staged=True)) == 1
    client.write("examples/own.py", "def read_all(): ...\n")
    client.git("add", "--all")
    assert removed(client, staged=True) == []


@pytest.mark.parametrize(
    ("path", "is_found"),
    [("tools/a.py", False), ("lib/tools/a.py", False), ("src/app/tools/a.py", True)],
)
def test_tools_are_for_those_who_work_on_the_repository_unless_they_are_in_its_sources(
    client, removed, path, is_found
):
    client.write(path, "class PageReader:\n    def read_pages(self): ...\n")
    client.write("docs/tools.md", "`PageReader.read_pages()`\n")
    client.commit()
    client.remove(path)
    client.git("add", "--all")
    assert any("read_pages" in line for line in removed(client, staged=True)) is is_found


@pytest.mark.parametrize(
    ("path", "source", "mention"),
    [
        ("src/flags.go", 'a.Flag("storage.wal.limit", "Limit.")\n', "--storage.wal.limit"),
        ("src/env.go", 'const envTrace = "CLIENT_TRACE"\n', "CLIENT_TRACE"),
        ("src/a.py", 'os.environ["CLIENT_TRACE"]\n', "CLIENT_TRACE"),
        ("src/a.js", "process.env.CLIENT_TRACE\n", "CLIENT_TRACE"),
        ("src/a.rs", 'std::env::var("CLIENT_TRACE")\n', "CLIENT_TRACE"),
        ("src/model.py", "class Model:\n    __fields__ = ()\n\n\nfields = ()\n", "__fields__"),
    ],
)
def test_removed_option_variable_or_dunder_is_reported(client, removed, path, source, mention):
    client.write(path, source)
    client.write("docs/other.md", f"`{mention}`\n")
    client.commit()
    client.write(path, "fields = ()\n")
    client.git("add", "--all")
    assert removed(client, staged=True) == [
        f"error docs/other.md:1 `{mention}` was removed from {path}, and no source has it."
    ]


@pytest.mark.parametrize(
    ("page", "mention", "is_found"),
    [
        ("README.md", "`color_themes`", True),
        ("src/README.md", "`color_themes`", True),
        ("docs/contributing/a.md", "`color_themes`", True),
        ("docs/other.md", "`color_themes`", False),
        ("docs/other.md", "`color_themes/`", True),
        ("README.md", "`color_themes: dark`", False),
        ("README.md", "`x color_themes/`", False),
    ],
)
def test_removed_folder_is_found_by_its_name_alone(client, removed, page, mention, is_found):
    client.write("src/color_themes/dark.json", "{}\n")
    client.write(page, f"See {mention}.\n")
    client.commit()
    client.remove("src/color_themes/dark.json")
    client.git("add", "--all")
    assert bool(removed(client, staged=True)) is is_found


@pytest.mark.parametrize(
    ("page", "is_found"), [("CONTRIBUTING.md", True), ("README.md", False), ("docs/a.md", False)]
)
def test_removed_hidden_file_is_found_in_pages_for_those_who_work_here(
    client, removed, page, is_found
):
    client.write(".reader/config.json", "{}\n")
    client.write(page, "It reads `.reader/config.json`.\n")
    client.commit()
    client.remove(".reader/config.json")
    client.git("add", "--all")
    assert bool(removed(client, staged=True)) is is_found


def test_folder_that_lives_elsewhere_or_is_a_name_is_not_removed(client, removed):
    client.write("src/color_themes/dark.json", "{}\n")
    client.write("src/README.md", "See `color_themes`.\n")
    client.commit()
    client.git("mv", "src/color_themes", "color_themes")
    assert removed(client, staged=True) == []
    client.git("mv", "color_themes", "other")
    client.write("src/themes.py", "color_themes = 1\n")
    client.git("add", "--all")
    assert removed(client, staged=True) == []
    client.write("src/themes.py", "colorThemes = 1\n")  # another name of the same words
    client.git("add", "--all")
    assert len(removed(client, staged=True)) == 1


def test_call_in_a_program_that_uses_nothing_else_of_the_source_is_its_own(client, removed):
    client.write("docs/other.md", "```python\nread_all('a.txt')\n```\n")
    client.write("docs/client.md", "```python\nClient(read_timeout=1).read_all()\n```\n")
    client.commit(at=client.clock + 60 * DAY)
    stage(client, "src/client.py", "def read_all", "def receive")
    assert [line.split()[1] for line in removed(client, staged=True)] == ["docs/client.md:2"]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("src/a.js", "const a = {\n  goForward: history.goForward,\n}\n"),
        ("src/a.d.ts", "interface A {\n  goForward?: string;\n}\n"),
    ],
)
def test_property_that_passes_on_another_or_is_written_otherwise_is_not_the_name(
    client, removed, path, source
):
    mention = "goForward" if path.endswith(".js") else "GO_FORWARD"
    client.write(path, source)
    client.write("docs/other.md", f"`{mention}`\n")
    client.commit()
    client.write(path, "const b = 1\n")
    client.git("add", "--all")
    assert removed(client, staged=True) == []


def test_constant_is_found_although_a_field_of_the_same_name_is_removed_with_it(client, removed):
    client.write("src/a.py", "class View:\n    page_size = 1\n")
    client.write("src/b.py", "PAGE_SIZE = 1\n")
    client.write("docs/other.md", "`PAGE_SIZE`\n")
    client.commit()
    client.remove("src/a.py")
    client.remove("src/b.py")
    client.git("add", "--all")
    assert len(removed(client, staged=True)) == 1


@pytest.mark.parametrize(
    ("other", "is_found"), [("", True), ("unwind the stack", False), ("--unwind", False)]
)
def test_option_of_one_word_is_found_where_it_is_made_without_dashes(
    client, removed, other, is_found
):
    client.write("src/flags.go", 'const flagUnwind = "unwind"\nconst flagDepth = "depth"\n')
    client.write("src/other.go", f'var text = "{other}"\n')
    client.write("docs/cli.md", "- `--unwind`: Unwinds.\n")
    client.commit()
    stage(client, "src/flags.go", 'const flagUnwind = "unwind"\n', "")
    assert bool(removed(client, staged=True)) is is_found


def test_option_of_another_program_is_not_reported(client, removed):
    client.write("src/cli.py", 'add_argument("--workdir")\n')
    client.write("docs/own.md", "```sh\nclient --workdir .\n```\n")
    client.write("docs/other.md", "```sh\n$ docker run --workdir .\n```\n")
    client.commit()
    client.remove("src/cli.py")
    client.git("add", "--all")
    assert [line.split()[1] for line in removed(client, staged=True)] == ["docs/own.md:2"]
    client.write("cmd/docker/main.go", "package main\n")
    client.git("add", "--all")
    assert len(removed(client, staged=True)) == 2


@pytest.mark.parametrize(("setting", "is_found"), [("trace_file", False), ("log_file", True)])
def test_environment_variable_may_be_built_from_a_prefix(client, removed, setting, is_found):
    client.write("src/settings.py", f'prefix = "CLIENT_"\n{setting} = ""\n')
    client.commit()
    stage(client, "src/client.py", "def read_all", "def aread_all")
    stage(client, "src/client.py", "CLIENT_TRACE_FILE", "OTHER")
    assert len(removed(client, staged=True)) == 1 + is_found


def test_names_that_an_example_defines_or_imports_are_not_reported(client, removed):
    client.write(
        "docs/own.md",
        "```python\nfrom else_where import read_all\n```\n\n`read_all`\n",
    )
    client.write("docs/own2.md", "```python\nasync def read_all():\n    pass\n```\n\n`read_all`\n")
    client.write("docs/client.md", "# Client\n")
    client.commit()
    stage(client, "src/client.py", "def read_all", "def receive")
    assert removed(client, staged=True) == []


@pytest.mark.parametrize(("name", "is_found"), [("read_all_pages", True), ("read_pages", False)])
def test_name_of_three_words_that_an_example_defines_is_an_excerpt(client, removed, name, is_found):
    client.write("src/pages.py", f"def {name}(): ...\n")
    client.write("docs/pages.md", f"```python\ndef {name}():\n    return 1\n```\n")
    client.commit()
    client.remove("src/pages.py")
    client.git("add", "--all")
    assert bool(removed(client, staged=True)) is is_found


@pytest.mark.parametrize(("package", "is_found"), [("pages", True), ("sheets", False)])
def test_name_imported_from_a_package_of_this_repository_is_ours(
    client, removed, package, is_found
):
    client.write("parts/one/package.json", '{"name": "pages"}')
    code = f"```js\nimport {{ read_all }} from '{package}';\nread_all();\n```\n"
    client.write("docs/client.md", f"# Client\n\n{code}\nSee `read_timeout`.\n")
    client.commit()
    stage(client, "src/client.py", "def read_all", "def receive")
    assert any("read_all" in found for found in removed(client, staged=True)) is is_found


@pytest.mark.parametrize(
    ("module", "is_found"), [("./client", False), ("../src/client", True), ("src/client", True)]
)
def test_name_imported_from_beside_an_example_is_of_the_reader(client, removed, module, is_found):
    code = f"```js\nimport {{ read_all }} from '{module}';\nread_all();\n```\n"
    client.write("docs/client.md", f"# Client\n\n{code}\nSee `read_timeout`.\n")
    client.commit()
    stage(client, "src/client.py", "def read_all", "def receive")
    assert any("read_all" in found for found in removed(client, staged=True)) is is_found


def test_removed_or_moved_file_is_found_by_its_path(client, removed):
    client.git("mv", "scripts/serve.sh", "scripts/run.sh")
    assert removed(client, staged=True) == [
        "error docs/client.md:10 `scripts/serve.sh` was moved to scripts/run.sh."
    ]
    client.git("rm", "-qf", "scripts/run.sh")
    assert removed(client, staged=True) == [
        "error docs/client.md:10 `scripts/serve.sh` no longer exists."
    ]


def test_branch_is_checked_without_a_checkout(client, removed):
    stage(client, "src/client.py", "read_all", "aread_all")
    client.commit()
    client.write("docs/client.md", "# Nothing\n")
    client.commit()
    assert removed(client, base="HEAD~2", ref="HEAD~1") == [
        (
            "error docs/client.md:3 `read_all` was removed;"
            " `aread_all` took its place in src/client.py."
        )
    ]
    assert removed(client, base="HEAD~2", ref="HEAD") == []


def test_state_reports_names_removed_after_the_last_change_of_the_page(client, removed):
    assert removed(client) == []
    stage(client, "src/client.py", "read_all", "aread_all")
    client.git("mv", "scripts/serve.sh", "scripts/run.sh")
    client.commit()
    assert removed(client) == [
        "warning docs/client.md:3 `read_all` no longer exists; src/client.py used to define it.",
        "warning docs/client.md:10 `scripts/serve.sh` no longer exists.",
    ]
    client.write("docs/client.md", PAGE + "\nMore.\n")
    assert removed(client) == []  # an edited page describes what there is
    client.commit()
    assert removed(client) == []


@pytest.mark.parametrize(("page", "is_found"), [("CONTRIBUTING.md", True), ("docs/a.md", False)])
def test_state_does_not_take_a_package_that_was_required_for_ours(
    repository, removed, page, is_found
):
    required = '[libraries]\npage-sorter = { module = "org.page:page-sorter", version = "1" }\n'
    repository.write("gradle/libs.versions.toml", required)
    repository.commit()
    repository.write(page, "The package `page-sorter` sorts pages.\n")
    repository.commit()
    repository.write("gradle/libs.versions.toml", "[libraries]\n")
    repository.commit()
    assert bool(removed(repository)) is is_found


def test_state_names_the_first_source_by_path_that_defined_the_name(client, removed):
    for path in ("src/b.py", "src/a.py"):
        client.write(path, f"def read_all():\n    {path[4]}()\n")
    client.commit()
    client.write("docs/client.md", PAGE.replace("Client.read_all", "read_all") + "\nMore.\n")
    client.commit()
    for path in ("src/b.py", "src/a.py"):
        client.write(path, "")
    stage(client, "src/client.py", "read_all", "aread_all")
    client.commit()
    assert removed(client) == [
        "warning docs/client.md:3 `read_all` no longer exists; src/a.py used to define it."
    ]


def test_module_is_not_removed_with_its_import(client, removed):
    client.write("src/read_all.py", "def everything():\n    return 1\n")
    client.write("src/start.py", "from client import Client\nfrom read_all import everything\n")
    client.write("docs/all.md", "# All\n\n`Client` of `src.read_all`.\n")
    client.write("src/client.py", CLIENT.replace("def read_all", "def fetch_all"))
    client.commit()
    client.write("src/start.py", "from client import Client\n\nread_all = Client()\n")
    client.commit()
    stage(client, "src/start.py", "read_all", "reader")
    assert removed(client, staged=True) == []


def test_function_of_a_moved_file_is_removed_though_a_type_of_its_letters_stays(client, removed):
    client.write("src/loadAll.ts", "export interface LoadAll {}\nexport function loadAll() {}\n")
    client.write("docs/all.md", "# loadAll\n\nCall `loadAll()`.\n")
    client.write("website/src/loadAll/page.ts", "page(1)\n")
    client.commit()
    client.git("mv", "src/loadAll.ts", "src/fetchAll.ts")
    stage(client, "src/fetchAll.ts", "function loadAll", "function fetchAll")
    (found,) = removed(client, staged=True)
    assert found.startswith("error docs/all.md:3 `loadAll` was removed; `fetchAll` took its place")


def test_names_in_documentation_of_elixir_are_only_examples(client, removed):
    source = '@moduledoc """\n    defmodule ReadAll do\n"""\n@doc "It."\ndef get_all(), do: 1\n'
    client.write("lib/client.ex", source)
    client.write("docs/all.md", "# ReadAll\n\nDefine `ReadAll`, call `get_all`.\n")
    client.commit()
    stage(client, "lib/client.ex", "ReadAll", "FetchAll")
    assert removed(client, staged=True) == []


def test_merge_does_not_remove_what_one_side_never_had(client, removed):
    client.git("checkout", "--quiet", "-b", "side")
    stage(client, "src/client.py", "read_all", "aread_all")
    client.commit()
    client.git("checkout", "--quiet", "main")
    client.write("src/more.py", "more = 1\n")
    client.commit()
    client.git("merge", "--quiet", "--no-commit", "--no-ff", "side")
    assert removed(client, staged=True) == []


def test_hook_reads_no_unknown_repository(client, check, monkeypatch):
    monkeypatch.setattr(snapshot_names, "MAX_UNREAD", 0)
    stage(client, "src/client.py", "read_all", "aread_all")
    report = check(client, staged=True)
    assert (report.findings, report.not_checked) == (
        (),
        (("removed-name", "1 pages are not indexed yet; `ubp check` indexes them."),),
    )
    check(client)
    assert len(check(client, staged=True).findings) == 1


def test_partial_clone_without_the_old_source_is_not_checked(client, check, tmp_path):
    stage(client, "src/client.py", "read_all", "aread_all")
    client.commit()
    client.git("config", "uploadpack.allowFilter", "true")
    client.git(
        "clone", "--quiet", "--filter=blob:none", f"file://{client.root}", str(tmp_path / "c")
    )
    clone = type(client)(tmp_path / "c", client.clock)
    (item,) = check(clone, base="HEAD~1").not_checked
    assert item == (
        "removed-name",
        (
            "src/client.py cannot be read: it is too large, or not available in this partial clone;"
            " a removed name that it may still have is a warning."
        ),
    )


def test_source_that_cannot_be_read_makes_a_removed_name_uncertain(client, check):
    client.write("docs/files.md", "See `src/main.py`.\n")
    client.write("src/other.py", "other = 1\n")
    client.commit()
    stage(client, "src/client.py", "read_all", "aread_all")
    client.remove("src/main.py")
    client.commit()
    other = client.git("rev-parse", "HEAD:src/other.py").strip()
    (client.root / ".git/objects" / other[:2] / other[2:]).unlink()
    report = check(client, base="HEAD~1", ref="HEAD", rules=["removed-name"])
    assert [
        (finding.severity, finding.subject, finding.message) for finding in report.findings
    ] == [
        (
            "warning",
            "read_all",
            "`read_all` was removed; `aread_all` took its place in src/client.py.",
        ),
        (
            "warning",
            "--read-timeout",
            (
                "`--read-timeout` was removed from src/main.py,"
                " and no source that can be read has it."
            ),
        ),
        ("error", "src/main.py", "`src/main.py` no longer exists."),
    ]
    (item,) = report.not_checked
    assert item.reason.startswith("src/other.py cannot be read")


@pytest.mark.parametrize(
    "text",
    [
        (
            "It takes its name from a [`read_all`][read_all] method.\n\n"
            "[read_all]: https://developer.mozilla.org/read_all\n"
        ),
        "It calls HTML5's `read_all`.\n",
        "The `storage-access` library includes a `read_all` method.\n",
        "The OpenTelemetry option `read_all` is another one.\n",
        "Call `StorageAccess.read_all()`.\n",
        "See [`read_all`](https://example.org/client/blob/3db823de3db823de3db823de3db823de3db823de/read_all).\n",
        "## Meeting notes\n\nWe renamed `read_all`.\n",
    ],
)
def test_name_of_another_project_is_not_reported(repository, removed, text):
    repository.write("src/client.py", CLIENT)
    repository.write("docs/client.md", "# Page\n\n" + text)
    repository.commit()
    stage(repository, "src/client.py", "read_all", "aread_all")
    assert removed(repository, staged=True) == []


@pytest.mark.parametrize(
    "text",
    [
        "Client's `read_all` reads everything.\n",
        "See [`read_all`](https://example.org/client/read_all).\n",
        "The `client` package includes a `read_all` method.\n",
        "Call `Client.read_all()`.\n",
        "Use HTML5. `read_all` reads everything.\n",
    ],
)
def test_name_that_a_sentence_gives_to_the_repository_is_reported(repository, removed, text):
    repository.write("src/client.py", CLIENT)
    repository.write("docs/client.md", "# Page\n\n" + text)
    repository.commit()
    stage(repository, "src/client.py", "read_all", "aread_all")
    assert len(removed(repository, staged=True)) == 1


@pytest.mark.parametrize(
    ("page", "is_found"),
    [
        ("docs/v1/client.md", False),
        ("docs/guide/2.x/client.md", False),
        ("website/versions/version-1.2/client.md", False),
        ("docs/architecture/adr-010-client.md", False),
        ("docs/architecture/address-10-client.md", True),
        ("docs/01/client.md", True),
        (".github/README_ja.md", True),
        (".github/CONTRIBUTING.md", True),
        (".github/pull_request_template.md", False),
        ("src/v1/client.md", True),
    ],
)
def test_record_of_a_version_or_decision_is_left_alone(repository, removed, page, is_found):
    repository.write("src/client.py", CLIENT)
    repository.write(page, "Call `Client.read_all()`.\n")
    repository.commit()
    stage(repository, "src/client.py", "read_all", "aread_all")
    assert bool(removed(repository, staged=True)) is is_found


def test_name_in_a_module_of_another_package_is_not_reported(repository, removed):
    source = "export const TextureLoader = 1\nexport const draw = 2\n"
    repository.write("src/canvas.js", source + "const limitFrames = 1\n")
    block = "```js\nimport * as THREE from 'three'\nlimitFrames(new THREE.TextureLoader())\n```\n"
    repository.write("docs/a.md", block)
    repository.write("docs/b.md", block.replace("'three'", "'../src/canvas'"))
    repository.commit()
    stage(repository, "src/canvas.js", "TextureLoader", "Loader")
    assert [finding.partition(" `")[0] for finding in removed(repository, staged=True)] == [
        "error docs/b.md:3"
    ]


def test_option_of_an_unknown_program_is_not_reported(repository, removed):
    repository.write("src/client.py", 'parser.add_argument("--drop-cache")\n')
    repository.write(
        "docs/client.md",
        "```sh\nfoo --drop-cache\nfoo run \\\n  --drop-cache\nnpm run foo --drop-cache\n```\n",
    )
    repository.write(
        "docs/own.md", "```sh\nclient --drop-cache\nnpm run client -- --drop-cache\n```\n"
    )
    repository.commit()
    stage(repository, "src/client.py", "--drop-cache", "--clear")
    assert [finding.partition(" `")[0] for finding in removed(repository, staged=True)] == [
        "error docs/own.md:2"
    ]


def test_option_of_a_single_word_is_reported_where_the_program_made_it(repository, removed):
    repository.write("src/client.py", 'parser.add_argument("-f", "--format")\nformat = 1\n')
    repository.write("src/git.py", 'run(["git", "log", "--oneline"])\n')
    repository.write("docs/client.md", "`--format` and `--oneline`, and the `format`.\n")
    repository.commit()
    stage(repository, "src/client.py", '"--format"', '"--output"')
    stage(repository, "src/git.py", "--oneline", "--all")
    assert [finding.split("`")[1] for finding in removed(repository, staged=True)] == ["--format"]


def test_private_name_does_not_keep_a_public_one_alive(client, removed):
    stage(client, "src/client.py", "read_all", "_read_all")
    assert any("`read_all`" in finding for finding in removed(client, staged=True))


@pytest.mark.parametrize(
    ("manifest", "is_found"),
    [
        ('{"devDependencies": {"client-junit-reporter": "1"}}', False),
        ('{"devDependencies": {"junit": "1"}}', True),
        ('{"name": "client-junit-reporter"}', True),
    ],
)
def test_name_of_a_required_package_is_not_reported(repository, removed, manifest, is_found):
    repository.write("package.json", manifest)
    repository.write(
        "src/config.js", "class Config {\n  constructor() {\n    this.junitReporter = {}\n  }\n}\n"
    )
    repository.write("docs/a.md", "Set `junitReporter`.\n")
    repository.commit()
    stage(repository, "src/config.js", "junitReporter", "reports")
    assert bool(removed(repository, staged=True)) is is_found


@pytest.mark.parametrize(
    ("before", "after", "is_found"),
    [
        ("@x/gateway", "@x/gateway", False),
        ("@x/other", "@x/other", True),
        ("@x/other", "@y/transform", False),
        ("@x/other", "@x/new", True),
    ],
    ids=["others require it", "others do not", "another replaces it", "one of ours replaces it"],
)
def test_deleted_package_that_is_elsewhere_has_its_names(
    repository, removed, before, after, is_found
):
    repository.write("packages/gateway/package.json", '{"name": "@x/gateway"}')
    repository.write("packages/gateway/index.js", "function loadGateway() {\n}\n")
    repository.write("packages/new/package.json", '{"name": "@x/new"}')
    repository.write("package.json", f'{{"devDependencies": {{"{before}": "1"}}}}')
    repository.write("docs/a.md", "Call `loadGateway()`.\n")
    repository.commit()
    repository.remove("packages/gateway/package.json")
    repository.remove("packages/gateway/index.js")
    repository.write("package.json", f'{{"devDependencies": {{"{after}": "1"}}}}')
    repository.git("add", "--all")
    assert bool(removed(repository, staged=True)) is is_found
    # Another package of the same change takes its place, and needs what is new.
    repository.write("packages/next/package.json", '{"name": "@x/next"}')
    repository.git("add", "--all")
    assert bool(removed(repository, staged=True)) is (after != "@x/gateway")


@pytest.mark.parametrize(
    ("page", "is_found"),
    [
        ("```js\nimport { useLogs } from 'log_tools'\n```\n", False),
        ("```\nnpm install app log_tools@1.2\n```\n", False),
        ("```\nnpm install other_tools\n```\n", True),
    ],
)
@pytest.mark.parametrize("own", ["app", "log_tools"])
def test_name_of_a_package_that_the_page_uses_is_not_ours(repository, removed, page, is_found, own):
    repository.write("package.json", f'{{"name": "{own}"}}')
    repository.write(
        "src/a.js", "export function log_tools() {\n}\nexport function log_files() {\n}\n"
    )
    repository.write("docs/a.md", f"Use `log_tools` with `log_files`.\n\n{page}")
    repository.commit()
    repository.write("package.json", '{"name": "app"}')
    repository.write("src/a.js", "export function log_files() {\n}\n")
    repository.git("add", "--all")
    assert bool(removed(repository, staged=True)) is (is_found or own == "log_tools")


@pytest.mark.parametrize(("required", "is_found"), [("log_tools", False), ("other_tools", True)])
def test_package_that_was_required_is_not_ours(repository, removed, required, is_found):
    repository.write("package.json", f'{{"name": "app", "dependencies": {{"{required}": "1"}}}}')
    repository.write("src/a.js", "function log_tools() {\n}\nfunction log_files() {\n}\n")
    repository.write("docs/a.md", "Here `log_tools` and `log_files` are at work.\n")
    repository.commit()
    repository.write("package.json", '{"name": "app"}')
    repository.write("src/a.js", "function log_files() {\n}\n")
    repository.git("add", "--all")
    assert bool(removed(repository, staged=True)) is is_found


@pytest.mark.parametrize(
    ("source", "before", "is_found"),
    [
        ("src/View.kt", "fun onStopAll() {", True),
        ("src/View.kt", "override fun onStopAll() {", False),
        ("src/View.kt", "fun onStopAll() {  // no override", True),
        ("src/View.java", "    @Override\n    void onStopAll() {", False),
        ("android/demo-app/View.kt", "fun onStopAll() {", False),
        ("koin-sample-app/src/View.kt", "fun onStopAll() {", False),
        ("buildSrc/View.kt", "fun onStopAll() {", False),
        ("features/steps/View.kt", "fun onStopAll() {", False),
        ("features/View.kt", "fun onStopAll() {", True),
    ],
)
def test_what_is_overridden_or_in_a_sample_is_not_ours(
    repository, removed, source, before, is_found
):
    other = "class View {\n    fun onStartAll() {\n    }\n"
    repository.write(source, f"{other}{before}\n    }}\n}}\n")
    repository.write("docs/a.md", "See `onStartAll` and `onStopAll`.\n")
    repository.commit()
    repository.write(source, f"{other}}}\n")
    repository.git("add", "--all")
    assert bool(removed(repository, staged=True)) is is_found


def test_names_in_a_commit_that_is_not_head_do_not_depend_on_the_index(repository, removed):
    option = 'parser.add_argument("--preview-build")\n'
    repository.write("a.py", option)
    repository.write("b.py", option + "#\n")
    repository.write("docs/a.md", "Use `--preview-build`.\n")
    repository.commit()
    repository.remove("a.py")
    repository.commit()
    repository.remove("b.py")
    repository.commit()
    assert len(removed(repository, base="HEAD^", ref="HEAD")) == 1  # indexes HEAD alone
    assert removed(repository, base="HEAD~2", ref="HEAD~1") == []


def rename_all(repository, count):
    """Rename so many names that a page mentions."""
    old = [f"field_{number}_name" for number in range(count)]
    repository.write("src/fields.py", "".join(f"{name} = 1\n" for name in old))
    repository.write("docs/fields.md", "".join(f"`{name}`\n" for name in old))
    repository.commit()
    stage(repository, "src/fields.py", "_name", "_title")


def test_sources_are_searched_as_often_for_many_removed_names_as_for_few(
    client, removed, monkeypatch
):
    searched = []
    find = snapshot_names.SnapshotNames._find_occurring

    def count(names, keys):
        searched.append(len(keys))
        return find(names, keys)

    monkeypatch.setattr(snapshot_names.SnapshotNames, "_find_occurring", count)
    counts = []
    for names in (3, 60):
        searched.clear()
        rename_all(client, names)
        assert len(removed(client, staged=True)) == names
        counts.append(len(searched))
    assert counts[0] == counts[1]


def test_each_of_many_renamed_names_gets_its_own_replacement(client, removed):
    rename_all(client, 300)
    messages = removed(client, staged=True)
    assert len(messages) == 300
    assert all(
        f"`field_{number}_name` was removed; `field_{number}_title` took" in message
        for number, message in enumerate(messages)
    )


def test_accepted_mentions_are_debt_until_they_are_removed(client, found):
    from ubp.workspace import Workspace

    stage(client, "src/client.py", "read_all", "aread_all")
    client.commit()
    with Workspace.open(str(client.root), clock=lambda: client.clock) as workspace:
        client.write(".ubp/debt.txt", accept_findings(workspace.session).text)
    client.commit()
    assert found(client) == []
    client.write("src/new.py", "new = 1\n")
    client.git("add", "--all")
    assert found(client, staged=True) == []
    client.write("docs/client.md", PAGE.replace("read_all", "aread_all"))
    client.commit()
    assert [line.partition(":")[0] for line in found(client)] == [
        "error obsolete-debt .ubp/debt.txt"
    ]


@pytest.mark.parametrize(("required", "is_found"), [("k8s.io/api", False), ("k8s.io/other", True)])
def test_copy_of_a_package_that_the_change_requires_keeps_its_names(
    repository, removed, required, is_found
):
    repository.write("go.mod", "module example.org/a\n")
    repository.write("pseudo/k8s/api/core/types.go", "type EmptyDir struct {\n}\n")
    repository.write("docs/a.md", "Use `EmptyDir`.\n")
    repository.commit()
    repository.remove("pseudo/k8s/api/core/types.go")
    repository.write("go.mod", f"module example.org/a\n\nrequire {required} v0.17.0\n")
    repository.git("add", "--all")
    assert bool(removed(repository, staged=True)) is is_found


ONE = "class One:\n    def fetch_page(self):\n        pass\n"


@pytest.fixture
def aged(repository):
    """A source whose names are two months older than the next commit."""
    repository.write("src/one.py", ONE)
    repository.commit()
    repository.clock += 60 * DAY
    return repository


def mention_later(repository, page, text):
    """Commit the sources, and two months later a page that mentions their names."""
    repository.commit()
    repository.clock += 60 * DAY
    repository.write(page, text)
    repository.commit()


@pytest.fixture
def hints(check):
    """The names that a staged change reports, with their hints."""

    def ask(repository, *, staged=True):
        repository.git("add", "--all")
        report = check(repository, rules=["removed-name"], staged=staged)
        return [(finding.subject, finding.hint) for finding in report.findings]

    return ask


def test_name_that_is_older_than_its_mention_is_not_reported_without_evidence(aged, hints):
    aged.write("docs/one.md", "Call `fetch_page`.\n")
    aged.commit()
    aged.remove("src/one.py")
    assert hints(aged) == []


@pytest.mark.parametrize(
    ("path", "is_reported"), [("src/one.py", True), ("lib/one.py", True), ("src/two.py", False)]
)
def test_name_is_reported_with_another_one_of_its_source_that_the_page_has(
    aged, hints, path, is_reported
):
    aged.write("src/one.py", ONE + "\n    def close_file(self):\n        pass\n")
    aged.commit()
    aged.write("docs/one.md", "Call `fetch_page` or `close_file`.\n")
    aged.commit()
    aged.remove("src/one.py")
    aged.write(path, "class One:\n    def close_file(self):\n        pass\n")
    hint = f"Update the page: it also names `close_file` of {path}."
    assert hints(aged) == ([("fetch_page", hint)] if is_reported else [])


@pytest.mark.parametrize(
    ("source", "page", "reason"),
    [
        ("src/loadPage.js", "docs/a.md", ": src/loadPage.js was named after it"),
        ("src/urllib3.js", "docs/a.md", None),
        ("pages/src/a.js", "pages/README.md", ": pages/src/a.js was in its folder"),
        ("pages/src/a.js", "README.md", None),
    ],
)
def test_name_is_reported_if_its_file_has_it_or_is_in_the_folder_of_the_page(
    aged, hints, source, page, reason
):
    name = "urllib3" if "urllib3" in source else "loadPage"
    aged.write(source, f"export function {name}() {{\n}}\n")
    mention_later(aged, page, f"Call `{name}`.\n")
    aged.remove(source)
    assert hints(aged) == ([(name, f"Update the page{reason}.")] if reason else [])


def test_name_that_was_added_to_the_page_with_its_source_is_reported_with_the_commit(aged, hints):
    aged.write("src/one.py", ONE.replace("pass", "return 1"))
    aged.write("docs/one.md", "Call `fetch_page`.\n")
    commit = aged.commit()
    aged.write("docs/one.md", "Call `fetch_page`!\n")
    aged.commit()
    aged.remove("src/one.py")
    hint = f"Update the page: {commit[:10]} added the name to it together with src/one.py."
    assert hints(aged) == [("fetch_page", hint)]


@pytest.mark.parametrize(("days", "is_reported"), [(29, True), (31, False)])
def test_name_is_reported_that_was_new_when_the_page_got_it(repository, hints, days, is_reported):
    repository.write("src/other.py", "class Other:\n    pass\n")
    repository.commit()
    repository.write("src/one.py", ONE)
    repository.commit(at=repository.clock + 90 * DAY)
    repository.write("docs/one.md", "Call `fetch_page`.\n")
    commit = repository.commit(at=repository.clock + days * DAY)
    repository.remove("src/one.py")
    hint = f"Update the page: {commit[:10]} added the name to it when it was new."
    assert hints(repository) == ([("fetch_page", hint)] if is_reported else [])


def test_mention_keeps_its_history_when_the_page_is_moved(aged, hints):
    aged.write("src/one.py", ONE.replace("pass", "return 1"))
    aged.write("docs/one.md", "# One\n\nIt has much text.\n\nCall `fetch_page`.\n")
    commit = aged.commit()
    aged.git("mv", "docs/one.md", "docs/first.md")
    aged.commit()
    aged.remove("src/one.py")
    ((_, hint),) = hints(aged)
    assert commit[:10] in hint


def test_mention_that_is_older_than_the_name_is_not_reported(repository, hints):
    repository.write("docs/one.md", "Call `fetch_page`.\n")
    repository.commit()
    repository.write("src/one.py", ONE)
    repository.commit()
    repository.remove("src/one.py")
    assert hints(repository) == []


@pytest.mark.parametrize(("keys", "is_reported"), [(2, False), (3, True)])
def test_key_is_reported_beside_three_others_of_its_source(repository, hints, keys, is_reported):
    names = [f"page_key_{letter}" for letter in "abcde"[:keys]]
    others = "".join(f"  {name}: 1,\n" for name in names)
    repository.write("src/a.js", f"const a = {{\n  lastKey: 1,\n{others}}}\n")
    repository.commit()
    mentions = " ".join(f"`{name}`" for name in names)
    repository.write("docs/one.md", f"`lastKey` {mentions}\n")
    repository.commit(at=repository.clock + 60 * DAY)
    repository.write("src/a.js", f"const a = {{\n{others}}}\n")
    assert bool(hints(repository)) is is_reported


@pytest.mark.parametrize(("keys", "is_reported"), [(4, False), (5, True)])
def test_key_is_reported_beside_five_others_that_its_source_had(
    repository, hints, keys, is_reported
):
    names = [f"page_key_{letter}" for letter in "abcde"[:keys]]
    others = "".join(f"  {name}: 1,\n" for name in names)
    repository.write("src/a.js", f"const a = {{\n  lastKey: 1,\n{others}}}\n")
    repository.write("src/b.py", f"b = {{\n{others}}}\n")
    repository.commit()
    repository.write("docs/one.md", " ".join(f"`{name}`" for name in ["lastKey", *names]) + "\n")
    repository.commit(at=repository.clock + 60 * DAY)
    repository.write("src/a.js", "const a = 1\n")
    assert [name for name, _ in hints(repository)] == (["lastKey"] if is_reported else [])


@pytest.mark.parametrize(
    ("package", "is_reported"), [("page-reader", True), ("@app/page-reader", True), ("page", False)]
)
def test_name_that_begins_with_the_name_of_a_package_is_of_this_repository(
    repository, hints, package, is_reported
):
    repository.write("package.json", f'{{"name": "{package}"}}\n')
    repository.write("src/a.ts", 'count("page_reader_total", 1);\n')
    repository.commit()
    repository.write("docs/one.md", "It is `page_reader_total`.\n")
    repository.commit(at=repository.clock + 60 * DAY)
    repository.write("src/a.ts", "\n")
    assert bool(hints(repository)) is is_reported


def test_shallow_clone_that_lacks_the_history_of_a_mention_reports_nothing(
    aged, hints, new_repository
):
    aged.write("src/one.py", ONE.replace("pass", "return 1"))
    aged.write("docs/one.md", "Call `fetch_page`.\n")
    aged.commit()
    aged.write("docs/two.md", "Two\n")
    aged.commit()
    clone = new_repository("clone")
    clone.git("fetch", "-q", "--depth=1", f"file://{aged.root}")
    clone.git("reset", "-q", "--hard", "FETCH_HEAD")
    for repository in (aged, clone):
        repository.remove("src/one.py")
    assert (len(hints(aged)), hints(clone)) == (1, [])


def test_state_reports_a_name_only_with_evidence(aged, hints):
    aged.write("src/one.py", ONE + "\n    def fetch_all(self):\n        pass\n")
    aged.commit()
    aged.write("docs/one.md", "Call `fetch_page` or `fetch_all`.\n")
    aged.write("docs/two.md", "Call `fetch_page`.\n")
    aged.commit(at=aged.clock + 60 * DAY)
    aged.write("src/one.py", "class One:\n    def fetch_all(self):\n        pass\n")
    aged.commit()
    assert hints(aged, staged=False) == [
        ("fetch_page", "Update the page: it also names `fetch_all` of src/one.py.")
    ]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("conf/defaults.json", '{\n  "safeBump": true,\n  "other": 1\n}\n'),
        ("conf/defaults.yaml", "safe_bump: true\nother: 1\n"),
        ("conf/defaults.toml", "safe_bump = true\n"),
        ("src/a.py", 'def f(view):\n    return getattr(view, "safe_bump", None)\n'),
        ("src/a.py", 'def f(**kwargs):\n    kwargs.pop("safe_bump")\n'),
        ("src/a.php", "<?php\nclass A {\n    public $safe_bump = 1;\n}\n"),
    ],
)
def test_setting_that_a_file_of_data_or_a_read_defines_is_reported(
    repository, removed, path, source
):
    repository.write(path, source)
    repository.write("docs/one.md", "Set `safe_bump`.\n")
    repository.commit()
    repository.write(path, "\n")
    repository.git("add", "--all")
    assert [line.split()[3] for line in removed(repository, staged=True)] == ["was"]


def test_name_is_removed_beside_a_new_fragment_with_few_of_its_words(client, removed):
    client.write("src/one.py", "class One:\n    def get_page_key(self):\n        pass\n")
    client.write("docs/one.md", "Call `get_page_key`.\n")
    client.commit()
    client.write(
        "src/one.py", 'class One:\n    def call(self, name):\n        return f"get_{name}"\n'
    )
    client.git("add", "--all")
    assert [line.split()[1] for line in removed(client, staged=True)] == ["docs/one.md:1"]


def test_option_that_a_source_makes_needs_no_other_evidence(repository, hints):
    repository.write("src/cli.go", 'package a\n\tf.DurationVar(&o.Wait, "page-wait", 1, "Wait.")\n')
    repository.write("src/run.py", 'pageFlag = "--page-size"\n')
    repository.commit()
    repository.write("docs/one.md", "Set `--page-wait`, or give git `--page-size`.\n")
    repository.commit(at=repository.clock + 60 * DAY)
    repository.write("src/cli.go", "package a\n")
    repository.write("src/run.py", "\n")
    assert hints(repository) == [("--page-wait", "Update the page.")]


@pytest.mark.parametrize(
    ("path", "page"),
    [("changelogs/unreleased/1-fix", "docs/one.md"), ("src/two_parts/a.py", "design/one.md")],
)
def test_notes_of_the_next_release_and_design_documents_are_left_alone(
    repository, hints, path, page
):
    repository.write(path, "text\n")
    repository.write(page, f"Write to `{path.rpartition('/')[0]}/`.\n")
    repository.commit()
    repository.remove(path)
    assert hints(repository) == []


def test_variable_of_a_makefile_is_reported(repository, removed):
    repository.write("Makefile", "PAGE_SIZE ?= 3\n")
    repository.write("docs/one.md", "Set `PAGE_SIZE`.\n")
    repository.commit()
    repository.write("Makefile", "all:\n")
    repository.git("add", "--all")
    assert [line.split()[3] for line in removed(repository, staged=True)] == ["was"]


@pytest.mark.parametrize(
    ("text", "is_reported"),
    [
        ("The `Portal` shows them.", True),
        ("Call `Portal()`.", True),
        ("The `portal` shows them.", False),  # another name
        ("See `a Portal here`.", False),
        ("[The Portal](x.md) shows them.", False),
    ],
)
def test_single_word_is_reported_where_it_is_all_of_its_code(repository, hints, text, is_reported):
    source = "class Page:\n    def show_page(self):\n        pass\n"
    repository.write("src/one.py", f"class Portal:\n    pass\n\n\n{source}")
    repository.write("docs/one.md", f"{text}\n\nUse `show_page`.\n")
    repository.commit(at=repository.clock)
    repository.write("src/one.py", source)
    found = [("Portal", "Update the page: it also names `show_page` of src/one.py.")]
    assert hints(repository) == (found if is_reported else [])


def test_option_is_removed_although_its_field_is_not(repository, hints):
    source = "package a\n\ntype Options struct {\n\tReadTimeout int\n}\n"
    flag = '\nfunc bind() {\n\tflags.Int("read-timeout", o.ReadTimeout, "Time.")\n}\n'
    repository.write("src/cli.go", source + flag)
    repository.write("docs/one.md", "Set `--read-timeout`, or the field `readTimeout`.\n")
    repository.commit()
    repository.write("src/cli.go", source)
    assert hints(repository) == [("--read-timeout", "Update the page.")]
    repository.write("src/other.go", 'package a\n\nconst name = "read-timeout"\n')
    assert hints(repository) == []
    repository.remove("src/other.go")
    new = [("--read-timeout", "Write `--limit-read-time` instead, if the text is still right.")]
    flag = flag.replace("read-timeout", "limit-read-time")
    repository.write("src/cli.go", source + flag)
    assert hints(repository) == new
    flag = flag.replace("ReadTimeout", "LimitReadTime")
    repository.write("src/cli.go", source.replace("{\n", "{\n\tLimitReadTime int\n") + flag)
    assert hints(repository) == new


@pytest.mark.parametrize(
    ("path", "maker"),
    [
        ("src/cli.rs", "#[arg(long)]\nread_timeout: u8,\n"),
        ("src/cli.ts", "export const flags = {\n  readTimeout: 1,\n};\n"),
        ("src/cli.py", "@dataclass\nclass Options:\n    read_timeout: int = 1\n"),
    ],
)
def test_option_that_another_spelling_may_make_is_not_removed(repository, hints, path, maker):
    repository.write(
        "src/a.go", 'package a\n\nfunc bind() {\n\tf.Int("read-timeout", 1, "T.")\n}\n'
    )
    repository.write(path, maker)
    repository.write("docs/one.md", "Set `--read-timeout`.\n")
    repository.commit()
    repository.write("src/a.go", "package a\n")
    assert hints(repository) == []


def test_word_that_the_change_writes_in_another_case_is_not_removed(repository, hints):
    source = "class Field:\n    def show_field(self):\n        self.enterkeyhint = 1\n"
    repository.write("src/one.py", source)
    repository.write("docs/one.md", "`show_field` sets `enterkeyhint`.\n")
    repository.commit()
    repository.write("src/one.py", source.replace("enterkeyhint", "enterKeyHint"))
    assert hints(repository) == []


def test_word_is_removed_although_another_spelling_lives(repository, hints):
    kinds = (
        'package a\n\nconst (\n\tKindStore Kind = "objectstore"\n\tKindItem Kind = "pageitem"\n)\n'
    )
    store = "type ObjectStore struct{}\n"
    repository.write("src/a.go", kinds + store)
    repository.write("docs/one.md", "The kind is `objectstore` or `pageitem`.\n")
    repository.commit()
    repository.write("src/a.go", kinds.replace("objectstore", "ObjectStore") + store)
    assert [name for name, _ in hints(repository)] == ["objectstore"]


@pytest.mark.parametrize(
    ("name", "kept", "is_removed"),
    [
        ("PageStore", "pageStore = 1", True),
        ("pageStore", "class PageStore {}", True),
        ("PageStore", "const page = '<page-store>'", False),  # as Vue writes it in a template
        ("pageStore", "const name = 'page_store'", False),
        ("pageStore", "const name = camelCase('page' + kind)", True),
        ("pageStore", "const name = 'page' + kind", True),
    ],
)
def test_name_is_removed_although_a_script_has_another_spelling(
    repository, hints, name, kept, is_removed
):
    define = "export class {} {{}}" if name[0].isupper() else "export const {} = 1"
    repository.write("src/a.ts", f"{define.format(name)}\nexport const showPage = 2\n")
    repository.write("docs/one.md", f"`showPage` has `{name}`.\n")
    repository.commit()
    repository.write("src/a.ts", f"export const showPage = 2\n{kept}\n")
    assert [text for text, _ in hints(repository)] == ([name] if is_removed else [])


@pytest.mark.parametrize("option", ["server-arg", "k3s-server-arg", "v2-only"])
def test_option_whose_name_has_a_digit_is_removed_with_its_flag(repository, hints, option):
    flag = f'package cmd\n\nfunc f() {{\n\tflags.Bool("{option}", false, "Help")\n}}\n'
    repository.write("cmd/create.go", flag)
    repository.write("docs/one.md", f"Use `--{option}`.\n")
    repository.commit()
    repository.write("cmd/create.go", "package cmd\n\nfunc f() {}\n")
    assert [name for name, _ in hints(repository)] == [f"--{option}"]


@pytest.mark.parametrize(
    ("kept", "is_removed"),
    [
        ("const apiSecret = read('ADMIN_API_SECRET')", True),
        ("const apiSecret = read('API_SECRET')", False),
        ("class Settings(BaseSettings): api_secret", False),
    ],
)
def test_constant_is_removed_although_another_spelling_lives(repository, hints, kept, is_removed):
    repository.write("src/a.js", "const apiSecret = process.env.API_SECRET\nshowPage = 2\n")
    repository.write("docs/one.md", "| `API_SECRET` | The secret of `showPage` |\n")
    repository.commit()
    repository.write("src/a.js", f"{kept}\nshowPage = 2\n")
    assert [text for text, _ in hints(repository)] == (["API_SECRET"] if is_removed else [])


def test_header_is_removed_where_another_takes_its_place(aged, hints):
    line = 'package a\n\nfunc f() {\n\tsend("X-Old-write", 1)\n}\n'
    aged.write("src/a.go", line)
    mention_later(aged, "docs/one.md", "Send `X-Old-write`.\n")
    aged.write("src/a.go", line.replace("X-Old-write", "X-New-write"))
    assert [name for name, _ in hints(aged)] == ["X-Old-write"]


@pytest.mark.parametrize(
    ("mention", "is_reported"), [("settings.pageLimit", True), ("reader.pageLimit", False)]
)
def test_name_behind_the_same_one_as_in_a_source_is_ours(aged, hints, mention, is_reported):
    aged.write("src/a.go", "package a\n\ntype Settings struct {\n\tPageLimit int\n}\n")
    aged.write("charts/a.yaml", "limit: {{ .Values.settings.pageLimit }}\n")
    mention_later(aged, "docs/one.md", f"Set `{mention}`.\n")
    aged.remove("src/a.go")
    aged.remove("charts/a.yaml")
    assert bool(hints(aged)) is is_reported


@pytest.mark.parametrize(
    ("written", "is_reported"),
    [('"reader.settings.pageLimit"', True), ("options.settings.pageLimit", False)],
)
def test_key_with_a_qualifier_is_ours_if_a_source_has_both_in_quotes(
    aged, hints, written, is_reported
):
    aged.write("src/a.js", f"const limit = {written};\n")
    mention_later(aged, "docs/one.md", "Set `reader.settings.pageLimit`.\n")
    aged.write("src/a.js", "const limit = 1;\n")
    assert bool(hints(aged)) is is_reported


@pytest.mark.parametrize(
    ("manifest", "is_reported"),
    [
        ("kind: ConfigMap\nmetadata:\n  name: config-logging\n", True),
        ("resources: [a.yaml]\nnamespace: config-logging\n", True),
        ("metadata:\n  name: config-logging\n", False),
        ("kind: ConfigMap\nmetadata:\n  label: config-logging\n", False),
    ],
)
def test_object_of_a_manifest_is_ours(aged, hints, manifest, is_reported):
    aged.write("charts/a.yaml", manifest)
    mention_later(aged, "docs/one.md", "Edit the `config-logging` map.\n")
    aged.remove("charts/a.yaml")
    assert bool(hints(aged)) is is_reported


@pytest.mark.parametrize(
    ("page", "name", "is_reported"),
    [
        ("src/pages/README.md", "pageLimit", True),
        ("src/README.md", "pageLimit", False),
        ("src/pages/README.md", "bounces", False),
    ],
)
def test_key_of_a_source_beside_the_page_is_ours(aged, hints, page, name, is_reported):
    aged.write("src/pages/a.ts", f"export interface Props {{\n  {name}?: number;\n}}\n")
    mention_later(aged, page, f"Set `{name}`.\n")
    aged.write("src/pages/a.ts", "export interface Props {}\n")
    assert bool(hints(aged)) is is_reported


@pytest.mark.parametrize(
    ("page", "name", "is_reported"),
    [
        ("Call `write_page_to_string`.\n", "write_page_to_string", True),
        ("Call `write_page_v2`.\n", "write_page_v2", False),
        ("### `write_page`\n", "write_page", True),
        ("### Pages\n\nCall `write_page`.\n", "write_page", False),
        ("- `write_page`: writes.\n", "write_page", True),
        ("- Writes: `write_page`.\n", "write_page", False),
        ("| `pages.write_page` | Writes |\n", "write_page", True),
        ("| `writePage` | Writes |\n", "write_page", False),
    ],
)
def test_name_of_many_words_or_in_a_heading_or_list_is_ours(aged, hints, page, name, is_reported):
    aged.write("src/a.py", f"def {name}(a):\n    pass\n")
    mention_later(aged, "docs/one.md", page)
    aged.remove("src/a.py")
    assert bool(hints(aged)) is is_reported


@pytest.mark.parametrize(("suffix", "is_reported"), [("ts", True), ("yaml", False)])
def test_key_in_a_list_is_ours_if_a_program_has_it(aged, hints, suffix, is_reported):
    aged.write(f"src/a.{suffix}", "  pageLimit: number\n")
    mention_later(aged, "docs/one.md", "- `pageLimit`: how many.\n")
    aged.write(f"src/a.{suffix}", "  other: number\n")
    assert bool(hints(aged)) is is_reported


@pytest.mark.parametrize(
    ("path", "line", "name"),
    [
        ("cmd/a.go", 'f.BoolVar(&s.Wait, prefix+"apply-wait", true, "Waits")', "--apply-wait"),
        ("cmake/a.cmake", "macro(ADD_PAGE_EXTENSION TARGET)", "ADD_PAGE_EXTENSION"),
        ("src/a.bzl", "def page_library_of_docs(name):\n    pass", "page_library_of_docs"),
    ],
)
def test_definitions_in_other_languages_are_found(repository, hints, path, line, name):
    repository.write(path, f"{line}\n")
    repository.write("docs/one.md", f"Use `{name}`.\n")
    repository.commit()
    repository.remove(path)
    assert [found for found, _ in hints(repository)] == [name]


def test_option_that_is_only_used_is_reported_if_it_was_new_with_its_mention(aged, hints):
    aged.write("src/a.go", 'package a\n\nvar help = "Set --store-name and --store-key"\n')
    aged.write("docs/one.md", "Set `--store-name`.\n")
    aged.commit()
    aged.write("src/a.go", "package a\n")
    assert [name for name, _ in hints(aged)] == ["--store-name"]


@pytest.mark.parametrize(("kept", "is_reported"), [("", True), ("--store-key", False)])
def test_name_that_is_only_used_is_reported_with_three_others_that_go(
    aged, hints, kept, is_reported
):
    options = ["--store-name", "--store-key", "--store-zone", "--store-id"]
    aged.write("src/a.go", f'package a\n\nvar help = "Set {" ".join(options)}"\n')
    mention_later(aged, "docs/one.md", "".join(f"- `{option}`\n" for option in options))
    aged.write("src/a.go", f'package a\n\nvar help = "{kept}"\n')
    assert bool(hints(aged)) is is_reported


@pytest.mark.parametrize(("file", "is_reported"), [("openFile", True), ("files", False)])
def test_name_that_is_only_used_is_that_of_a_deleted_file(aged, hints, file, is_reported):
    aged.write(f"src/{file}.js", "module.exports = () => 1\n")
    aged.write("src/main.js", f"run(require('./{file}'), 'openFile')\n")
    mention_later(aged, "docs/one.md", "Call `openFile`.\n")
    aged.remove(f"src/{file}.js")
    aged.write("src/main.js", "run()\n")
    assert bool(hints(aged)) is is_reported


@pytest.mark.parametrize(
    ("other", "is_reported"), [("READ_LIMIT", True), ("read_limit", False), ("readLimit", False)]
)
def test_name_of_others_in_another_case_is_another_name(repository, hints, other, is_reported):
    repository.write("src/a.js", "export function readLimit() {\n}\nexport const showPage = 1\n")
    repository.write(
        "docs/one.md", f"OpenReader's `{other}` is set.\n\n`showPage` calls `readLimit()`.\n"
    )
    repository.commit()
    repository.write("src/a.js", "export const showPage = 1\n")
    assert bool(hints(repository)) is is_reported


def test_name_is_not_removed_where_a_file_has_this_very_spelling(repository, hints):
    repository.write("src/a.ts", "export const pageStore = 1\nexport const showPage = 2\n")
    repository.write("src/pageStore.vue", "<template></template>\n")
    repository.write("docs/one.md", "`showPage` has `pageStore`.\n")
    repository.commit()
    repository.write("src/a.ts", "export const showPage = 2\nclass PageStore {}\n")
    assert hints(repository) == []


@pytest.mark.parametrize(
    ("kept", "is_removed"),
    [
        ("int pageStore;", True),
        ("[PageStore] int field;", False),
        ("class PageStoreAttribute {}", False),
    ],
)
def test_type_is_removed_although_a_variable_has_its_name(repository, hints, kept, is_removed):
    source = "public class Page {\n    public void ShowPage() {}\n}\n"
    repository.write("src/A.cs", f"{source}public class PageStoreAttribute {{}}\n")
    repository.write("docs/one.md", "`ShowPage` has `PageStore`.\n")
    repository.commit()
    repository.write("src/A.cs", f"{source}{kept}\n")
    assert [text for text, _ in hints(repository)] == (["PageStore"] if is_removed else [])


def test_field_may_make_a_name_of_another_spelling(repository, hints):
    source = "package a\n\ntype Page struct {\n\tShowPage int\n%s}\n"
    repository.write("src/a.go", source % '\tPageStore int `json:"pageStore"`\n')
    repository.write("docs/one.md", "`showPage` has `pageStore`.\n")
    repository.commit()
    repository.write("src/a.go", source % "\tPageStore int\n")
    assert hints(repository) == []


def test_component_that_a_file_has_as_its_name_is_not_removed(repository, hints):
    script = "export default { name: 'PageStore' }\nexport const showPage = 2\n"
    repository.write("src/PageStore.vue", f"<script>\n{script}</script>\n")
    repository.write("src/a.ts", "const pageStore = 1\n")
    repository.write("docs/one.md", "`showPage` has `PageStore`.\n")
    repository.commit()
    repository.write("src/PageStore.vue", "<script>\nexport const showPage = 2\n</script>\n")
    assert hints(repository) == []


@pytest.mark.parametrize("name", ["vue-pages", "a-page", "page-vue"])
def test_words_with_hyphens_may_be_short(repository, hints, name):
    repository.write(f"packages/{name}/main.js", "run()\n")
    repository.write("docs/one.md", f"- `{name}`: the bridge.\n")
    repository.commit()
    repository.remove(f"packages/{name}/main.js")
    assert [text for text, _ in hints(repository)] == [name]


def test_variable_that_a_command_gets_is_no_name_of_the_example(repository, removed):
    repository.write("Makefile", "PAGE_SIZE ?= 3\n")
    repository.write("docs/one.md", "```bash\nPAGE_SIZE=4 make all\n```\n")
    repository.commit()
    repository.write("Makefile", "all:\n")
    repository.git("add", "--all")
    assert [line.split()[3] for line in removed(repository, staged=True)] == ["was"]


def test_package_does_not_take_the_place_of_another(repository, hints):
    repository.write("parts/one/Cargo.toml", '[package]\nname = "page-one"\n')
    repository.write("src/a.rs", "fn page() {}\n")
    repository.commit()
    repository.write("docs/one.md", "Use `page-one`.\n")
    repository.commit(at=repository.clock + 60 * DAY)
    repository.remove("parts/one/Cargo.toml")
    repository.write("parts/two/Cargo.toml", '[package]\nname = "page-two"\n')
    assert hints(repository) == []


def test_name_that_one_page_surely_means_is_reported_in_the_others(aged, hints):
    source = "def fetch_page():\n    pass\n\n\ndef close_file():\n    pass\n"
    aged.write("src/one.py", source)
    aged.commit()
    aged.write("docs/de/one.md", "Ruft `fetch_page` auf.\n")
    aged.write("docs/one.md", "Call `fetch_page`.\n\n`close_file`\n")
    aged.commit(at=aged.clock + 60 * DAY)
    aged.write("src/one.py", source[source.index("def close") :])
    assert hints(aged) == [
        ("fetch_page", "Update the page, as docs/one.md, which means the same name."),
        ("fetch_page", "Update the page: it also names `close_file` of src/one.py."),
    ]


@pytest.mark.parametrize(("other", "is_reported"), [("AppReader", False), ("ReadNone", True)])
def test_namespace_of_a_source_is_no_evidence(aged, hints, other, is_reported):
    source = (
        "namespace AppReader;\n\npublic class Page\n{\n    public int ReadAll { get; set; }\n"
        "    public int ReadNone { get; set; }\n}\n"
    )
    aged.write("src/Page.cs", source)
    mention_later(aged, "docs/one.md", f"Set `ReadAll` or `{other}`.\n")
    aged.write("src/Page.cs", source.replace("    public int ReadAll { get; set; }\n", ""))
    hint = "Update the page: it also names `ReadNone` of src/Page.cs."
    assert hints(aged) == ([("ReadAll", hint)] if is_reported else [])


MODES = "public enum Mode\n{\n    ReadAll,\n    ReadOne,\n    ReadNone,\n}\n"


@pytest.mark.parametrize(
    ("page", "is_reported"),
    [("`ReadAll`, `ReadOne` and `ReadNone`\n", True), ("`ReadAll` and `ReadOne`\n", False)],
)
def test_names_of_one_source_that_are_removed_together_are_evidence_for_each_other(
    aged, hints, page, is_reported
):
    aged.write("src/Mode.cs", MODES)
    mention_later(aged, "docs/modes.md", page)
    aged.write("src/Mode.cs", "public enum Mode\n{\n    Whole,\n}\n")
    found = dict(hints(aged))
    assert sorted(found) == (["ReadAll", "ReadNone", "ReadOne"] if is_reported else [])
    if is_reported:
        assert found["ReadAll"] == "Update the page: it also names `ReadOne` of src/Mode.cs."


@pytest.mark.parametrize(
    ("page", "is_reported"),
    [
        ("AGENTS.md", True),
        ("app/CONTRIBUTING.md", True),
        ("README.md", False),
        ("docs/agents.md", False),
        ("docs/testing.md", False),
    ],
)
def test_tool_that_is_not_required_any_more_is_out_of_date_in_pages_for_those_who_work_here(
    repository, hints, page, is_reported
):
    repository.write("package.json", '{"devDependencies": {\n  "page-sorter": "1"\n}}\n')
    repository.write(page, "We use `page-sorter`.\n")
    repository.commit()
    repository.write("package.json", '{"devDependencies": {\n  "oxfmt": "1"\n}}\n')
    assert hints(repository) == ([("page-sorter", "Update the page.")] if is_reported else [])


@pytest.mark.parametrize(("page", "is_reported"), [("CONTRIBUTING.md", True), ("README.md", False)])
def test_name_of_a_source_needs_no_other_evidence_in_pages_for_those_who_work_here(
    repository, hints, page, is_reported
):
    repository.write("src/one.py", "def fetch_page():\n    pass\n")
    repository.commit()
    repository.write(page, "Begin with `fetch_page`.\n")
    repository.commit(at=repository.clock + 60 * DAY)
    repository.write("src/one.py", "def close_file():\n    pass\n")
    assert hints(repository) == ([("fetch_page", "Update the page.")] if is_reported else [])


@pytest.mark.parametrize(
    ("page", "is_reported"),
    [
        ("docs/contributing/tests.md", True),
        ("Guide.Contributing.md", True),
        ("RELEASING.md", True),
        ("BUILDING.md", True),
        ("docs/contributed.md", False),
    ],
)
def test_tool_that_was_required_is_reported_although_contributors_install_it(
    repository, hints, page, is_reported
):
    repository.write(
        "package.json", '{\n  "devDependencies": {\n    "page-lint": "^1.0.0"\n  }\n}\n'
    )
    repository.write(page, "`page-lint` checks pages: `npm install page-lint`.\n")
    repository.commit()
    repository.write("package.json", "{}\n")
    assert [name for name, _ in hints(repository)] == (["page-lint"] if is_reported else [])


@pytest.mark.parametrize(
    ("name", "is_reported"), [("PAGER_SIZE", True), ("OTHER_SIZE", False), ("PAGER", False)]
)
def test_constant_that_begins_with_the_name_of_a_package_is_ours(
    repository, hints, name, is_reported
):
    repository.write("package.json", '{"name": "@example/pager"}\n')
    repository.write("src/one.ts", f"export const size = process.env['{name}'];\n")
    repository.commit()
    repository.write("docs/one.md", f"Set `{name}`.\n")
    repository.commit(at=repository.clock + 60 * DAY)
    repository.write("src/one.ts", "export const size = 1;\n")
    assert hints(repository) == ([(name, "Update the page.")] if is_reported else [])


@pytest.mark.parametrize(
    ("path", "is_reported"), [("src/page.config.ts", True), ("app/vite.config.ts", False)]
)
def test_configuration_of_a_tool_defines_no_name(repository, hints, path, is_reported):
    source = "export function fetchPage() {}\nexport function showPage() {}\n"
    repository.write(path, source)
    repository.write("docs/one.md", "`showPage` and `fetchPage`.\n")
    repository.commit()
    repository.write(path, source.replace("fetchPage", "x"))
    assert [name for name, _ in hints(repository)] == (["fetchPage"] if is_reported else [])


def test_title_of_a_page_in_a_list_of_pages_is_no_name(repository, hints):
    repository.write("mkdocs.yml", "nav:\n  - LangChain: langchain.md\n  - PageStore: store.md\n")
    repository.write("src/a.py", "def langchain():\n    pass\n")
    repository.write("docs/langchain.md", "`LangChain` and `PageStore`.\n")
    repository.commit()
    repository.write("mkdocs.yml", "nav:\n  - PageStore: store.md\n")
    assert hints(repository) == []


@pytest.mark.parametrize("path", ["LICENSE", ".gitignore", "NOTICE.txt", "CODEOWNERS"])
def test_license_and_lists_of_ignored_files_keep_no_name_alive(client, removed, path):
    client.write(path, "read_all\n")
    client.commit()
    stage(client, "src/client.py", "read_all", "read_each")
    assert [line.split()[2] for line in removed(client, staged=True)][:1] == ["`read_all`"]


def test_option_of_an_attribute_is_removed(repository, hints):
    source = '    [Option("ilcPath", Required = false)]\n    public string Path { get; set; }\n'
    repository.write("src/Options.cs", f"public class Options\n{{\n{source}}}\n")
    repository.write("docs/a.md", "Set it with `--ilcPath`.\n")
    repository.commit()
    repository.write("src/Options.cs", "public class Options\n{\n}\n")
    assert [name for name, _ in hints(repository)] == ["--ilcPath"]


@pytest.mark.parametrize(
    ("path", "source", "is_reported"),
    [
        ("src/a.ts", 'counter.increment("pagesRead");\n', True),
        ("conf/queue.yaml", "jobs:\n  - pages-read\n", True),
        ("src/a.ts", 'import {\n  pagesRead,\n} from "reader";\nrun(pagesRead);\n', False),
        ("src/a.py", "from reader import pages_read\nrun(pages_read)\n", False),
        ("src/a.rs", "use reader::{pages_read};\nfn run() { pages_read(); }\n", False),
        ("src/a.js", "const { pagesRead } = require('reader');\npagesRead();\n", False),
        ("src/a.ts", 'import { pagesRead } from "./reader";\nrun(pagesRead);\n', True),
        ("src/a.ts", "run(globalThis.PagesRead);\n", False),
        ("src/a.ts", "run(queue.PagesRead);\n", True),
        ("src/a.ts", "run(queue.global.PagesRead);\n", True),
        ("src/a.ts", "run(window.PagesRead);\n", True),
        ("src/a.go", "func run() { start(global.PagesRead) }\n", True),
        ("examples/a.ts", 'counter.increment("pagesRead");\n', False),
        ("Playgrounds/a.ts", 'counter.increment("pagesRead");\n', False),
        ("src/a.ts", 'counter.increment("pages");\n', False),
        ("src/a.ts", "run();\n// Call pagesRead before.\n", False),
    ],
)
def test_name_that_is_only_used_is_reported_if_it_was_new_with_its_mention(
    aged, hints, path, source, is_reported
):
    names = ("pagesRead", "PagesRead", "pages-read", "pages_read", "pages")
    name = next(name for name in names if name in source)
    aged.write(path, source)
    aged.commit()
    aged.write("docs/one.md", f"It is `{name}`.\n")
    commit = aged.commit()
    aged.write(path, "\n")
    hint = f"Update the page: {commit[:10]} added the name to it when it was new."
    assert hints(aged) == ([(name, hint)] if is_reported else [])


def test_name_that_was_used_before_its_mention_is_not_reported(aged, hints):
    aged.write("src/a.ts", 'counter.increment("pagesRead");\n')
    aged.commit()
    aged.write("docs/one.md", "It is `pagesRead`.\n")
    aged.commit(at=aged.clock + 60 * DAY)
    aged.write("src/a.ts", "\n")
    assert hints(aged) == []


def test_name_that_a_young_repository_only_used_is_not_reported(repository, hints):
    repository.write("src/a.ts", 'counter.increment("pagesRead");\n')
    repository.write("docs/one.md", "It is `pagesRead`.\n")
    repository.commit()
    repository.write("src/a.ts", "\n")
    assert hints(repository) == []


def test_name_that_is_only_used_is_reported_with_the_one_that_took_its_place(aged, hints):
    aged.write("src/a.ts", 'emit("pageRead", 1);\n')
    aged.commit()
    aged.write("docs/one.md", "The event `pageRead`.\n")
    aged.commit(at=aged.clock + 60 * DAY)
    aged.write("src/a.ts", 'emit("pageSeen", 1);\n')
    assert hints(aged) == [("pageRead", "Write `pageSeen` instead, if the text is still right.")]
    aged.write("src/a.ts", 'emit("closed", 1);\n')
    assert hints(aged) == []


def test_name_that_is_only_used_is_not_replaced_by_one_in_another_source(aged, hints):
    aged.write("charts/a.yaml", "kind: PageCluster\n")
    aged.commit()
    aged.write("docs/one.md", "Create a `PageCluster`.\n")
    aged.commit(at=aged.clock + 60 * DAY)
    aged.remove("charts/a.yaml")
    aged.write("charts/b.yaml", "kind: ClusterRole\n")
    assert hints(aged) == []


def test_name_that_is_only_used_in_a_list_is_not_replaced_by_the_next_one(aged, hints):
    aged.write("src/a.ts", "export const all = [\n  pageRead,\n];\n")
    aged.commit()
    aged.write("docs/one.md", "The event `pageRead`.\n")
    aged.commit(at=aged.clock + 60 * DAY)
    aged.write("src/a.ts", "export const all = [\n  pageSeen,\n];\n")
    assert hints(aged) == []


def test_option_with_one_dash_is_removed(repository, hints):
    source = 'package a\n\tns = flag.String("page-namespace", "", "Of pages.")\n'
    repository.write("src/a.go", source)
    repository.write("docs/a.md", "Set `-page-namespace`.\n")
    repository.commit()
    repository.write("src/a.go", "package a\n")
    assert [name for name, _ in hints(repository)] == ["-page-namespace"]


@pytest.mark.parametrize(
    ("line", "is_reported"),
    [("mergePages(page: Page): void {", True), ("mergePages((page) => {", False)],
)
def test_method_is_defined_and_a_call_with_a_function_is_not(aged, hints, line, is_reported):
    source = "export class Reader {\n  closeReader() {\n  }\n"
    aged.write("src/a.ts", source + f"  {line}\n  }}\n}}\n")
    aged.commit()
    aged.write("docs/a.md", "Like `mergePages()` and `closeReader()`.\n")
    aged.commit(at=aged.clock + 60 * DAY)
    aged.write("src/a.ts", source + "}\n")
    assert [name for name, _ in hints(aged)] == (["mergePages"] if is_reported else [])


@pytest.mark.parametrize(
    ("mention", "is_reported"),
    [("`Reader.fetch_page()`", True), ("`Writer.fetch_page()`", False), ("`x.fetch_page()`", True)],
)
def test_method_of_another_type_is_not_the_removed_one(repository, hints, mention, is_reported):
    source = (
        "class Reader:\n    def fetch_page(self):\n        pass\n\n    def close_it(self): ...\n"
    )
    repository.write("src/a.py", source)
    repository.write("src/b.py", "class Writer:\n    pass\n")
    repository.write("docs/a.md", f"{mention} and `close_it`.\n")
    repository.commit()
    repository.write("src/a.py", source.replace("fetch_page", "x"))
    assert bool(hints(repository)) is is_reported


@pytest.mark.parametrize(
    ("mention", "is_reported"),
    [
        ("`fetch_page()`", True),
        ("`reader::fetch_page()`", True),
        ("`own_client::fetch_page()`", True),
        ("`other_client::fetch_page()`", False),
    ],
)
def test_name_in_a_crate_from_elsewhere_is_not_the_removed_one(
    repository, hints, mention, is_reported
):
    repository.write(
        "Cargo.toml", '[package]\nname = "own-client"\n[dependencies]\nother-client = "1"\n'
    )
    source = "pub fn fetch_page() {}\npub fn close_it() {}\n"
    repository.write("src/reader.rs", source)
    repository.write("docs/a.md", f"{mention} and `close_it`.\n")
    repository.commit()
    repository.write("src/reader.rs", source.replace("fetch_page", "x"))
    assert bool(hints(repository)) is is_reported


@pytest.mark.parametrize(
    ("line", "is_reported"),
    [
        ("fetch_page done", True),
        ("2013-04-02 10:10:10,123 [client] fetch_page done", False),
        ('{"level":"info","msg":"fetch_page done"}', False),
        ("time=10:10 level=info msg=fetch_page", False),
    ],
)
def test_log_of_a_program_shows_what_it_said_once(repository, hints, line, is_reported):
    repository.write("src/one.py", ONE)
    repository.write("docs/a.md", f"```\n{line}\n```\n")
    repository.commit()
    repository.remove("src/one.py")
    assert bool(hints(repository)) is is_reported


@pytest.mark.parametrize(
    ("line", "is_reported"),
    [("$ docker run reader/reader --version", False), ("$ ./reader/reader --version", True)],
)
def test_image_of_a_container_is_no_path(client, removed, line, is_reported):
    client.write("reader/reader", "#!/bin/sh\n")
    client.write("docs/a.md", f"```bash\n{line}\n```\n")
    client.commit()
    client.remove("reader/reader")
    client.git("add", "--all")
    assert bool(removed(client, staged=True)) is is_reported


@pytest.mark.parametrize(
    ("before", "after", "is_found"),
    [
        ("start(opts.makeFolder)\n", "start({ ...opts, sync: false })\n", False),
        ("start(opts.makeFolder)\n", "start(Object.assign({}, opts, { sync: true }))\n", False),
        ("start({ ...opts }, opts.makeFolder)\n", "start({ ...opts })\n", True),
        ("start(opts.makeFolder)\n", "start({ ...others })\n", True),
        ("start(opts?.makeFolder)\n", "start({ ...opts })\n", False),
        ("self.makeFolder = start(self.makeFolder)\n", "start(**self.options)\n", True),
        ("this.makeFolder = start(this.makeFolder)\n", "start([...this.items])\n", True),
        ("this.makeFolder = start(this.makeFolder)\n", "start([...this?.items])\n", True),
        ("start(opts.makeFolder)\n", "start([...opts[0]])\n", True),
        ("start(opts.makeFolder)\n", "start(...opts(1))\n", True),
    ],
)
def test_option_of_an_object_that_is_passed_on_whole_is_not_removed(
    repository, removed, before, after, is_found
):
    repository.write("lib/file.js", f"const fileMode = 1\n{before}")
    repository.write("docs/file.md", "`file_mode`, `fileMode`, and `makeFolder`, an option.\n")
    repository.write("lib/README.md", "# `makeFolder`\n\nIt makes the folder.\n")
    repository.commit()
    stage(repository, "lib/file.js", before, after)
    assert bool(removed(repository, staged=True)) is is_found


TEST = "def test_pages():\n    assert fetch_page()\n"


@pytest.mark.parametrize(
    ("path", "versions", "is_reported"),
    [
        ("tests/test_one.py", (TEST, ""), True),
        ("tests/test_one.py", (TEST, TEST.replace("fetch_page", "fetch_one_page")), True),
        ("tests/test_one.py", (TEST, TEST + "\n\n"), False),
        ("tests/test_one.py", ("fetch_pages()\n", ""), False),
        ("src/notes.txt", (TEST, ""), False),
    ],
)
def test_name_that_the_change_also_removes_from_tests_is_this_repositorys(
    aged, hints, path, versions, is_reported
):
    old, new = versions
    aged.write(path, old)
    mention_later(aged, "docs/one.md", "Call `fetch_page`.\n")
    aged.remove("src/one.py")
    aged.write(path, new)
    hint = "Update the page: the change also removes the name from tests/test_one.py."
    assert hints(aged) == ([("fetch_page", hint)] if is_reported else [])


@pytest.mark.parametrize(("language", "is_reported"), [("python", True), ("", False)])
def test_tested_name_in_a_block_without_a_language_may_be_the_examples_own(
    aged, hints, language, is_reported
):
    aged.write("tests/test_one.py", TEST)
    mention_later(aged, "docs/one.md", f"```{language}\nfetch_page(1)\n```\n")
    aged.remove("src/one.py")
    aged.remove("tests/test_one.py")
    assert [name for name, _ in hints(aged)] == (["fetch_page"] if is_reported else [])


@pytest.mark.parametrize(
    ("source", "test", "name"),
    [
        ("send(read_part)\n", "send(read_part)\n", "read_part"),  # only used
        ("def fetch():\n    pass\n", "fetch()\n", "fetch"),  # a single word
    ],
)
def test_used_name_and_single_word_need_more_than_a_test(aged, hints, source, test, name):
    aged.write("src/two.py", source)
    aged.write("tests/test_two.py", test)
    mention_later(aged, "docs/two.md", f"Call `{name}`.\n")
    aged.remove("src/two.py")
    aged.remove("tests/test_two.py")
    assert hints(aged) == []


def test_name_that_another_test_of_the_change_still_has_needs_other_evidence(aged, hints):
    aged.write("tests/test_one.py", TEST)
    aged.write("tests/test_two.py", "pass\n")
    mention_later(aged, "docs/one.md", "Call `fetch_page`.\n")
    aged.remove("src/one.py")
    aged.remove("tests/test_one.py")
    aged.write("tests/test_two.py", TEST)
    assert hints(aged) == []
