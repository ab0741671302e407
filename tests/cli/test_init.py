"""`ubp init`: what is proposed, asked, written, kept; what is never written."""

import io
import json
import os
import shlex
import subprocess
import sys

import pytest

from ubp.__main__ import main
from ubp.cli.installation import (
    Installation,
    find_installation,
    install_command,
    launch_command,
)
from ubp.core.config import Config
from ubp.core.config_file import load_config
from ubp.core.setup_files import IGNORE_TEXT, Plan, config_record, plan_for, propose_config
from ubp.core.snippets import SnippetTarget, make_snippets


@pytest.mark.parametrize(
    ("documents", "bound", "folder"),
    [
        (["docs/a.md", "README.md"], [], "docs"),
        (["docs/a.md", "README.md"], ["docs/a.md"], "docs"),
        (["docs/a.md", "README.md"], ["README.md"], ""),
        (["doc/a.md", "documentation/b.md"], [], "doc"),
        (["README.md", "mydocs/a.md"], [], ""),
        ([], [], ""),
    ],
)
def test_the_documentation_folder_is_proposed(documents, bound, folder):
    assert propose_config(documents, bound) == plan_for(folder)


@pytest.mark.parametrize("plan", [Plan(), plan_for("docs"), Plan(exclude=("docs/old/**",))])
def test_what_is_written_is_what_is_read(plan, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(config_record(plan)))
    read = load_config(str(tmp_path))
    assert (read.docs_dir, read.include, read.warnings) == (plan.docs_dir, plan.include, ())
    assert set(plan.exclude) <= set(read.exclude)


def test_the_defaults_need_no_setting():
    assert config_record(Plan()) == {"$schema": "./config.schema.json"}


def test_init_leaves_three_files_to_track(drifted, ubp):
    drifted.write(".ubp/debt.txt", "")
    answer = ubp(drifted, "init", "--yes")
    assert (answer.status, answer.err) == (0, "")
    drifted.git("add", "--all")
    assert drifted.git("diff", "--cached", "--name-only").splitlines() == [
        ".ubp/.gitignore",
        ".ubp/config.json",
        ".ubp/debt.txt",
    ]
    drifted.commit("Set up")
    ubp(drifted, "stale")
    assert drifted.git("status", "--short") == ""


def test_a_configuration_that_is_there_is_kept(drifted, ubp):
    text = '{"staleness": {"threshold_days": 30}}'
    drifted.write(".ubp/config.json", text)
    answer = ubp(drifted, "init", "--yes")
    assert "Kept the existing configuration\n" in answer.out
    assert (drifted.root / ".ubp/config.json").read_text() == text
    assert (drifted.root / ".ubp/.gitignore").read_text() == IGNORE_TEXT


def test_a_second_init_writes_nothing(drifted, ubp):
    ubp(drifted, "init", "--yes")
    assert ubp(drifted, "init", "--yes", "--json").record["written"] == []


@pytest.mark.parametrize("name", ["", "config.json", ".gitignore", "config.schema.json"])
def test_nothing_is_written_through_a_link(name, drifted, tmp_path, ubp):
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


def test_a_bare_repository_needs_no_configuration(new_repository, ubp):
    answer = ubp(new_repository("bare", "--bare"), "init", "--yes")
    assert answer.status == 2
    assert answer.err.startswith(
        "Error: `ubp init` cannot write a configuration in a bare repository.\n"
    )


@pytest.fixture
def answering(drifted, monkeypatch):
    """Run `ubp init` for somebody who types these answers at a terminal."""

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


def test_enter_takes_the_defaults(answering, drifted):
    status, screen = answering("", "", "")
    assert status == 0
    assert screen.startswith(
        "Found 3 Markdown files. Press Enter to accept the default in parentheses.\n"
        "? Docs directory: (docs) "
        "? Include patterns: (docs/**/*.md, docs/**/*.markdown) "
        "? Exclude patterns: (none) "
        "Wrote .ubp/config.json\n"
    )
    assert load_config(str(drifted.root / ".ubp")).docs_dir == "docs"


def test_answers_are_written(answering, drifted):
    status, _ = answering("./docs/guide/", "docs/guide/*.md, README.md", "docs/old/**")
    assert status == 0
    assert json.loads((drifted.root / ".ubp/config.json").read_text()) == {
        "$schema": "./config.schema.json",
        "docs_dir": "docs/guide",
        "source": {"include": ["docs/guide/*.md", "README.md"], "exclude": ["docs/old/**"]},
    }


def test_the_whole_repository_can_be_chosen(answering, drifted):
    answering(".", "", "")
    assert load_config(str(drifted.root / ".ubp")) == Config()


def test_what_is_there_is_kept_rewritten_or_left(answering, drifted):
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


def test_the_end_of_the_answers_ends_the_command(answering):
    assert answering()[0] == 130


def place(**known):
    default = {
        "root": "/project",
        "launch": ("/usr/bin/ubp",),
        "server": (),
        "install": "pip install 'ubp[full]'",
        "repository": None,
        "revision": None,
        "files": frozenset(),
        "origin": "",
    }
    return SnippetTarget(**{**default, **known})


def test_a_snippet_is_offered_where_it_can_be_used():
    names = [snippet.name for snippet in make_snippets(place())]
    assert names == ["pre-commit-local", "mcp-extra"]
    installed = place(
        repository="https://example.com/ubp.git", revision="v1.0", server=("/usr/bin/ubp",)
    )
    assert [snippet.name for snippet in make_snippets(installed)] == [
        "pre-commit",
        "pre-commit-local",
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
        "      - id: ubp-stale\n"
    )


def test_a_snippet_fits_into_what_is_there():
    snippet, *_ = make_snippets(place(files=frozenset({".pre-commit-config.yaml"})))
    assert snippet.text.startswith("  - repo: local\n")
    assert snippet.title.startswith("pre-commit: add this to `repos` in .pre-commit-config.yaml")


@pytest.mark.parametrize(
    "launch", [("/usr/bin/ubp",), ("C:/Program Files/ubp.exe",), ("/a b/it's", "-m", "ubp")]
)
def test_a_snippet_survives_yaml_and_the_shell(launch):
    import yaml

    snippet, *_ = make_snippets(place(launch=launch))
    (hook,) = yaml.safe_load(snippet.text)["repos"][0]["hooks"]
    assert shlex.split(hook["entry"]) == [*launch, "stale", "--staged"]


@pytest.mark.parametrize(
    "server", [("/usr/bin/ubp",), ("C:\\Program Files\\ubp.exe",), ("/a b/it's", "-m", "ubp")]
)
def test_agents_clients_read_one_command_from_their_snippets(server):
    root = "/work/a \"b\" 'c' 日本"
    texts = {one.name: one.text for one in make_snippets(place(root=root, server=server))}
    command, *arguments = (*server, "--cwd", root, "serve")
    entry = {"command": command, "args": arguments}
    assert json.loads(texts["claude-desktop"]) == {"mcpServers": {"ubp": entry}}
    assert json.loads(texts["cursor"]) == {"mcpServers": {"ubp": entry}}
    assert json.loads(texts["vscode"]) == {"servers": {"ubp": {"type": "stdio", **entry}}}
    assert shlex.split(texts["claude-code"]) == [
        *("claude", "mcp", "add", "ubp", "--"),
        *(command, *arguments),
    ]


AT_GITHUB = {"repository": "https://github.com/example/ubp.git", "revision": "v1.0"}


def text_of(name, **known):
    """The text of a snippet; None where it is not offered."""
    found = [one.text for one in make_snippets(place(**known)) if one.name == name]
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
def test_a_project_at_github_is_offered_the_action(project):
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
def test_without_an_action_or_github_there_is_no_workflow(repository, origin):
    assert text_of("github", repository=repository, revision="v1", origin=origin) is None


@pytest.mark.parametrize(
    "project",
    [
        {"files": frozenset({".gitlab-ci.yml"})},
        {"origin": "https://gitlab.com/example/project.git"},
        {"origin": "git@gitlab.example.com:docs/github.com.git"},
    ],
)
def test_a_project_at_gitlab_is_offered_a_job(project):
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


def test_what_the_job_runs_is_a_call_that_works(drifted, ubp, monkeypatch):
    import yaml

    drifted.git("remote", "add", "origin", "https://gitlab.com/example/project.git")
    record = ubp(drifted, "init", "--yes", "--json").record
    (text,) = (one["text"] for one in record["snippets"] if one["name"] == "gitlab")
    monkeypatch.setenv("CI_MERGE_REQUEST_DIFF_BASE_SHA", drifted.git("rev-parse", "HEAD~1"))
    line = yaml.safe_load(text)["documentation"]["script"][1]
    _, *tokens = shlex.split(os.path.expandvars(line))
    assert ubp(drifted, *tokens).status == 1
    (finding,) = json.loads((drifted.root / "ubp.json").read_text())
    assert finding["location"]["path"] == "docs/a.md"


DEBT = "  10 existing findings: ubp debt accepts them, so that only new findings fail\n"


def test_many_old_findings_are_offered_to_be_accepted(drifted, ubp):
    drifted.write("docs/links.md", "".join(f"[{n}](gone{n}.md)\n" for n in range(8)))
    told = ubp(drifted, "init", "--yes").out
    assert "are there already" not in told
    drifted.write("docs/more.md", "[gone](gone.md)\n")
    assert DEBT in ubp(drifted, "init", "--yes").out
    assert ubp(drifted, "init", "--yes", "--json").record["acceptable"] == 10
    ubp(drifted, "debt")
    drifted.write("docs/most.md", "".join(f"[{n}](gone{n}.md)\n" for n in range(20)))
    assert ubp(drifted, "init", "--yes", "--json").record["acceptable"] == 0


def test_what_is_missing_for_agents_is_installed_by_a_line(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/a b/python")
    origin = Installation("https://example.com/ubp.git", "v1.0")
    assert shlex.split(install_command(origin, "full")) == [
        *("/a b/python", "-P", "-m", "pip", "install"),
        "ubp[full] @ git+https://example.com/ubp.git@v1.0",
    ]
    line = install_command(None, "full")
    (snippet,) = [one for one in make_snippets(place(install=line)) if one.name == "mcp-extra"]
    assert snippet.text == "'/a b/python' -P -m pip install 'ubp[full]'\n"


def test_the_launch_command_is_the_one_that_runs(monkeypatch, tmp_path):
    program = tmp_path / "ubp"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(program), "init"])
    assert launch_command(None) == (str(program),)
    monkeypatch.setattr(sys, "argv", [os.path.join("somewhere", "ubp", "__main__.py"), "init"])
    assert launch_command(None) == (sys.executable, "-P", "-m", "ubp")


def test_a_launch_command_imports_nothing_from_the_repository_where_it_runs(monkeypatch, tmp_path):
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


def test_uvx_is_named_where_it_runs(monkeypatch, tmp_path):
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
    line = install_command(Installation("https://example.com/ubp.git", "v1"), "full")
    assert line == f"{uvx} --from 'ubp[full] @ git+https://example.com/ubp.git@v1' ubp init"


@pytest.mark.parametrize(
    ("record", "origin"),
    [
        (None, None),
        ('{"url": "file:///somewhere", "dir_info": {}}', None),
        (
            '{"url": "https://example.com/u", "vcs_info": {"vcs": "git", "commit_id": "abc"}}',
            Installation("https://example.com/u", "abc"),
        ),
        (
            '{"url": "https://a.example/u", "vcs_info": {"vcs": "git", "requested_revision": "2"}}',
            Installation("https://a.example/u", "2"),
        ),
    ],
)
def test_the_origin_is_what_the_installer_wrote(record, origin, monkeypatch):
    class Distribution:
        def read_text(self, name):
            assert name == "direct_url.json"
            return record

    monkeypatch.setattr("ubp.cli.installation.distribution", lambda _: Distribution())
    assert find_installation() == origin


@pytest.fixture
def unbound(repository):
    """Pages of which one names a file in its text."""
    repository.write("src/token_store.py", "class TokenStore: ...\n")
    text = "# Token store\n\n`TokenStore` lives in `src/token_store.py`.\n"
    repository.write("docs/token_store.md", text)
    repository.write("docs/other.md", "# Other\n")
    repository.commit("Begin")
    return repository


def test_init_tells_what_could_be_bound(unbound, ubp):
    record = ubp(unbound, "init", "--yes", "--json").record
    assert (record["documents"], record["bound"], record["is_large"]) == (2, 0, False)
    assert record["preview"]["proposed"] >= 1
    out = ubp(unbound, "init", "--yes").out
    preview = record["preview"]
    counted = f"proposals for {preview['proposed']}, {preview['confident']} of them"
    assert f"\n  2 pages, none bound; {counted} with high confidence\n" in out
    assert "\n  ubp bind      proposes sources for each page\n" in out


def test_where_most_pages_are_bound_nobody_is_told(drifted, ubp):
    assert ubp(drifted, "init", "--yes", "--json").record["preview"] is None
    assert "ubp bind" not in ubp(drifted, "init", "--yes").out


@pytest.mark.parametrize("limit", ["MAX_PREVIEW_PAGES", "MAX_PREVIEW_FILES"])
def test_too_large_a_repository_has_no_preview(limit, unbound, ubp, monkeypatch):
    monkeypatch.setattr(f"ubp.cli.setup.{limit}", 1)
    record = ubp(unbound, "init", "--yes", "--json").record
    assert (record["preview"], record["is_large"]) == (None, True)
    out = ubp(unbound, "init", "--yes").out
    assert "No sources were proposed, because the repository is large\n" in out
    assert "\n  ubp bind DIR  proposes sources for the pages of a directory\n" in out
