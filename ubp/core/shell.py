"""Command lines that a user, or an agent, can paste into a POSIX shell.

Names in a repository may contain anything but NUL. In a command that UBP prints, each argument
remains a single word that executes nothing and has no effect on a terminal.
"""

import posixpath
import re
from collections.abc import Iterable, Sequence

from ubp.core.model import FilePath, ObjectId

# Control characters could move the cursor or hide a name; the bidirectional ones turn it around;
# invisible ones make two names look alike, or carry instructions that only a model reads;
# surrogates represent bytes that are not UTF-8. All of them are legal in the names that Git stores.
# Joiners and variation selectors are printed where scripts and emoji need them, one at a time.
# The patterns are compiled on first use: that takes a millisecond, and is rarely needed.
_NEVER_PRINTED = (
    "\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
)
_JOINED = "\u0600-\u109f\u1700-\u1bff\u2190-\u2bff\u3030-\u303d\ufe0f\U0001f000-\U0001faff"
UNPRINTABLE = (
    f"(?:[{_NEVER_PRINTED}"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
    f"|(?<![{_JOINED}])[\u200c\u200d]|[\u200c\u200d](?![{_JOINED}])"
    "|(?<![#*0-9\xa9\xae\u203c-\u3299\U0001f000-\U0001faff])[\ufe0e\ufe0f]"
    "|(?<![\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef])"
)
# A text without any of these has nothing to escape. To search for them takes a seventeenth of the
# time in a Japanese text: one set of characters below U+10000, which is a table to `re`.
SUSPECT = f"[{_NEVER_PRINTED}\u200c\u200d\ufe0e\ufe0f\U00010000-\U0010ffff]"
# `os.fsdecode` returns these for the bytes 80 to FF.
FIRST_BYTE_SURROGATE, LAST_BYTE_SURROGATE = 0xDC80, 0xDCFF

_PLAIN_WORD = r"[A-Za-z0-9_@%+=:,./-]+"
_PATHSPEC_MAGIC = r":|.*[*?\[\\]"


def quote(word: str) -> str:
    r"""Quote a word where a POSIX shell would read it differently: `'a b.md'`.

    A word with unprintable characters becomes `$'a\012b.md'` (POSIX.1-2024, bash, zsh, ksh). Its
    quotes and backslashes are written in octal too, so that a shell without `$'…'` (dash) reads a
    single word too, and executes nothing.
    """
    if re.fullmatch(_PLAIN_WORD, word):
        return word
    if re.search(UNPRINTABLE, word):
        escaped = re.sub(rf"{UNPRINTABLE}|['\\]", _octal, word)
        return f"$'{escaped}'"
    return "'" + word.replace("'", "'\\''") + "'"


def join(words: Iterable[str]) -> str:
    """Return the command line that a shell splits into these words."""
    return " ".join(map(quote, words))


def ubp_command(*words: str, keys: Sequence[str] = ()) -> str:
    """Return a `ubp` command line; `keys` are front matter keys that it repeats as `--key`."""
    options = [word for key in keys for word in _option("--key", key)]
    return join(["ubp", *words, *options])


def git_add(paths: Iterable[FilePath], prefix: str = "") -> str:
    """Return the `git add` of these files for the folder `prefix`; none is read as a pattern."""
    words = (path_argument(path, prefix) for path in paths)
    literal = (f":(literal){word}" if re.match(_PATHSPEC_MAGIC, word) else word for word in words)
    return join(["git", "add", *literal])


def git_fetch(objects: Iterable[ObjectId]) -> str:
    """Return the command that fetches objects which a partial clone lacks."""
    return join(["git", "fetch", "origin", *objects])


def git_fetch_in(directory: str) -> str:
    """Return the command that fetches what is new in another repository."""
    return join(["git", "-C", directory, "fetch"])


def path_argument(path: str, prefix: str = "") -> str:
    """Return a path as seen from the folder `prefix`; it never looks like an option."""
    seen = posixpath.relpath(path, prefix) if prefix else path
    return f"./{seen}" if seen.startswith("-") else seen


def _option(name: str, value: str) -> tuple[str, ...]:
    return (f"{name}={value}",) if value.startswith("-") else (name, value)


def _octal(match: re.Match[str]) -> str:
    is_byte = FIRST_BYTE_SURROGATE <= ord(match[0]) <= LAST_BYTE_SURROGATE
    data = match[0].encode("utf-8", "surrogateescape" if is_byte else "surrogatepass")
    return "".join(f"\\{byte:03o}" for byte in data)
