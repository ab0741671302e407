"""Forms of links: how they are written, and what was found in each form."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ubp.checks.context import RuleContext
from ubp.checks.evidence import Evidence, leaves
from ubp.checks.finding import Finding, Form, UnconfirmedLinks
from ubp.checks.link_counts import VERIFIABLE, written_form
from ubp.checks.rules import broken_link, missing_anchor
from ubp.core.model import FilePath, Link
from ubp.index.link_graph import GraphEdge
from ubp.markdown.resolve import is_plain_anchor
from ubp.markdown.sites.site import OWN_ANCHORS

MAX_SHOWN = 4

LINK, ANCHOR = broken_link.NAME, missing_anchor.NAME
LINK_RULES: Mapping[str, Callable[[RuleContext], Iterable[Finding]]] = {
    LINK: broken_link.find,
    ANCHOR: missing_anchor.find,
}
"""The rules whose findings need evidence."""

_LEAVING = "../…"


def form_of(rule: str, path: FilePath, link: Link, context: RuleContext) -> Form:
    """Return the form of a link in the page at `path`."""
    site = context.graph.sites.of(path)
    written = "#" if rule == ANCHOR else written_form(link)
    if site is None:
        return Form(rule, "", FilePath(""), written)
    if rule != ANCHOR and leaves(site, path, link):
        written = _LEAVING
    return Form(rule, site.style.name, site.folder, written, site.config)


def count_links(context: RuleContext) -> Counter[Form]:
    """Return how many links of each form the pages of a state have that can be verified."""
    links: Counter[Form] = Counter()
    for edge in context.graph.all_edges():
        if edge.resolution.bucket in VERIFIABLE:
            links[form_of(LINK, edge.source, edge.link, context)] += 1
        if edge.resolution.has_anchor is not None:
            links[form_of(ANCHOR, edge.source, edge.link, context)] += 1
    return links


class FormCount(NamedTuple):
    """How many links of a form there are, and how many of them no rule of the generator judges.

    Of the others `lost` lead nowhere, the first of them `finding`; for `unconfirmed` of these
    nothing shows that they are broken.
    """

    form: Form
    links: int
    unverified: int
    lost: int
    unconfirmed: int
    finding: Finding | None


def count_forms(context: RuleContext) -> list[FormCount]:
    """Return how the links of a state are written, form by form, and what was found in them."""
    findings = [finding for find in LINK_RULES.values() for finding in find(context)]
    evidence = Evidence(context)
    by_form: dict[Form, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_form[form_of_finding(finding, context)].append(finding)
    unconfirmed = Counter(
        form for form, lost in by_form.items() for finding in lost if evidence.of(finding) is None
    )
    unverified = Counter(
        form_of(LINK, edge.source, edge.link, context)
        for edge in context.graph.all_edges()
        if edge.resolution.bucket == "not_a_page"
        and not context.finds_file(edge)
        and not context.lacks_scheme(edge)
    )
    unverified.update(
        form_of(ANCHOR, edge.source, edge.link, context)
        for edge in context.graph.all_edges()
        if edge.resolution.has_anchor
        and edge.resolution.target
        and (site := context.graph.sites.of(edge.resolution.target))
        and site.option(OWN_ANCHORS)
        and not _is_plain(edge, context)
    )
    links = count_links(context)
    return [
        FormCount(
            form,
            max(links[form], len(by_form[form])),
            unverified[form],
            len(by_form[form]),
            unconfirmed[form],
            next(iter(by_form[form]), None),
        )
        for form in sorted({*links, *by_form})
    ]


def _is_plain(edge: GraphEdge, context: RuleContext) -> bool:
    """Return whether a link names an anchor that every function makes of a heading."""
    target, anchor = edge.resolution.target, edge.link.anchor or ""
    return (
        target is not None and is_plain_anchor(anchor) and anchor in context.graph.anchors(target)
    )


def form_of_finding(finding: Finding, context: RuleContext) -> Form:
    """Return the form of the link that a finding is about."""
    assert isinstance(finding.about, Link)  # noqa: S101  # of a rule on links
    return form_of(finding.rule, finding.filepath, finding.about, context)


def count_unconfirmed(
    findings: Iterable[Finding], context: RuleContext
) -> tuple[UnconfirmedLinks, ...]:
    """Return the forms of links that lead nowhere without evidence, each with an example."""
    by_form: dict[Form, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_form[form_of_finding(finding, context)].append(finding)
    return tuple(
        UnconfirmedLinks(form, len(lost), link_of(lost[0]), lost[0].filepath, lost[0].line)
        for form, lost in sorted(by_form.items())
    )


def link_of(finding: Finding) -> str:
    """Return the target of the link that a finding is about, with its anchor."""
    link = finding.about
    if not isinstance(link, Link):
        return ""
    return link.target if link.anchor is None else f"{link.target}#{link.anchor}"


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


def unconfirmed_sentences(
    items: Sequence[UnconfirmedLinks], *, lacks_history: bool = False
) -> list[str]:
    """Return which links lead nowhere without evidence, the forms of most links first."""
    if not items:
        return []
    most = sorted(items, key=lambda item: -item.lost)
    total = sum(item.lost for item in items)
    forms = [_form_sentence(item) for item in most[:MAX_SHOWN]]
    rest = len(most) - MAX_SHOWN
    forms += [f"{rest} more forms"] if rest > 0 else []
    links = "1 link leads" if total == 1 else f"{total} links lead"
    each = "it" if total == 1 else "them"
    sentence = (
        f"{links} nowhere by the rules that UBP knows, but nothing else shows that"
        f" {'it is' if total == 1 else 'they are'} broken: {'; '.join(forms)}."
    )
    sentences = [f"{sentence} `ubp check --unconfirmed` lists {each}."]
    if lacks_history:
        sentences.append(
            "This clone is shallow: earlier versions of pages, which may show it, are missing"
            " (`git fetch --unshallow`; in CI: fetch-depth: 0)."
        )
    return sentences


def _form_sentence(item: UnconfirmedLinks) -> str:
    form = item.form
    links = f"{item.lost} written as `{form.written}`"
    if form.rule == ANCHOR:
        links = f"{item.lost} to headings"
    elif form.written == _LEAVING:
        links = f"{item.lost} that leave the folder of pages"
    where = f" in {form.site}" if form.site else ""
    return f"{links}{where} ({item.example} in {item.filepath}:{item.line})"
