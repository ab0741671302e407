"""Convert web pages to Markdown: headings with their ids, links between the pages of one import.

What a reader of the page does not see is left out: scripts, navigation, comments, hidden elements
(see `hidden`) and invisible characters, where instructions to a language model may hide.
"""

import codecs
import json
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from urllib.parse import quote, urljoin

from html_to_markdown import ConversionOptions, convert
from selectolax.lexbor import LexborHTMLParser, LexborNode

from ubp.sync.hidden import hide

LinkResolver = Callable[[str], str]
"""Returns what a page of the import should contain for an absolute address."""

HEADINGS = "h1, h2, h3, h4, h5, h6"
LOWEST_LEVEL = 6
# Elements whose heading may be an `h1` at any depth, in HTML and in Ecmarkup (ECMAScript).
SECTIONS = frozenset({"article", "emu-annex", "emu-clause", "emu-intro", "section"})
# Where the text is, of the first kind that has nearly all headings of the page. `main` with the
# title needs no more: in mdBook's pages, menus and the help for keys have headings beside it.
MAIN_ELEMENTS = ("main", '[role="main"]', "div.body", "article", "#content")
MIN_HEADINGS_SHARE = 0.9
REMOVED = (
    "script, style, noscript, template, iframe, object, embed, form, input, button, select, "
    "textarea, svg, canvas, nav, [role=navigation], [role=search], [hidden]"
)
# The header and footer of the page, not those of its articles and sections.
PAGE_FRAMES = "body > header, body > footer, [role=banner], [role=contentinfo]"
PERMALINKS = (
    "a.headerlink, a.permalink, a.header-anchor, a.anchor, a.heading-anchor, a.heading-link"
)
PERMALINK_TEXTS = frozenset({"", "#", "¶", "§", "🔗", "link", "permalink"})
MAX_DEPTH = 400
# The parser's time grows with the square of the depth: 2,000 take 0.5 s, 20,000 a minute.
MAX_OPEN_ELEMENTS = 2000
# Each paragraph opens again what an earlier one left open: 2,000 take 7 s and 1 GB.
MAX_OPEN_FORMATTING = 300
_FORMATTING = frozenset(
    ["b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"]
)
_OPENED = re.compile(r"<[a-z]", re.IGNORECASE)
# Comments, raw text with its tags, and tags with their attributes.
_TOKEN = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|\Z))"
    r"|<(script|style|textarea|title|xmp|iframe)\b.*?(?:</\1\b[^>]*>|\Z)"
    r"|<(?P<end>/?)(?P<name>[a-z][^\s/>]*+)"
    r"(?:[\s/]++|[^\s/>][^\s/>=]*+"
    r"(?:\s*+=\s*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^\s>\"'][^\s>]*+)?)?)*+",
    re.IGNORECASE | re.DOTALL,
)
# Elements without content, and those that the next one closes.
_SELF_CLOSING = re.compile(
    "area|base|br|col|d[dt]|embed|hr|img|input|li|link|meta|option|p|param|r[pt]|source|tbody|t[dhr]"
    "|tfoot|thead|track|wbr",
    re.IGNORECASE,
)

# Private characters, removed from every page, so that no text can forge one.
ESCAPE, ID_START, ID_END, ANCHOR_START, ANCHOR_END = (
    "\ue000",
    "\ue001",
    "\ue002",
    "\ue003",
    "\ue004",
)

# Controls, what changes the direction of text or cannot be seen, private and tag characters.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ue000-\uf8ff\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
_TAG = re.compile(r"<(/?)([A-Za-z][^\s/>]*)(?:[^\"'>]|\"[^\"]*\"|'[^']*')*>")
_ESCAPED = re.compile(r"<[^<>]*>|\\(?=[!-/:-@\[-`{-~])")  # in a heading: anchors, and escapes
_IDENTIFIER = re.compile(r"[^\s\"<>&{}]+")
_CODE_TAGS = frozenset({"pre", "code", "kbd", "samp", "tt"})
# In text as HTML: what Markdown would read as markup, and the converter does not escape.
_MARKUP = re.compile(r"&lt;|[\[*`]|(?<![\w&;])_|_(?!\w)|\\(?=[!-/:-@\[-`{-~])|&amp;(?=#?\w+;)")
_CHARSET = re.compile(
    rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w.:-]+)|<\?xml[^>]+encoding\s*=\s*[\"']([\w.:-]+)",
    re.IGNORECASE,
)
CHARSET_BYTES = 4096  # the HTML standard looks at 1,024; some pages have long comments before it
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# As browsers do, because servers mean these (https://encoding.spec.whatwg.org/#names-and-labels).
REAL_CHARSETS = {
    "ascii": "windows-1252",
    "us-ascii": "windows-1252",
    "iso-8859-1": "windows-1252",
    "latin1": "windows-1252",
    "iso-8859-9": "windows-1254",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "x-sjis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
}
SEVEN_BIT_CHARSETS = ("utf-16", "iso-2022")  # valid as UTF-8 without being it
# Python decodes these, browsers do not: what they write is text that no reader of the page sees.
FOREIGN_CHARSETS = frozenset({"idna", "punycode", "raw-unicode-escape", "unicode-escape", "utf-7"})

_VERSIONS = (
    re.compile(r"\bversion\s+(?:of\s+)?([a-z]{0,12}\d[\w.]*\w)", re.IGNORECASE),
    re.compile(r"\s(\d+\.\d+(?:\.\d+)*)\s+documentation\b", re.IGNORECASE),
    re.compile(r"\b((?:first|second|third|\d+(?:st|nd|rd|th)) edition)\b", re.IGNORECASE),
)
VERSION_CHARACTERS = 1000  # of the text: a version further down is of something else

OPTIONS = ConversionOptions(
    autolinks=False,
    extract_metadata=False,
    expand_abbreviations=False,
    compact_tables=True,
    max_depth=MAX_DEPTH,
)


def is_too_deep(text: str) -> bool:
    """Return whether a page has more open elements than it is parsed with.

    Only the end tag of an open element closes one, and comments and attributes close none.
    """
    is_foreign = "<svg" in text.lower() or "<math" in text.lower()  # where text is not raw
    open_elements: Counter[str] = Counter()
    depth = formatting = 0
    for match in _TOKEN.finditer(text):
        name = match["name"]
        if name is None:
            # What is not a comment in a script may hide start tags here.
            depth += len(_OPENED.findall(match[0])) if is_foreign else 0
        elif not _SELF_CLOSING.fullmatch(name):
            name = name.lower()
            step = 1 if not match["end"] else -1 if open_elements[name] else 0
            open_elements[name] += step
            depth += step
            formatting += step if name in _FORMATTING else 0
        if depth > MAX_OPEN_ELEMENTS or formatting > MAX_OPEN_FORMATTING:
            return True
    return False


class HtmlPage:
    """A parsed web page; `url` is its address after redirects.

    `links` are the absolute addresses that it links to, `version` is what it states near its top.
    `original` is the file that it was read from: its front matter names this, and not the address.
    """

    def __init__(self, text: str, url: str, *, original: str = "") -> None:
        parser = self._parser = LexborHTMLParser(_INVISIBLE.sub("", text))
        base = parser.css_first("base[href]")
        self.url = url
        self._original = original
        self._base = urljoin(url, base.attributes.get("href") or "") if base else url
        title = parser.css_first("title")
        self.title = " ".join(title.text().split()) if title else ""
        addresses = (self._absolute(link.attributes.get("href")) for link in parser.css("a[href]"))
        self.links = tuple(dict.fromkeys(address for address in addresses if address))
        self._content = self._main()
        top = f"{self.title}\n{self._content.text(separator=' ')[:VERSION_CHARACTERS]}"
        found = (pattern.search(top) for pattern in _VERSIONS)
        self.version = next((match[1] for match in found if match), "")

    def convert(self, resolve: LinkResolver, targets: Collection[str]) -> str:
        """Return it as Markdown.

        `targets` are the ids that pages of the import link to: they are kept wherever they are, and
        those of headings always. Changes this object: call it last.
        """
        content = self._content
        _lower_nested_headings(content)
        _mark_ids(content, targets)
        self._rewrite_links(content, resolve)
        for tag, symbol in (("sup", "^"), ("sub", "_")):  # 2^8 is not 28
            for node in content.css(tag):
                if node.css_first("a") is None:  # a footnote
                    _insert_first(node, symbol)
        markdown = convert(_escape_markup(content.html or ""), OPTIONS).content or ""
        return self._finish(markdown)

    def _absolute(self, href: str | None) -> str:
        try:
            return urljoin(self._base, (href or "").strip())
        except ValueError:
            return ""

    def _main(self) -> LexborNode:
        """Return the element with the text, without what a reader of the page does not see."""
        body = self._parser.body or self._parser.root
        assert body is not None  # noqa: S101  # the parser makes one for every text
        hide(self._parser, body)
        for node in body.css(f"{REMOVED}, {PAGE_FRAMES}"):
            node.decompose()
        for node in list(body.traverse(include_text=True)):
            if node.is_comment_node:
                node.remove()
        wanted = len(body.css(HEADINGS)) * MIN_HEADINGS_SHARE
        for selector in MAIN_ELEMENTS:
            found = body.css(selector)
            if len(found) != 1:
                continue
            has_title = "main" in selector and found[0].css_first("h1") is not None
            if has_title or len(found[0].css(HEADINGS)) >= wanted:
                return found[0]
        return body

    def _rewrite_links(self, content: LexborNode, resolve: LinkResolver) -> None:
        for link in content.css("a[href]"):
            address = self._absolute(link.attributes.get("href"))
            is_file = bool(self._original) and address.startswith("file:")
            if address.startswith(("https:", "http:")) or is_file:
                address = resolve(address)
                if address:
                    link.attrs["href"] = address
            elif not address.startswith("mailto:"):  # `javascript:`, `data:`
                address = ""
            if not address:
                del link.attrs["href"]
        for image in content.css("img"):
            address = self._absolute(image.attributes.get("src"))
            if address.startswith(("https:", "http:")):
                image.attrs["src"] = address
            else:
                image.decompose()

    def _finish(self, markdown: str) -> str:
        markdown = markdown.replace(ESCAPE, "\\")
        markdown = re.sub(f" ?{ID_START}(.*?){ID_END}", r" {#\1}", markdown)
        markdown = re.sub(f"{ANCHOR_START}(.*?){ANCHOR_END}", r'<a id="\1"></a>', markdown)
        markdown = "\n".join(line.rstrip() for line in markdown.strip().split("\n"))
        first = re.search(r"^# (.+?)(?: \{#[^}\s]+\})?$", markdown, re.MULTILINE)
        heading = _ESCAPED.sub("", first[1]) if first and self._original else ""
        title = self.title or heading or self._original or self.url
        if title and not re.search(r"^# ", markdown, re.MULTILINE):
            markdown = f"# {_escape_line(title)}\n\n{markdown}"
        place = (
            f"original: {_yaml(self._original)}" if self._original else f"url: {_yaml(self.url)}"
        )
        return f"---\ntitle: {_yaml(title)}\n{place}\n---\n\n{markdown}\n"


def relative_link(current: str, path: str, fragment: str) -> str:
    """Return how a page links to a page of the same import, or to a part of it or of itself."""
    anchor = f"#{fragment}" if fragment else ""
    if path == current and anchor:
        return anchor
    relative = posixpath.relpath(path, posixpath.dirname(current) or ".")
    return quote(relative, safe="/-._~!$&'*+,;=@") + anchor


def text_page(text: str, url: str) -> str:
    """Return Markdown or plain text from the web, with its address in the front matter."""
    text = _INVISIBLE.sub("", text).replace("\r\n", "\n").strip()
    if text.startswith("---\n") and "\n---" in text[4:]:
        text = text[4:].partition("\n---")[2].partition("\n")[2].strip()
    return f"---\nurl: {_yaml(url)}\n---\n\n{text}\n"


def decode(body: bytes, content_type: str) -> str:
    """Return the text of a page.

    Text that is valid UTF-8 beyond ASCII is UTF-8, whatever the server and the page declare.
    """
    for mark, charset in BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return body.removeprefix(mark).decode(charset, "replace")
    declared = _declared_charsets(body, content_type)
    if not any(charset.startswith(SEVEN_BIT_CHARSETS) for charset in declared[:1]):
        declared = ["utf-8", *declared]
    for charset in [*declared, "windows-1252"]:
        try:
            return body.decode(REAL_CHARSETS.get(charset, charset))
        except (UnicodeError, LookupError):
            continue
    return body.decode("utf-8", "replace")


def undecodable(body: bytes) -> str:
    """Return why a page of a file cannot be decoded; "": it can.

    A guess, as browsers make it for pages that declare nothing, may be text that nobody wrote.
    """
    if body.startswith(tuple(mark for mark, _ in BYTE_ORDER_MARKS)):
        return ""
    declared = _declared_charsets(body, "")
    for charset in ["utf-8", *declared]:
        try:
            body.decode(REAL_CHARSETS.get(charset, charset))
        except (UnicodeError, LookupError):
            continue
        return ""
    return f"not valid {declared[0]}" if declared else "not UTF-8, and it declares no encoding"


def _declared_charsets(body: bytes, content_type: str) -> list[str]:
    header = re.search(r"charset\s*=\s*[\"']?([\w.:-]+)", content_type, re.IGNORECASE)
    meta = _CHARSET.search(body[:CHARSET_BYTES])
    names = [header[1]] if header else []
    if meta:
        names.append((meta[1] or meta[2]).decode("ascii"))
    return [name.lower() for name in names if _is_for_the_web(name)]


def _is_for_the_web(charset: str) -> bool:
    """Return whether this may be an encoding of web pages; an unknown one is left to `decode`."""
    try:
        return codecs.lookup(charset).name.replace("_", "-") not in FOREIGN_CHARSETS
    except LookupError:
        return True


def _lower_nested_headings(content: LexborNode) -> None:
    """Give an `h1` of a section in a section with one the level that readers see."""
    headings = [
        heading
        for heading in content.css("h1")
        if heading.parent is not None and heading.parent.tag in SECTIONS
    ]
    titled = {heading.parent.mem_id for heading in headings if heading.parent is not None}
    for heading in headings:
        level = min(LOWEST_LEVEL, sum(node.mem_id in titled for node in _parents(heading)))
        if level > 1:
            inner = (heading.html or "").removeprefix("<h1").removesuffix("h1>")
            html = f"<h{level}{inner}h{level}>"
            lowered = LexborHTMLParser(html).css_first(f"h{level}")
            if lowered is not None:
                heading.replace_with(lowered)


def _mark_ids(content: LexborNode, targets: Collection[str]) -> None:
    """Write the ids of headings and of link targets into the text, between private characters."""
    marked: set[str] = set()
    for heading in content.css(HEADINGS):
        ids = [name for name in _heading_ids(heading) if _IDENTIFIER.fullmatch(name)]
        for link in heading.css(f"{PERMALINKS}, a[href]"):
            if link.css_matches(PERMALINKS) or link.text().strip().lower() in PERMALINK_TEXTS:
                link.decompose()
        for name in ids[1:]:
            if name in targets and name not in marked:
                _insert_first(heading, f"{ANCHOR_START}{name}{ANCHOR_END}")
                marked.add(name)
        if ids and ids[0] not in marked:
            heading.insert_child(f" {ID_START}{ids[0]}{ID_END}")
            marked.add(ids[0])
    for node in content.css("[id], a[name]"):
        name = node.attributes.get("id") or node.attributes.get("name") or ""
        if name not in targets or name in marked or not _IDENTIFIER.fullmatch(name):
            continue
        if not any(parent.tag in _CODE_TAGS for parent in _parents(node)):
            _insert_first(node, f"{ANCHOR_START}{name}{ANCHOR_END}")
            marked.add(name)


def _insert_first(node: LexborNode, text: str) -> None:
    first = node.child
    if first is not None:
        first.insert_before(text)
    else:
        node.insert_child(text)


def _heading_ids(heading: LexborNode) -> list[str]:
    """Return the ids of a heading, first the one that the page itself links to.

    They are its own, those of anchors in it and before it, and that of the section that it begins.
    """
    permalinks = (link.attributes.get("href") or "" for link in heading.css(PERMALINKS))
    ids = [href.removeprefix("#") for href in permalinks if href.startswith("#")]
    elements = [heading, *heading.css("[id], a[name]")]
    before = _previous(heading)
    while before is not None and before.tag in {"a", "span"} and not before.text().strip():
        elements.append(before)
        before = _previous(before)
    parent = heading.parent
    if parent is not None and before is None and parent.tag in {*SECTIONS, "div"}:
        elements.append(parent)
    for element in elements:
        ids += [element.attributes.get("id") or "", element.attributes.get("name") or ""]
    return [name for name in dict.fromkeys(ids) if name]


def _previous(node: LexborNode) -> LexborNode | None:
    """Return the element before a node, unless there is text between them."""
    before = node.prev
    while before is not None and (
        before.is_comment_node or (before.is_text_node and not before.text().strip())
    ):
        before = before.prev
    return before if before is None or before.is_element_node else None


def _parents(node: LexborNode) -> Iterator[LexborNode]:
    current: LexborNode | None = node
    while current is not None:
        yield current
        current = current.parent


def _escape_markup(html: str) -> str:
    """Mark the characters of text that Markdown would read as markup; code is left alone."""
    parts: list[str] = []
    depth = end = 0
    for tag in _TAG.finditer(html):
        text = html[end : tag.start()]
        parts += [text if depth else _MARKUP.sub(rf"{ESCAPE}\g<0>", text), tag[0]]
        if tag[2].lower() in _CODE_TAGS:
            depth = max(0, depth - 1) if tag[1] else depth + 1
        end = tag.end()
    return "".join([*parts, html[end:]])


def _escape_line(text: str) -> str:
    return re.sub(r"[\\`*_\[\]<>]", r"\\\g<0>", text)


def _yaml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # a JSON string is a YAML string
