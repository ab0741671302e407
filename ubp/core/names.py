"""Names of identifiers and options, in one spelling for all of theirs."""

import re
import zlib
from collections.abc import Iterator

_SEPARATORS = re.compile(r"[-_]+")
_DUNDER = re.compile(r"__[A-Za-z]\w*?__")
_WORD_OPTION = re.compile(r"--[a-z][a-z0-9]+")
_CAMEL = re.compile(r"[A-Za-z][A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*")
_CONSTANT = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def fold_name(name: str) -> str:
    """Return a name as all its spellings are compared: `--read-timeout`, `readTimeout`, one.

    `__fields__` is another name than `fields`, `_fields` is a private one, and an option of a
    single word, `--fields`, is an option.
    """
    if is_dunder(name) or is_word_option(name):
        return name.lower()
    private = "_" if name.startswith("_") else ""
    return private + _SEPARATORS.sub("", name).lower()


def is_word_option(name: str) -> bool:
    """Return whether a name is an option of a single word in lower case: `--format`."""
    return _WORD_OPTION.fullmatch(name) is not None


def is_dunder(name: str) -> bool:
    """Return whether a name begins and ends with two underscores."""
    return _DUNDER.fullmatch(name) is not None


def name_key(folded: str) -> int:
    """Return the number that stands for a folded name in the index, 32 bits.

    Of 200,000 names in a repository one in 20,000 has the number of another.
    """
    return zlib.crc32(folded.encode("utf-8", "surrogatepass"))


def name_words(name: str) -> list[str]:
    """Return the words of a name, in lower case: `readTimeout` has read, timeout."""
    return [word.lower() for word in _WORDS.findall(name)]


def fragments(name: str) -> Iterator[str]:
    """Yield the parts from which code may build a name: `read*`, `*timeout` of `read_timeout`.

    They have at least half of its words: many names begin with `get_`.
    """
    words = name_words(name)
    for count in range(1, len(words)):
        if 2 * count >= len(words):
            yield "".join(words[:count]) + "*"
        if 2 * count <= len(words):
            yield "*" + "".join(words[count:])


def constant_fragments(name: str) -> Iterator[tuple[str, str]]:
    """Yield each part from which code may build a constant, with the name of the rest.

    `CACHE_SIZE` may be `cache*` and `size`, or `*size` and `cache`.
    """
    words = name_words(name)
    for count in range(1, len(words)):
        first, rest = "".join(words[:count]), "".join(words[count:])
        yield f"{first}*", rest
        yield f"*{rest}", first


def is_type_name(name: str) -> bool:
    """Return whether a name is written as types are: `ReadTimeout`, not `READ_TIMEOUT`."""
    return name[:1].isupper() and not name.isupper() and "_" not in name


def is_camel_case(name: str) -> bool:
    """Return whether a name shows its words by capital letters alone: `readTimeout`."""
    return _CAMEL.fullmatch(name) is not None


def is_constant(name: str) -> bool:
    """Return whether a name is written as constants are: `READ_TIMEOUT`."""
    return _CONSTANT.fullmatch(name) is not None


def may_be_same(mention: str, definition: str, *, is_public_upper: bool) -> bool:
    """Return whether a mention may mean a definition with the same folded name.

    Both must have the same words: `fetch_one` is not `fetchone`, and be constants, or neither:
    `ENUM_TYPE` is not the field `enumType`. A type is not the variable that
    has it as its name, except where `is_public_upper`: in Go and its like the letter shows who may
    use a name, and options and keys are made from fields.
    """
    if name_words(mention) != name_words(definition) or mention.isupper() != definition.isupper():
        return False
    if is_type_name(mention):
        return is_type_name(definition)
    return is_public_upper or not is_type_name(definition)
