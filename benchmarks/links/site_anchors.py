"""Compare anchors and links with the site generators themselves, on real sites.

    python benchmarks/links/site_anchors.py GENERATOR SITE --tools DIRECTORY

DIRECTORY has the generators: a virtual environment `py` with Python-Markdown, MkDocs,
pymdown-extensions and MyST-Parser, and `node_modules` with markdown-it, markdown-it-anchor,
markdown-it-attrs, markdown-it-emoji, @mdit-vue/shared, unified, remark-parse, remark-gfm,
mdast-util-to-string and github-slugger. `hugo`, and `ruby` with kramdown-parser-gfm, come from the
system. mdBook has no package to run: its rules are restated here.

Each page of the site is rendered, and the ids in its HTML are the truth. Two sets are judged: the
links of the site that have an anchor, and probes: for each page all anchors that any generator
would make of its headings, so that many of them are wrong on purpose.
"""

import argparse
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from html import unescape
from pathlib import Path

from benchmarks.common.measure import print_table
from ubp.core.model import FilePath
from ubp.markdown.document import read_head
from ubp.markdown.parse import parse_markdown
from ubp.markdown.sites.anchors import PageAnchors
from ubp.markdown.sites.detect import site_anchors
from ubp.markdown.sites.site import Site
from ubp.search.graph import open_graph
from ubp.workspace import Workspace

Ids = dict[str, set[str]]
Render = Callable[[Mapping[str, str], Path], Ids]

VALUE = r"\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>]+))"
ID = re.compile(rf"<[a-zA-Z][^<>]*?\sid{VALUE}|<a\s(?:[^<>]*?\s)?name{VALUE}")

PYTHON_MARKDOWN = """
import json, sys, markdown
names = ["toc", "tables", "md_in_html", "footnotes", "def_list", "admonition"]
names += ["pymdownx.superfences", "pymdownx.details", "pymdownx.tabbed"]
names += sys.argv[1].split(",") if sys.argv[1] else []
pages = json.load(sys.stdin)
html = {path: markdown.markdown(text, extensions=names) for path, text in pages.items()}
json.dump(html, sys.stdout)
"""
MYST = """
import json, re, sys
from docutils.core import publish_doctree
from myst_parser.parsers.docutils_ import Parser
extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath", "amsmath",
              "fieldlist", "html_admonition", "html_image", "replacements", "smartquotes",
              "strikethrough", "substitution", "tasklist"]
ids = {}
for path, text in json.load(sys.stdin).items():
    # directives of sphinx-design and of the site, which contain Markdown
    text = re.sub(r"\\{(?:myst-example|myst-to-html|grid(?:-item)?)\\}", "{note}", text)
    document = publish_doctree(text, parser=Parser(), settings_overrides={
        "myst_heading_anchors": int(sys.argv[1] or 0), "myst_enable_extensions": extensions,
        "report_level": 5, "halt_level": 5, "raw_enabled": False, "file_insertion_enabled": False})
    targets = [name for name, explicit in document.nametypes.items() if explicit]
    ids[path] = [*getattr(document, "myst_slugs", {}), *targets]
json.dump(ids, sys.stdout)
"""
NODE = r"""
import MarkdownIt from 'markdown-it'
import anchor from 'markdown-it-anchor'
import attrs from 'markdown-it-attrs'
import { full as emoji } from 'markdown-it-emoji'
import { slugify } from '@mdit-vue/shared'
import GithubSlugger from 'github-slugger'
import { unified } from 'unified'
import remarkParse from 'remark-parse'
import remarkGfm from 'remark-gfm'
import { toString } from 'mdast-util-to-string'
const shown = (tokens) => tokens.filter((t) => !['html_inline', 'emoji'].includes(t.type))
const vitepress = MarkdownIt({ html: true }).use(attrs).use(emoji).use(anchor, {
  slugify, getTokensText: (tokens) => shown(tokens).map((t) => t.content).join('') })
const docusaurus = (text) => {
  const slugger = new GithubSlugger()
  const ids = []
  const visit = (node) => {
    if (node.type === 'heading') {
      const children = node.children.filter((child) => child.type !== 'html')
      const title = toString(children.length ? children : node)
      const own = /\{#([^{}\s]+)\}\s*$/.exec(title)
      ids.push(`<a id="${own ? own[1] : slugger.slug(title)}">`)
    }
    if (node.type === 'html') ids.push(node.value)
    for (const child of node.children ?? []) visit(child)
  }
  visit(unified().use(remarkParse).use(remarkGfm).parse(text))
  return ids.join('')
}
const render = process.argv[2] === 'vitepress' ? (text) => vitepress.render(text) : docusaurus
let input = ''
for await (const part of process.stdin.setEncoding('utf8')) input += part
const pages = JSON.parse(input)
const html = Object.entries(pages).map(([path, text]) => [path, render(text)])
console.log(JSON.stringify(Object.fromEntries(html)))
"""
KRAMDOWN = """
require "json"
require "kramdown"
require "kramdown-parser-gfm"
pages = JSON.parse($stdin.read)
html = pages.to_h { |path, text| [path, Kramdown::Document.new(text, input: "GFM").to_html] }
puts JSON.generate(html)
"""


def main() -> None:
    """Print a table of both sets, then examples of each kind of error."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("generator", choices=RENDERERS)
    parser.add_argument("site", type=Path)
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--examples", type=int, default=5)
    parser.add_argument("--folder", default="", help="judge only pages below this folder")
    parser.add_argument("--options", default="", help="extensions, or the depth of MyST's anchors")
    options = parser.parse_args()
    with Workspace.open(str(options.site)) as workspace:
        view = workspace.session.view()
        graph = open_graph(view)
        pages = [
            path
            for path in view.document_paths()
            if (site := graph.sites.of(path))
            and site.style.name == options.generator
            and path.startswith(options.folder)
        ]
        raw = {path: data or b"" for path, data in view.read(pages).items()}
        edges = [edge for edge in graph.all_edges() if edge.link.anchor and edge.source in raw]
        sites = {path: graph.sites.of(path) for path in pages}
        if options.generator == "hugo":  # Debian's makes no anchors of terms
            sites = {path: site and site._replace(options=()) for path, site in sites.items()}
    texts = {
        path: data[read_head(data, ()).body :].decode("utf-8", "replace").replace("\r\n", "\n")
        for path, data in raw.items()
    }
    ids = RENDERERS[options.generator](texts, options.tools, options.options)
    anchors = {
        path: parse_markdown(data, read_head(data, ()).body).anchors for path, data in raw.items()
    }
    links = Judgement("links with an anchor")
    for edge in edges:
        target, anchor = edge.resolution.target, edge.link.anchor or ""
        if target in ids and anchor not in {"", "top"} and not _is_composed(anchors[target]):
            # the same names again, for Hugo without those of terms
            is_found = bool(edge.resolution.has_anchor)
            if options.generator == "hugo" and anchor not in ids[target]:
                is_found = is_found and anchor in site_anchors(anchors[target], sites[target])
            name = f"{edge.source}:{edge.link.line} → {target}#{anchor}"
            links.add(name, is_valid=anchor in ids[target], found=is_found)
    probes = judge_probes(ids, anchors, sites, texts)
    header = ["set", "judged", "broken", "found", "wrong", "missed", "wrong %", "missed %"]
    print_table(f"{options.generator}: {len(pages)} pages", header, [links.row(), probes.row()])
    for judgement in (links, probes):
        for kind, names in (("wrong", judgement.wrong), ("missed", judgement.missed)):
            for name in names[: options.examples]:
                print(f"{judgement.name}, {kind}: {name}")


def judge_probes(
    ids: Ids,
    anchors: Mapping[FilePath, PageAnchors],
    sites: Mapping[FilePath, Site | None],
    texts: Mapping[FilePath, str],
) -> "Judgement":
    """Judge all anchors that any generator would make of the pages' headings."""
    probes = Judgement("probes")
    for path in map(FilePath, ids):
        page = anchors[path]
        accepted = site_anchors(page, sites[path])
        for anchor in site_anchors(page, None) | accepted | ids[path]:
            if not _is_composed(page) and not _is_foreign(anchor, texts[path]):
                is_found = anchor in accepted
                probes.add(f"{path}#{anchor}", is_valid=anchor in ids[path], found=is_found)
    return probes


class Judgement:
    """Counts what UBP finds in a set of anchors against what the generator has."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.judged = self.broken = self.found = 0
        self.wrong: list[str] = []
        self.missed: list[str] = []

    def add(self, name: str, *, is_valid: bool, found: bool) -> None:
        """Count an anchor; `found`: UBP accepts it."""
        self.judged += 1
        self.broken += not is_valid
        self.found += not found
        if is_valid and not found:
            self.wrong.append(name)
        if found and not is_valid:
            self.missed.append(name)

    def row(self) -> list[str]:
        """Return the row of the table; shares are of the findings and of the broken ones."""
        counts = [self.judged, self.broken, self.found, len(self.wrong), len(self.missed)]
        shares = (len(self.wrong) / max(1, self.found), len(self.missed) / max(1, self.broken))
        return [self.name, *map(str, counts), *(f"{100 * share:.2f}" for share in shares)]


def _is_composed(page: PageAnchors) -> bool:
    """Return whether a page has anchors of other files, which are not rendered with it."""
    return page.is_generated or bool(page.includes)


def _is_foreign(anchor: str, text: str) -> bool:
    """Return whether an id is not a heading's: of footnotes, block ids, or the generator's own."""
    return anchor.startswith(("^", "fn:", "fnref:", "fn", "__", "markdown-toc-")) or (
        anchor in text and f"^{anchor}" in text
    )


def _ids_of(html: Mapping[str, str]) -> Ids:
    return {path: {unescape("".join(m)) for m in ID.findall(text)} for path, text in html.items()}


def _run(command: list[str], pages: Mapping[str, str], folder: Path | None = None) -> str:
    return subprocess.run(
        command, input=json.dumps(pages), capture_output=True, check=True, text=True, cwd=folder
    ).stdout


def render_mkdocs(pages: Mapping[str, str], tools: Path, options: str) -> Ids:
    """Return the ids by Python-Markdown."""
    command = [str(tools / "py/bin/python"), "-c", PYTHON_MARKDOWN, options]
    return _ids_of(json.loads(_run(command, pages)))


def render_sphinx(pages: Mapping[str, str], tools: Path, options: str) -> Ids:
    """Return the anchors and targets by MyST-Parser."""
    output = _run([str(tools / "py/bin/python"), "-c", MYST, options], pages)
    raw = _ids_of(pages)  # in HTML, which docutils passes on
    return {path: raw[path] | set(names) for path, names in json.loads(output).items()}


def render_with_node(generator: str) -> Callable[[Mapping[str, str], Path, str], Ids]:
    """Return a function that returns the ids by markdown-it-anchor or github-slugger."""

    def render(pages: Mapping[str, str], tools: Path, _: str) -> Ids:
        script = tools / "site_anchors.mjs"
        script.write_text(NODE, "utf-8")
        return _ids_of(json.loads(_run(["node", script.name, generator], pages, tools)))

    return render


def render_jekyll(pages: Mapping[str, str], _: Path, __: str) -> Ids:
    """Return the ids by kramdown with GitHub's Markdown."""
    return _ids_of(json.loads(_run(["ruby", "-e", KRAMDOWN], pages)))


def render_hugo(pages: Mapping[str, str], _: Path, options: str) -> Ids:
    """Return the ids by Hugo, whose shortcodes are cut out of the pages."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "layouts/_default").mkdir(parents=True)
        (root / "layouts/_default/single.html").write_text("{{ .Content }}", "utf-8")
        settings = "disableKinds = ['taxonomy', 'home', 'RSS', 'sitemap', 'section']\n"
        settings += "[markup.goldmark.renderer]\nunsafe = true\n"
        (root / "config.toml").write_text(settings + options.replace(";", "\n"), "utf-8")
        (root / "content").mkdir()
        for number, text in enumerate(pages.values()):
            content = re.sub(r"\{\{[<%]", "{ {", text)
            (root / f"content/p{number}.md").write_text(f"---\ntitle: x\n---\n{content}", "utf-8")
        subprocess.run(["hugo", "--quiet"], cwd=root, check=False, capture_output=True)
        html = {
            path: (root / f"public/p{number}/index.html").read_text("utf-8")
            for number, path in enumerate(pages)
            if (root / f"public/p{number}/index.html").exists()  # else an error of an old version
        }
        shutil.rmtree(root / "public")
    return _ids_of(html)


def render_mdbook(pages: Mapping[str, str], tools: Path, _: str) -> Ids:
    """Return the ids by mdBook's documented rule, from headings that another parser finds."""
    script = (
        "import json, sys\nfrom markdown_it import MarkdownIt\n"
        "md = MarkdownIt('commonmark').enable(['table', 'strikethrough'])\nheadings = {}\n"
        "for path, text in json.load(sys.stdin).items():\n"
        "    tokens, found = md.parse(text), []\n"
        "    for a, b in zip(tokens, tokens[1:]):\n"
        "        if a.type == 'heading_open':\n"
        "            found.append(''.join(c.content for c in b.children"
        " if c.type in ('text', 'code_inline')))\n"
        "    headings[path] = [found, md.render(text)]\n"
        "json.dump(headings, sys.stdout)\n"
    )
    found = json.loads(_run([str(tools / "py/bin/python"), "-c", script], pages))
    ids: Ids = {}
    for path, (titles, html) in found.items():
        ids[path] = _ids_of({path: html})[path]
        used: set[str] = set()
        for title in titles:
            own = re.search(r"\{#([\w-]+)\}$", title.strip())
            letters = "".join(
                letter if letter.isalnum() or letter in "_-" else "-" if letter.isspace() else ""
                for letter in title.strip().lower()
            )
            name, number = letters or "section", 0
            while name in used:
                number += 1
                name = f"{letters or 'section'}-{number}"
            if own:
                name = own[1]
            else:
                used.add(name)
            ids[path].add(name)
    return ids


RENDERERS: dict[str, Callable[[Mapping[str, str], Path, str], Ids]] = {
    "mkdocs": render_mkdocs,
    "vitepress": render_with_node("vitepress"),
    "docusaurus": render_with_node("docusaurus"),
    "hugo": render_hugo,
    "mdbook": render_mdbook,
    "jekyll": render_jekyll,
    "sphinx": render_sphinx,
}


if __name__ == "__main__":
    main()
