"""What a hook runs must start fast: it imports nothing that it does not need."""

import json
import subprocess
import sys

import pytest

HEAVY = {
    "argparse",
    "ast_grep_py",
    "asyncio",
    "cyclopts",
    "dataclasses",
    "frontmatter",
    "inspect",
    "jinja2",
    "logging",
    "markdown_it",
    "markupsafe",
    "mcp",
    "model2vec",
    "numpy",
    "pathlib",
    "pygit2",
    "rich",
    "shutil",
    "sqlite_utils",
    "subprocess",
    "tempfile",
    "traceback",
    "uuid",
    "yaml",
    "ubp.bindings.review",
    "ubp.index.parts",
    "ubp.staleness.parts",
    "ubp.checks.finding",
    "ubp.core.text",
    "ubp.cli.outputs",
    "ubp.output.formats",
    "ubp.output.ci.outcome",
}

ADVICE = (
    "Import it in the function that needs it; `python -X importtime` shows what imports it now."
)

PROGRAM = """
import os, sys
from ubp.__main__ import main
out, sys.stdout = sys.stdout, open(os.devnull, "w")
status = main(sys.argv[1:])
modules = sorted(sys.modules)
import json
json.dump([status, modules], out)
"""


@pytest.fixture
def loaded(drifted):
    """The exit status of a call, and the modules that it imported."""

    def load(*tokens):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *tokens],
            cwd=drifted.root,
            capture_output=True,
            check=True,
        )
        assert done.stderr == b""
        status, modules = json.loads(done.stdout)
        return status, set(modules)

    load("stale")
    return load


@pytest.mark.parametrize(
    "tokens",
    [
        ["stale"],
        ["stale", "--exit-code", "--fail-on", "stale", "--alarms", "any"],
        ["stale", "docs/a.md"],
        ["stale", "--staged"],
        ["stale", "--base", "main"],
        ["--quiet", "stale", "--all"],
        ["stale", "--json"],
    ],
    ids=" ".join,
)
def test_warm_run_imports_nothing_heavy(tokens, loaded):
    status, modules = loaded(*tokens)
    assert status == (1 if "--exit-code" in tokens else 0)
    assert modules & HEAVY == set(), ADVICE


def test_changed_source_needs_nothing_heavy(drifted, loaded):
    drifted.write("src/b.py", "3\n")
    drifted.git("add", "src/b.py")
    drifted.write("src/a.py", "3\n")
    for tokens, status in ((["stale"], 0), (["stale", "--staged", "--alarms", "any"], 1)):
        found, modules = loaded(*tokens)
        assert (found, modules & HEAVY) == (status, set()), ADVICE


def test_new_commit_needs_nothing_heavy(drifted, loaded):
    drifted.write("src/b.py", "3\n")
    drifted.commit("Change b")
    status, modules = loaded("stale")
    assert (status, modules & HEAVY) == (0, set()), ADVICE


def test_command_line_loads_no_heavy_library_before_it_is_needed():
    program = "import ubp.cli.app, sys; print(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    heavy = {"mcp", "model2vec", "numpy", "pygit2", "sqlite_utils", "yaml", "markdown_it"}
    assert set(done.stdout.split()) & heavy == set(), ADVICE


def test_hook_that_checks_links_loads_no_markdown_parser(drifted):
    load = "import sys; from ubp.__main__ import main; main(['check', '--staged'])"
    program = f"{load}; print({{'markdown_it', 'numpy', 'pygit2'}} & set(sys.modules))"

    def run():
        command = [sys.executable, "-c", program]
        return subprocess.run(
            command, cwd=drifted.root, capture_output=True, text=True, check=True
        ).stdout

    run()  # builds the index
    assert run().splitlines()[-1] == "set()", ADVICE
