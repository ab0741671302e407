"""Commands that UBP prints about files with hostile names: pasted, they do what was meant."""

import ast
import json
import os
import re
import shlex
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from ubp.__main__ import main
from ubp.checks.evidence import Evidence
from ubp.core.errors import ModelError
from ubp.core.shell import UNPRINTABLE
from ubp.core.snippets import SnippetTarget, make_snippets
from ubp.index.embed.locate import find_model
from ubp.server.prompts import writer
from ubp.server.tools.registry import select_tools
from ubp.server.tools.tool import call_tool
from ubp.workspace import Workspace

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")

# Each is the name of a page that is stale; run as part of a command, several would make `pwn`.
NAMES = [
    "docs/$(touch pwn).md",
    "docs/`touch pwn`.md",
    "docs/it's \"so\"; touch pwn; '.md",
    "docs/a & touch pwn & b.md",
    "docs/two  words |touch pwn.md",
    "docs/a\n'$(touch pwn) #.md",
    "docs/a\ttab.md",
    "docs/日本 語.md",
    os.fsdecode(b"docs/caf\xe9.md"),
    "docs/a](b).md",
    "docs/*.md",
    "docs/back\\slash.md",
    "docs/~ $HOME !!.md",
    "--all.md",
    "-x $(touch pwn).md",
    ":(top)x.md",
    "#comment.md",
    f"docs/{'long ' * 40}/{'$(touch pwn) ' * 15}.md",
]
OURS = {"ubp", "stale", "--diff", "PAGE", "check", "--fix", "explain", "broken-link"}
OURS |= {"bind", "--explain", "--write", "--interactive", "--history", "--key", "covers it"}


def change(repository, text):
    for number in range(len(NAMES)):
        repository.write(f"src/{number}.py", text)


@pytest.fixture
def hostile(repository, monkeypatch):
    """Pages with such names, each with a source that changed and a link that can be put right."""
    for number, name in enumerate(NAMES):
        repository.write(f"src/{number}.py", "old\n")
        repository.page(name, f"src/{number}.py", body="# T\n\nSee [it](/gone/only.md).\n")
    repository.write("docs/only.md", "# The only one of that name\n")
    # Most links of this form lead somewhere.
    repository.write("docs/known.md", "[it](/docs/only.md) " * 3 * len(NAMES))
    repository.commit("Begin")
    change(repository, "new\n")
    repository.commit("Change")
    monkeypatch.setenv("UBP_NOW", str(repository.clock + 10 * 86_400))
    monkeypatch.setattr(Evidence, "of", lambda *_: "")  # each broken link is a finding
    return repository


@pytest.fixture
def say(capsys, monkeypatch):
    """What `ubp` prints when it is started in a folder of a repository."""

    def run(repository, *tokens, folder="", is_coloured=False):
        capsys.readouterr()
        monkeypatch.setenv("FORCE_COLOR" if is_coloured else "NO_COLOR", "1")
        main(["-C", str(repository.root / folder), *tokens])
        monkeypatch.delenv("FORCE_COLOR" if is_coloured else "NO_COLOR")
        return "".join(capsys.readouterr())

    return run


def painted(text):
    """The commands in a text for a terminal: they are cyan."""
    return [one for one in re.findall("\x1b\\[36m(.*?)\x1b\\[0m", text) if is_command(one)]


def is_command(text):
    return text.startswith(("ubp ", "git "))


@pytest.fixture
def words_of(tmp_path):
    """What shells make of a command: run with programs that only tell their arguments."""
    programs, empty = tmp_path / "programs", tmp_path / "empty"
    programs.mkdir()
    empty.mkdir()
    for name in ("ubp", "git", "pip", "claude"):
        (programs / name).write_text(f"#!/bin/sh\nprintf '%s\\0' {name} \"$@\"\n")
        (programs / name).chmod(0o755)

    def read(command):
        assert re.search(UNPRINTABLE, command) is None, command
        found = {}
        for shell in ("bash", "sh"):
            done = subprocess.run(
                [shell, "-c", command],
                cwd=empty,
                env={"PATH": f"{programs}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"},
                check=True,
                capture_output=True,
            )
            assert done.stderr == b""
            found[shell] = os.fsdecode(done.stdout).split("\0")[:-1]
        assert list(empty.iterdir()) == [], command
        split = shlex.split(command)
        assert len(split) == len(found["sh"]) == len(found["bash"])
        if "$'" not in command:  # which neither shlex nor every `sh` understands
            assert split == found["sh"] == found["bash"]
        return found["bash"]

    return read


def relative(name, folder="."):
    """A path as an argument of a command in a folder."""
    path = os.path.relpath(name, folder)
    return f"./{path}" if path.startswith("-") else path


def pathspec(path):
    return f":(literal){path}" if path.startswith(":") or set(path) & set("*?[\\") else path


@pytest.mark.parametrize("folder", [".", "docs"])
def test_commands_on_a_terminal_name_the_page_as_one_word(hostile, say, words_of, folder):
    for name in NAMES:
        seen = relative(name, folder)
        hint = painted(say(hostile, "stale", seen, folder=folder, is_coloured=True))
        assert [words_of(one) for one in hint] == [
            ["ubp", "stale", "--diff", seen],
            ["ubp", "ack", seen],
        ]


def test_a_commit_is_answered_by_commands_for_its_pages(hostile, say, words_of):
    hostile.git("reset", "--quiet", "--hard", "HEAD~1")  # where the pages are fresh
    change(hostile, "newer\n")
    hostile.git("add", "src")
    for name in NAMES:
        page = relative(name)
        (command,) = painted(say(hostile, "stale", "--staged", page, is_coloured=True))
        assert words_of(command) == ["ubp", "ack", "--staged", page]
    many = painted(say(hostile, "check", "--staged", is_coloured=True))
    acked = [words_of(one) for one in many if one.startswith("ubp ack")]
    assert acked == [["ubp", "ack", "--staged", "--all"]]


def test_pins_are_staged_by_a_command_that_names_each_file(hostile, say, words_of):
    for name in NAMES:
        page = relative(name)
        (command,) = painted(say(hostile, "ack", page, is_coloured=True))
        assert words_of(command) == ["git", "add", pathspec(page)]
        subprocess.run(["bash", "-c", command], cwd=hostile.root, check=True)
    staged = hostile.git("diff", "--cached", "--name-only", "-z").split("\0")
    assert set(filter(None, staged)) == set(NAMES)


def test_a_proposal_that_was_written_is_followed_by_commands(repository, say, words_of):
    repository.write("src/token_store.py", "class TokenStore: ...\n")
    names = NAMES[::8]
    for name in names:
        repository.write(name, "# Tokens\n\n`TokenStore` is in `src/token_store.py`.\n")
    repository.commit("Begin")
    for name in names:
        page = relative(name)
        first = painted(say(repository, "bind", "--key", "covers it", page, is_coloured=True))
        assert first
        assert all(page in words_of(one) for one in first)
        assert all(set(words_of(one)) <= OURS | {page} for one in first)
        done = painted(say(repository, "bind", "--write", page, is_coloured=True))
        assert [words_of(one) for one in done[:1]] == [["git", "add", pathspec(page)]]


def listed_in_github(text):
    """The commands in annotations, as GitHub's runner reads them."""
    for line in text.splitlines():
        message = line.rpartition("::")[2] if line.startswith("::") else ""
        for part in message.replace("%25", "%").split("%0A"):
            if part.startswith("  ubp "):
                yield part[2:]


def listed_in_markdown(text):
    for token in MarkdownIt("commonmark", {"html": True}).enable("table").parse(text):
        is_code = False
        if token.type == "fence" and token.info == "sh":
            yield from filter(is_command, token.content.splitlines())
        for child in token.children or ():
            if child.type == "html_inline":
                is_code = child.content == "<code>"
            elif is_command(child.content) and (child.type == "code_inline" or is_code):
                yield child.content


def listed_in_json(text):
    """Lines of any text in a report."""

    def strings(value):
        if isinstance(value, str):
            yield from value.split("\n")
        elif isinstance(value, dict | list):
            for item in value.values() if isinstance(value, dict) else value:
                yield from strings(item)

    return [line for line in strings(json.loads(text)) if is_command(line)]


def listed_in_html(text):
    for code in re.findall("<code>(.*?)</code>", text):
        if is_command(unescape(code)):
            yield unescape(code)


@pytest.mark.parametrize(
    ("form", "listed"),
    [
        ("github", listed_in_github),
        ("markdown", listed_in_markdown),
        ("sarif", listed_in_json),
        ("rdjson", listed_in_json),
    ],
)
def test_reports_for_ci_name_the_page_as_one_word(hostile, say, words_of, form, listed):
    found = {}
    for name in NAMES:
        page = relative(name)
        text = say(hostile, "check", "--format", form, page)
        commands = [words_of(one) for one in listed(text)]
        found[name] = [words for words in commands if words[-1] == page]
        general = [words for words in commands if words not in found[name]]
        assert all(set(words) <= OURS for words in general), general
    for name, commands in found.items():
        page = relative(name)
        if form == "sarif" and "](" in name:  # viewers would take it for a link
            assert commands == []
            continue
        fix = [] if form == "markdown" else [["ubp", "check", "--fix", page]]
        assert sorted(commands) == [["ubp", "ack", page], *fix]


def test_an_annotation_has_a_command_whole_or_not_at_all(repository, say):
    names = [f"docs/{number}.md" for number in range(20)]
    for number, name in enumerate(names):
        repository.write(f"src/{number}.py", "old\n")
        repository.page(name, f"src/{number}.py")
    repository.commit("Begin")
    for number in range(20):
        repository.write(f"src/{number}.py", "new\n")
        repository.commit("x" * (3880 + 8 * number))  # a message has room for 4,096 characters
    found = [
        list(listed_in_github(say(repository, "check", "--format", "github", name)))
        for name in names
    ]
    assert found[0] == ["ubp ack docs/0.md"]
    assert found[-1] == []
    assert all(found[n] in ([], [f"ubp ack {name}"]) for n, name in enumerate(names))


def test_a_page_report_names_the_page_as_one_word(hostile, say, words_of, tmp_path):
    change(hostile, "".join(f"line = {n}\n" for n in range(200)))
    hostile.commit("Grow")
    file = tmp_path / "report.html"
    say(hostile, "report", "--html", str(file), "--key", "covers it", "--key", "source_refs")
    commands = [words_of(one) for one in listed_in_html(file.read_text(encoding="utf-8"))]
    keys = ["--key", "covers it", "--key", "source_refs"]
    assert ["ubp", "ack", "PAGE", *keys] in commands
    cut = [words[3] for words in commands if words[:3] == ["ubp", "stale", "--diff"]]
    assert {*cut} == {"PAGE", *(relative(name) for name in NAMES)}


@pytest.fixture
def workspace(hostile):
    with Workspace.open(str(hostile.root)) as opened:
        yield opened


def test_tools_and_prompts_give_an_agent_the_page_as_one_word(workspace, words_of):
    (tool,) = [one for one in select_tools() if one.name == "ubp_check_staleness"]
    for name in NAMES:
        answer = call_tool(tool, workspace, {"filepath": name})
        (document,) = answer.record["documents"]
        expected = ["ubp", "ack", relative(name)]
        marker = " Command: "
        assert words_of(document["acknowledge"]) == expected
        (line,) = [one for one in answer.text.splitlines() if one.startswith("  Next: ")]
        assert words_of(line.partition(marker)[2]) == expected
        messages = writer("ubp_update_stale_page", {"filepath": name})(workspace).messages
        text = "\n".join(one.content.text for one in messages if one.content.type == "text")
        told = [line.strip() for line in text.splitlines() if line.startswith("    ubp ack")]
        assert [words_of(one) for one in told] == [expected]


def test_what_an_agent_runs_acknowledges_exactly_that_page(hostile, words_of):
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    (tool,) = [one for one in select_tools() if one.name == "ubp_check_staleness"]
    with Workspace.open(str(hostile.root)) as workspace:
        documents = call_tool(tool, workspace, {}).record["documents"]
    commands = [document["acknowledge"] for document in documents]
    few = [command for command in commands if words_of(command)[2] in map(relative, NAMES[::4])]
    script = "\n".join(few)
    subprocess.run(["bash", "-e", "-c", script], cwd=hostile.root, check=True, env=environment)
    changed = hostile.git("diff", "--name-only", "-z").split("\0")
    assert set(filter(None, changed)) == set(NAMES[::4])
    assert not (hostile.root / "pwn").exists()


@pytest.mark.parametrize("folder", ["plain", "$(touch pwn)", "it's `touch pwn` !", "a\nb"])
def test_a_repository_of_somebody_else_is_named_as_one_word(
    folder, new_repository, say, words_of, monkeypatch
):
    repository = new_repository(folder)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    (command,) = re.findall("If you trust it, run: (.*)", say(repository, "stale"))
    trust = ["git", "config", "--global", "--add", "safe.directory"]
    assert words_of(command) == [*trust, str(repository.root)]


def test_a_page_that_may_be_meant_is_one_word(hostile, say, words_of):
    pages = {"docs/only.md", *map(relative, NAMES)}
    for name in ("docs/$(touch pwn.md", "docs/`touch pwn.md", "docs/a]b.md", "-al.md"):
        error = say(hostile, "ack", relative(name))
        near = re.search(r"Did you mean (.*)\?\n", error)[1].replace(", ", " ")
        assert set(words_of(f"ubp ack {near}")[2:]) < pages


def test_a_model_in_a_configuration_is_never_part_of_a_program(words_of, tmp_path):
    with pytest.raises(ModelError) as caught:
        find_model("owner/name", {"XDG_CACHE_HOME": str(tmp_path)}, str(tmp_path))
    assert words_of(caught.value.hint.partition(": ")[2]) == [
        "ubp",
        "model",
        "fetch",
        "owner/name",
    ]
    for name in ("$(touch pwn)/x", "a/b;touch pwn", "-x/y"):
        with pytest.raises(ModelError) as caught:
            find_model(name, {"XDG_CACHE_HOME": str(tmp_path)}, str(tmp_path))
        assert "ubp model fetch" not in caught.value.hint


def test_snippets_for_a_shell_name_the_program_as_one_word(words_of):
    root = "/home/$(touch pwn)/it's `so`"
    launch = (f"{root}/bin/ubp",)
    origin = "https://github.com/a/b"
    place = SnippetTarget(root, launch, launch, "", origin, "v1", frozenset(), "", "hook")
    texts = {one.name: one.text for one in make_snippets(place)}
    assert words_of(texts["claude-code"].rstrip("\n")) == [
        *("claude", "mcp", "add", "ubp", "--", launch[0], "serve"),
    ]


# What is filled in is not an argument: a version, a number, the name of a subcommand of git.
NO_COMMANDS = {
    "ubp {}",
    "ubp check reports {}.",
    "`git {}` failed in {}.",
    "Run `git {}` there; if it succeeds, report this as a bug.",
}
BEGINNING = re.compile(
    r"(?:^|[\s(`:])(?:ubp|git|pip|claude) (?:[\w:./=@-]+ )*-{0,2}[\w-]*[ =]?\{\}"
)


def templates(tree):
    """The f-strings of a module, with `{}` for what is filled in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                part.value if isinstance(part, ast.Constant) else "{}" for part in node.values
            )


def test_only_one_module_builds_command_lines():
    package = Path(__file__).parent.parent / "ubp"
    suspicious = {}
    for file in sorted(package.rglob("*.py")):
        source = file.read_text(encoding="utf-8")
        found = {one for one in templates(ast.parse(source)) if BEGINNING.search(one)}
        if found - NO_COMMANDS:
            suspicious[file.relative_to(package).as_posix()] = found - NO_COMMANDS
    assert suspicious == {}
