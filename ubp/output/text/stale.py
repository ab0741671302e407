"""`ubp ack` for people: what was pinned, what could not be, what to do with it.

What to do next, as commands that can be typed where the user stands.

`ubp affected` for people.

How to tie the first page to what it describes.

`ubp stale` for people: pages, worst first, and a summary never greener than the truth.

A repository in one line.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ubp.core.model import DEBT_FILE, Assessment, Commit, FilePath, ReferenceVerdict
from ubp.core.shell import git_add, path_argument, ubp_command
from ubp.output.text.common import (
    StaleTextOptions,
    count_bound,
    count_levels,
    visible_pages,
    visible_references,
)
from ubp.output.wording import (
    MAX_COMMITS,
    MAX_PAGES,
    NOW_STALE,
    SHORT_ID,
    Style,
    and_more,
    change_name,
    count,
    day,
    printable,
    stale_change_sentence,
)
from ubp.staleness.model import Acknowledgement, Affected, SourceDiff, StaleReport
from ubp.staleness.wording import LEVEL_WORDS, describe_drift_time, describe_verdict


def acknowledge_text(
    done: Sequence[Acknowledgement], prefix: FilePath, style: Style, *, is_staged: bool
) -> str:
    """Page by page, then a summary and the next command."""
    lines = [line for one in done if one.pinned or one.skipped for line in _page(one, style)]
    changed = [one for one in done if one.pinned]
    pinned = sum(len(one.pinned) for one in done)
    if not changed:
        lines.append(
            "Nothing was pinned." if lines else "Nothing to pin: no reference has drifted."
        )
        return "\n".join(lines) + "\n"
    lines.append(f"{count(pinned, 'reference')} pinned in {count(len(changed), 'page')}.")
    if not is_staged:
        command = git_add((one.filepath for one in changed[:MAX_PAGES]), prefix)
        lines.append(f"Next: {style.cyan(command)}{and_more(len(changed) - MAX_PAGES)}")
    return "\n".join(lines) + "\n"


def _page(one: Acknowledgement, style: Style) -> Iterator[str]:
    yield style.bold(printable(one.filepath))
    for pinned in one.pinned:
        before = f" (was {pinned.before})" if pinned.before else ""
        name = printable(pinned.source_path)
        yield f"  {name}  {style.green(f'pinned to {pinned.pin}')}{printable(before)}"
    for left in one.skipped:
        yield f"  {printable(left.source_path)}  {style.yellow('left')}: {printable(left.reason)}"


def advise(report: StaleReport, telling: StaleTextOptions) -> list[str]:
    """The next steps; none where all is well."""
    pages = [
        one
        for one in visible_pages(report, every=False)
        if any(answer.verdict != "fresh" for answer in one.references)
    ]
    known = [one for one in pages if one.level != "unknown"]
    lines: list[str] = []
    if known and report.is_change:
        lines += _change_steps(known, telling)
    elif known:
        lines += _state_steps(known[0], report, telling)
    lines += _unknown_steps(report, telling)
    return lines


def _state_steps(
    worst: Assessment, report: StaleReport, telling: StaleTextOptions
) -> Iterator[str]:
    page = path_argument(worst.page.filepath, telling.prefix)
    is_here = report.snapshot.kind == "worktree"
    revision = [] if is_here else ["--ref", (report.snapshot.commit or "HEAD")[:SHORT_ID]]
    steps = []
    if not telling.diffs:
        command = telling.command("stale", "--diff", *revision, page)
        steps.append((command, "what changed in its sources"))
    if is_here and _is_answerable(worst):
        steps.append((telling.command("ack", page), "the page was read and is still true"))
    if steps:
        yield "Next:"
    width = max((len(command) for command, _ in steps), default=0)
    for command, purpose in steps:
        yield f"  {command}{' ' * (width - len(command))}  {purpose}"
    if is_here and not _is_answerable(worst):
        yield f"Edit {printable(page)}: change or remove the references to what is gone."


def _change_steps(pages: Sequence[Assessment], telling: StaleTextOptions) -> Iterator[str]:
    them = "it" if len(pages) == 1 else "them"
    stage = f" and `git add` {them}" if telling.base is None else ""
    acknowledgeable = [one for one in pages if _is_answerable(one)]
    if not acknowledgeable:
        yield f"Edit {them}{stage}: the references to what is gone want changing."
        return
    is_true = "it is" if len(acknowledgeable) == 1 else "they are"
    if any(_is_pinned(one) for one in acknowledgeable):
        # Editing the page does not renew a pin.
        yield f"Edit {them}{stage} where {is_true} no longer true, then pin what was reviewed:"
    else:
        yield f"Edit {them}{stage}, or, if {is_true} still true:"
    words = ["ack", *(["--staged"] if telling.base is None else [])]
    pages_named = acknowledgeable[:MAX_PAGES]
    words += [path_argument(one.page.filepath, telling.prefix) for one in pages_named]
    yield f"  {telling.command(*words)}{and_more(len(acknowledgeable) - MAX_PAGES)}"


def _is_answerable(one: Assessment) -> bool:
    """Whether `ack` can pin something: what is gone has no id to pin."""
    return any(
        answer.current_blob is not None
        for answer in visible_references(one, every=False)
        if answer.verdict != "unknown"
    )


def _is_pinned(one: Assessment) -> bool:
    answers = visible_references(one, every=False)
    return any(answer.baseline == "pin" for answer in answers)


def _unknown_steps(report: StaleReport, telling: StaleTextOptions) -> Iterator[str]:
    unknown = [
        one for one in report.pages if any(answer.verdict == "unknown" for answer in one.references)
    ]
    if not unknown:
        return
    style = telling.style
    page = path_argument(unknown[0].page.filepath, telling.prefix)
    yield (
        f"{style.cyan('Hint:')} {count(len(unknown), 'page')} could not be verified,"
        " because this clone is shallow. Fetch the history,"
    )
    yield f"  {style.cyan('git fetch --unshallow')}  (in CI: fetch-depth: 0)"
    yield f"or pin what was read, which needs none: {telling.command('ack', page)}"


def affected_text(
    affected: Sequence[Affected], paths: Sequence[str], style: Style, *, is_quiet: bool
) -> str:
    """A line for each reference, then a summary unless `is_quiet`."""
    lines = [
        f"{style.bold(f'{printable(one.page.filepath)}:{reference.line}')}  "
        f"{printable(reference.source_path + (reference.fragment or ''))}"
        for one in affected
        for reference in one.references
    ]
    if not is_quiet:
        asked = printable(", ".join(paths))
        verb = "describes" if len(affected) == 1 else "describe"
        found = f"{count(len(affected), 'page')} {verb} {asked}."
        lines += ["", found] if affected else [style.yellow(f"No page describes {asked}.")]
    return "".join(f"{line}\n" for line in lines)


_PLAIN_SCALAR = r"[A-Za-z0-9_./][\w./-]*"


def explain(report: StaleReport, telling: StaleTextOptions) -> Iterator[str]:
    """Lines of front matter to paste, and the next command."""
    example, style = telling.example, telling.style
    if not report.summary.documents:
        yield "Pages are the files that `source.include` in .ubp/config.json admits: by default"
        yield "**/*.md and **/*.markdown, which Git does not ignore."
        return
    page = example.page if example else FilePath("a page")
    source = example.source if example else "path/of/its/source"
    mention = f", which mentions {printable(source)}" if example and example.is_named else ""
    has_front_matter = example is not None and example.has_front_matter
    place = "In the front matter of" if has_front_matter else "At the top of"
    fence = [] if has_front_matter else ["---"]
    yield ""
    yield "A page names the files that it describes, from the repository's root."
    yield f"{place} {printable(page)}{mention}, write:"
    yield ""
    for line in (*fence, f"{telling.key}:", f"  - {_yaml(source)}", *fence):
        yield style.cyan(line)
    yield ""
    pages = [path_argument(page, telling.prefix)] if example else []
    yield f"Then: {telling.command('stale', *pages)}"
    yield f"Or let all pages' sources be proposed: {telling.command('bind')}"
    if example and example.other_key and example.other_key not in telling.keys:
        key = example.other_key
        command = style.cyan(ubp_command("stale", keys=[key]))
        yield f"Or do pages name them under `{key}` already? {command}"


def _yaml(path: str) -> str:
    if re.fullmatch(_PLAIN_SCALAR, path):
        return path
    return "'" + printable(path).replace("'", "''") + "'"


def stale_text(report: StaleReport, telling: StaleTextOptions) -> str:
    """The whole answer, ending with a newline; empty where `quiet` has nothing to tell."""
    pages = visible_pages(report, every=telling.every)
    if telling.quiet:
        return "".join(f"{_heading(one, report, telling)}\n" for one in pages)
    lines: list[str] = []
    for one in pages:
        lines.append(_heading(one, report, telling))
        lines += _problems(one, telling.style)
        for answer in visible_references(one, every=telling.every):
            lines += _reference(one, answer, report, telling)
    if lines:
        lines.append("")
    lines += _summary(report, telling)
    lines += _debts(report, telling)
    lines += advise(report, telling)
    return "\n".join(lines) + "\n"


def _heading(one: Assessment, report: StaleReport, telling: StaleTextOptions) -> str:
    shown = visible_references(one, every=telling.every)
    lines = [answer.reference.line for answer in shown if answer.verdict != "fresh"]
    lines += [problem.line for problem in one.page.facts.problems]
    lines += [answer.reference.line for answer in shown]
    place = printable(one.page.filepath) + (f":{lines[0]}" if lines else "")
    is_left = report.is_change and any(not a.is_debt and a.verdict != "fresh" for a in shown)
    level = telling.style.red(NOW_STALE) if is_left else _level(one, telling.style)
    return f"{telling.style.bold(place)}  {level}"


def _level(one: Assessment, style: Style) -> str:
    if one.page.facts.problems and not one.references:
        return style.yellow("front matter has problems")
    words = LEVEL_WORDS[one.level]
    if one.level == "stale":
        return style.red(words)
    if one.level == "fresh":
        return style.green(words)
    return style.dim(words) if one.level == "untracked" else style.yellow(words)


def _problems(one: Assessment, style: Style) -> Iterator[str]:
    for problem in one.page.facts.problems:
        yield f"  {style.yellow(f'line {problem.line}:')} {printable(problem.message)}"


def _reference(
    one: Assessment, answer: ReferenceVerdict, report: StaleReport, telling: StaleTextOptions
) -> Iterator[str]:
    style = telling.style
    old = " (before this change)" if report.is_change else " (an old debt)"
    debt = style.dim(old) if answer.is_debt else ""
    is_staged = report.snapshot.kind == "staged" and not answer.is_debt
    when = describe_drift_time(answer, is_staged=is_staged, is_shallow=report.is_shallow)
    verdict = printable(describe_verdict(answer.verdict, when, answer.moved_to))
    yield f"  {printable(_name(answer))}  {verdict}{debt}"
    yield from _commits(answer.commits, style)
    diff = telling.diffs.get((one.page.filepath, answer))
    if diff is not None:
        yield from _diff(diff, style)


def _name(answer: ReferenceVerdict) -> str:
    is_cut = answer.source_path == answer.reference.source_path
    fragment = answer.reference.fragment if is_cut else None
    return (answer.source_path or ".") + (fragment or "")


def _commits(commits: tuple[Commit, ...], style: Style) -> Iterator[str]:
    """Oldest first: the first line is the commit since which the page is behind."""
    for commit in commits[: -MAX_COMMITS - 1 : -1]:
        yield _commit(commit, style)
    if len(commits) > MAX_COMMITS:
        yield style.dim(f"    and {count(len(commits) - MAX_COMMITS, 'more commit')}")


@lru_cache  # one commit makes many pages stale
def _commit(commit: Commit, style: Style) -> str:
    name = style.yellow(commit.id[:SHORT_ID])
    who = style.dim(f"{day(commit.date)} {printable(commit.author)}:")
    return f"    {name} {who} {printable(commit.subject)}"


def _diff(diff: SourceDiff, style: Style) -> Iterator[str]:
    yield from (f"    {line}" for line in style.diff(diff.text))
    if diff.missing:
        yield f"    {count(len(diff.missing), 'blob')} of it are not in this partial clone. Fetch:"
        yield f"      {style.cyan(diff.fetch_command)}"


def _summary(report: StaleReport, telling: StaleTextOptions) -> list[str]:
    summary, style = report.summary, telling.style
    named = count_bound(summary)
    if not summary.bound:
        return [style.yellow(f"{named}: nothing was verified."), *explain(report, telling)]
    if report.is_change:
        change = change_name(telling.base)
        stale = len(report.introduced)
        sentence = stale_change_sentence(change, stale, summary.verified, named)
        return [style.green(sentence) if summary.verified and not stale else sentence]
    if summary.fresh == summary.bound:
        return [style.green(f"{named}: {'all ' if summary.fresh > 1 else ''}fresh.")]
    verified = f", {summary.verified} could be verified" if summary.unknown else ""
    return [f"{named}{verified}: {count_levels(summary)}."]


def _debts(report: StaleReport, telling: StaleTextOptions) -> Iterator[str]:
    """What the debt file accepts, and what it should not any more."""
    if report.accepted:
        old = f"{count(report.accepted, 'old debt')} accepted in {DEBT_FILE}"
        yield telling.style.dim(f"{old} (--all shows them).")
    if report.obsolete_debts:
        told = f"Of its lines {len(report.obsolete_debts)} accept nothing any more:"
        yield f"{telling.style.red(told)} {telling.style.cyan('ubp debt --prune')} takes them out."


def welcome_text(report: StaleReport, style: Style) -> str:
    """How many pages name sources, their levels, and the command that tells more."""
    summary = report.summary
    named = count_bound(summary)
    if not summary.bound:
        state = style.yellow(f"{named}: nothing can be verified")
    elif summary.fresh == summary.bound:
        state = style.green(f"{named}: {count_levels(summary)}")
    else:
        state = f"{named}: {count_levels(summary)}"
    return f"Here: {state}. {style.cyan('ubp stale')} tells more.\n"
