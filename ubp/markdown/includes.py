"""The syntaxes by which site generators put a file into a page."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ubp.core.paths import PAGE_SUFFIXES

# A line of a list of files between two lines `--8<--`.
_SNIPPETS = re.compile(
    r"^[ \t]*-+8<-+[ \t]*\n(?P<files>(?:(?![ \t]*-+8<-)[^\n]*\n)+)[ \t]*-+8<-+[ \t]*$",
    re.MULTILINE,
)
_SNIPPET = re.compile(r"^[ \t]*(?P<path>[^\n:;'\"]*[^\n:;'\"\s])", re.MULTILINE)
_IMPORT = re.compile(
    r"^import[ \t]+(?P<name>[A-Z]\w*)[ \t]+from[ \t]+"
    r"[\"'](?:@site/)?(?P<path>[^\"'\n]+\.mdx?)[\"']",
    re.MULTILINE,
)
_COMPONENT = re.compile(r"<([A-Z]\w*)")
# A module of the site with React's components: what they show is not in the page. Vue's rarely make
# headings: 19 of the 39 anchors that are dead in elysiajs/documentation are in pages with some.
_MODULE = re.compile(
    r"^import[ \t]+(?P<names>[\w{}, \t]+?)[ \t]+from[ \t]+"
    r"[\"'](?:\.{1,2}/|@site/)[^\"'\n]+(?<!\.md)(?<!\.mdx)(?<!\.vue)[\"']",
    re.MULTILINE,
)
# The address of a page by its path from the folder of the site's pages, which must exist.
JEKYLL_LINK = "jekyll link"
# The address of a page by its path from the page's folder or that of the pages, or by its name.
HUGO_REF = "hugo ref"
# A page of Sphinx by its path, and one by a label that any page may define.
SPHINX_DOC, SPHINX_TOCTREE, SPHINX_LABEL = "sphinx doc", "sphinx toctree", "sphinx ref"
SPHINX_REFERENCES = frozenset({SPHINX_DOC, SPHINX_TOCTREE, SPHINX_LABEL})
_ROLES = {"doc": SPHINX_DOC, "ref": SPHINX_LABEL}
# A role, or code or a comment, which may have one as an example; a paragraph ends all three.
_ROLE = re.compile(
    r"\{(?P<role>doc|ref)\}`(?P<text>[^`]{1,1000})`(?!`)"
    r"|(?<!`)(?P<code>`+)(?!`)[^\n]*?(?<!`)(?P=code)(?!`)"
    r"|<!--[\s\S]*?(?:-->|\n[ \t]*\n|\Z)"
)
_TOCTREE = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,}|:{3,})\{toctree\}[^\n]*\n"
    # settings, as fields or in YAML
    r"(?:[ \t]*---[ \t]*\n(?:(?![ \t]*---[ \t]*$)[^\n]*\n)*[ \t]*---[ \t]*\n"
    r"|(?:[ \t]*:(?!::)[^\n]*\n)*)"
    r"(?P<pages>(?:(?![ \t]*(?P=fence)[`~:]*[ \t]*$)[^\n]*\n)*)",
    re.MULTILINE,
)
_ENTRY = re.compile(r"^[ \t]*(?P<text>\S(?:[^\n]*\S)?)", re.MULTILINE)
# A title, and in angle brackets what it leads to.
_TITLED = re.compile(r".+<(?P<path>[^<]*)>", re.DOTALL)
# Addresses, patterns (`:glob:`), values of templates and the page itself.
_NO_PATH = re.compile(r"\w+://|[*?\[{}<>\n]|^self$")
_INCLUDES = (
    ("mkdocs", re.compile(r"^[ \t]*-+8<-+[ \t]+[\"'](?P<path>[^\"'\n:;]+)", re.MULTILINE)),
    ("mkdocs", re.compile(r"\{[!*][ \t]*(?P<path>[^!*{}\s]+)[^!*{}\n]*[!*]\}")),
    ("mkdocs", re.compile(r"\{%[ \t]*include(?:-markdown)?[ \t]+[\"'](?P<path>[^\"'\n]+)[\"']")),
    (
        "vitepress",
        re.compile(
            # the title of a tab may follow in brackets, which names have, too: `[id].ts`
            r"^[ \t]*(?P<code><<<)[ \t]*(?P<path>[^\s{}#]+?)(?=[\s{}#]|\[[^\[\]\n]*\][ \t]*$|\Z)",
            re.MULTILINE,
        ),
    ),
    ("vitepress", re.compile(r"<!--[ \t]*@include:[ \t]*(?P<path>[^\s{}#]+?)(?=[\s{}#]|-->)")),
    ("vitepress", re.compile(r"!!!include\([ \t]*(?P<path>[^()\n]*[^()\s])[ \t]*\)!!!")),
    (
        "mdbook",
        re.compile(
            r"(?<!\\)\{\{[ \t]*#(?:rustdoc_)?(?:include|playground)[ \t]+(?P<path>[^\s:{}]+)"
        ),
    ),
    (
        "sphinx",
        re.compile(
            r"^[ \t]*(?:`{3,}|:{3,})\{(?P<code>literal)?include\}[ \t]+(?P<path>\S+)", re.MULTILINE
        ),
    ),
    ("jekyll", re.compile(r"\{%-?[ \t]*include_relative[ \t]+(?P<path>[^\s%{}]+)")),
    (
        "jekyll",
        re.compile(r"\{%-?[ \t]*include[ \t]+(?P<path>[\w@./-]+\.(?:md|markdown))(?=[\s%])"),
    ),
    (
        JEKYLL_LINK,
        re.compile(
            r"\{%-?[ \t]*(?P<code>link)[ \t]+/?(?P<path>[^\s%{}]+\.(?:md|markdown))(?=[ \t]*-?%\})"
        ),
    ),
    # A path that Liquid computes names no file: the anchors of the page are unknown.
    (
        "jekyll",
        re.compile(
            r"\{%-?[ \t]*include(?:_cached)?[ \t]+"
            r"(?P<path>[\w@./-]*\{\{[^{}\n]*\}\}[^\s%]*\.(?:md|markdown))(?=[\s%])"
        ),
    ),
    (
        HUGO_REF,
        re.compile(
            r"\{\{[<%][ \t]*(?P<code>(?:rel)?ref)[ \t]+(?:path[ \t]*=[ \t]*)?"
            # a path with spaces in quotes is not read
            r"(?:[\"`](?P<quoted>)|)(?P<path>[^\"'`#?:=\s{}<>%]+)(?=[\"`#]|(?(quoted)(?!)|\s))"
        ),
    ),
    # A shortcode of the site's own with a page as its argument; `ref` and `relref` are links.
    (
        "hugo",
        re.compile(
            r"\{\{[<%][ \t]*(?!/|(?:rel)?ref\b)[\w./-]+[ \t]+(?:[\w-]+[ \t]*=[ \t]*)?"
            r"[\"'](?P<path>[^\"'\s{}<>]+\.(?:md|markdown))[\"']"
        ),
    ),
)
_MAY_INCLUDE = re.compile(
    r"8<-|\{[!*]|\{%|<<<|@include:|!!!include|\{\{[ \t]*#|include\}|\{\{<|\.mdx?[\"']"
    r"|\{(?:doc|ref|toctree)\}"
)


def imported_pages(text: str) -> frozenset[str]:
    """Return the names under which a page imports others as components."""
    return frozenset(match["name"] for match in _IMPORT.finditer(text))


def shows_module(text: str) -> bool:
    """Return whether a page uses a component of a module of its site, which may make headings."""
    if "import" not in text:
        return False
    names = {
        name for match in _MODULE.finditer(text) for name in re.findall(r"\w+", match["names"])
    }
    return bool(names) and any(match[1] in names for match in _COMPONENT.finditer(text))


class Include(NamedTuple):
    """The inclusion of a file as a page writes it, and the generator whose syntax it is.

    `is_code`: the file is shown as code, or linked, so that its headings are none of the page's.
    `place` is where its text is put: for a component that is imported, its first use.
    """

    generator: str
    path: str
    start: int
    path_start: int
    place: int
    is_code: bool = False

    @property
    def target(self) -> str:
        r"""The path as the generator reads it: `\_`, as Prettier writes, is `_` in JavaScript."""
        return self.path.replace("\\_", "_") if self.generator == "docusaurus" else self.path

    @property
    def is_page(self) -> bool:
        """Whether the file's headings are the page's, too."""
        return not self.is_code and self.path.lower().endswith(PAGE_SUFFIXES)


def find_includes(text: str, start: int = 0) -> Iterator[Include]:
    """Yield the inclusions in a text; those in examples are not left out."""
    if not _MAY_INCLUDE.search(text, start):
        return
    for generator, pattern in _INCLUDES:
        for match in pattern.finditer(text, start):
            is_code = bool(match.groupdict().get("code"))
            yield _include(generator, match, match.start())._replace(is_code=is_code)
    for block in _SNIPPETS.finditer(text, start):
        for match in _SNIPPET.finditer(text, *block.span("files")):
            yield _include("mkdocs", match, match.start("path"))
    if imports := list(_IMPORT.finditer(text, start)):
        uses: dict[str, int] = {}
        for use in _COMPONENT.finditer(text, start):
            uses.setdefault(use[1], use.start())
        for match in imports:
            if match["name"] in uses:
                yield _include("docusaurus", match, uses[match["name"]])
    yield from _sphinx_references(text, start)


def _sphinx_references(text: str, start: int) -> Iterator[Include]:
    """Yield the pages and labels that roles and lists of contents of MyST name."""
    has_roles = "{doc}`" in text or "{ref}`" in text
    for role in _ROLE.finditer(text, start) if has_roles else ():
        if role["role"] and not role["text"].startswith("!"):
            yield from _sphinx_reference(_ROLES[role["role"]], role)
    for toctree in _TOCTREE.finditer(text, start) if "{toctree}" in text else ():
        for entry in _ENTRY.finditer(text, *toctree.span("pages")):
            yield from _sphinx_reference(SPHINX_TOCTREE, entry)


def _sphinx_reference(kind: str, match: re.Match[str]) -> Iterator[Include]:
    titled = _TITLED.fullmatch(match["text"])
    path = titled["path"] if titled else match["text"]
    place = match.start("text") + (titled.start("path") if titled else 0)
    if path and (kind == SPHINX_LABEL or not _NO_PATH.search(path)):
        yield Include(kind, path, match.start(), place, match.start(), is_code=True)


def _include(generator: str, match: re.Match[str], place: int) -> Include:
    return Include(generator, match["path"], match.start(), match.start("path"), place)
