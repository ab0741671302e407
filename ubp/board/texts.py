"""The texts of pages as they are sent: the bytes of blobs, each checked by its id."""

from collections.abc import Mapping, Sequence
from hashlib import sha1, sha256
from typing import Any

from ubp.board.wire import WireError
from ubp.core.model import ObjectId

MAX_TEXT_BYTES = 4 << 20  # of a page; the text of a larger one is not sent
# Of the texts in one request: the hub reads a megabyte in a second or two.
BATCH_BYTES = 1 << 20
SHA1_DIGITS = 40


def blob_id(data: bytes, digits: int = SHA1_DIGITS) -> ObjectId:
    """Return the id that Git gives a blob, of so many digits."""
    make = sha1 if digits == SHA1_DIGITS else sha256
    return ObjectId(make(b"blob %d\0" % len(data) + data).hexdigest())


def text_row(blob: ObjectId, data: bytes) -> list[str]:
    """Return a text as JSON; bytes that are not UTF-8 are surrogates."""
    return [blob, data.decode("utf-8", "surrogateescape")]


def read_text_rows(value: Any) -> Mapping[ObjectId, bytes]:
    """Return texts from JSON.

    Raises:
        WireError: they are none, too large, or not those of their ids.
    """
    if not isinstance(value, list):
        raise WireError("the texts are not a list")
    return dict(map(_read_row, value))


def _read_row(row: Any) -> tuple[ObjectId, bytes]:
    is_row = isinstance(row, Sequence) and len(row) == 2 and all(isinstance(v, str) for v in row)  # noqa: PLR2004  # id and text
    if not is_row:
        raise WireError("a text is not a blob's")
    blob, text = row
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise WireError("a text is not one of bytes") from error
    if len(data) > MAX_TEXT_BYTES:
        raise WireError("a text is too large")
    if blob_id(data, len(blob)) != blob:
        raise WireError("a text is not that of its blob")
    return ObjectId(blob), data
