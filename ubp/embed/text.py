"""What of a chunk the model reads; another text gives another vector under another key."""

from collections.abc import Sequence
from hashlib import blake2b

# Two texts with one key would share a vector. 16 bytes are as many as a UUID's.
KEY_BYTES = 16


# A chunk has 256 words or 256 characters of Japanese; what is longer is no prose, and a megabyte
# without a blank would take a second.
MOST_CHARACTERS = 8_000


def text_to_embed(title: str | None, heading_path: Sequence[str], body: str) -> str:
    """The page's title, the headings above the chunk, and its text, as clean Unicode."""
    headings = [heading for heading in heading_path if heading != title]
    text = "\n".join([*([title] if title else []), *headings, body])[:MOST_CHARACTERS]
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def key_of(text: str) -> bytes:
    """The key of a text's vector."""
    return blake2b(text.encode(), digest_size=KEY_BYTES).digest()
