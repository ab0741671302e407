"""Find and parse a page's front matter: YAML, TOML, or YAML in a comment at the page's beginning.

A comment is for pages that show front matter to readers, such as a README: a line `<!-- ubp`, in
MDX `{/* ubp`, then YAML, and a line that closes the comment.

python-frontmatter (1.3) cannot be used: it keeps no offsets, drops front matter that is not a
mapping, and finds none after a byte order mark. The tests compare the two on well-formed pages.
"""

import re
from bisect import bisect_right
from collections.abc import Collection
from typing import Literal, NamedTuple

from ubp.core.model import Problem
from ubp.markdown.toml_nodes import BadTomlError, read_toml
from ubp.markdown.yaml_nodes import BadYamlError, Node, read_yaml

# Four hundred references with pins and reasons. The slowest YAML and TOML known take 0.1 s for this
# many bytes.
MAX_BYTES = 64 * 1024

_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*(?=[\r\n])")
_CLOSING = re.compile(rb"(?:\r\n|\r|\n)(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|\Z)")
_TOML_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?\s*\+\+\+[ \t]*(?=[\r\n])")
_TOML_CLOSING = re.compile(rb"(?:\r\n|\r|\n)\+\+\+[ \t]*(?:\r\n|\r|\n|\Z)")
_COMMENT_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<!--|\{/\*)[ \t]+ubp[ \t]*(?=[\r\n])")
_COMMENT_CLOSING = re.compile(rb"(?:\r\n|\r|\n)[ \t]*(?:-->|\*/\})[ \t]*(?:\r\n|\r|\n|\Z)")
LINE_END = re.compile(r"\r\n|\r|\n")
_EMPTY_LINE = re.compile(r"(?>\r\n|\r|\n)[ \t]*[\r\n]")
_UNDECODABLE = re.compile("[\udc80-\udcff]")
_KEY_OR_ITEM = re.compile(r"""["']?[A-Za-z_][\w.-]*["']?[ \t]*:(?:[ \t\r\n]|\Z)|-[ \t]""")


class FrontMatter(NamedTuple):
    """A page's front matter: its text with both fences, its mapping, and its faults.

    Bytes that are not UTF-8 are surrogates in `text`, so that it can be written back. `body` is the
    first byte after it. `syntax` is that of its text; a "comment" contains YAML.
    """

    text: str
    root: Node | None
    body: int
    problems: tuple[Problem, ...] = ()
    line_starts: tuple[int, ...] = (0,)
    syntax: Literal["yaml", "toml", "comment"] = "yaml"

    def line(self, offset: int) -> int:
        """Return the line, from 1, of an offset in the text."""
        return bisect_right(self.line_starts, offset)


NO_FRONT_MATTER = FrontMatter("", None, 0)


def read_front_matter(data: bytes, names: Collection[str]) -> FrontMatter:
    """Return the front matter between `---` on the first line and the next `---` or `...`.

    A page may also begin with a thematic break. What is not a mapping is reported as broken front
    matter if it has one of `names` as a key or looks like YAML; otherwise it is part of the body.
    """
    opening = _OPENING.match(data)
    if opening is None:
        return _read_toml_or_comment(data)
    closing = _CLOSING.search(data, opening.end())
    if closing is None or closing.start() - opening.end() > MAX_BYTES:
        return _unclosed_or_too_large(
            data[opening.end() : opening.end() + MAX_BYTES], closing, names
        )
    head, inner = data[: opening.end()].decode(), data[opening.end() : closing.start()]
    yaml_text = inner.decode("utf-8", "surrogateescape")
    fence = data[closing.start() : closing.end()].decode()
    text = head + yaml_text + fence
    line_starts = (0, *(match.end() for match in LINE_END.finditer(text)))
    unparsed = FrontMatter(text, None, closing.end(), (), line_starts)
    return _parse(unparsed, _UNDECODABLE.sub("\ufffd", yaml_text), len(head), names)


def _read_toml_or_comment(data: bytes) -> FrontMatter:
    if opening := _TOML_OPENING.match(data):
        closing = _TOML_CLOSING.search(data, opening.end())
        name = "front matter"
    elif opening := _COMMENT_OPENING.match(data):
        closing = _COMMENT_CLOSING.search(data, opening.end())
        name = "ubp comment"
    else:
        return NO_FRONT_MATTER
    if closing is None or closing.start() - opening.end() > MAX_BYTES:
        why = "unterminated" if closing is None else f"larger than {MAX_BYTES // 1024} KiB"
        return NO_FRONT_MATTER._replace(problems=(Problem(1, f"The {name} is {why}."),))
    text = data[: closing.end()].decode("utf-8", "surrogateescape")
    start = len(data[: opening.end()].decode("utf-8", "surrogateescape"))
    inner = data[opening.end() : closing.start()].decode("utf-8", "replace")
    head = FrontMatter(
        text,
        None,
        closing.end(),
        line_starts=(0, *(match.end() for match in LINE_END.finditer(text))),
        syntax="toml" if name == "front matter" else "comment",
    )
    try:
        root = read_toml(inner, start) if head.syntax == "toml" else read_yaml(inner, start)
    except (BadTomlError, BadYamlError) as error:
        language = "TOML" if head.syntax == "toml" else "YAML"
        problem = Problem(head.line(error.offset), f"The {name} is not valid {language}: {error}.")
        return head._replace(problems=(problem,))
    if root is not None and root.kind != "mapping":
        problem = Problem(head.line(root.start), f"The {name} is a {root.kind}, not a mapping.")
        return head._replace(problems=(problem,))
    return head._replace(root=root)


def _unclosed_or_too_large(
    start: bytes, closing: re.Match[bytes] | None, names: Collection[str]
) -> FrontMatter:
    text = start.decode("utf-8", "replace")
    if closing is not None:
        if not _is_intended(text, names):
            return NO_FRONT_MATTER
        message = f"The front matter is larger than {MAX_BYTES // 1024} KiB and is ignored."
        return NO_FRONT_MATTER._replace(body=closing.end(), problems=(Problem(1, message),))
    if not _has_name(_EMPTY_LINE.split(text, maxsplit=1)[0], names):
        return NO_FRONT_MATTER
    message = "The front matter is unterminated: missing closing ---."
    return NO_FRONT_MATTER._replace(problems=(Problem(1, message),))


def _parse(
    unparsed: FrontMatter, yaml_text: str, offset: int, names: Collection[str]
) -> FrontMatter:
    try:
        root = read_yaml(yaml_text, offset)
    except BadYamlError as error:
        line = unparsed.line(error.offset)
        message = f"The front matter is not valid YAML: {error}."
    else:
        if root is None or root.kind == "mapping":
            has_name = any(root and root.get(name) for name in names)
            is_front_matter = has_name or not _begins_empty(yaml_text)
            return unparsed._replace(root=root) if is_front_matter else NO_FRONT_MATTER
        line, message = 2, f"The front matter is a {root.kind}, not a mapping."
    if not _is_intended(yaml_text, names):
        return NO_FRONT_MATTER
    return unparsed._replace(problems=(Problem(line, message),))


def _is_intended(yaml_text: str, names: Collection[str]) -> bool:
    """Return whether a text that is not a YAML mapping was meant to be front matter."""
    if _has_name(yaml_text, names):
        return True
    if _begins_empty(yaml_text):  # as a paragraph after a thematic break does
        return False
    lines = [line for line in LINE_END.split(yaml_text) if line.strip() and line[:1] != "#"]
    return len(lines) == 1 or bool(lines and _KEY_OR_ITEM.match(lines[0]))


def _begins_empty(yaml_text: str) -> bool:
    return bool(_EMPTY_LINE.match(yaml_text)) and bool(yaml_text.strip())


def _has_name(yaml_text: str, names: Collection[str]) -> bool:
    alternatives = "|".join(map(re.escape, sorted(names)))
    return bool(re.search(rf"[\r\n]([\"']?)(?:{alternatives})\1[ \t]*:", yaml_text))
