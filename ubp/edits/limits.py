"""What agents may write: where, how much, how often, and which text."""

import re
import time
from collections.abc import Iterator
from html import unescape
from unicodedata import normalize
from urllib.parse import unquote

from ubp.core.config import Config, is_document
from ubp.core.errors import BadArgumentError, UsageError
from ubp.core.model import FilePath
from ubp.core.paths import is_windows_path, match_any, nfc
from ubp.core.shell import UNPRINTABLE
from ubp.core.text import fold
from ubp.edits.model import Agent
from ubp.edits.special_files import is_named, purpose_of
from ubp.git.output import is_valid_path
from ubp.index.view import View

# These say what UBP, the forge and Git do, and who must review; no setting opens them to agents.
CLOSED_FOLDERS = frozenset({".forgejo", ".git", ".gitea", ".github", ".gitlab", ".ubp"})
CLOSED_NAMES = frozenset({"codeowners"})
SECONDS_PER_MINUTE = 60

MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 1_024
"""What file systems take at most (macOS: the whole path)."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SECRETS = (
    ("a private key", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")),
    ("an AWS access key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("a GitHub token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{22,})")),
    ("a GitLab token", re.compile(r"\bglpat-[\w-]{20,}")),
    ("a Slack token", re.compile(r"\bxox[abprs]-[\w-]{10,}")),
    ("an API key", re.compile(r"\b(?:sk-[A-Za-z0-9_-]{20,}|AIza[\w-]{35})")),
)


def check_path(config: Config, path: FilePath, view: View) -> None:
    """Check that agents may write a page at a path of this state of the repository.

    Raises:
        BadArgumentError: they may not.
    """
    parts = path.split("/")
    if not is_valid_path(path) or path.startswith("/") or re.search(UNPRINTABLE, path):
        raise _refused(path, "It is not a relative path of plain characters.")
    if "\\" in path or any(part != part.lstrip(" ").rstrip(" .") for part in parts):
        raise _refused(
            path, "Names with backslashes, or spaces or dots at an end, are not portable."
        )
    names = [fold(part).rstrip(". ") for part in parts]
    if CLOSED_FOLDERS & {*names} or names[-1] in CLOSED_NAMES or ":" in path or "~" in path:
        raise _refused(path, "Agents may not write files that configure Git, UBP or the forge.")
    if not is_document(config, path):
        raise _refused(path, "The configuration includes no page there, or excludes it.")
    _check_setting(config.edit.paths, FilePath(nfc(path)))
    folders = [FilePath("/".join(parts[:end])) for end in range(1, len(parts))]
    for folder, entry in view.entries(folders).items():
        if entry is not None and not entry.is_directory:
            raise _refused(path, f"{folder} is not a folder in the repository.")
    entry = view.entry(path) if view.true_path(path) == path else None
    if entry is None:
        _check_new_path(path, view)
    elif not entry.is_file:
        raise _refused(path, "It is not a regular file.")


def _check_setting(patterns: tuple[str, ...], path: FilePath) -> None:
    if patterns and not match_any(patterns, path):
        raise _refused(path, "The setting edit.paths does not include it.")
    if (purpose := purpose_of(path)) and not is_named(path, patterns):
        raise _refused(path, f"{purpose} The setting edit.paths does not name it.")


def _check_new_path(path: FilePath, view: View) -> None:
    """Check that every system can check out a path, and that none reads it as another one."""
    if twin := _find_twin(path, view):
        raise _refused(path, f"{twin} differs from it in case or Unicode form only.")
    decoded = normalize("NFKC", unquote(path))
    if ".." in decoded.split("/") or decoded.count("/") != path.count("/"):
        raise _refused(path, "Once decoded, it is another path.")
    if not is_windows_path(path):
        raise _refused(path, "Windows has no files with such names.")
    lengths = [len(part.encode()) for part in path.split("/")]
    if max(lengths) > MAX_NAME_BYTES or sum(lengths) + len(lengths) > MAX_PATH_BYTES:
        raise _refused(path, "It is too long for file systems.")


def check_text(config: Config, content: str) -> None:
    """Check that agents may write a text.

    Raises:
        BadArgumentError: it has control characters, is not Unicode, or is too large.
    """
    try:
        size = len(content.encode())
    except UnicodeEncodeError as error:
        raise BadArgumentError("content", "`content` has lone surrogates.") from error
    if match := _CONTROL.search(content):
        raise BadArgumentError(
            "content", f"`content` has the control character U+{ord(match[0]):04X}."
        )
    if size > config.edit.max_page_bytes:
        raise BadArgumentError(
            "content",
            f"The page would have {size:,} bytes.",
            cause=f"The setting edit.max_page_bytes allows {config.edit.max_page_bytes:,}.",
            hint="Split it into several pages.",
        )


def check_rate(config: Config, agent: Agent, size: int) -> None:
    """Count an edit of so many bytes, and check that the agent is not too fast.

    Raises:
        UsageError: it exceeds the edits or bytes that a minute allows.
    """
    now = time.monotonic()
    recent = agent.recent
    while recent and recent[0][0] <= now - SECONDS_PER_MINUTE:
        recent.popleft()
    limits = config.edit
    is_full = len(recent) >= limits.edits_per_minute
    total = size + sum(bytes_ for _, bytes_ in recent)
    if is_full or (recent and total > limits.bytes_per_minute):
        wait = max(1, round(recent[0][0] + SECONDS_PER_MINUTE - now))
        raise UsageError(
            "Too many edits in a minute.",
            cause=f"The setting edit.rate allows {limits.edits_per_minute} edits and"
            f" {limits.bytes_per_minute:,} bytes a minute.",
            hint=f"Try again in {wait} s.",
        )
    recent.append((now, size))


def find_warnings(content: str) -> Iterator[str]:
    """Yield what a reviewer should look at in a text: likely secrets, hidden characters."""
    for name, pattern in _SECRETS:
        if match := pattern.search(content):
            line = content.count("\n", 0, match.start()) + 1
            yield f"Line {line} contains what looks like {name}."
    lines = [number for number, line in enumerate(content.split("\n"), 1) if _is_hidden(line)]
    if lines:
        yield f"Line {lines[0]} contains invisible or bidirectional characters."


def _is_hidden(line: str) -> bool:
    text = unescape(line) if "&" in line else line  # as readers will get it
    return not text.isascii() and bool(re.search(UNPRINTABLE, text.replace("\t", "")))


def _find_twin(path: FilePath, view: View) -> FilePath | None:
    """Return a file or folder that some file systems take for a part of a path."""
    folder = FilePath("")
    for part in path.split("/"):
        below = FilePath(f"{folder}/{part}".lstrip("/"))
        for other in view.children(folder):
            if other != below and fold(other) == fold(below):
                return other
        folder = below
    return None


def _refused(path: str, why: str) -> BadArgumentError:
    return BadArgumentError("filepath", f"Agents may not write {path}.", cause=why)
