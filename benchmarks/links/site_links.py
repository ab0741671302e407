"""Compare links to pages with what site generators themselves find broken, on real sites.

    python benchmarks/links/site_links.py GENERATOR SITE --tools DIRECTORY [--changes 200]
        [--seed 14]

SITE is a clone. In a copy of it, targets of links that a regular expression finds are changed at
random, so that many are broken, and the generator builds the copy, with a configuration that has no
theme and no plug-ins: VitePress and Docusaurus report dead links themselves; of Hugo's site, every
link in the HTML of a page is looked up among the files. `ubp check --rule broken-link` reads the
same copy. DIRECTORY has `node_modules` with `vitepress`, or `@docusaurus/core`,
`@docusaurus/preset-classic`, `react` and `react-dom`; `hugo` comes from the system.

A link counts by its page and the last part of its target. Not judged are links that the generator
does not verify: to other files than pages, and those that it cannot read.
"""

import argparse
import json
import random
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from benchmarks.common.measure import print_table
from ubp.checks.run import check_target
from ubp.index.session import Target
from ubp.workspace import Workspace

LINK = re.compile(r"(?<!!)\[[^\[\]\n]*\]\((?P<target>(?!\w+:|//|#)[^()\s#]+)(?:#[^()\s]*)?\)")
FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
# What the last part of a link to a file that is not a page ends with.
FILE = re.compile(r"\.(?!md$|mdx$|html$)[a-z][a-z0-9]{1,4}$", re.IGNORECASE)
HREF = re.compile(r"<a\s(?:[^<>]*?\s)?href=(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))")
SUFFIX = re.compile(r"\.(?:md|mdx|html)$")

Broken = set[tuple[str, str]]
"""Pages from the root, without suffix, and the last parts of the targets of their broken links."""

# Scripts and styles of a VitePress page, which import components.
BLOCK = re.compile(r"^<(script|style)\b.*?(?:</\1>|/>)[ \t]*$", re.MULTILINE | re.DOTALL)

VITEPRESS = "export default { srcDir: SOURCE, cleanUrls: true, markdown: { languages: [] } }"
DOCUSAURUS = """
module.exports = {
  title: 'x', url: 'https://example.org', baseUrl: '/', onBrokenLinks: 'warn',
  onBrokenAnchors: 'ignore',
  markdown: { hooks: { onBrokenMarkdownLinks: 'warn', onBrokenMarkdownImages: 'ignore' } },
  presets: [['classic', { docs: { path: SOURCE, routeBasePath: '/' }, blog: false }]],
}
"""


def main() -> None:
    """Print a table, then examples of each kind of error."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("generator", choices=BUILDERS)
    parser.add_argument("site", type=Path)
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--source", default="", help="the folder of pages, from the root")
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("--examples", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.tools.resolve()) as folder:
        root = Path(folder) / "site"
        # the other files may be many, and a partial clone may lack some
        subprocess.run(["git", "clone", "-q", "-n", str(options.site), str(root)], check=True)
        checkout = ["git", "checkout", "-q", "HEAD", "--", options.source or "."]
        subprocess.run(checkout, cwd=root, check=True)
        source = root / options.source
        pages = [path for path in sorted(source.rglob("*.md*")) if ".git" not in path.parts]
        links = change_links(pages, options.changes, random.Random(options.seed))
        prepare = PREPARE[options.generator]
        prepare(root, options.source, options.tools.resolve())
        subprocess.run(["git", "add", "-A"], cwd=root, check=True)
        git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org"]
        subprocess.run([*git, "commit", "-qm", "x"], cwd=root, check=True)
        found = find_by_ubp(root, options.source)
        truth, readable = BUILDERS[options.generator](root, options.source)
    # a link to the site's beginning is also part of the frame around each page
    truth = {link for link in truth if link[1] and not FILE.search(link[1])}
    readable |= {page for page, _ in truth}  # a part of other pages is not a page itself
    found = {link for link in found if not FILE.search(link[1]) and link[0] in readable}
    wrong, missed = sorted(found - truth), sorted(truth - found)
    header = ["pages", "links", "broken", "found", "wrong", "missed", "wrong %", "missed %"]
    counts = [len(readable), links, len(truth), len(found), len(wrong), len(missed)]
    shares = (len(wrong) / max(1, len(found)), len(missed) / max(1, len(truth)))
    row = [*map(str, counts), *(f"{100 * share:.2f}" for share in shares)]
    print_table(options.generator, header, [row])
    for kind, examples in (("wrong", wrong), ("missed", missed)):
        for page, target in examples[: options.examples]:
            print(f"{kind}: {page}: {target}")


def change_links(pages: Iterable[Path], changes: int, chance: random.Random) -> int:
    """Change the targets of some links, and return the number of all."""
    places: list[tuple[Path, int]] = []
    for path in pages:
        text = path.read_text("utf-8")
        fences = [match.span() for match in FENCE.finditer(text)]
        for match in LINK.finditer(text):
            name = match["target"].rstrip("/").rpartition("/")[2]
            is_code = any(start <= match.start() < end for start, end in fences)
            if not is_code and name and not FILE.search(name):
                end = match.end("target") - len(match["target"]) + len(match["target"].rstrip("/"))
                suffix = SUFFIX.search(name)
                places.append((path, end - len(suffix[0] if suffix else "")))
    chosen = sorted(chance.sample(places, min(changes, len(places))), reverse=True)
    for path, offset in chosen:
        text = path.read_text("utf-8")
        path.write_text(f"{text[:offset]}x{text[offset:]}", "utf-8")
    return len(places)


def page_name(path: str) -> str:
    """Return the path of a page without its suffix."""
    return SUFFIX.sub("", path)


def last_part(target: str) -> str:
    """Return the last part of a link's target, without anchor and suffix of a page."""
    name = unquote(urlsplit(unescape(target)).path).rstrip("/").rpartition("/")[2]
    return SUFFIX.sub("", name).lower()


def find_by_ubp(root: Path, source: str) -> Broken:
    """Return the links to pages that UBP finds broken."""
    with Workspace.open(str(root)) as workspace:
        findings = check_target(workspace.session, Target(), rules=("broken-link",)).findings
    return {
        (page_name(finding.filepath), last_part(finding.about.target))
        for finding in findings
        if finding.filepath.startswith(source) and finding.about.kind in {"markdown", "definition"}
    }


def prepare_vitepress(root: Path, source: str, tools: Path) -> None:
    """Write a configuration of the folder of pages alone."""
    shutil.rmtree(root / ".vitepress", ignore_errors=True)
    (root / ".vitepress").mkdir()
    config = VITEPRESS.replace("SOURCE", json.dumps(source or "."))
    (root / ".vitepress/config.mjs").write_text(config)
    (root / "package.json").write_text('{"type": "module"}')
    (root / "node_modules").symlink_to(tools / "node_modules")
    (root / ".gitignore").write_text("node_modules\n")
    for path in (root / source).rglob("*.md"):
        text = path.read_text("utf-8")
        path.write_text(BLOCK.sub("", text), "utf-8")


def build_vitepress(root: Path, source: str) -> tuple[Broken, set[str]]:
    """Return the dead links that VitePress reports, and the pages."""
    output = _output(["node_modules/.bin/vitepress", "build", "."], root)
    found = re.findall(r"Found dead link (\S+) in file (\S+)", output)
    if not found and "build complete" not in output:
        raise SystemExit(output[-3000:])
    pages = {
        page_name(str(path.relative_to(root)))
        for path in (root / source).rglob("*.md")
        if "node_modules" not in path.parts
    }
    return {(page_name(f"{source}/{page}".lstrip("/")), _vite(url)) for url, page in found}, pages


def _vite(url: str) -> str:
    return last_part(url.removesuffix("/index"))


def prepare_docusaurus(root: Path, source: str, tools: Path) -> None:
    """Write a configuration of the folder of pages alone."""
    site = root / "website"
    shutil.rmtree(site, ignore_errors=True)
    site.mkdir()
    config = DOCUSAURUS.replace("SOURCE", json.dumps(f"../{source}"))
    (site / "docusaurus.config.js").write_text(config)
    (site / "package.json").write_text('{"name": "x", "private": true}')
    for folder in (root, site):
        (folder / "node_modules").symlink_to(tools / "node_modules")
    (root / ".gitignore").write_text("node_modules\n.docusaurus\nbuild\n")


def build_docusaurus(root: Path, _: str) -> tuple[Broken, set[str]]:
    """Return the broken links that Docusaurus reports, and the pages that it publishes."""
    site = root / "website"
    output = _output(["node_modules/.bin/docusaurus", "build", "--no-minify"], site)
    if "Generated static files" not in output:
        raise SystemExit(output[-5000:])
    files = {}
    for path in (site / ".docusaurus/docusaurus-plugin-content-docs/default").glob("*.json"):
        metadata = json.loads(path.read_text())
        if "permalink" in metadata and "source" in metadata:
            file = metadata["source"].removeprefix("@site/../")
            files[metadata["permalink"].rstrip("/") or "/"] = page_name(file)
    broken: Broken = set()
    for url, file in re.findall(
        r"[Mm]arkdown link with URL `([^`]+)` in source file \"(?:\.\./)*([^\"]+)\"", output
    ):
        broken.add((page_name(file.removeprefix(str(root) + "/")), last_part(url)))
    page = ""
    for line in output.split("\n"):
        if match := re.search(r"[Bb]roken link on source page path = (\S+?):?$", line.strip()):
            page = files.get(match[1].rstrip("/") or "/", "")
        elif (match := re.search(r"-> linking to (\S+)", line)) and page:
            broken.add((page, last_part(match[1])))
    return broken, set(files.values())


def prepare_hugo(root: Path, source: str, _: Path) -> None:
    """Write a configuration of the folder of pages alone, and take shortcodes out of the pages."""
    for name in ("layouts", "config", "themes", "go.mod", "hugo.toml", "hugo.yaml", "config.toml"):
        path = root / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for kind in ("single", "list"):
        layout = root / f"layouts/_default/{kind}.html"
        layout.parent.mkdir(parents=True, exist_ok=True)
        layout.write_text("<main>{{ .Content }}</main>")
    config = f"baseURL = 'https://example.org/'\ncontentDir = '{source}'\n"
    config += "disableKinds = ['sitemap', 'taxonomy', 'term']\n"
    (root / "hugo.toml").write_text(config + "[markup.goldmark.renderer]\nunsafe = true\n")
    for path in (root / source).rglob("*.md"):
        path.write_text(re.sub(r"\{\{[<%]", "{ {", path.read_text("utf-8")), "utf-8")


def build_hugo(root: Path, source: str) -> tuple[Broken, set[str]]:
    """Return the links in the HTML of pages that no file answers to, and the pages with HTML."""
    output = _output(["hugo", "--config", "hugo.toml", "--destination", "public"], root)
    public = root / "public"
    if not public.exists():
        raise SystemExit(output[-3000:])
    listed = _output(["hugo", "list", "all", "--config", "hugo.toml"], root)
    if HUGO_HEADER not in listed:
        raise SystemExit(output[-1500:] + listed[-1500:])
    broken: Broken = set()
    pages: set[str] = set()
    for path, address in _hugo_pages(listed, source):
        html = public / address.strip("/") / "index.html"
        if html.exists():
            pages.add(page_name(path))
            for groups in HREF.findall(html.read_text("utf-8")):
                href = unescape("".join(groups))
                target = urlsplit(urljoin(f"https://example.org{address}", href))
                if target.hostname != "example.org" or not href or href.startswith("#"):
                    continue
                place = public / unquote(target.path).strip("/")
                is_link = re.search(r"\w", last_part(href))  # else it is an example's template
                if is_link and not (place / "index.html").exists() and not place.is_file():
                    broken.add((page_name(path), last_part(href)))
    return broken, pages


def _hugo_pages(listed: str, source: str) -> Iterator[tuple[str, str]]:
    import csv

    for row in csv.DictReader(listed.split("\n")[listed.split("\n").index(HUGO_HEADER) :]):
        if row["path"].startswith(source):
            yield row["path"], urlsplit(row["permalink"]).path


HUGO_HEADER = "path,slug,title,date,expiryDate,publishDate,draft,permalink"


def _output(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout.decode("utf-8", "replace"))


Prepare = Callable[[Path, str, Path], None]
PREPARE: dict[str, Prepare] = {
    "vitepress": prepare_vitepress,
    "docusaurus": prepare_docusaurus,
    "hugo": prepare_hugo,
}
BUILDERS: dict[str, Callable[[Path, str], tuple[Broken, set[str]]]] = {
    "vitepress": build_vitepress,
    "docusaurus": build_docusaurus,
    "hugo": build_hugo,
}

if __name__ == "__main__":
    main()
