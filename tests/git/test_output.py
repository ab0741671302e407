"""Output of git: objects come in pieces of any size."""

import subprocess

import pytest

from ubp.core.model import ObjectId
from ubp.git.output import BatchReader, parse_commit


@pytest.mark.parametrize("size", [1, 2, 7, 64, 1 << 16])
def test_objects_of_a_batch_are_those_of_git_whatever_pieces_they_come_in(repository, size):
    contents = [b"", b"\n", b"text\n", b"two\n\nlines", bytes(range(256)), b"last"]
    for number, content in enumerate(contents):
        repository.write(f"{number}.bin", content)
    commit = repository.commit()
    blobs = [repository.git("rev-parse", f"HEAD:{number}.bin") for number in range(len(contents))]
    absent = "1" * 40
    ids = [*blobs[:3], absent, *blobs[3:], commit]
    output = subprocess.run(
        ["git", "cat-file", "--batch"],
        cwd=repository.root,
        input="\n".join([*ids, ""]).encode(),
        capture_output=True,
        check=True,
    ).stdout
    reader = BatchReader(max_bytes=255)
    for start in range(0, len(output), size):
        reader.feed(output[start : start + size])
    expected = {blob: ("blob", content) for blob, content in zip(blobs, contents, strict=True)}
    text = repository.git("cat-file", "commit", commit) + "\n"
    too_large = blobs[4]
    assert reader.objects == expected | {
        absent: None,
        too_large: None,
        commit: ("commit", text.encode()),
    }


@pytest.mark.parametrize(("seconds", "date"), [("1700000000", 1_700_000_000), ("9" * 20, 0)])
def test_date_of_a_commit_beyond_all_calendars_is_none(seconds, date):
    raw = f"tree {'0' * 40}\ncommitter A <a@b> {seconds} +0000\n\nSubject\n".encode()
    assert parse_commit(ObjectId("1" * 40), raw).date == date
