"""Command lines that are printed: a shell reads exactly the words that were meant."""

import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ubp.core.model import FilePath
from ubp.core.shell import SUSPECT, UNPRINTABLE, git_add, join, path_argument, quote, ubp_command

OBEYED = re.compile(UNPRINTABLE)
HOSTILE = st.sampled_from(
    [
        "$(touch pwn)",
        "`touch pwn`",
        "'",
        '"',
        "\\",
        ";touch pwn;",
        "&",
        " #",
        "\n",
        "日本",
        "-",
        "!",
    ]
)
NAMES = st.lists(HOSTILE | st.characters(exclude_characters="\0"), min_size=1, max_size=6).map(
    "".join
)
BYTES = st.binary(min_size=1, max_size=12).map(lambda data: data.replace(b"\0", b"0"))
NEITHER = "a\n'$(touch pwn) #.md"  # a dash that took `\'` for an escaped quote would run this


def read_words(shell, line, cwd):
    """The words that a shell reads after a command's name, and what its output was about."""
    done = subprocess.run(
        [shell, "-c", f"printf '%s\\0' {line}"],
        capture_output=True,
        check=True,
        cwd=cwd,
        env={"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]},
    )
    return done.stdout.split(b"\0")[:-1]


@given(st.lists(NAMES, min_size=1))
def test_words_without_control_characters_are_split_as_they_were_joined(words):
    words = [OBEYED.sub("_", word) for word in words]
    assert shlex.split(join(words)) == words


@given(NAMES)
def test_quoted_word_is_one_word_without_terminal_controls(word):
    assert len(shlex.split(quote(word))) == 1
    assert OBEYED.search(quote(word)) is None


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash reads the words")
@settings(max_examples=60, deadline=None)
@given(st.lists(BYTES, min_size=1, max_size=20))
def test_bash_reads_the_bytes_of_any_name(names):
    assert read_words("bash", join(map(os.fsdecode, names)), None) == names


@pytest.mark.skipif(shutil.which("sh") is None, reason="a POSIX shell reads the words")
@settings(max_examples=60, deadline=None)
@given(st.lists(NAMES | st.just(NEITHER), min_size=1, max_size=20))
def test_a_posix_shell_reads_one_word_of_each_name_and_executes_nothing(tmp_path_factory, names):
    folder = tmp_path_factory.mktemp("empty")
    assert len(read_words("sh", join(names), folder)) == len(names)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "prefix", "word"),
    [
        ("docs/a.md", "", "docs/a.md"),
        ("docs/a.md", "docs", "a.md"),
        ("docs/a.md", "src/deep", "../../docs/a.md"),
        ("-x.md", "", "./-x.md"),
        ("docs/-x.md", "docs", "./-x.md"),
        ("a b.md", "", "'a b.md'"),
        ("it's.md", "", "'it'\\''s.md'"),
        ("[id].md", "", "'[id].md'"),
        ("a\nb'.md", "", r"$'a\012b\047.md'"),
        ("", "", "''"),
    ],
)
def test_path_is_written_relative_to_the_folder_of_the_user(path, prefix, word):
    assert quote(path_argument(path, FilePath(prefix))) == word


def test_keys_are_repeated_as_options_whatever_they_contain():
    assert ubp_command("stale", "--all", keys=["covers", "a b", "-x"]) == (
        "ubp stale --all --key covers --key 'a b' --key=-x"
    )


def test_git_add_matches_one_file_with_a_name_like_a_pattern(repository):
    names = ["*.md", ":x.md", "[ab].md", "-n", "a\\b.md", "docs/:x.md", "plain.md"]
    for name in [*names, "other.md", "a.md"]:
        repository.write(name, "text\n")
    command = git_add(map(FilePath, names))
    assert command == (
        "git add ':(literal)*.md' ':(literal):x.md' ':(literal)[ab].md' ./-n"
        " ':(literal)a\\b.md' docs/:x.md plain.md"
    )
    subprocess.run(["sh", "-c", command], cwd=repository.root, check=True)
    staged = repository.git("ls-files", "-z").split("\0")
    assert set(filter(None, staged)) == set(names)


def test_text_without_suspects_has_no_unprintable_characters():
    characters = set(map(chr, range(sys.maxunicode + 1)))
    unprintable = set(OBEYED.findall(" ".join(characters)))
    assert len(unprintable) > 2048  # the surrogates, and others
    assert unprintable <= set(re.findall(SUSPECT, "".join(characters)))
