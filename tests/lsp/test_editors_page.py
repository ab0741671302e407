"""The snippets on the page about editors, read by the programs that read them."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs/guide/editors.md").read_text(encoding="utf-8")


def snippets(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_snippet_for_helix_is_toml():
    (text,) = snippets("toml")
    assert tomllib.loads(text)["language-server"]["ubp"] == {"command": "ubp", "args": ["lsp"]}


def test_snippet_for_zed_is_json():
    (text,) = snippets("json")
    assert json.loads(text)["lsp"]["marksman"]["binary"]["arguments"] == ["lsp"]


@pytest.mark.skipif(not shutil.which("nvim"), reason="needs Neovim")
def test_snippets_for_neovim_are_lua(tmp_path):
    for number, text in enumerate(snippets("lua")):
        file = tmp_path / f"{number}.lua"
        file.write_text(text)
        command = f"lua assert(loadfile({str(file)!r}))"
        subprocess.run(["nvim", "--headless", "-u", "NONE", "-c", command, "-c", "q"], check=True)


@pytest.mark.skipif(not shutil.which("emacs"), reason="needs Emacs")
def test_snippet_for_emacs_is_lisp(tmp_path):
    (text,) = snippets("elisp")
    file = tmp_path / "init.el"
    file.write_text(text)
    subprocess.run(["emacs", "--batch", "--load", str(file)], check=True, capture_output=True)
