"""`ubp stale` for people: pages, worst first, and a summary never greener than the truth."""

from collections.abc import Iterator
from functools import lru_cache

from ubp.model import DEBT_FILE, Assessment, Commit, ReferenceVerdict
from ubp.render.ansi import Style
from ubp.render.shown import shown_pages, shown_references
from ubp.render.text.advice import SHORT_ID, advise
from ubp.render.text.example import explain
from ubp.render.text.levels import WORDS, count_bound, count_levels
from ubp.render.text.telling import Telling
from ubp.render.wording import age, count, day, printable, printable_line, revision
from ubp.staleness.report import SourceDiff, StaleReport

# The commit that began the drift, and the two after it, say what happened; the rest is history.
MOST_COMMITS = 3


def stale_text(report: StaleReport, telling: Telling) -> str:
    """The whole answer, ending with a newline; empty where `quiet` has nothing to tell."""
    pages = shown_pages(report, every=telling.every)
    if telling.quiet:
        return "".join(f"{_heading(one, report, telling)}\n" for one in pages)
    lines: list[str] = []
    for one in pages:
        lines.append(_heading(one, report, telling))
        lines += _problems(one, telling.style)
        for answer in shown_references(one, every=telling.every):
            lines += _reference(one, answer, report, telling)
    if lines:
        lines.append("")
    lines += _summary(report, telling)
    lines += _debts(report, telling)
    lines += advise(report, telling)
    return "\n".join(lines) + "\n"


def _heading(one: Assessment, report: StaleReport, telling: Telling) -> str:
    shown = shown_references(one, every=telling.every)
    lines = [answer.reference.line for answer in shown if answer.verdict != "fresh"]
    lines += [problem.line for problem in one.page.facts.problems]
    lines += [answer.reference.line for answer in shown]
    place = printable(one.page.filepath) + (f":{lines[0]}" if lines else "")
    is_left = report.is_change and any(not a.is_debt and a.verdict != "fresh" for a in shown)
    level = telling.style.red("left behind") if is_left else _level(one, telling.style)
    return f"{telling.style.bold(place)}  {level}"


def _level(one: Assessment, style: Style) -> str:
    if one.page.facts.problems and not one.references:
        return style.yellow("front matter has problems")
    words = WORDS[one.level]
    if one.level == "stale":
        return style.red(words)
    if one.level == "fresh":
        return style.green(words)
    return style.dim(words) if one.level == "untracked" else style.yellow(words)


def _problems(one: Assessment, style: Style) -> Iterator[str]:
    for problem in one.page.facts.problems:
        yield f"  {style.yellow(f'line {problem.line}:')} {printable(problem.message)}"


def _reference(
    one: Assessment, answer: ReferenceVerdict, report: StaleReport, telling: Telling
) -> Iterator[str]:
    style = telling.style
    old = " (before this change)" if report.is_change else " (an old debt)"
    debt = style.dim(old) if answer.is_debt else ""
    yield f"  {printable(_name(answer))}  {_verdict(answer, report)}{debt}"
    yield from _commits(answer.commits, style)
    diff = telling.diffs.get((one.page.filepath, answer))
    if diff is not None:
        yield from _diff(diff, style)


def _name(answer: ReferenceVerdict) -> str:
    is_cut = answer.source_path == answer.reference.source_path
    fragment = answer.reference.fragment if is_cut else None
    return (answer.source_path or ".") + (fragment or "")


def _verdict(answer: ReferenceVerdict, report: StaleReport) -> str:
    when = _when(answer, report)
    match answer.verdict:
        case "fresh":
            return "fresh"
        case "not_found":
            return "not found: no commit ever had it"
        case "unknown":
            return "unknown: this clone's history ends before the page was written"
        case "moved":
            return f"moved to {printable(answer.moved_to or '?')}{when}"
        case "created":
            return f"created after the page{when}"
        case verdict:
            return f"{verdict}{when}"


def _when(answer: ReferenceVerdict, report: StaleReport) -> str:
    is_staged = report.snapshot.kind == "staged" and not answer.is_debt
    if answer.since is not None:
        return f" {age(answer.age_days or 0)}" + (", and again by this commit" if is_staged else "")
    if answer.age_days is not None:
        return " by this commit" if is_staged else ", not committed yet"
    return " before this clone's history begins" if report.is_shallow else " at an unknown time"


def _commits(commits: tuple[Commit, ...], style: Style) -> Iterator[str]:
    """Oldest first: the first line is the commit since which the page is behind."""
    for commit in commits[: -MOST_COMMITS - 1 : -1]:
        yield _commit(commit, style)
    if len(commits) > MOST_COMMITS:
        yield style.dim(f"    and {count(len(commits) - MOST_COMMITS, 'more commit')}")


@lru_cache  # one commit makes many pages stale
def _commit(commit: Commit, style: Style) -> str:
    name = style.yellow(commit.id[:SHORT_ID])
    who = style.dim(f"{day(commit.date)} {printable(commit.author)}:")
    return f"    {name} {who} {printable(commit.subject)}"


def _diff(diff: SourceDiff, style: Style) -> Iterator[str]:
    paint = {"+": style.green, "-": style.red, "@": style.cyan}
    for line in diff.text.splitlines():
        yield "    " + paint.get(line[:1], str)(printable_line(line))
    if diff.missing:
        yield f"    {count(len(diff.missing), 'blob')} of it are not in this partial clone. Fetch:"
        yield f"      {style.cyan(diff.fetch_command)}"


def _summary(report: StaleReport, telling: Telling) -> list[str]:
    summary, style = report.summary, telling.style
    named = count_bound(summary)
    if not summary.bound:
        return [style.yellow(f"{named}: nothing was verified."), *explain(report, telling)]
    if report.is_change:
        return [_change_summary(report, telling, named)]
    if summary.fresh == summary.bound:
        return [style.green(f"{named}: {'all ' if summary.fresh > 1 else ''}fresh.")]
    verified = f", {summary.verified} could be verified" if summary.unknown else ""
    return [f"{named}{verified}: {count_levels(summary)}."]


def _debts(report: StaleReport, telling: Telling) -> Iterator[str]:
    """What the debt file accepts, and what it should not any more."""
    if report.accepted:
        old = f"{count(report.accepted, 'old debt')} accepted in {DEBT_FILE}"
        yield telling.style.dim(f"{old} (--all shows them).")
    if report.settled:
        told = f"Of its lines {len(report.settled)} accept nothing any more:"
        yield f"{telling.style.red(told)} {telling.style.cyan('ubp debt --prune')} takes them out."


def _change_summary(report: StaleReport, telling: Telling, named: str) -> str:
    since = "" if telling.base is None else f", since {printable(revision(telling.base))},"
    change = "This commit" if telling.base is None else f"This branch{since}"
    verified = report.summary.verified
    if report.brought:
        return f"{change} leaves {count(len(report.brought), 'page')} behind."
    if not verified:
        return f"{change} touches no source of a page ({named})."
    return telling.style.green(f"{change} leaves no page behind ({verified} verified).")
