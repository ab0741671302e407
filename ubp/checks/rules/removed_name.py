"""A page mentions a name in code that the sources no longer have.

Names are identifiers of more than one word (`snake_case`, `camelCase`), command-line options,
environment variables and keys, which a source defined, and paths of files and folders. A page
mentions them in inline code, a code block or its front matter. `--read-timeout`, `read_timeout` and
`readTimeout` are the same name.

With `--staged` or `--base`, the change must remove the name from the last source that had it. In a
state, the name must have existed when the page was last changed, which is a warning at most. Names
that only tests, lock files, changelogs and CI files still have are gone; what only examples and
scripts define is not looked for. Also ignored are lines that the change itself writes, lines that
call a name removed or deprecated, names that examples in the page define, or import from other
packages, and pages about the past: changelogs, migration guides, decisions, blog posts.

The rule needs the names in all sources, which `ubp check` reads once and keeps in the index. Where
many are not indexed yet, or a partial clone lacks them, the rule is not checked, and fails nothing.

What to do: update the page. If the change shows which name took the old one's place, the message
says so.

To ignore a mention, add a comment on its line or the line above:
`<!-- ubp: ignore[removed-name] -->`
"""

from collections.abc import Iterator

from ubp.checks.context import RuleContext
from ubp.checks.finding import Finding
from ubp.checks.snapshot_names import NotCheckedError, OutdatedMention
from ubp.core.model import FilePath

NAME = "removed-name"


def find(context: RuleContext) -> Iterator[Finding]:
    """Yield the mentions of names that no longer exist."""
    try:
        for outdated in context.find_outdated_mentions():
            if not _is_reference(outdated, context):
                yield _finding(outdated, context)
    except NotCheckedError as error:
        context.not_checked[NAME] = str(error)


def _is_reference(outdated: OutdatedMention, context: RuleContext) -> bool:
    """Return whether the mention is a source that the page lists: see missing-source."""
    mention, page = outdated.found.mention, context.view.page(outdated.found.page)
    if mention.place != "front matter" or page is None:
        return False
    return any(
        outdated.found.name in {reference.source_path, reference.literal}
        for reference in page.facts.references
    )


def _finding(outdated: OutdatedMention, context: RuleContext) -> Finding:
    found, replacement = outdated.found, outdated.replacement
    text = found.mention.text
    moved_to = None if found.removed else context.renames.new_path(found.name)
    related = replacement.path if replacement else moved_to
    if moved_to:
        message = f"`{text}` was moved to {moved_to}."
        hint = f"Write `{moved_to}` instead."
    elif replacement:
        message = f"`{text}` was removed; `{replacement.name}` took its place in {related}."
        hint = f"Write `{replacement.name}` instead, if the text is still right."
    else:
        origin = f" from {found.removed.path}" if found.removed else ""
        message = f"`{text}` was removed{origin}, and no source has it."
        hint = "Update the page."
        if found.removed is None:
            message = f"`{text}` no longer exists."
        elif outdated.is_old:
            message = f"`{text}` no longer exists; {found.removed.path} used to define it."
    return Finding(
        rule=NAME,
        filepath=found.page,
        line=found.mention.line,
        message=message,
        subject=text,
        hint=hint,
        related=FilePath(related) if related else None,
        is_minor=outdated.is_old,
    )
