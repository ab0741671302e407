"""Forms of links that are not understood: what leads nowhere in them is not reported.

Links are written in forms (`/guide`, `guide.md`, `@/guide.md`, by id), and each site generator has
rules of its own for them. Where many links of a form on one site lead nowhere, UBP does not know
the rule, and a finding would be false. A change is judged by the forms of its base: links that the
change itself breaks are findings all the same, whatever else leads nowhere.
"""

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ubp.checks.context import RuleContext
from ubp.checks.finding import WIKILINKS, Finding, Form, NotUnderstood
from ubp.checks.rules import broken_link, missing_anchor
from ubp.core.model import FilePath, Link
from ubp.core.paths import PAGE_SUFFIXES
from ubp.markdown.resolve import FILE_SUFFIX
from ubp.markdown.sites.site import OWN_ANCHORS, Site, locate

# A form is not understood if at least so many of its links, and more than this share of them, lead
# nowhere.
MIN_LOST = 5
MAX_LOST_SHARE = 1 / 3
# Of links that leave the folder of pages fewer are enough: their pages may come from elsewhere.
MIN_LEAVING = 3
# A build makes a folder that does not exist if links lead to this many different files in it.
MIN_GENERATED = 5
# A shortcode or a layout makes headings if more than this share of the links to headings of its
# pages lead nowhere. Where one does, 22 of 28 to 44 of 44 do (vectordotdev/vector); where none
# does, at most 13 of 21 (linkerd/website, whose 130 true findings all stay).
MAX_FILLED_SHARE = 3 / 4
MAX_SHOWN = 4

LINK, ANCHOR = broken_link.NAME, missing_anchor.NAME
GATED: Mapping[str, Callable[[RuleContext], Iterable[Finding]]] = {
    LINK: broken_link.find,
    ANCHOR: missing_anchor.find,
}
"""The rules whose findings pass the gate."""

_PREFIX = re.compile(r"(?:[@~][\w-]*/|[a-z][a-z0-9+.-]*:)", re.IGNORECASE)
_VERIFIABLE = frozenset({"resolved", "ambiguous", "missing", "not_a_page", "embedded"})
_HTML_SUFFIXES = (".html", ".htm")
_LEAVING = "../…"
_IN_FOLDER = "/…/"
_FILLED = "# "


def form_of(rule: str, path: FilePath, link: Link, context: RuleContext) -> Form:
    """Return the form of a link in the page at `path`."""
    site = context.graph.sites.of(path)
    generator, folder = (site.style.name, site.folder) if site else ("", FilePath(""))
    if rule == ANCHOR:
        return Form(rule, generator, folder, "#")
    if site and _leaves(site, path, link):
        return Form(rule, generator, folder, _LEAVING)
    return Form(rule, generator, folder, _written(link))


def _leaves(site: Site, path: FilePath, link: Link) -> bool:
    """Return whether a link to a file leaves its site's pages, or a copied folder among them."""
    target = link.target
    place = locate(site, path)
    if link.kind in WIKILINKS or not target.startswith("../") or place is None:
        return False
    depth = place.path.count("/")
    climbs = posixpath.normpath(target).split("/").count("..")
    # `../../` up to the top: pages in a folder of it may come from another repository
    return bool(FILE_SUFFIX.search(target)) and (climbs > depth or climbs == depth > 1)


def forms_of(finding: Finding, context: RuleContext) -> tuple[Form, ...]:
    """Return the forms in which a finding's link is written.

    A folder that is absent is one, and so is each shortcode or layout that fills a heading's page.
    """
    form = gated_form(finding, context)
    if form is None or not isinstance(finding.about, Link) or not form.generator:
        return (form,) if form else ()
    if form.rule == ANCHOR:
        return (form, *_filled_forms(form, finding.related, context))
    folder = context.missing_folder(finding.filepath, finding.about)
    return (form, form._replace(written=f"{folder}{_IN_FOLDER}")) if folder else (form,)


def _filled_forms(form: Form, target: FilePath | None, context: RuleContext) -> Iterator[Form]:
    for name in context.filled_by(target) if target else ():
        yield form._replace(written=f"{_FILLED}{name}")


def _written(link: Link) -> str:
    """Return how the target of a link is written: `@/`, `/…`, `/….md`, `….md`, `…`."""
    target = link.target
    if link.kind in WIKILINKS:
        return "[[…]]"
    if prefix := _PREFIX.match(target):
        return f"{prefix[0]}…"
    root = "/" if target.startswith("/") else ""
    name = target.rpartition("/")[2].lower()
    if name.endswith(PAGE_SUFFIXES):
        return f"{root}….md"
    if name.endswith(_HTML_SUFFIXES):
        return f"{root}….html"
    if FILE_SUFFIX.search(name):
        return f"{root}…{name[name.rindex('.') :]}"
    return f"{root}…"


def find_not_understood(
    context: RuleContext, findings: Iterable[Finding]
) -> Mapping[Form, NotUnderstood]:
    """Return the forms of a state that are not understood, by the findings in all its pages."""
    by_form = _by_form(findings, context)
    evidence = {
        form: len(lost)
        if form.written.startswith(_FILLED)
        else sum(_is_evidence(finding, context) for finding in lost)
        for form, lost in by_form.items()
    }
    suspects = {
        form: lost for form, lost in by_form.items() if _is_suspect(form, lost, evidence[form])
    }
    if not suspects:
        return {}
    links = count_links(context)
    return {
        form: NotUnderstood(
            form,
            len(lost),
            max(links[form], len(lost)),
            link_of(lost[0]),
            lost[0].filepath,
            lost[0].line,
        )
        for form, lost in sorted(suspects.items())
        if evidence[form] > links[form] * _max_share(form)
    }


def _max_share(form: Form) -> float:
    return MAX_FILLED_SHARE if form.written.startswith(_FILLED) else MAX_LOST_SHARE


def _by_form(findings: Iterable[Finding], context: RuleContext) -> dict[Form, list[Finding]]:
    by_form: dict[Form, list[Finding]] = defaultdict(list)
    for finding in findings:
        for form in forms_of(finding, context):
            by_form[form].append(finding)
    return by_form


def _is_suspect(form: Form, lost: Sequence[Finding], evidence: int) -> bool:
    """Return whether too many links of a form lead nowhere for the form to be understood.

    `evidence` is the number of those that a rule that UBP does not know may lead somewhere.
    """
    if _PREFIX.match(form.written):  # not a path
        return True
    if form.written == _LEAVING:
        return len(lost) >= MIN_LEAVING
    if form.written.endswith(_IN_FOLDER):
        targets = {
            finding.about.target.rpartition("/")[2]
            for finding in lost
            if isinstance(finding.about, Link)
        }
        return len(targets) >= MIN_GENERATED
    return evidence >= MIN_LOST


def count_links(context: RuleContext) -> Counter[Form]:
    """Return how many links of each form the pages of a state have that can be verified."""
    links: Counter[Form] = Counter()
    to_headings: list[tuple[Form, FilePath | None]] = []
    for edge in context.graph.all_edges():
        if edge.resolution.bucket in _VERIFIABLE:
            links[form_of(LINK, edge.source, edge.link, context)] += 1
        if edge.resolution.has_anchor is not None:
            form = form_of(ANCHOR, edge.source, edge.link, context)
            links[form] += 1
            to_headings.append((form, edge.resolution.target))
    context.read_filled(target for form, target in to_headings if target and form.generator)
    for form, target in to_headings:
        if form.generator:
            links.update(_filled_forms(form, target, context))
    return links


class FormCount(NamedTuple):
    """How many links of a form there are, and how many of them no rule of the generator judges.

    Of the others `lost` lead nowhere, the first of them `finding`.
    """

    form: Form
    links: int
    unverified: int
    lost: int
    is_understood: bool
    finding: Finding | None


def count_forms(context: RuleContext) -> list[FormCount]:
    """Return how the links of a state are written, form by form, and what was found in them."""
    findings = [finding for find in GATED.values() for finding in find(context)]
    not_understood = find_not_understood(context, findings)
    by_form = _by_form(findings, context)
    unverified = Counter(
        form_of(LINK, edge.source, edge.link, context)
        for edge in context.graph.all_edges()
        if edge.resolution.bucket == "not_a_page" and not context.finds_file(edge)
    )
    unverified.update(
        form_of(ANCHOR, edge.source, edge.link, context)
        for edge in context.graph.all_edges()
        if edge.resolution.has_anchor
        and edge.resolution.target
        and (site := context.graph.sites.of(edge.resolution.target))
        and site.option(OWN_ANCHORS)
    )
    links = count_links(context)
    return [
        FormCount(
            form,
            max(links[form], len(by_form[form])),
            unverified[form],
            len(by_form[form]),
            form not in not_understood,
            next(iter(by_form[form]), None),
        )
        for form in sorted({*links, *by_form})
        if form in not_understood or not form.written.endswith(_IN_FOLDER)
        if form in not_understood or not form.written.startswith(_FILLED)
    ]


def link_of(finding: Finding) -> str:
    """Return the target of the link that a finding is about, with its anchor."""
    link = finding.about
    if not isinstance(link, Link):
        return ""
    return link.target if link.anchor is None else f"{link.target}#{link.anchor}"


def gated_form(finding: Finding, context: RuleContext) -> Form | None:
    """Return the form of the link that a finding is about; None where its form does not matter."""
    if finding.rule not in GATED or finding.is_certain or not isinstance(finding.about, Link):
        return None
    return form_of(finding.rule, finding.filepath, finding.about, context)


def _is_evidence(finding: Finding, context: RuleContext) -> bool:
    """Return whether a rule that UBP does not know may make a finding's link lead somewhere."""
    target, link = finding.related, finding.about
    return not (
        finding.rule == ANCHOR
        and target
        and isinstance(link, Link)
        and not context.may_have(FilePath(target), link.anchor or "")
    )


def was_resolved(base: RuleContext, finding: Finding, context: RuleContext) -> bool:
    """Return whether the page had the link of a finding in the base, and it led somewhere."""
    path = context.renames.origin(finding.filepath) or finding.filepath
    link = finding.about
    return isinstance(link, Link) and any(
        edge.resolution.bucket != "missing" and edge.resolution.has_anchor is not False
        for edge in base.graph.edges_of([path]).get(path, ())
        if (edge.link.kind, edge.link.target, edge.link.anchor)
        == (link.kind, link.target, link.anchor)
    )


def not_understood_sentences(items: Sequence[NotUnderstood]) -> list[str]:
    """Return what was not checked, the forms of most links first, and what would teach them."""
    if not items:
        return []
    most = sorted(items, key=lambda item: -item.lost)
    rest = len(most) - MAX_SHOWN
    return [
        *map(_sentence, most[:MAX_SHOWN]),
        *([f"{rest} more forms of links were not checked."] if rest > 0 else []),
        "No rule for them is known here; `sites` in .ubp/config.json can name the generator.",
    ]


def _sentence(item: NotUnderstood) -> str:
    form = item.form
    links = f"{item.lost} links written as `{form.written}`"
    if form.written.startswith(_FILLED):
        filler = form.written.removeprefix(_FILLED)
        links = f"{item.lost} links to headings of pages with `{filler}`"
    elif form.rule == ANCHOR:
        links = f"{item.lost} links to headings"
    elif form.written == _LEAVING:
        links = f"{item.lost} links that leave the folder of pages"
    elif form.written.endswith(_IN_FOLDER):
        folder = form.written.removesuffix(_IN_FOLDER)
        links = f"{item.lost} links into {folder}/, which does not exist,"
    where = f" in {form.site}" if form.site else ""
    return (
        f"{links}{where} were not checked: {item.lost} of {item.links} lead nowhere,"
        f" for example {item.example} ({item.filepath}:{item.line})."
    )
