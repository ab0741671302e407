"""A heading's text as readers see it, without the Markdown parser: for the title of a page."""

import re
from html import unescape

# `{#id}`, `{ #id .class }`, `{ id="id" }`, kramdown's `{: #id}`, and in MDX a comment.
ATTRIBUTES = (
    r"\{:?[ \t]*(?:[.][^\s{}#]+[ \t]+)*(?:#|id=[\"']?)(?P<id>\w[^\s{}\"']*)[\"']?"
    r"(?:[ \t][^{}\n]*)?\}"
)
LINE_BREAK = re.compile(r"<br[ \t]*/?>", re.IGNORECASE)

# Docusaurus also reads `\{#id\}`.
_OWN_ID = re.compile(
    rf"[ \t]*(?:{ATTRIBUTES}|\\\{{#(?P<escaped>\w[^\s{{}}\\]*)\\\}}"
    r"|\{/\*[ \t]*#(?P<mdx>[^\s{}*]+)[ \t]*\*/\})$"
)
# `{ .class }`, and with a colon whatever else: `{: .class data-x=1}`, `{: word}`
_OTHER_ATTRIBUTES = re.compile(r"[ \t]\{(?:[ \t]*(?:\.[\w-]+[ \t]*)+|:[ \t]*[^\s{}][^{}]*)\}$")
_MARKUP = re.compile(r"[\\`*_\[\]<>&~!]")
_CODE = re.compile(r"(?<![\\`])(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--.*?-->")
_ADDRESS = r"(?:\([^()]*\)|\[[^\[\]]*\])"
_IMAGE = re.compile(rf"!\[[^\[\]]*\]{_ADDRESS}")
_LINKED_IMAGES = re.compile(rf"\[(?:[ \t]*{_IMAGE.pattern})+[ \t]*\]{_ADDRESS}")
_LINK = re.compile(rf"\[([^\[\]]+)\]{_ADDRESS}")
# Only with a label: `[[nodiscard]]` is code, too.
_CODE_OR_WIKILINK = re.compile(rf"{_CODE.pattern}|(?<!!)\[\[[^\[\]|]+\|(?P<label>[^\[\]|]+)\]\]")
_EMPHASIS = (
    re.compile(r"(\*\*|~~)(?=\S)(.+?)(?<=\S)\1"),
    re.compile(r"(?<!\w)(__?)(?=\S)(.+?)(?<=\S)\1(?!\w)"),
    re.compile(r"(\*)(?=\S)(.+?)(?<=\S)\1"),
)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def split_own_id(content: str) -> tuple[str, str]:
    """Split `Title {#id}`, as site generators write it, into the title and the id.

    Other attributes, `Title {.class}`, are not part of the title either.
    """
    if not content.endswith("}"):
        return content, ""
    match = _OWN_ID.search(content)
    if match is None:
        return _OTHER_ATTRIBUTES.sub("", content).rstrip(), ""
    return content[: match.start()].rstrip(), match["id"] or match["escaped"] or match["mdx"]


def with_labels(content: str) -> str:
    """Return the text of a heading with the labels of its wikilinks in their places.

    What is after the bar counts as the label, also in vaults of Dendron, which have it in front.
    """
    if "[[" not in content:
        return content
    return _CODE_OR_WIKILINK.sub(lambda match: match["label"] or match[0], content)


def plain_title(content: str) -> str:
    """Return the text of a heading without its own id and markup."""
    title = with_labels(split_own_id(content)[0])
    if not _MARKUP.search(title):
        return title
    parts: list[str] = []
    end = 0
    for code in _CODE.finditer(title):
        text = code[2]
        is_padded = text[0] == text[-1] == " " and text.strip()
        parts += [_without_markup(title[end : code.start()]), text[1:-1] if is_padded else text]
        end = code.end()
    parts.append(_without_markup(title[end:]))
    return " ".join("".join(parts).split())


def _without_markup(text: str) -> str:
    text = _LINKED_IMAGES.sub("", _TAG.sub("", LINE_BREAK.sub(" ", text)))
    text = _LINK.sub(r"\1", _IMAGE.sub("", text))
    for emphasis in _EMPHASIS:
        text = emphasis.sub(r"\2", text)
    return unescape(_ESCAPE.sub(r"\1", text))
