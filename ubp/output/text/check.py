"""`ubp check` for people: a finding a line, how to put it right, and a summary.

`ubp debt` for people: what the debt file accepts, and what it does not.

`ubp explain` for people.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ubp.checks.accept import AcceptedFindings
from ubp.checks.finding import CheckReport, Finding, FixReport
from ubp.checks.registry import Rule
from ubp.core.model import DEBT_FILE, FilePath
from ubp.core.shell import path_argument, ubp_command
from ubp.output.wording import MAX_PAGES, Style, and_more, change_name, count, left_out, printable


class CheckTextOptions(NamedTuple):
    """How a report is told: in colour or not, only the findings, compared with which revision.

    `prefix` is the folder, from the root, where commands are typed.
    """

    style: Style
    is_quiet: bool = False
    base: str | None = None
    prefix: FilePath = FilePath("")


def check_text(report: CheckReport, telling: CheckTextOptions) -> str:
    """The whole answer, ending with a newline; empty where `is_quiet` has nothing to tell."""
    lines = [line for one in report.findings for line in _finding(one, telling)]
    if telling.is_quiet:
        return "".join(f"{line}\n" for line in lines)
    if lines:
        lines.append("")
    lines += [_summary(report, telling), *_steps(report, telling)]
    return "\n".join(lines) + "\n"


def fix_text(done: FixReport, telling: CheckTextOptions) -> str:
    """What was rewritten or, in a dry run, the diff; then what is left to do."""
    if telling.is_quiet:
        return done.diff if done.is_dry else check_text(done.check, telling)
    lines = list(telling.style.diff(done.diff)) if done.is_dry else list(_fixed(done, telling))
    for one in done.skipped:
        place = telling.style.bold(printable(one.filepath))
        lines.append(f"{place}  {telling.style.yellow('left alone')}: {printable(one.reason)}")
    pages = len({one.finding.filepath for one in done.fixed})
    what = "would be put right" if done.is_dry else "put right"
    lines += [f"{count(len(done.fixed), 'finding')} {what} in {count(pages, 'page')}.", ""]
    if done.is_dry:
        return "\n".join(lines[:-1]) + "\n"
    return "\n".join(lines) + "\n" + check_text(done.check, telling)


def _finding(one: Finding, telling: CheckTextOptions) -> Iterator[str]:
    style = telling.style
    column = f":{one.column}" if one.column else ""
    place = style.bold(printable(f"{one.filepath}:{one.line}{column}"))
    severity = style.red("error") if one.severity == "error" else style.yellow("warning")
    yield f"{place}  {severity}  {one.rule}: {printable(one.message)}"
    if one.hint and not telling.is_quiet:
        yield f"  {printable(one.hint)}"


def _summary(report: CheckReport, telling: CheckTextOptions) -> str:
    style = telling.style
    pages = count(report.documents, "page")
    ignored = left_out(len(report.ignored) - report.accepted, report.accepted)
    unknown = _unknown(report)
    if not report.findings:
        if not report.documents:
            return style.yellow("There are no pages: nothing was checked.")
        found = (
            f"{change_name(telling.base)} brings nothing to find"
            if report.is_change
            else "Nothing found"
        )
        text = f"{found} in {pages}{ignored}{unknown}."
        return style.yellow(text) if unknown else style.green(text)
    kinds = Counter(one.severity for one in report.findings)
    counts = ", ".join(count(kinds[kind], kind) for kind in ("error", "warning") if kinds[kind])
    where = len({one.filepath for one in report.findings})
    brings = f"{change_name(telling.base)} brings " if report.is_change else ""
    return f"{brings}{counts} in {where} of {pages}{ignored}{unknown}."


def _unknown(report: CheckReport) -> str:
    if not report.unverified:
        return ""
    sources = count(report.unverified, "source")
    return f"; {sources} could not be verified, because this clone is shallow"


def _steps(report: CheckReport, telling: CheckTextOptions) -> Iterator[str]:
    steps = []
    stale = dict.fromkeys(f.filepath for f in report.findings if f.rule == "stale-doc")
    if report.fixable:
        steps.append((ubp_command("check", "--fix"), f"puts {report.fixable} of them right"))
    rules = Counter(one.rule for one in report.findings)
    if rules:
        (rule, _), *_ = rules.most_common(1)
        steps.append((ubp_command("explain", rule), "tells what is found, and how to ignore it"))
    if stale and report.is_change:
        more = and_more(len(stale) - MAX_PAGES)
        steps.append((_ack(list(stale)[:MAX_PAGES], telling), f"if they are still true{more}"))
    elif stale:
        steps.append(("ubp stale", "tells since which commit, and by whom"))
    if report.unverified:
        steps.append(("git fetch --unshallow", "fetches the history (in CI: fetch-depth: 0)"))
    if steps:
        yield "Next:"
    width = max((len(command) for command, _ in steps), default=0)
    for command, purpose in steps:
        yield f"  {telling.style.cyan(command)}{' ' * (width - len(command))}  {purpose}"


def _ack(pages: Sequence[FilePath], telling: CheckTextOptions) -> str:
    options = ["--staged"] if telling.base is None else []
    paths = (path_argument(path, telling.prefix) for path in pages)
    return ubp_command("ack", *options, *paths)


def _fixed(done: FixReport, telling: CheckTextOptions) -> Iterator[str]:
    for one in done.fixed:
        place = telling.style.bold(printable(f"{one.finding.filepath}:{one.finding.line}"))
        after = telling.style.green(printable(one.after))
        yield f"{place}  {printable(one.before)} is now {after}"


def debt_text(done: AcceptedFindings, style: Style, *, is_pruning: bool, is_unseen: bool) -> str:
    """What was written, or what would have to be done; `is_unseen`: Git ignores the file."""
    if done.text is not None:
        lines = _written(done, style, is_unseen=is_unseen)
    elif done.accepted or done.obsolete or done.new:
        lines = _compared(done, style)
    elif is_pruning:
        lines = ["There is no debt file to prune."]
    else:
        lines = [style.green("Nothing is found, so there is no debt to accept.")]
    return "\n".join(lines) + "\n"


def _written(done: AcceptedFindings, style: Style, *, is_unseen: bool) -> list[str]:
    accepted = f"{count(done.accepted, 'old finding')} in {count(done.pages, 'page')}"
    if done.obsolete:
        head = f"Took {count(done.obsolete, 'line')} out of {DEBT_FILE}; {accepted} remain."
    else:
        head = f"Accepted {accepted}: `ubp check` and `ubp stale` fail on new ones only."
    lines = [style.green(head), *_news(done)]
    if is_unseen:
        lines.append(style.yellow("An ignore file of yours hides it from Git, and so from UBP."))
    command = "git add --force" if is_unseen else "git add"
    return [*lines, "Next:", f"  {style.cyan(f'{command} {DEBT_FILE}')}  shares it"]


def _compared(done: AcceptedFindings, style: Style) -> list[str]:
    lines = [f"{DEBT_FILE} accepts {count(done.accepted, 'old finding')}."]
    if done.obsolete:
        lines += [
            style.red(f"Of its lines {done.obsolete} accept nothing any more."),
            "Next:",
            f"  {style.cyan('ubp debt --prune')}  takes them out",
        ]
    elif not done.new:
        lines.append(style.green("All of them are still there, and nothing new is."))
    return lines + _news(done)


def _news(done: AcceptedFindings) -> list[str]:
    if not done.new:
        return []
    return [
        f"{count(done.new, 'finding')} not accepted: the debt can only shrink.",
        "Put them right (`ubp check` tells them), or remove the file and begin anew.",
    ]


def manuals_text(rules: Sequence[Rule], style: Style) -> str:
    """The manuals, one below the other."""
    return "\n\n".join(
        f"{style.bold(rule.name)} ({rule.severity})\n\n{rule.manual}" for rule in rules
    ).join(["", "\n"])


def rules_text(rules: Sequence[Rule], style: Style) -> str:
    """A line for each rule."""
    width = max(len(rule.name) for rule in rules)
    names = [style.bold(rule.name) + " " * (width - len(rule.name)) for rule in rules]
    lines = [
        f"{name}  {rule.severity:<7}  {rule.summary}"
        for name, rule in zip(names, rules, strict=True)
    ]
    return "\n".join([*lines, "", "`ubp explain RULE` prints its manual."]) + "\n"
