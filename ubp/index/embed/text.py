"""What of a chunk the model reads: the words of its prose; and the key of that.

Measured with vectors alone, on sets made of the links and the headings of six repositories (2,600
queries; Recall@5, mean of twelve sets): the text as it stands 0.620, without signs, addresses and
tags 0.677, without its code too 0.692. The title twice finds pages by the texts of links better (3
points), by headings (1 to 2) and by headings in another language (4) worse; together with words,
over 51 sets, it is 0.746 for 0.751 with the title once.
"""

import re
from collections.abc import Sequence
from hashlib import blake2b

# Two texts with one key would share a vector. 16 bytes are as many as a UUID's.
KEY_BYTES = 16

# A chunk has 256 words or 256 characters of Japanese; what is longer is no prose, and a megabyte
# without a blank would take a second.
MAX_CHARACTERS = 8_000
# With less prose than this a chunk is about its code.
MIN_PROSE_SHARE = 60


def embedding_key(title: str | None, heading_path: Sequence[str], body: str) -> bytes:
    """The key of a chunk's vector: of all that `text_to_embed` is made of.

    Whoever changes what that makes of the same chunk must raise the store's FORMAT.
    """
    whole = "\x1f".join([title or "", *heading_path, body])
    return blake2b(whole.encode("utf-8", "replace"), digest_size=KEY_BYTES).digest()


def text_to_embed(title: str | None, heading_path: Sequence[str], body: str) -> str:
    """The words of the page's title, of the headings above the chunk, and of its prose."""
    headings = [heading for heading in heading_path if heading != title]
    prose = _without_code(body[:MAX_CHARACTERS])
    return strip_markup("\n".join([*([title] if title else []), *headings, prose]))


def strip_markup(text: str) -> str:
    """The words of a text or a query: no signs, no addresses, no tags."""
    for pattern in _NO_WORDS:
        text = pattern.sub(" ", text)
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _without_code(text: str) -> str:
    """A chunk without its fenced code, unless it has little else or begins within some."""
    if len(_FENCE.findall(text)) % 2:
        return text
    prose = _CODE.sub("\n", text)
    return prose if len(prose.strip()) >= MIN_PROSE_SHARE else text


# All of them are linear in hostile texts, or bounded.
_FENCE = re.compile(r"^[ \t>]*(?:`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_CODE = re.compile(
    r"^[ \t>]*(`{3,}|~{3,})[^\n]*\n.*?^[ \t>]*\1[`~]*[ \t]*$", re.MULTILINE | re.DOTALL
)
_NO_WORDS = (
    re.compile(r"<!--(?:(?!<!--).)*?-->", re.DOTALL),
    # Where links lead: [text](target), [text][label], and definitions.
    re.compile(r"\]\([^()\n]{0,300}(?:\([^()\n]{0,100}\)[^()\n]{0,300})?\)"),
    re.compile(r"\]\[[^\[\]\n]{0,200}\]"),
    re.compile(r"^[ \t]*\[[^\[\]\n]{1,200}\]:[^\n]*$", re.MULTILINE),
    re.compile(r"\b(?:https?|ftp)://[^\s<>()\[\]`\"']+"),
    re.compile(r"</?[^<>\s][^<>\n]{0,200}>"),  # tags, and what stands in angle brackets
    _FENCE,
    re.compile(r"[\W_]+"),
)
