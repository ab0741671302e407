"""A base installation: every command answers, or says which extra it needs."""

import json
import subprocess
import sys

import pytest

from ubp.cli.commands import ROWS

# Runs the examples of all commands in one process without the modules of the extras.
PROGRAM = """
import contextlib, importlib.util, io, json, shlex, sys
for name in {missing!r}:
    sys.modules[name] = None
from ubp.__main__ import main
answers = {{}}
for example in {examples!r}:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        with contextlib.redirect_stderr(io.StringIO()) as err:
            status = main(["-C", {root!r}, *shlex.split(example)[1:]])
    answers[example] = (status, out.getvalue(), err.getvalue())
print(json.dumps(answers))
"""
MISSING = (
    *("numpy", "model2vec", "mcp", "ast_grep_py"),
    *("frontmatter", "lsprotocol", "pygls"),
    *("hishel", "html_to_markdown", "httpx2", "protego", "selectolax"),
)
# `serve` would read standard input, `collections add` fetches.
EXAMPLES = (
    *(row.example for row in ROWS if not row.is_group),
    "ubp suggest-links",
    "ubp suggest-links --json",
    "ubp serve",
    "ubp collections",
)


@pytest.fixture
def answers(drifted):
    program = PROGRAM.format(missing=MISSING, examples=EXAMPLES, root=str(drifted.root))
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=drifted.root,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=True,
    )
    return json.loads(done.stdout)


def test_commands_without_the_extras_all_answer(answers):
    for example, (status, out, err) in answers.items():
        assert "This is a bug in UBP" not in out + err, example
        assert status in {0, 1, 2}, example
        assert out or err, example
    _, _, err = answers["ubp suggest-links"]
    assert "`full` extra" in err
    assert "\n  Hint: Install it: " in err
    assert json.loads(answers["ubp suggest-links --json"][1])["error"]["hint"]
    _, _, err = answers["ubp serve"]
    assert "\n  Hint: Install it: " in err
