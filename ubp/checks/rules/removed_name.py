"""A page mentions a name in code that the sources no longer have.

Names are identifiers of more than one word (`snake_case`, `camelCase`), command-line options,
environment variables and keys, which a source defined, or used without taking them from another
package, and paths of files and folders. A page mentions them in inline code, a code block or its
front matter. `--read-timeout`, `read_timeout` and `readTimeout` are the same name; but where a
change removes the option, and no source has it in this spelling or may make it from another, a
field `ReadTimeout` does not keep it alive, nor a variable `readTimeout` the type or the environment
variable `READ_TIMEOUT`. A single word, or words with hyphens, are a name where nothing else is in
their inline code: `Portal`, `run()`, `-read-timeout`, `X-Read-Timeout`.

With `--staged` or `--base`, the change must remove the name from the last source that had it. In a
state, the name must have existed when the page was last changed, which is a warning at most. Names
that only tests, lock files, baselines of linters, changelogs and CI files still have, or that
examples only use, are gone; what only examples and scripts define is not looked for. A folder of
several words is also found by its name alone in pages of a folder above it or for contributors, or
if it is a part of the repository (`packages/read-all`), a hidden file (`.tool/config.json`) only in
pages for contributors. Also ignored are lines that the change itself writes, lines that say that a
name was removed or what there is "in version 1.0.x", names that examples in the page define, or
import from other packages, and pages and sections about the past or what will be: changelogs,
versions (`docs/v2/`), migration guides, decisions, blog posts, minutes, plans, and what says at its
beginning that its subject was removed.

Other packages and programs have names, too, so a name is reported only with evidence that the page
means this one, which the hint gives: the page also has another name that the same source still
defines, or two that it defined; or the change writes a new name in the place of the old one; or the
source made an option of that name, is named after it (`ReadTimeout.java`), is in the folder of the
page, or had the name with the qualifier that the page gives it (`settings.readTimeout`); or the
name is in a heading of the page, begins an item of a list or a row of a table, has at least four
words, or is that of an object in a manifest for Kubernetes; or the commit that added the name to
the page also changed the source, or came within a month after the name; or the change removes it
from a test, too, and from all others that it touches (names of several words, not in a block
without a language); or the name begins with that of a package of this repository; or, for inline
code, another page means it by one of these. For what is only a key or field, and may be an argument
for somebody else's function, the first takes three other names that the source still defines, or
five that it defined, and of the others only the month, tests, the heading, a list (not for the keys
of configurations), a qualifier if the source has both in quotes, the very folder of the page and a
manifest count; for what a source only used, three other names that the source loses and the page
has, the month, a new name and a deleted file of that name. Paths need no evidence, nor do names
other than keys in pages for contributors (`CONTRIBUTING.md`, `BUILDING.md`, `AGENTS.md`,
`contributing/`). A shallow clone lacks the history, and reports less.

A name is not ours where the page gives it to somebody else: an option to the program of its
command, a name to the package, program or standard that its sentence names ("`pushState` of HTML5",
"the `django-filter` library includes …"), a method to a type that its source did not have
(`Writer.read`) or, in Rust, to a crate from elsewhere (`other::read`), or a link to a site that has
no word of ours in its address. Nor is what a log in the page has, or an object as a cluster prints
it, or what an example imports from beside it (`./app.module`), nor the name of a package that the
page imports or installs, or that was required, except in pages for contributors, nor one whose
words are in the name of a required package (`junitReporter`, which karma-junit-reporter reads), or
whose package the change deletes while others still require it, or puts new ones from elsewhere in
its place, nor what overrides a name, or only a sample, a demo or a build defines. Nor is a name of
several words gone that a source has as its own: `read_all.py`.

Where the change also requires another package, or another version of one, or deletes a package with
its manifest, the name may come from elsewhere now: then it is a warning.

The rule needs the names in all sources, which `ubp check` reads once and keeps in the index. Where
many are not indexed yet, the rule is not checked, and fails nothing. Where one cannot be read, a
removed name is a warning, because that source may have it.

What to do: update the page. If the change writes a name with a common word where the old one was,
on a line that differs in nothing else, the message says so.

To ignore a mention, add a comment on its line or the line above:
`<!-- ubp: ignore[removed-name] -->`
"""

from collections.abc import Iterator

from ubp.checks.context import RuleContext
from ubp.checks.finding import Finding
from ubp.checks.outdated import NotCheckedError, OutdatedMention

NAME = "removed-name"
SHORT_ID = 10


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
    page = context.view.page(outdated.page)
    if not outdated.is_front_matter or page is None:
        return False
    return any(
        outdated.name in {reference.source_path, reference.literal}
        for reference in page.facts.references
    )


def _reason(outdated: OutdatedMention) -> str:
    """Return why the page means that name, and not another's; "" where the message shows it."""
    evidence = outdated.evidence
    if evidence and evidence.companion:
        return f": it also names `{evidence.companion}` of {evidence.source}"
    if evidence and evidence.commit:
        together = f"together with {evidence.source}" if evidence.source else "when it was new"
        return f": {evidence.commit[:SHORT_ID]} added the name to it {together}"
    if evidence and evidence.page:
        return f", as {evidence.page}, which means the same name"
    if evidence and evidence.test:
        return f": the change also removes the name from {evidence.test}"
    if evidence and evidence.source:
        folder = outdated.page.rpartition("/")[0]
        is_inside = folder and evidence.source.startswith(f"{folder}/")
        return f": {evidence.source} {'was in its folder' if is_inside else 'was named after it'}"
    return ""


def _finding(outdated: OutdatedMention, context: RuleContext) -> Finding:
    text, source = outdated.text, outdated.source
    moved_to = None if source else context.renames.new_path(outdated.name)
    hint = f"Update the page{_reason(outdated)}."
    if moved_to:
        message = f"`{text}` was moved to {moved_to}."
        hint = f"Write `{moved_to}` instead."
    elif outdated.replacement:
        new = outdated.replacement
        message = f"`{text}` was removed; `{new}` took its place in {outdated.replaced_in}."
        hint = f"Write `{new}` instead, if the text is still right."
    elif source is None:
        message = f"`{text}` no longer exists."
    elif outdated.is_old:
        message = f"`{text}` no longer exists; {source} used to define it."
    elif outdated.is_uncertain:
        message = f"`{text}` was removed from {source}, and no source that can be read has it."
    else:
        message = f"`{text}` was removed from {source}, and no source has it."
    if outdated.manifest:
        message = f"{message.removesuffix('.')}; it may come from another package now."
        hint = f"Update the page, unless another package has the name; see {outdated.manifest}."
    return Finding(
        rule=NAME,
        filepath=outdated.page,
        line=outdated.line,
        message=message,
        subject=text,
        hint=hint,
        related=outdated.replaced_in or moved_to,
        is_minor=outdated.is_old or outdated.is_uncertain or outdated.manifest is not None,
    )
