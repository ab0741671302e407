"""The snippets on the page about editors, read by the programs that read them."""

import json
import os
import re
import shutil
import subprocess
import sys
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


# What each editor is to show of a page with a broken link, which an edit removes.
EXPECTED = {
    "diagnostics": ["missing.md does not exist."],
    "completed": ["sessions]]"],
    "hover": "**Sessions** (docs/sessions.md)",
    "definition": "docs/sessions.md",
    "after the edit": [],
}

# Neovim 0.8 brought the functions that the second snippet uses; the client is older.
POLYFILL = """
vim.fs = vim.fs or {
  find = function() return { vim.fn.getcwd() .. "/.git" } end,
  dirname = function(path) return vim.fn.fnamemodify(path, ":h") end,
}
vim.lsp.start = vim.lsp.start or function(config)
  vim.lsp.buf_attach_client(0, vim.lsp.start_client(config))
end
"""

NEOVIM = """
vim.cmd("filetype on")
vim.cmd("edit docs/auth.md")
local function messages()
  return vim.tbl_map(function(found) return found.message end, vim.diagnostic.get(0))
end
local function ask(method, line, character)
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(0) },
    position = { line = line, character = character },
  }
  for _, answer in pairs(vim.lsp.buf_request_sync(0, method, params, 30000)) do
    return answer.result
  end
end
local seen = {}
vim.wait(60000, function() return #messages() > 0 end)
seen.diagnostics = messages()
seen.completed = vim.tbl_map(
  function(item) return item.textEdit.newText end,
  ask("textDocument/completion", 2, 9).items
)
seen.hover = vim.split(ask("textDocument/hover", 2, 7).contents.value, "\\n")[1]
seen.definition = vim.uri_to_fname(ask("textDocument/definition", 2, 7)[1].uri)
vim.api.nvim_buf_set_lines(0, 2, 3, false, { "See 日本語 [[sessions]]." })
vim.wait(60000, function() return #messages() == 0 end)
seen["after the edit"] = messages()
vim.fn.writefile({ vim.json and vim.json.encode(seen) or vim.fn.json_encode(seen) }, "seen.json")
vim.cmd("quitall!")
"""

EMACS = """
(require 'eglot)
(setq eglot-sync-connect 60)
(defun wait-until (is-done)
  (with-timeout (60) (while (not (funcall is-done)) (accept-process-output nil 0.05))))
(find-file "docs/auth.md")
(markdown-mode)
(apply #'eglot--connect (eglot--guess-contact))
(flymake-mode 1)
(let (seen)
  (cl-flet ((messages () (mapcar #'flymake-diagnostic-text (flymake-diagnostics)))
            (ask (method line character)
              (goto-char (point-min))
              (forward-line line)
              (forward-char character)
              (jsonrpc-request (eglot--current-server-or-lose) method
                               (eglot--TextDocumentPositionParams))))
    (wait-until (lambda () (flymake-start) (messages)))
    (push (cons "diagnostics" (vconcat (messages))) seen)
    (let ((items (plist-get (ask :textDocument/completion 2 9) :items)))
      (push (cons "completed"
                  (vconcat (mapcar (lambda (item) (plist-get (plist-get item :textEdit) :newText))
                                   items)))
            seen))
    (let ((hover (plist-get (ask :textDocument/hover 2 7) :contents)))
      (push (cons "hover" (car (split-string (plist-get hover :value) "\n"))) seen))
    (let ((places (ask :textDocument/definition 2 7)))
      (push (cons "definition" (eglot--uri-to-path (plist-get (elt places 0) :uri))) seen))
    (goto-char (point-min))
    (forward-line 2)
    (delete-region (point) (line-end-position))
    (insert "See 日本語 [[sessions]].")
    (eglot--signal-textDocument/didChange)
    (wait-until (lambda () (flymake-start) (null (messages))))
    (push (cons "after the edit" (vconcat (messages))) seen))
  (with-temp-file "../seen.json" (insert (json-encode seen))))
(kill-emacs 0)
"""


@pytest.fixture
def edit(repository, isolated_environment):
    """Run an editor in a repository, and return what it saw."""
    assert isolated_environment.is_dir()

    def run(*command):
        repository.write("docs/auth.md", "# Auth\n\nSee [[sessions]], [x](missing.md).\n")
        repository.write("docs/sessions.md", "# Sessions\n")
        repository.commit("Begin")
        path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
        done = subprocess.run(
            command,
            cwd=repository.root,
            env={**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=120,
        )
        file = repository.root / "seen.json"
        assert file.exists(), (done.stdout + done.stderr).decode()
        seen = json.loads(file.read_text())
        seen["definition"] = os.path.relpath(
            os.path.realpath(seen["definition"]), os.path.realpath(repository.root)
        )
        seen["after the edit"] = list(seen["after the edit"])
        return seen

    return run


@pytest.mark.skipif(not shutil.which("nvim"), reason="needs Neovim")
def test_neovim_with_its_snippet_shows_diagnostics_and_completes(edit, tmp_path):
    new, old = snippets("lua")
    is_new = "if vim.lsp.config then\n" + new + "else\n" + POLYFILL + old + "end\n"
    file = tmp_path / "init.lua"
    file.write_text(is_new + NEOVIM, encoding="utf-8")
    assert edit("nvim", "--headless", "-u", "NONE", "-c", f"luafile {file}") == EXPECTED


@pytest.mark.skipif(not shutil.which("emacs"), reason="needs Emacs")
def test_emacs_with_its_snippet_shows_diagnostics_and_completes(edit, tmp_path):
    found = "(and (require 'eglot nil t) (require 'markdown-mode nil t))"
    program = f"(progn (package-initialize) (kill-emacs (if {found} 0 1)))"
    check = ["emacs", "--batch", "--eval", program]
    if subprocess.run(check, check=False, capture_output=True).returncode:
        pytest.skip("needs Eglot and markdown-mode")
    (text,) = snippets("elisp")
    file = tmp_path / "init.el"
    file.write_text("(package-initialize)\n" + text + EMACS, encoding="utf-8")
    seen = edit("emacs", "--batch", "--load", str(file))
    # Eglot names the server and the rule.
    seen["diagnostics"] = [text.rpartition("]: ")[2] for text in seen["diagnostics"]]
    assert seen == EXPECTED
