"""`ubp check` for people: a finding a line, how to put it right, and a summary."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ubp.check.finding import Finding
from ubp.check.report import CheckReport, FixReport
from ubp.model import FilePath
from ubp.render.ansi import Style
from ubp.render.text.typed import typed
from ubp.render.wording import count, left_out, printable, printable_line, revision

# One command names this many pages; more make it unreadable.
MOST_PAGES = 5


class Telling(NamedTuple):
    """How a report is told: in colour or not, only the findings, compared with which revision.

    `prefix` is the folder, from the root, where commands are typed.
    """

    style: Style
    is_quiet: bool = False
    base: str | None = None
    prefix: FilePath = FilePath("")


def check_text(report: CheckReport, telling: Telling) -> str:
    """The whole answer, ending with a newline; empty where `is_quiet` has nothing to tell."""
    lines = [line for one in report.findings for line in _finding(one, telling)]
    if telling.is_quiet:
        return "".join(f"{line}\n" for line in lines)
    if lines:
        lines.append("")
    lines += [_summary(report, telling), *_steps(report, telling)]
    return "\n".join(lines) + "\n"


def fix_text(done: FixReport, telling: Telling) -> str:
    """What was rewritten or, in a dry run, the diff; then what is left to do."""
    if telling.is_quiet:
        return done.diff if done.is_dry else check_text(done.check, telling)
    lines = list(_diff(done.diff, telling.style)) if done.is_dry else list(_fixed(done, telling))
    for one in done.left:
        place = telling.style.bold(printable(one.filepath))
        lines.append(f"{place}  {telling.style.yellow('left alone')}: {printable(one.reason)}")
    pages = len({one.finding.filepath for one in done.fixed})
    what = "would be put right" if done.is_dry else "put right"
    lines += [f"{count(len(done.fixed), 'finding')} {what} in {count(pages, 'page')}.", ""]
    if done.is_dry:
        return "\n".join(lines[:-1]) + "\n"
    return "\n".join(lines) + "\n" + check_text(done.check, telling)


def _finding(one: Finding, telling: Telling) -> Iterator[str]:
    style = telling.style
    column = f":{one.column}" if one.column else ""
    place = style.bold(printable(f"{one.filepath}:{one.line}{column}"))
    severity = style.red("error") if one.severity == "error" else style.yellow("warning")
    yield f"{place}  {severity}  {one.rule}: {printable(one.message)}"
    if one.hint and not telling.is_quiet:
        yield f"  {printable(one.hint)}"


def _summary(report: CheckReport, telling: Telling) -> str:
    style = telling.style
    pages = count(report.documents, "page")
    ignored = left_out(len(report.ignored) - report.accepted, report.accepted)
    unknown = _unknown(report)
    if not report.findings:
        if not report.documents:
            return style.yellow("There are no pages: nothing was checked.")
        found = (
            f"{_change(telling)} brings nothing to find" if report.is_change else "Nothing found"
        )
        text = f"{found} in {pages}{ignored}{unknown}."
        return style.yellow(text) if unknown else style.green(text)
    kinds = Counter(one.severity for one in report.findings)
    counts = ", ".join(count(kinds[kind], kind) for kind in ("error", "warning") if kinds[kind])
    where = len({one.filepath for one in report.findings})
    brings = f"{_change(telling)} brings " if report.is_change else ""
    return f"{brings}{counts} in {where} of {pages}{ignored}{unknown}."


def _change(telling: Telling) -> str:
    if telling.base is None:
        return "This commit"
    return f"This branch, since {printable(revision(telling.base))},"


def _unknown(report: CheckReport) -> str:
    if not report.unverified:
        return ""
    sources = count(report.unverified, "source")
    return f"; {sources} could not be verified, because this clone is shallow"


def _steps(report: CheckReport, telling: Telling) -> Iterator[str]:
    steps = []
    stale = dict.fromkeys(f.filepath for f in report.findings if f.rule == "stale-doc")
    if report.fixable:
        steps.append(("ubp check --fix", f"puts {report.fixable} of them right"))
    rules = Counter(one.rule for one in report.findings)
    if rules:
        (rule, _), *_ = rules.most_common(1)
        steps.append((f"ubp explain {rule}", "tells what is found, and how to ignore it"))
    if stale and report.is_change:
        steps.append((_ack(list(stale), telling), "if they are still true"))
    elif stale:
        steps.append(("ubp stale", "tells since which commit, and by whom"))
    if report.unverified:
        steps.append(("git fetch --unshallow", "fetches the history (in CI: fetch-depth: 0)"))
    if steps:
        yield "Next:"
    width = max((len(command) for command, _ in steps), default=0)
    for command, purpose in steps:
        yield f"  {telling.style.cyan(command)}{' ' * (width - len(command))}  {purpose}"


def _ack(pages: Sequence[FilePath], telling: Telling) -> str:
    words = ["ubp ack", *(["--staged"] if telling.base is None else [])]
    words += [typed(path, telling.prefix) for path in pages[:MOST_PAGES]]
    return " ".join([*words, *(["…"] if len(pages) > MOST_PAGES else [])])


def _fixed(done: FixReport, telling: Telling) -> Iterator[str]:
    for one in done.fixed:
        place = telling.style.bold(printable(f"{one.finding.filepath}:{one.finding.line}"))
        after = telling.style.green(printable(one.after))
        yield f"{place}  {printable(one.before)} is now {after}"


def _diff(diff: str, style: Style) -> Iterator[str]:
    paint = {"+": style.green, "-": style.red, "@": style.cyan}
    for line in diff.splitlines():
        yield paint.get(line[:1], str)(printable_line(line))
