"""`ubp init`: what is proposed, asked, written, kept; what is never written."""

import io
import json
import os
import shlex
import subprocess
import sys
from email.message import Message
from importlib.metadata import PackageNotFoundError

import pytest

from ubp import __version__
from ubp.__main__ import main
from ubp.code import symbols
from ubp.core.config import Config
from ubp.core.config_file import load_config
from ubp.core.installation import (
    Installation,
    find_checkout,
    find_installation,
    install_command,
    launch_command,
)
from ubp.core.setup_files import (
    IGNORE_TEXT,
    Plan,
    config_record,
    largest_folder,
    plan_for,
)
from ubp.core.snippets import SnippetTarget, make_snippets


@pytest.mark.parametrize("plan", [Plan(), plan_for("docs"), Plan(exclude=("docs/old/**",))])
def test_init_writes_what_the_configuration_reads(plan, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(config_record(plan)))
    read = load_config(str(tmp_path))
    assert (read.docs_dir, read.include, read.warnings) == (plan.docs_dir, plan.include, ())
    assert set(plan.exclude) <= set(read.exclude)


def test_init_with_defaults_writes_no_setting():
    assert config_record(Plan()) == {"$schema": "./config.schema.json"}


def test_init_leaves_four_files_to_track(drifted, ubp):
    drifted.write(".ubp/debt.txt", "")
    answer = ubp(drifted, "init", "--yes")
    assert (answer.status, answer.err) == (0, "")
    drifted.git("add", "--all")
    assert drifted.git("diff", "--cached", "--name-only").splitlines() == [
        ".ubp/.gitignore",
        ".ubp/config.json",
        ".ubp/config.schema.json",
        ".ubp/debt.txt",
    ]
    drifted.commit("Set up")
    ubp(drifted, "stale")
    assert drifted.git("status", "--short") == ""


def test_existing_configuration_is_kept(drifted, ubp):
    text = '{"staleness": {"threshold_days": 30}}'
    drifted.write(".ubp/config.json", text)
    answer = ubp(drifted, "init", "--yes")
    assert "Kept the existing configuration\n" in answer.out
    assert (drifted.root / ".ubp/config.json").read_text() == text
    assert (drifted.root / ".ubp/.gitignore").read_text() == IGNORE_TEXT


def test_second_init_writes_nothing(drifted, ubp):
    ubp(drifted, "init", "--yes")
    assert ubp(drifted, "init", "--yes", "--json").record["written"] == []


@pytest.mark.parametrize("name", ["", "config.json", ".gitignore", "config.schema.json"])
def test_init_writes_nothing_through_a_link(name, drifted, tmp_path, ubp):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("mine")
    data = drifted.root / ".ubp"
    if name:
        data.mkdir()
        (data / name).symlink_to(outside / "file")
    else:
        data.symlink_to(outside)
    answer = ubp(drifted, "init", "--yes")
    assert answer.status == 2
    assert {file.name: file.read_text() for file in outside.iterdir()} == {"file": "mine"}


def test_bare_repository_needs_no_configuration(new_repository, ubp):
    answer = ubp(new_repository("bare", "--bare"), "init", "--yes")
    assert answer.status == 2
    assert answer.err.startswith(
        "Error: `ubp init` cannot write a configuration in a bare repository.\n"
    )


@pytest.fixture
def answering(drifted, monkeypatch):
    """Run `ubp init` for a user who types these answers at a terminal."""
    monkeypatch.setenv("GIT_PAGER", "cat")  # which is none: the text goes to the screen

    class Screen(io.StringIO):
        def isatty(self):
            return True

    def run(*answers):
        typed = Screen("".join(f"{answer}\n" for answer in answers))
        screen = Screen()
        monkeypatch.setattr(sys, "stdin", typed)
        monkeypatch.setattr("ubp.__main__.open_streams", lambda: (screen, Screen()))
        monkeypatch.setenv("NO_COLOR", "1")
        status = main(["-C", str(drifted.root), "init"])
        return status, screen.getvalue()

    return run


def test_enter_accepts_the_defaults(answering, drifted):
    status, screen = answering("", "", "")
    assert status == 0
    assert screen.startswith(
        "Found 3 Markdown files. Press Enter to accept the default in parentheses.\n"
        "? Docs directory: (.) "
        "? Include patterns: (**/*.md, **/*.mdx, **/*.markdown) "
        "? Exclude patterns: (none) "
        "Wrote .ubp/config.json\n"
    )
    assert load_config(str(drifted.root / ".ubp")) == Config()


def test_folder_and_the_readmes_are_the_pages_where_a_folder_is_given(answering, drifted):
    drifted.write("README.ja.md", "# Read me\n")
    drifted.write("readme-old.MD", "# Read me\n")
    drifted.write("CHANGELOG.md", "# Changes\n")
    _, screen = answering("docs", "", "")
    readmes = "README.ja.md, README.md"
    patterns = "docs/**/*.md, docs/**/*.mdx, docs/**/*.markdown"
    assert f"? Include patterns: ({readmes}, {patterns}) " in screen
    assert load_config(str(drifted.root / ".ubp")).docs_dir == "docs"


def test_init_loses_no_finding(drifted, ubp):
    drifted.write("README.md", "# Read me\n\n[x](CONTRIBUTING.md#packages)\n")
    drifted.write("CONTRIBUTING.md", "# Contribute\n\n[x](gone.md)\n")
    before = ubp(drifted, "check", "--json").record["findings"]
    ubp(drifted, "init", "--yes")
    assert ubp(drifted, "check", "--json").record["findings"] == before != []


def test_init_writes_no_rule_for_translations_whose_originals_are_unclear(repository, ubp):
    for first, second in ((("en", "a"), ("ja", "b")), (("ja", "a"), ("en", "b"))):
        for language, name in (first, second):
            repository.write(f"docs/{language}/{name}.md", "# Page\n")
        repository.commit("Write")
    answer = ubp(repository, "init", "--yes")
    assert (
        "  No translations: docs/{lang}/{path}: which language has the originals is unclear,"
        " so no rule was written\n"
    ) in answer.out
    assert "translations" not in (repository.root / ".ubp/config.json").read_text()
    assert "unclear" not in ubp(repository, "init", "--yes").out


def test_answers_are_written(answering, drifted):
    status, _ = answering("./docs/guide/", "docs/guide/*.md, README.md", "docs/old/**")
    assert status == 0
    assert json.loads((drifted.root / ".ubp/config.json").read_text()) == {
        "$schema": "./config.schema.json",
        "docs_dir": "docs/guide",
        "source": {"include": ["docs/guide/*.md", "README.md"], "exclude": ["docs/old/**"]},
    }


def test_whole_repository_can_be_chosen(answering, drifted):
    answering(".", "", "")
    assert load_config(str(drifted.root / ".ubp")) == Config()


def test_existing_file_is_kept_rewritten_or_skipped(answering, drifted):
    text = '{"staleness": {"threshold_days": 30}}'
    file = drifted.write(".ubp/config.json", text)
    status, screen = answering("")
    assert (status, file.read_text()) == (0, text)
    assert screen.startswith(
        "? A configuration already exists. Keep it, rewrite it, or cancel?"
        " [keep/rewrite/cancel]: (keep) "
    )
    assert answering("what?", "c") == (
        0,
        "? A configuration already exists. Keep it, rewrite it, or cancel?"
        " [keep/rewrite/cancel]: (keep) " * 2 + "Nothing changed.\n",
    )
    assert not (drifted.root / ".ubp/config.schema.json").exists() or file.read_text() == text
    assert answering("rewrite", "", "", "")[0] == 0
    assert file.read_text() != text


def test_end_of_input_ends_the_command(answering):
    assert answering()[0] == 130


def place(**known):
    default = {
        "root": "/project",
        "launch": ("ubp",),
        "server": (),
        "install": "pip install 'ubp[full]'",
        "repository": None,
        "revision": None,
        "files": frozenset(),
        "origin": "",
        "hook": ".git/hooks/prepare-commit-msg",
    }
    return SnippetTarget(**{**default, **known})


def test_snippet_is_offered_where_it_can_be_used():
    names = [snippet.name for snippet in make_snippets(place())]
    assert names == ["pre-commit-local", "reasons", "mcp-extra"]
    installed = place(
        repository="https://example.com/ubp.git", revision="v1.0", server=("/usr/bin/ubp",)
    )
    assert [snippet.name for snippet in make_snippets(installed)] == [
        "pre-commit",
        "reasons",
        "claude-code",
        "claude-desktop",
        "cursor",
        "vscode",
    ]
    assert make_snippets(installed)[0].text == (
        "repos:\n"
        "  - repo: https://example.com/ubp.git\n"
        "    rev: v1.0\n"
        "    hooks:\n"
        "      - id: ubp-check\n"
    )


def test_snippet_fits_into_the_existing_file():
    snippet, *_ = make_snippets(place(files=frozenset({".pre-commit-config.yaml"})))
    assert snippet.text.startswith("  - repo: local\n")
    assert snippet.title.startswith("pre-commit: add this to `repos` in .pre-commit-config.yaml")


@pytest.mark.parametrize(
    "launch", [("/usr/bin/ubp",), ("C:/Program Files/ubp.exe",), ("/a b/it's", "-m", "ubp")]
)
def test_snippet_survives_yaml_and_the_shell(launch):
    import yaml

    snippet, *_ = make_snippets(place(launch=launch))
    (hook,) = yaml.safe_load(snippet.text)["repos"][0]["hooks"]
    assert shlex.split(hook["entry"]) == [*launch, "check", "--staged"]


@pytest.mark.parametrize("launch", [("ubp",), ("uvx", "--from", "git+https://a/b c@v1", "ubp")])
def test_snippets_for_a_team_name_no_folder_of_this_machine(launch):
    project = place(root="/home/ann/project", launch=launch, server=("/home/ann/bin/ubp",))
    texts = {snippet.name: snippet.text for snippet in make_snippets(project)}
    command, *arguments = (*launch, "--cwd", "${workspaceFolder}", "serve")
    entry = {"command": command, "args": arguments}
    assert json.loads(texts["cursor"]) == {"mcpServers": {"ubp": entry}}
    assert json.loads(texts["vscode"]) == {"servers": {"ubp": {"type": "stdio", **entry}}}
    assert shlex.split(texts["claude-code"]) == [
        *("claude", "mcp", "add", "ubp", "--"),
        *(*launch, "serve"),
    ]
    del texts["claude-desktop"]  # a user's own file
    assert "/home" not in "".join(texts.values())


@pytest.mark.parametrize("server", [("C:\\Program Files\\ubp.exe",), ("/a b/it's", "-m", "ubp")])
def test_claude_desktop_starts_this_ubp_in_this_repository(server):
    root = "/home/ann/a \"b\" 'c' 日本"
    command, *arguments = (*server, "--cwd", root, "serve")
    entry = {"command": command, "args": arguments}
    text = text_of("claude-desktop", root=root, server=server)
    assert json.loads(text) == {"mcpServers": {"ubp": entry}}


@pytest.mark.parametrize("file", [".vscode", ".cursor", "CLAUDE.md", ".mcp.json"])
def test_project_with_an_agent_is_offered_all_that_read_files_of_a_project(file):
    snippets = make_snippets(place(server=("/usr/bin/ubp",), files=frozenset({file})))
    assert [snippet.name for snippet in snippets[2:]] == ["claude-code", "cursor", "vscode"]


def test_reasons_are_handed_over_by_a_hook_of_pre_commit_where_the_project_has_it():
    import yaml

    assert text_of("reasons").startswith("#!/bin/sh\n")
    text = text_of("reasons", files=frozenset({".pre-commit-config.yaml"}))
    ((hook,),) = (repository["hooks"] for repository in yaml.safe_load(text))
    assert hook["entry"] == "ubp ack --commit-message"
    assert hook["stages"] == ["prepare-commit-msg"]


AT_GITHUB = {"repository": "https://github.com/example/ubp.git", "revision": "v1.0"}


def text_of(name, **known):
    """The text of a snippet; None where it is not offered."""
    found = [snippet.text for snippet in make_snippets(place(**known)) if snippet.name == name]
    return found[0] if found else None


@pytest.mark.parametrize(
    "project",
    [
        {"files": frozenset({".github"})},
        {"origin": "https://github.com/example/project"},
        {"origin": "git@github.com:example/gitlab.git"},
        {"origin": "ssh://git@GitHub.com:22/example/project.git"},
    ],
)
def test_project_at_github_is_offered_the_action(project):
    import yaml

    assert text_of("gitlab", **AT_GITHUB, **project) is None
    workflow = yaml.safe_load(text_of("github", **AT_GITHUB, **project))
    assert workflow == {
        True: "pull_request",  # YAML 1.1 reads `on` so; GitHub does not
        "permissions": {"contents": "read"},
        "jobs": {
            "documentation": {
                "runs-on": "ubuntu-latest",
                "steps": [{"uses": "actions/checkout@v5"}, {"uses": "example/ubp@v1.0"}],
            }
        },
    }


@pytest.mark.parametrize(
    ("repository", "origin"),
    [
        (None, "https://github.com/example/project"),
        ("https://git.example.com/ubp", "https://github.com/example/project"),
        ("https://github.com/example/ubp", "https://git.example.com/github.com/project"),
        ("https://github.com/example/ubp", ""),
    ],
)
def test_project_without_action_or_github_gets_no_workflow(repository, origin):
    assert text_of("github", repository=repository, revision="v1", origin=origin) is None


@pytest.mark.parametrize(
    "project",
    [
        {"files": frozenset({".gitlab-ci.yml"})},
        {"origin": "https://gitlab.com/example/project.git"},
        {"origin": "git@gitlab.example.com:docs/github.com.git"},
    ],
)
def test_project_at_gitlab_is_offered_a_job(project):
    import yaml

    assert text_of("github", **AT_GITHUB, **project) is None
    job = yaml.safe_load(text_of("gitlab", **AT_GITHUB, **project))["documentation"]
    assert job == {
        "image": "python:3.13",
        "rules": [{"if": '$CI_PIPELINE_SOURCE == "merge_request_event"'}],
        "variables": {"GIT_DEPTH": "0"},
        "script": [
            "pip install --quiet 'ubp @ git+https://github.com/example/ubp.git@v1.0'",
            'ubp check --base "$CI_MERGE_REQUEST_DIFF_BASE_SHA" --output-file gitlab=ubp.json',
        ],
        "artifacts": {"reports": {"codequality": "ubp.json"}},
    }
    script = yaml.safe_load(text_of("gitlab", **project))["documentation"]["script"]
    assert script[0] == "pip install --quiet ubp"


def test_gitlab_job_runs_a_command_that_works(drifted, ubp, monkeypatch):
    import yaml

    drifted.git("remote", "add", "origin", "https://gitlab.com/example/project.git")
    record = ubp(drifted, "init", "--yes", "--json").record
    (text,) = (snippet["text"] for snippet in record["snippets"] if snippet["name"] == "gitlab")
    monkeypatch.setenv("CI_MERGE_REQUEST_DIFF_BASE_SHA", drifted.git("rev-parse", "HEAD~1"))
    line = yaml.safe_load(text)["documentation"]["script"][1]
    _, *tokens = shlex.split(os.path.expandvars(line))
    assert ubp(drifted, *tokens).status == 1
    (finding,) = json.loads((drifted.root / "ubp.json").read_text())
    assert finding["location"]["path"] == "docs/a.md"


def test_init_offers_to_accept_many_old_findings(drifted, ubp):
    drifted.write("docs/fine.md", "[fine](fine.md)\n" * 90)  # most links lead somewhere
    drifted.write("docs/links.md", "".join(f"[{n}](gone{n}.md)\n" for n in range(8)))
    assert "ubp debt" not in ubp(drifted, "init", "--yes").out
    drifted.write("docs/more.md", "[gone](gone.md)\n")
    purpose = "accepts 10 existing findings, so that only new ones fail"
    steps = steps_of(ubp(drifted, "init", "--yes").out)
    assert steps["ubp debt"] == purpose
    assert list(steps)[:2] == ["ubp check", "ubp debt"]
    assert ubp(drifted, "init", "--yes", "--json").record["acceptable"] == 10
    ubp(drifted, "debt")
    drifted.write("docs/most.md", "".join(f"[{n}](gone{n}.md)\n" for n in range(20)))
    assert ubp(drifted, "init", "--yes", "--json").record["acceptable"] == 0


def steps_of(out):
    """The commands that the end of an answer proposes, with their purposes."""
    lines = out.partition("\nNext:\n")[2].splitlines()
    steps = (line.strip().split("  ", 1) for line in lines)
    return {command: purpose.strip() for command, purpose in steps}


@pytest.mark.parametrize(
    ("titles", "topic"),
    [
        (["# Introduction", "# How to log in", "# Sessions", "# API"], "Sessions"),
        (["# Home", "# Log in *quickly*"], "quickly"),
        (
            ["# はじめに", "# トランジション", "# クラスとスタイルのバインディング"],
            "トランジション",
        ),
    ],
)
def test_init_proposes_to_search_for_a_word_of_a_title(repository, ubp, titles, topic):
    for number, title in enumerate(titles):
        repository.write(f"docs/{number}.md", f"{title}\n")
    repository.write("docs/de/0.md", "# Donaudampfschiff\n")
    repository.commit()
    steps = steps_of(ubp(repository, "init", "--yes").out)
    (command,) = [command for command in steps if command.startswith("ubp search")]
    assert shlex.split(command) == ["ubp", "search", topic]
    assert ubp(repository, *shlex.split(command)[1:]).status == 0


def test_init_ends_with_three_commands_that_work(drifted, ubp):
    drifted.write("docs/links.md", "[gone](gone.md)\n")
    steps = steps_of(ubp(drifted, "init", "--yes").out)
    assert list(steps) == ["ubp check", "ubp stale", "ubp search Read"]
    assert steps["ubp check"] == "lists 1 link to nothing and what else is wrong"
    for command in steps:
        assert ubp(drifted, *command.split()[1:]).status in {0, 1}


def test_init_offers_check_before_debt_where_no_link_is_broken(repository, ubp):
    for number in range(12):
        repository.write(f"docs/{number}.md", "---\nsource_refs: 1\nsource_refs: 2\n---\n# P\n")
    repository.write("docs/fine.md", "[0](0.md)\n")
    steps = steps_of(ubp(repository, "init", "--yes").out)
    assert list(steps)[:2] == ["ubp check", "ubp debt"]
    assert steps["ubp check"] == "lists 24 findings"


def test_init_counts_links_to_nothing(repository, ubp):
    links = "[a](gone.md) [b](#gone) [c](#c) [d](a.md#d) " + "[a](a.md) " * 20
    repository.write("docs/a.md", f"# C\n\n## D\n\n{links}\n")
    repository.write("docs/b.md", "[v](/v.md) [w](/w.md) [x](/x.md) [y](/y.md) [z](/z.md)\n")
    out = ubp(repository, "init", "--yes").out
    assert "; 29 links (2 to nothing and 5 unconfirmed), " in out


def test_init_lists_sites_of_one_generator_in_a_line(repository, ubp):
    for number in range(9):
        repository.write(f"books/{number}/book.toml", "[book]\ntitle = 'B'\n")
        repository.write(f"books/{number}/src/a.md", "# A\n")
    repository.write("mkdocs.yml", "site_name: S\n")
    repository.write("docs/a.md", "# A\n")
    out = ubp(repository, "init", "--yes").out
    assert "  Site: mkdocs (docs/)\n" in out
    folders = ", ".join(f"books/{number}/src/" for number in range(6))
    assert f"  Sites: 9 of mdbook ({folders}, 3 more)\n" in out


def test_init_lists_what_it_indexes_and_what_it_omits(drifted, ubp):
    drifted.write("examples/a.md", "# A\n")
    drifted.write("examples/deep/b.md", "# B\n")
    drifted.write("CHANGELOG.md", "# Changes\n")
    drifted.write("mkdocs.yml", "site_name: Project\n")
    drifted.write(".ubp/config.json", '{"source": {"include": ["docs/**/*.md", "README.md"]}}')
    out = ubp(drifted, "init", "--yes").out
    assert (
        "  Pages: docs/ (2), README.md\n"
        "  Left out (3 Markdown files): examples/ (2), CHANGELOG.md\n"
        "  Site: mkdocs (docs/)\n"
    ) in out
    record = ubp(drifted, "init", "--yes", "--json").record
    assert record["indexed"] == [{"path": "README.md", "pages": 1}, {"path": "docs/", "pages": 2}]
    assert record["sites"] == [{"generator": "mkdocs", "folders": ["docs"]}]
    steps = {step["command"]: step["purpose"] for step in record["next_steps"]}
    assert steps == steps_of(out)


def test_schema_of_the_configuration_is_in_a_clone(drifted, ubp, tmp_path):
    ubp(drifted, "init", "--yes")
    drifted.git("add", ".ubp")
    drifted.commit("Set up")
    clone = tmp_path / "clone"
    drifted.git("clone", "--quiet", str(drifted.root), str(clone))
    schema = json.loads((clone / ".ubp/config.json").read_text())["$schema"]
    assert json.loads((clone / ".ubp" / schema).read_text())["type"] == "object"


@pytest.fixture
def installed_as(monkeypatch):
    """Let the installer have recorded this (PEP 610), or nothing."""

    class Distribution:
        metadata = Message()
        requires = (
            "pyyaml<7,>=6.0.3",
            "mcp<3,>=2.3; extra == 'full'",
            "numpy<3,>=2.4; extra == 'full'",
            "ast-grep-py<1,>=0.51; extra == 'symbols'",
            "selectolax<2,>=1; extra == 'collections'",
        )

        def __init__(self, record):
            self.record = record

        def read_text(self, name):
            assert name == "direct_url.json"
            return self.record

    def record(text, *urls, beside=()):
        distribution = Distribution(text)
        distribution.metadata = Message()
        distribution.metadata["Version"] = "1.2"
        for url in urls:
            distribution.metadata["Project-URL"] = url

        def find(name):
            if name not in {"ubp", *beside}:
                raise PackageNotFoundError(name)
            return distribution

        monkeypatch.setattr("ubp.core.installation.distribution", find)

    return record


FROM_GIT = json.dumps(
    {
        "url": "https://example.com/ubp.git",
        "vcs_info": {"vcs": "git", "requested_revision": "v1.0", "commit_id": "abc"},
    }
)
FROM_FOLDER = '{"url": "file:///src/my%20ubp", "dir_info": {}}'
EDITABLE = '{"url": "file:///src/ubp", "dir_info": {"editable": true}}'


@pytest.mark.parametrize(
    ("record", "arguments"),
    [
        (None, ["ubp[full]"]),
        (FROM_GIT, ["ubp[full] @ git+https://example.com/ubp.git@v1.0"]),
        (FROM_FOLDER, ["/src/my ubp[full]"]),
        (EDITABLE, ["-e", "/src/ubp[full]"]),
        ('{"url": "https://a.example/ubp.whl"}', ["ubp[full] @ https://a.example/ubp.whl"]),
    ],
)
@pytest.mark.parametrize(
    ("marker", "command"),
    [
        (None, ["/a b/python", "-P", "-m", "pip", "install"]),
        ("pipx_metadata.json", ["pipx", "install", "--force"]),
        ("uv-receipt.toml", ["uv", "tool", "install", "--force"]),
    ],
)
def test_hint_for_an_extra_installs_it_in_the_environment_at_hand(  # noqa: PLR0917  # fixtures
    marker, command, record, arguments, installed_as, monkeypatch, tmp_path
):
    monkeypatch.setattr(sys, "executable", "/a b/python")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr("ubp.core.installation.find_spec", lambda _: True)
    installed_as(record)
    if marker:
        (tmp_path / marker).write_text("")
    assert shlex.split(install_command("full")) == [*command, *arguments]


@pytest.mark.parametrize(
    ("marker", "extras"),
    [
        (None, "symbols"),  # pip only adds
        ("pipx_metadata.json", "collections,symbols"),
        ("uv-receipt.toml", "collections,symbols"),
    ],
)
def test_hint_for_an_extra_keeps_those_that_are_installed(
    marker, extras, installed_as, monkeypatch, tmp_path
):
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    installed_as(None, beside=("mcp", "selectolax"))  # `full` lacks numpy
    if marker:
        (tmp_path / marker).write_text("")
    assert shlex.split(install_command("symbols"))[-1] == f"ubp[{extras}]"


def test_hint_for_an_extra_uses_uv_where_there_is_no_pip(installed_as, monkeypatch):
    monkeypatch.setattr("ubp.core.installation.find_spec", lambda _: None)
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
    installed_as(None)
    command = shlex.split(install_command("full"))
    assert command == ["uv", "pip", "install", "--python", sys.executable, "ubp[full]"]


def test_missing_extra_for_agents_is_a_snippet():
    assert text_of("mcp-extra", install="pip install 'ubp[full]'") == "pip install 'ubp[full]'\n"


def test_launch_command_is_the_one_that_runs(monkeypatch, tmp_path):
    program = tmp_path / "ubp"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(program), "init"])
    assert launch_command(None) == (str(program),)
    monkeypatch.setattr(sys, "argv", [os.path.join("somewhere", "ubp", "__main__.py"), "init"])
    assert launch_command(None) == (sys.executable, "-P", "-m", "ubp")


def test_launch_command_imports_nothing_from_the_repository_where_it_runs(monkeypatch, tmp_path):
    for trap in ("ubp/__init__.py", "ubp/__main__.py", "json.py", "platform.py", "pygit2.py"):
        (tmp_path / trap).parent.mkdir(exist_ok=True)
        (tmp_path / trap).write_text(
            "open('pwned', 'w')\nraise SystemExit('from the repository')\n"
        )
    monkeypatch.setattr(sys, "argv", [os.path.join("ubp", "__main__.py"), "init"])
    done = subprocess.run(
        [*launch_command(None), "version"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "pwned").exists()


def test_uvx_is_named_where_it_runs(installed_as, monkeypatch, tmp_path):
    uvx = tmp_path / "uvx"
    uvx.write_text("#!/bin/sh\n")
    uvx.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "prefix", os.path.join("/home/x/.cache/uv", "archive-v0", "abc"))
    assert launch_command(Installation("https://example.com/ubp.git", "v1")) == (
        str(uvx),
        "--from",
        "git+https://example.com/ubp.git@v1",
        "ubp",
    )
    installed_as(FROM_GIT.replace("v1.0", "v1"))
    line = install_command("full")
    assert line == f"{uvx} --from 'ubp[full] @ git+https://example.com/ubp.git@v1' ubp init"


@pytest.mark.parametrize(
    ("record", "url", "installation"),
    [
        (None, "Repository, https://github.com/OWNER/ubp", None),
        (None, "Repository, https://a.example/u", Installation("https://a.example/u", "v1.2")),
        (None, "Changelog, https://a.example/u", None),
        ('{"url": "file:///somewhere", "dir_info": {}}', "Repository, https://a.example/u", None),
        (
            FROM_GIT.replace("example", "ann:token@example").replace("v1.0", ""),
            "Repository, https://a.example/u",
            Installation("https://example.com/ubp.git", "abc"),
        ),
        (FROM_GIT, "", Installation("https://example.com/ubp.git", "v1.0")),
        (
            FROM_GIT.replace("v1.0", "main"),
            "",
            Installation("https://example.com/ubp.git", "abc"),
        ),
    ],
)
def test_installation_is_read_from_the_installer_or_the_metadata(
    record, url, installation, installed_as
):
    installed_as(record, *([url] if url else []))
    assert find_installation() == installation


def test_record_is_read_beside_the_package(monkeypatch, tmp_path):
    metadata = tmp_path / f"ubp-{__version__}.dist-info"
    metadata.mkdir()
    (metadata / "direct_url.json").write_text('{"url": "file:///src/my%20%2520", "dir_info": {}}')
    monkeypatch.setattr("ubp.core.installation.PACKAGES", str(tmp_path))
    assert find_checkout() == "/src/my %20"
    (metadata / "direct_url.json").unlink()
    assert find_checkout() is None


@pytest.mark.parametrize(
    ("tags", "revision"), [((), "HEAD"), (("v0.9", "other"), "v0.9"), (("v0.9", "v1.0"), "v1.0")]
)
def test_source_checkout_has_an_address(  # noqa: PLR0917  # fixtures
    tags, revision, new_repository, drifted, ubp, installed_as
):
    source = new_repository("source")
    source.git("remote", "add", "origin", "https://ann:token@example.com/ubp.git")
    for tag in tags:
        source.write("a.md", tag)
        source.commit(tag)
        source.git("tag", tag)
    source.write("a.md", "last")
    source.commit("Last")
    installed_as(json.dumps({"url": source.root.as_uri(), "dir_info": {"editable": True}}))
    record = ubp(drifted, "init", "--yes", "--json").record
    (text,) = (snippet["text"] for snippet in record["snippets"] if snippet["name"] == "pre-commit")
    expected = source.git("rev-parse", "HEAD") if revision == "HEAD" else revision
    assert f"  - repo: https://example.com/ubp.git\n    rev: {expected}\n" in text


def test_program_that_the_shell_does_not_find_is_reported(drifted, ubp, monkeypatch, tmp_path):
    program = tmp_path / "bin/ubp"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(program), "init"])
    out = ubp(drifted, "init", "--yes").out
    assert f"  The shell does not find `ubp`: add {program.parent} to PATH\n" in out
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    assert "does not find" not in ubp(drifted, "init", "--yes").out


@pytest.fixture
def unbound(repository):
    """Pages of which one names a file in its text."""
    repository.write("src/token_store.py", "class TokenStore: ...\n")
    text = "# Token store\n\n`TokenStore` lives in `src/token_store.py`.\n"
    repository.write("docs/token_store.md", text)
    repository.write("docs/other.md", "# Other\n")
    repository.commit("Begin")
    return repository


def test_init_shows_sources_that_could_be_bound(unbound, ubp):
    record = ubp(unbound, "init", "--yes", "--json").record
    assert (record["documents"], record["bound"], record["is_large"]) == (2, 0, False)
    assert record["preview"]["proposed"] >= 1
    out = ubp(unbound, "init", "--yes").out
    preview = record["preview"]
    counted = f"proposals for {preview['proposed']}, {preview['confident']} of them"
    assert f"\n  2 pages, none bound; {counted} with high confidence\n" in out
    assert steps_of(out)["ubp bind"] == "proposes sources for each page"


def test_init_with_most_pages_bound_shows_no_preview(drifted, ubp):
    assert ubp(drifted, "init", "--yes", "--json").record["preview"] is None
    assert "ubp bind" not in ubp(drifted, "init", "--yes").out


def test_init_where_proposals_take_too_long_shows_no_preview(unbound, ubp, monkeypatch):
    monkeypatch.setattr("ubp.bindings.probable.MAX_SECONDS", 0.0)
    unbound.write("README.md", "# Read me\n")
    record = ubp(unbound, "init", "--yes", "--json").record
    assert (record["preview"], record["is_large"]) == (None, True)
    out = ubp(unbound, "init", "--yes").out
    assert "No sources were proposed: here that takes more than 5 s, by `ubp bind`\n" in out
    assert steps_of(out)["ubp bind docs"] == "proposes sources for the pages of a directory"


def test_init_shows_a_preview_of_many_pages_and_files(unbound, ubp):
    for number in range(400):
        unbound.write(f"docs/page_{number}.md", f"# Page {number}\n")
        unbound.write(f"data/{number}.txt", f"{number}\n")
    record = ubp(unbound, "init", "--yes", "--json").record
    assert record["is_large"] is False
    assert record["preview"]["proposed"] >= 1


def test_commands_of_init_work_where_it_was_typed(unbound, capsys, monkeypatch):
    monkeypatch.setattr("ubp.bindings.probable.MAX_SECONDS", 0.0)
    (unbound.root / "docs" / "deep").mkdir()
    monkeypatch.chdir(unbound.root / "docs" / "deep")
    assert main(["init", "--yes"]) == 0
    out = capsys.readouterr().out
    assert "To share the configuration: git add ../../.ubp\n" in out
    assert "ubp bind .." in steps_of(out)
    unbound.git("-C", "docs/deep", "add", "../../.ubp")
    assert main(["bind", ".."]) == 0
    # what a hook prints, which runs in the root
    assert main(["bind", "docs/token_store.md"]) == 0
    assert "docs/token_store.md" in capsys.readouterr().out
    assert main(["bind", "src"]) == 2
    assert "Page not found: src" in capsys.readouterr().err


def test_first_directory_is_the_largest_that_is_not_too_large():
    pages = [f"docs/{language}/{n}.md" for language in ("de", "en") for n in range(3)]
    pages.append("docs/en/more/4.md")
    assert largest_folder(pages, 10) == "docs"
    assert largest_folder(pages, 4) == "docs/en"
    assert largest_folder(pages, 3) == "docs/de"
    assert largest_folder(["README.md"], 3) == ""


def test_symbol_without_its_parser_is_answered_by_a_command_for_this_environment(
    repository, ubp, monkeypatch
):
    monkeypatch.setattr(symbols, "parser_version", lambda: None)
    repository.write("src/a.py", "def f(): ...\n")
    repository.page("docs/a.md", '"src/a.py#f"')
    repository.commit()
    repository.write("src/a.py", "def f(): return 1\n")
    command = install_command("symbols")
    for arguments in (("stale",), ("check",), ("check", "--format", "github")):
        answer = ubp(repository, *arguments)
        assert command in answer.out + answer.err
