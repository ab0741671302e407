"""`ubp get-page` and `ubp list-pages` for people."""

from collections.abc import Iterator

from ubp.graph.pages import PageLink
from ubp.reading import PageList, ReadPage
from ubp.render.ansi import Style
from ubp.render.text.levels import WORDS
from ubp.render.wording import count, day, printable, printable_line


def page_text(read: ReadPage, style: Style, *, is_quiet: bool) -> str:
    """The page's text, between what it is and what it is linked with; quietly the text alone."""
    page = read.page
    body = [printable_line(line) for line in page.content.splitlines()]
    if is_quiet:
        return _lines(body)
    place = style.bold(printable(page.document.path))
    facts = [printable(page.document.title), printable(page.document.doc_type)]
    facts.append(WORDS[read.assessment.level])
    if read.updated_at is not None:
        facts.append(f"changed {day(read.updated_at)}")
    lines = [f"{place}  {', '.join(facts)}", "", *body]
    for title, links, is_out in (
        ("Links", page.outlinks, True),
        ("Linked from", page.backlinks, False),
    ):
        if links:
            lines += ["", f"{title}:"]
            lines += [_link(one, style, is_out=is_out) for one in links]
    return _lines(lines)


def list_text(listed: PageList, style: Style, *, cursor: str | None, is_quiet: bool) -> str:
    """A line a page, then how many there are and where they go on; quietly the paths alone."""
    if is_quiet:
        return _lines([printable(page.document.path) for page in listed.pages])
    lines = list(_listed(listed, style))
    number = len(listed.pages)
    shown = count(number, "page")
    if number < listed.total:
        shown = f"{number} of {count(listed.total, 'page')}"
    more = f" The next ones: --cursor {cursor}" if cursor else ""
    return _lines([*lines, *([""] if lines else []), f"{shown}.{more}"])


def _listed(listed: PageList, style: Style) -> Iterator[str]:
    for page in listed.pages:
        document = page.document
        facts = [
            printable(document.title),
            printable(document.doc_type),
            f"{page.outgoing} out",
            f"{page.incoming} in",
        ]
        level = listed.assessments[document.path].level
        if level != "untracked":
            facts.append(WORDS[level])
        if (changed := listed.updated_at[document.path]) is not None:
            facts.append(f"changed {day(changed)}")
        yield f"{style.bold(printable(document.path))}  {', '.join(facts)}"


def _link(one: PageLink, style: Style, *, is_out: bool) -> str:
    if one.other is None:
        aim = style.yellow(f"{printable(one.link.target)}: no such page")
        return f"  line {one.link.line}  {aim}"
    other = printable(one.other.path)
    note = ", several are named so" if one.bucket == "ambiguous" and is_out else ""
    if is_out:
        return f"  line {one.link.line}  {other}  {one.link.link_type}{note}"
    return f"  {other}:{one.link.line}  {one.link.link_type}"


def _lines(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
