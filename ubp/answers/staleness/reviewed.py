"""The reasons of acknowledgements, on their way into the message of the commit that carries them.

A pin stays in its page until the next one replaces it, and its reason with it; a commit message
stays. `ubp ack` writes the reasons down in the Git directory, and the prepare-commit-msg hook adds
one line for each page that the commit changes. A reason waits until a commit changes its page:
nothing is lost where a commit is given up.
"""

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from ubp.core.files import read_regular_file, write_atomically
from ubp.core.model import FilePath
from ubp.frame.quoting import quoted
from ubp.frame.wording import printable
from ubp.git.output import decode_path
from ubp.git.repository import Repository

TRAILER = "UBP-Reviewed"
FILE = "reviewed.json"
MAX_BYTES = 1_000_000
HOOK = "prepare-commit-msg"
CALL = "ack --commit-message"  # what the hook contains
PRE_COMMIT_ID = "ubp-reasons"
# Messages of commits that are not new: a merge, a squash, an earlier commit (--amend, -c, -C).
OLD_MESSAGES = frozenset({"merge", "squash", "commit"})
FIXUPS = (b"fixup! ", b"squash! ", b"amend! ")
UNDERWAY = ("rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD", "MERGE_HEAD")


class Reviewed(NamedTuple):
    """A page that was acknowledged with a reason; `blob` is what HEAD had then, "" for nothing."""

    page: FilePath
    reason: str
    blob: str


def trailer(page: FilePath, reason: str) -> str:
    """Return the line of a commit message; neither the page nor the reason can add another."""
    name = printable(page)
    if name != page or ": " in page or page != page.strip():
        name = quoted(page)
    return f"{TRAILER}: {name}: {printable(' '.join(reason.split()))}"


def remember(repository: Repository, pages: Sequence[FilePath], reason: str) -> None:
    """Write down why pages are still accurate, for the commit that carries them."""
    blobs = _head_blobs(repository)
    kept = [entry for entry in _read(repository) if entry.page not in pages]
    entries = [entry for entry in kept if blobs.get(entry.page, "") == entry.blob]
    entries += [Reviewed(page, reason, blobs.get(page, "")) for page in pages]
    file = _file(repository)
    os.makedirs(os.path.dirname(file), exist_ok=True)
    write_atomically(file, json.dumps(entries).encode())


def add_trailers(repository: Repository, message_file: str, source: str) -> tuple[str, ...]:
    """Add the waiting lines of the pages that a new commit changes to its message; return them.

    Commits that only combine or repeat others get none: merges, amended commits, fixups, rebases.
    """
    entries = _read(repository)
    if not entries or source in OLD_MESSAGES or _is_underway(repository):
        return ()
    if read_regular_file(message_file, MAX_BYTES).startswith(FIXUPS):
        return ()
    staged = _staged(repository)
    blobs = _head_blobs(repository)
    lines = tuple(
        trailer(entry.page, entry.reason)
        for entry in entries
        if entry.page in staged and blobs.get(entry.page, "") == entry.blob
    )
    if lines:
        options = [word for line in lines for word in ("--trailer", line)]
        path = os.path.abspath(message_file)
        own = ("-c", f"trailer.{TRAILER}.ifexists=addIfDifferent", "interpret-trailers")
        repository.run(*own, "--in-place", *options, path)
    return lines


def is_handed_over(repository: Repository) -> bool:
    """Return whether a hook of this clone adds the lines to commit messages."""
    output = repository.run("rev-parse", "--git-path", f"hooks/{HOOK}")
    folder = repository.root or repository.git_dir
    try:
        hook = read_regular_file(os.path.join(folder, os.fsdecode(output.rstrip(b"\n"))), MAX_BYTES)
    except OSError:
        return False
    if CALL.encode() in hook:
        return True
    with suppress(OSError):
        file = os.path.join(folder, ".pre-commit-config.yaml")
        settings = read_regular_file(file, MAX_BYTES)
        return b"pre-commit" in hook and PRE_COMMIT_ID.encode() in settings
    return False


def _file(repository: Repository) -> str:
    return os.path.join(repository.git_dir, "ubp", FILE)  # of this work tree, as its index is


def _read(repository: Repository) -> list[Reviewed]:
    try:
        stored = json.loads(read_regular_file(_file(repository), MAX_BYTES, follows_link=False))
        return [Reviewed(FilePath(str(p)), str(reason), str(blob)) for p, reason, blob in stored]
    except (OSError, ValueError, TypeError):
        return []


def _is_underway(repository: Repository) -> bool:
    return any(os.path.lexists(os.path.join(repository.git_dir, name)) for name in UNDERWAY)


def _head_blobs(repository: Repository) -> dict[FilePath, str]:
    if repository.head() is None:
        return {}
    return _blobs(repository.run("ls-tree", "-r", "-z", "--full-tree", "HEAD").split(b"\0"))


def _blobs(rows: Iterable[bytes]) -> dict[FilePath, str]:
    blobs = {}
    for row in filter(None, rows):
        facts, _, path = row.partition(b"\t")
        blobs[decode_path(path)] = facts.split()[2].decode("ascii")
    return blobs


def _staged(repository: Repository) -> frozenset[FilePath]:
    """Return the files that the index changes; git names the commit's own in GIT_INDEX_FILE."""
    if repository.head() is None:
        output = repository.run("ls-files", "-z", "--cached")
    else:
        words = ("diff-index", "--cached", "-z", "--name-only", "--no-renames", "HEAD", "--")
        output = repository.run(*words)
    return frozenset(decode_path(name) for name in output.split(b"\0") if name)
