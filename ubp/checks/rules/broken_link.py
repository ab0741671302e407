"""A link points to a page or file that does not exist.

The rule checks wikilinks (`[[Page]]`, `![[Page]]`), which are resolved by path, file name, alias or
title, Markdown links and reference definitions that point to files, images (also `<img>`), files
that a site generator includes in the page, and pages in Jekyll's `{% link a.md %}`, in Hugo's
`{{< ref "a" >}}` and `relref`, and in MyST's `{toctree}`, `{doc}` and `{ref}`. A link that finds
its page only because the case of letters is ignored works on macOS and Windows, but not on GitHub
or on a web server; it is broken, too.

If a site generator publishes the page, links are resolved as that generator does: from its content
and static folders, with or without `.md`, and to the default language where a translation is
missing. The rule skips links that cannot be verified from the repository's files: web links,
addresses that only the generator knows or that its site redirects (`_redirects`, `netlify.toml`,
`vercel.json`, lists in its configuration), macros such as `{{ … }}`, files that a `.gitignore`
names (a build generates them), paths through a submodule or symbolic link, and paths outside the
repository. It also skips links in code, comments and HTML.

With `--staged` or `--base`, only links broken by the change are reported: its own new links, and
links in other pages to files that it removes or renames.

MkDocs publishes the path of a page from the root (`/page.md`) as it is written, unless a setting
(`validation: absolute_links: relative_to_docs`), a hook or a plug-in makes an address of it.

In a site, a link is reported only where something shows that it is broken, such as an earlier
version that had it; `ubp check --unconfirmed` reports the others, too.

What to do: correct the link, or restore its target. If there is a single possible target (the page
was renamed in the same change, only one page has this name, or the path is that of a page but for a
typing error in one of its names), `ubp check --fix` corrects the link.

To ignore a link, add a comment on its line or the line above:
`<!-- ubp: ignore[broken-link] -->`
"""

import re
from collections.abc import Iterator

from ubp.checks.context import RuleContext
from ubp.checks.evidence import RESOLVES_FILES
from ubp.checks.finding import WIKILINKS, Finding, LinkFix
from ubp.checks.rewrite import (
    percent_encode,
    relative_target,
    respell_target,
    rewrite_address,
    rewrite_link,
    rewrite_ref,
)
from ubp.core.languages import without_language
from ubp.core.model import FilePath
from ubp.core.paths import PAGE_SUFFIXES
from ubp.core.text import fold
from ubp.index.link_graph import GraphEdge
from ubp.markdown.resolve import is_file, is_from_source, is_label, is_ref, stem

NAME = "broken-link"
MAX_NAMES = 3
# Links of a page to other files of a folder that are missing, too, and not where a file of the name
# is: the name is a coincidence.
MAX_LOST_BESIDE = 3
# Every folder may have one, so the name does not identify the page.
FOLDER_PAGES = frozenset({"readme", "index"})
_ENDS_TAG = re.compile(r"[\s%{}]")
_LEADING_DOTS = re.compile(r"^(?:\.{0,2}/)+")


def find(context: RuleContext) -> Iterator[Finding]:
    """Yield the links without a target."""
    for edge in context.suspect_links:
        if context.differs_in_case(edge) and edge.resolution.target:
            target = edge.resolution.target
            site = context.graph.sites.of(target)
            is_lower = site is not None and site.style.ignores_case
            message = f"{edge.link.target} and {target} differ in letter case."
            if is_lower:
                message = f"{edge.link.target} has capital letters; the site's addresses have none."
            yield Finding(
                rule=NAME,
                filepath=edge.source,
                line=edge.link.line,
                message=message,
                subject=f"{edge.link.kind} {edge.link.target}",
                column=edge.link.column,
                hint="Web servers and Linux distinguish upper and lower case.",
                about=edge.link,
                related=target,
                fix=None if is_lower else _fix(edge, target, context),
            )
        if context.stays_as_written(edge) and edge.resolution.target:
            text = relative_target(edge.source, edge.resolution.target)
            yield Finding(
                rule=NAME,
                filepath=edge.source,
                line=edge.link.line,
                message=f"{edge.link.target} leads nowhere: MkDocs makes no address of it.",
                subject=f"{edge.link.kind} {edge.link.target}",
                column=edge.link.column,
                hint=f"Did you mean {text}?",
                about=edge.link,
                fix=LinkFix(edge.link, text, edge.resolution.target),
            )
        is_missing = (
            edge.resolution.bucket == "missing"
            or context.lacks_scheme(edge)
            or context.loses_its_page(edge)
        )
        if (
            is_missing
            and not context.is_behind_opaque_folder(edge)
            and not context.names_folder(edge)
            and not context.is_redirected(edge)
            and not context.is_generated(edge)
            and not context.is_localized(edge)
        ):
            renamed = context.renamed_target(edge)
            targets = (renamed,) if renamed else _possible_targets(edge, context)
            fix = None if renamed else _respelt(edge, targets, context)
            if fix:
                targets = (FilePath(fix.target),)
            elif renamed or (len(targets) == 1 and _is_meant(edge, targets[0], context)):
                fix = _fix(edge, targets[0], context)
            yield Finding(
                rule=NAME,
                filepath=edge.source,
                line=edge.link.line,
                message=_message(edge),
                subject=f"{edge.link.kind} {edge.link.target}",
                column=edge.link.column,
                hint=_hint(edge, targets, fix, renamed),
                about=edge.link,
                related=targets[0] if len(targets) == 1 else None,
                fix=fix,
                is_certain=renamed is not None,
            )


def _message(edge: GraphEdge) -> str:
    link = edge.link
    if link.kind in WIKILINKS:
        return f'No page named "{link.target}".'
    if is_label(link):
        return f'No page has the label "{link.target}".'
    return f"{link.target} does not exist."


def _possible_targets(edge: GraphEdge, context: RuleContext) -> tuple[FilePath, ...]:
    if is_label(edge.link):
        return ()
    candidates = edge.resolution.candidates or _similar_targets(edge, context)
    sites = context.graph.sites
    return tuple(
        path
        for path in candidates
        if path != edge.source
        and not sites.is_translation(edge.source, path)
        and (not _is_folder_page(path) or _ends_with_folder(path, edge.link.target))
    )


def _is_folder_page(path: FilePath) -> bool:
    """Return whether many folders have a page of this name, in whatever language."""
    return stem(without_language(path)) in FOLDER_PAGES


def _ends_with_folder(path: FilePath, target: str) -> bool:
    """Return whether a link has the name of a page's folder, too, in front of the page's own."""
    name = _LEADING_DOTS.sub("", target)
    return "/" in name and f"/{path}".endswith(f"/{name}")


def _similar_targets(edge: GraphEdge, context: RuleContext) -> tuple[FilePath, ...]:
    if edge.link.kind not in WIKILINKS:
        path = context.file_from_root(edge)
        return (path,) if path else ()
    if "/" not in edge.link.target:
        return ()
    return context.pages_of_stem(stem(edge.link.target.rstrip("/")))


def _is_meant(edge: GraphEdge, target: FilePath, context: RuleContext) -> bool:
    """Return whether the only file of a name must be meant: a site has links to its own pages.

    It is another one if it has no such heading, if a link beside this one leads to it, or if other
    files of the link's folder are missing, too, and none of them is beside it.
    """
    sites, anchor = context.graph.sites, edge.link.anchor
    is_other_page = (
        anchor
        and edge.link.kind not in WIKILINKS
        and context.view.page(target) is not None
        and fold(anchor) not in map(fold, context.graph.anchors(target))
    )
    return (
        not _is_folder_page(target)
        and sites.of(edge.source) in {None, sites.of(target)}
        and not is_other_page
        and not context.is_linked_beside(edge, target)
        and not _is_lost_with_others(edge, target, context)
    )


def _is_lost_with_others(edge: GraphEdge, target: FilePath, context: RuleContext) -> bool:
    written = edge.link.target
    lost = context.lost_files(edge.source).get(written.rpartition("/")[0])
    if lost is None or len(lost.targets) - (written in lost.targets) <= MAX_LOST_BESIDE:
        return False
    beside = lost.by_folder.get(target.rpartition("/")[0], set())
    return len(beside) == (written in beside)


def _fix(edge: GraphEdge, target: FilePath, context: RuleContext) -> LinkFix | None:
    text = _from_root(edge, target, context)
    if is_from_source(edge.link) or is_ref(edge.link):
        return None if text is None else LinkFix(edge.link, text, target)
    text = _address(edge, target, context) or _from_same_folder(edge, target, context) or text
    if text is None and not _must_be_address(edge, context):
        text = rewrite_link(edge.link, edge.source, target, context.pages_of_stem(stem(target)))
    return None if text is None else LinkFix(edge.link, text, target)


def _from_root(edge: GraphEdge, target: FilePath, context: RuleContext) -> str | None:
    """Return the path of a file from a folder of the site, for a link with such a path.

    It is Jekyll's `{% link %}`, or begins with a slash; Hugo's `ref` may be relative, too.
    """
    site, link = context.graph.sites.of(edge.source), edge.link
    if site and is_ref(link) and not is_label(link):
        text = rewrite_ref(link, site, edge.source, target)
        return text if text and context.graph.leads_to(edge, text, target) else None
    is_rooted = link.target.startswith("/") and link.kind not in WIKILINKS
    if site is None or not (is_from_source(link) or (is_rooted and is_file(link.target))):
        return None
    for folder in (*site.pieces, *(root.folder for root in site.roots), *site.static):
        prefix = f"{folder}/" if folder else ""
        name = target.removeprefix(prefix)
        text = f"/{percent_encode(name)}" if is_rooted else name
        is_written = target.startswith(prefix) and (is_rooted or not _ENDS_TAG.search(text))
        if is_written and context.graph.leads_to(edge, text, target):
            return text
    return None


def _address(edge: GraphEdge, target: FilePath, context: RuleContext) -> str | None:
    """Return the address of a page for a link that has one of the same site; None: it has none."""
    site = context.graph.sites.of(edge.source)
    if site is None or site != context.graph.sites.of(target):
        return None
    text = rewrite_address(edge.link, site, edge.source, target)
    return text if text and context.graph.leads_to(edge, text, target) else None


def _from_same_folder(edge: GraphEdge, target: FilePath, context: RuleContext) -> str | None:
    """Return the path of a renamed file that is included, from where its old path begins."""
    old, written = context.renames.origin(target), edge.link.target
    if edge.link.kind != "include" or old is None or not f"/{old}".endswith(f"/{written}"):
        return None
    folder = old.removesuffix(written)
    return target.removeprefix(folder) if target.startswith(folder) else None


def _must_be_address(edge: GraphEdge, context: RuleContext) -> bool:
    """Return whether a link has no suffix, on a site that makes no addresses of paths."""
    site = context.graph.sites.of(edge.source)
    is_address = edge.link.kind not in WIKILINKS and not is_file(edge.link.target)
    if site is None or not is_address or site.style.makes_addresses:
        return False
    return site.style.verifies == "sections" or site.style.name not in RESOLVES_FILES


def _respelt(
    edge: GraphEdge, targets: tuple[FilePath, ...], context: RuleContext
) -> LinkFix | None:
    """Return the fix of a link whose path has one misspelt name; `targets` have its last name."""
    link = edge.link
    if link.kind in WIKILINKS or is_label(link) or len(targets) == 1:
        return None
    paths = context.meant_paths(edge)
    if len(paths) != 1 or (targets and paths[0] not in targets):
        return None
    texts = [respell_target(link, paths[0]), _address(edge, paths[0], context)]
    if not _must_be_address(edge, context):
        texts.append(rewrite_link(link, edge.source, paths[0], ()))
    for text in texts:
        if text and context.graph.leads_to(edge, text, paths[0]):
            return LinkFix(link, text, paths[0])
    return None


def _hint(
    edge: GraphEdge,
    targets: tuple[FilePath, ...],
    fix: LinkFix | None,
    renamed: FilePath | None,
) -> str:
    if not targets:
        return ""
    if renamed and not fix:
        return f"Did you mean {renamed}?"
    if fix:  # a path from the root may be what the link has
        return f"Did you mean {fix.text if fix.target == edge.link.target else fix.target}?"
    more = ", …" if len(targets) > MAX_NAMES else ""
    names = f"{', '.join(targets[:MAX_NAMES])}{more}"
    kind = "page" if targets[0].lower().endswith(PAGE_SUFFIXES) else "file"
    have = f"A {kind} has" if len(targets) == 1 else f"{kind.capitalize()}s have"
    return f"{have} this name: {names}."
