"""The change unbinds a page: a source, a pin or the page itself is no longer verified.

With `--staged`, with `--base`, with `--pre-push` and in the action, each page that was bound before
the change is compared with what the change leaves of it, and this is reported, whatever the reason:

- the page no longer lists a source that exists, or lists it without its pin, or with a pin that
  Git does not know;
- the page is none any more: it is a symbolic link, or was moved to where UBP reads no pages
  (another suffix, `vendor/`, `node_modules/`, an excluded folder);
- the page was made a record of the past, which is never stale (`staleness.records`);
- the page was moved, by Git's rules for renames, or its source was, and the new page does not list
  the source.

It does not matter how the reference was lost: it was removed, the front matter cannot be read any
more, or is no longer at the beginning of the page. Not reported is what is ordinary work:

- the page was deleted, or renamed with its references;
- the source or symbol was deleted, or the source was renamed and its reference with it;
- the page lists a part of the source instead, or a folder or glob that contains it, with a pin if
  the old reference had one;
- the page lists the file to which the change moved most of the code that the source lost;
- the change adds the source to another page: one page was split in two, or two were merged.

Replacing a source by another one that has nothing to do with it is reported, because from then on
nobody hears of changes of the first, which still exists. A new version in a pin is not: that is
what `ubp ack` writes. The rule is for changes only; for losses that `.ubp/debt.txt` accepts it
checks in a state whether they still exist.

What to do: restore the reference or pin. If the page no longer describes the source, confirm it in
the review, and ignore the finding in the configuration, with the reason:
`{"path": "docs/page.md", "rule": "unbound-page", "reason": "…"}` in `check.ignore`. A setting that
the change itself adds is listed as relaxed-check.

To ignore the rule in a page, add a comment on its first line or above its first heading, for a pin
on the line of its source or the line above: `<!-- ubp: ignore[unbound-page] -->`
"""

from collections.abc import Iterator

from ubp.checks.context import RuleContext
from ubp.checks.finding import Finding
from ubp.checks.unbinding import Unbinding
from ubp.core.model import MODE_SYMLINK, Debt, FilePath
from ubp.staleness.wording import join_names

NAME = "unbound-page"
PIN = "pin of "


def find(context: RuleContext) -> Iterator[Finding]:
    """Yield what a change unbinds; in a state what the debt file accepts, if it is still so."""
    if not context.is_change:
        for debt in context.debts.accepted.values():
            if debt.rule == NAME and context.includes(debt.filepath) and _is_unbound(debt, context):
                yield Finding(NAME, debt.filepath, 1, "It has been unbound.", debt.subject)
    for unbinding in context.find_unbound():
        yield _finding(unbinding, context)


def _finding(unbinding: Unbinding, context: RuleContext) -> Finding:
    source = unbinding.sources[0]
    subject, message, hint = source, "", "List it again, or confirm that it does not belong here."
    match unbinding.loss:
        case "reference" if unbinding.is_translation:
            message = f"No longer a translation of {source}, which exists."
            hint = "Move it back, or confirm that nobody translates it any more."
        case "reference" if unbinding.moved_to:
            message = (
                f"{source} was moved to {unbinding.moved_to}, which is not a source of the page."
            )
            hint = f"List {unbinding.moved_to}, or confirm that it does not belong here."
        case "reference":
            message = f"{source} is no longer a source of the page, and still exists."
        case "pin":
            subject = FilePath(PIN + source)
            message = f"{source} no longer has a pin: any edit of the page would count as a review."
            hint = "Restore the pin; `ubp ack` renews it after a review."
        case "unknown_pin":
            subject = FilePath(PIN + source)
            message = f"The pin of {source} is {unbinding.pin}, which Git does not know."
            hint = "Restore the pin; `ubp ack` renews it after a review."
        case "no_page" | "record":
            subject = FilePath("")
            message = (
                f"{_describe_loss(unbinding, context)}; {_names(unbinding)} no longer compared."
            )
            hint = "Restore the page, or confirm that it describes nothing any more."
    return Finding(
        rule=NAME,
        filepath=unbinding.page,
        line=unbinding.line or _first_line(unbinding.page, context),
        message=message,
        subject=subject,
        hint=hint,
        related=None if unbinding.loss in {"no_page", "record"} else source,
        is_minor=unbinding.is_translation,
    )


def _describe_loss(unbinding: Unbinding, context: RuleContext) -> str:
    moved = f", which was {unbinding.origin}," if unbinding.page != unbinding.origin else ""
    if unbinding.loss == "record":
        return f"This page{moved} is now a record of the past"
    entry = context.view.entry(unbinding.page)
    if entry and entry.mode == MODE_SYMLINK:
        return f"This page{moved} is now a symbolic link"
    return f"This file{moved} is no longer read as a page"


def _names(unbinding: Unbinding) -> str:
    verb = "is" if len(unbinding.sources) == 1 else "are"
    return f"{join_names(unbinding.sources)} {verb}"


def _first_line(path: FilePath, context: RuleContext) -> int:
    """Return the first line after the front matter, where a comment can be."""
    sections = context.graph.sections(path) if context.view.page(path) else ()
    return sections[0].line_start if sections else 1


def _is_unbound(debt: Debt, context: RuleContext) -> bool:
    """Return whether what a debt accepts is still so: the source or pin has not come back."""
    page = context.view.page(debt.filepath)
    if not debt.subject or page is None:
        return not debt.subject and context.view.entry(debt.filepath) is not None
    references = page.facts.references
    if debt.subject.startswith(PIN):
        pinned = {reference.literal for reference in references if reference.pin}
        return debt.subject.removeprefix(PIN) not in pinned
    return debt.subject not in {reference.literal for reference in references}
