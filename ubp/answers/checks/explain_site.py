"""`ubp check --explain-site`: the sites of a repository, and how their links are checked."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.checks.forms import ANCHOR, FormCount, link_of
from ubp.checks.run import survey_links
from ubp.frame.answer import Answer, Request
from ubp.frame.arguments import Ref
from ubp.frame.fields import REVISION, Count
from ubp.frame.wording import count
from ubp.frame.writer import Writer
from ubp.index.session import Session, Target
from ubp.markdown.sites.detect import slug_rule
from ubp.markdown.sites.site import OTHER_LABELS, OTHER_PAGES, OWN_ANCHORS, Site, Style

VERIFIED = {
    "all": "every address below the site is one of a page here",
    "sections": "addresses below a section are those of pages here",
    "rooted": "those from the root and below a folder are addresses of pages here",
    "files": "only where a page or a file is found; other addresses may be made by the build",
}

# Formats of pages, beside Markdown, that generators publish and UBP does not read.
OF_GENERATOR = {
    "quarto": (".qmd", ".rmd", ".ipynb"),
    "sphinx": (".rst", ".ipynb"),
    "mystmd": (".ipynb",),
}
OTHER_FORMATS = frozenset(suffix for suffixes in OF_GENERATOR.values() for suffix in suffixes)


@dataclass(frozen=True, slots=True, kw_only=True)
class RootRecord:
    """A folder of a site's pages, and its address."""

    folder: Annotated[str, "from the root; {lang} stands for a language"]
    address: Annotated[str, "below the site's base"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedSiteRecord:
    """A site, and the rules by which its links are resolved."""

    generator: Annotated[str, "site generator"]
    folder: Annotated[str, "folder of the site, from the root"]
    config: Annotated[str, "the file that describes it; empty: `sites` of UBP's configuration"]
    pages: Annotated[Count, "number of its pages"]
    unread: Annotated[tuple[str, ...], "formats of pages that are not read, as `12 .qmd`"]
    roots: Annotated[tuple[RootRecord, ...], "folders of its pages"]
    static: Annotated[tuple[str, ...], "folders of files that are published unchanged"]
    base: Annotated[str, "path that absolute links may begin with"]
    anchors: Annotated[str, "how headings get their anchors"]
    options: Annotated[tuple[str, ...], "settings that change the anchors"]
    front_matter: Annotated[tuple[str, ...], "keys that set the address of a page"]
    addresses: Annotated[tuple[str, ...], "how links lead to pages, in sentences"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFormRecord:
    """Links that are written in the same way."""

    site: Annotated[str, "folder of their site, from the root; empty outside of sites"]
    generator: Annotated[str, "the site's generator; empty: none"]
    config: Annotated[str, "the file that describes the site; empty: none, or UBP's configuration"]
    rule: Annotated[str, "the rule that checks them"]
    written: Annotated[str, "how they are written; `#` for links to headings"]
    links: Annotated[Count, "number of them"]
    unverified: Annotated[Count, "those that the repository's files cannot verify"]
    lost: Annotated[Count, "those that lead nowhere"]
    unconfirmed: Annotated[Count, "of these, links that nothing else shows to be broken"]
    example: Annotated[str | None, "one that leads nowhere, and where it is"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainSiteRecord:
    """The sites of a repository, and its links by form."""

    sites: Annotated[tuple[ExplainedSiteRecord, ...], "sites, by generator"]
    other_pages: Annotated[Count, "pages of no site: a heading may have any generator's anchor"]
    links: Annotated[tuple[LinkFormRecord, ...], "links to pages, files and headings, by form"]


@dataclass(frozen=True, slots=True)
class ExplainSiteRequest(Request[ExplainSiteRecord]):
    """The revision whose sites are explained."""

    ref: Annotated[Ref, REVISION] | None = None


def run(session: Session, request: ExplainSiteRequest) -> ExplainSiteRecord:
    """Return the sites of a revision or of the work tree, and its links by form."""
    target = Target(request.ref)
    sites, forms = survey_links(session, target)
    view = session.view(target)
    pages = Counter(sites.of(path) for path in view.document_paths())
    unread: dict[Site | None, Counter[str]] = {site: Counter() for site in (None, *sites.sites)}
    for path, entry in view.files():
        suffix = f".{path.rpartition('.')[2].lower()}"
        if entry.is_file and suffix in OTHER_FORMATS:
            unread[sites.of(path)][suffix] += 1
    return ExplainSiteRecord(
        sites=tuple(
            _site(site, pages[site], formats)
            for site in sites.sites
            if (formats := _formats(site, unread[site])) or pages[site]
        ),
        other_pages=pages[None],
        links=tuple(map(_form, forms)),
    )


def _formats(site: Site, unread: Counter[str]) -> tuple[str, ...]:
    """Return the formats of a site's pages that UBP does not read, with the number of files."""
    read = OF_GENERATOR.get(site.style.name, ())
    return tuple(f"{unread[suffix]} {suffix}" for suffix in read if unread[suffix])


def _site(site: Site, pages: int, unread: tuple[str, ...]) -> ExplainedSiteRecord:
    style = site.style
    return ExplainedSiteRecord(
        generator=style.name,
        folder=site.folder,
        config=site.config,
        pages=pages,
        unread=unread,
        roots=tuple(RootRecord(folder=root.folder, address=root.url) for root in site.roots),
        static=tuple(site.static),
        base=site.base,
        anchors=OWN_ANCHORS if site.option(OWN_ANCHORS) else slug_rule(site),
        options=tuple(
            f"{name}: {value}"
            for name, value in site.options
            if value and name not in {OWN_ANCHORS, OTHER_LABELS, OTHER_PAGES}
        ),
        front_matter=style.keys,
        addresses=(*_address_rules(style), *_path_rules(site)),
    )


def _address_rules(style: Style) -> Iterator[str]:
    """Yield what decides where links without the suffix of a file lead."""
    yield f"links without a suffix are checked: {VERIFIED[style.verifies]}"
    rules = (
        (style.is_pretty, "a page is a folder: relative links without a suffix begin in it"),
        (style.makes_addresses, "a link to the file of a page (page.md) leads to its address"),
        (style.resolves_paths, "relative links may also be paths from the folder of their file"),
        (
            style.localizes_links,
            "a link from the root (/page) begins in the language of its page, if that has the page",
        ),
        (style.drops_numbers, "numbers at the beginning of names are not part of an address"),
        (
            style.drops_languages,
            "a language at the end of a name (page.ja.md) begins the address",
        ),
        (style.drops_groups, "names of folders in parentheses are not part of an address"),
        (style.ignores_case, "addresses are in lower case"),
        (
            style.is_wiki,
            "a link finds a page in whatever letter case, and [[a name]] finds a-name.md",
        ),
        (style.finds_names, "a link to the file of a page finds it by its name, in any folder"),
        (style.searches_roots, "relative links to files may also begin in a folder of pages"),
        (
            style.content_prefix,
            f"{style.content_prefix} begins paths from {style.name}'s folder of pages",
        ),
        (style.falls_back, "a page that a language lacks is that of the default language"),
        (style.has_wikilinks, "[[wikilinks]] are links"),
        (style.labels_first, "a label is in front of the page: [[label|page]]"),
    )
    yield from (text for applies, text in rules if applies)


def _path_rules(site: Site) -> Iterator[str]:
    """Yield what a site's configuration says of paths of files."""
    if site.keeps_paths:
        yield "a path from the root (/page.md) is published as it is, and leads nowhere"
    if site.suffix_language:
        default = site.suffix_language
        yield f"page.md may be page.xx.md, in the language of the link's page or in {default}"
    if site.option(OTHER_LABELS):
        yield "{ref}: a label that no page has is not checked, as other projects may have it"
    if site.option(OTHER_PAGES):
        yield "{toctree}, {doc}: a page that no version had is not checked, as programs make pages"
    for folder in site.pieces:
        yield f"paths of included files may begin in {folder}/"


def _form(counted: FormCount) -> LinkFormRecord:
    rule, generator, folder, written, config = counted.form
    found = counted.finding
    return LinkFormRecord(
        site=folder,
        generator=generator,
        config=config,
        rule=rule,
        written=written,
        links=counted.links,
        unverified=counted.unverified,
        lost=counted.lost,
        unconfirmed=counted.unconfirmed,
        example=f"{link_of(found)} ({found.filepath}:{found.line})" if found else None,
    )


def text(record: ExplainSiteRecord, write: Writer) -> Iterator[str]:
    """Yield each site with its rules and its links, then the links outside of sites."""
    for site in record.sites:
        yield from _site_text(site, write)
        key = (site.generator, site.folder, site.config)
        forms = [form for form in record.links if _key(form) == key]
        yield from _forms_text(forms, write)
        yield ""
    if record.other_pages or not record.sites:
        pages = count(record.other_pages, "page")
        yield f"{pages} of no site: a heading may have the anchor of any generator"
        yield from _forms_text([form for form in record.links if not form.generator], write)
        yield ""
    yield "`sites` in .ubp/config.json names the generator of a folder, or none."


def _key(form: LinkFormRecord) -> tuple[str, str, str]:
    return form.generator, form.site, form.config


def _site_text(site: ExplainedSiteRecord, write: Writer) -> Iterator[str]:
    place = write.path(f"{site.folder}/" if site.folder else "./")
    source = write.name(site.config) if site.config else "`sites` in .ubp/config.json"
    yield f"{place}  {site.generator}, found by {source}: {count(site.pages, 'page')}"
    if site.unread:
        yield f"  pages that are not read: {', '.join(site.unread)}"
    for root in site.roots:
        folder = write.name(f"{root.folder}/" if root.folder else "./")
        yield f"  pages: {folder} at /{write.name(root.address)}"
    for folder in site.static:
        yield f"  files: {write.name(f'{folder}/' if folder else './')} at /"
    if site.base.strip("/"):
        yield f"  base: {write.name(site.base)}"
    settings = f" ({write.name(', '.join(site.options))})" if site.options else ""
    yield f"  anchors: {site.anchors}{settings}"
    if site.front_matter:
        yield f"  front matter: {', '.join(site.front_matter)} set the address"
    for sentence in site.addresses:
        yield f"  {sentence}"


def _forms_text(forms: list[LinkFormRecord], write: Writer) -> Iterator[str]:
    for form in forms:
        kind = "headings" if form.rule == ANCHOR else f"links {form.written}"
        state = f"{form.lost} lead nowhere" if form.lost else "all lead somewhere"
        if form.unverified:
            state += f", {form.unverified} cannot be verified"
        if form.unconfirmed:
            state += f", {form.unconfirmed} of them not reported: nothing else shows it"
        example = f", for example {write.quote(form.example)}" if form.example else ""
        yield f"  {kind}: {form.links}, {state}{example}"


EXPLAIN_SITE = Answer(
    request=ExplainSiteRequest, record=ExplainSiteRecord, run=run, text=text, has_facts=False
)
