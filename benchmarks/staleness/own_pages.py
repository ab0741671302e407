"""What became of the alarms about a repository's own pages: an edit, or an acknowledgement.

    python benchmarks/staleness/own_pages.py [CLONE] [--commits 10000]

Without CLONE, this repository. Each commit of the main line is judged against its first parent by
`ubp stale --base PARENT --ref COMMIT`, in the version at hand; an *alarm* is a page that the commit
makes stale. What ends it is the first commit, from the alarm's own on, that changes the page: its
*text*, whatever else it does; or *only its front matter* (or the comment that serves as such),
which is a pin or a reason, an acknowledgement without an edit. Several alarms may end in one
commit. An edit is *related* where a changed line of the text names a changed source (its path or
name) or an identifier of a line that the alarm's commit changed there. Whether an edit was made
because of the alarm cannot be told by machine: all edits are the most that can have been.
*In bulk* are acknowledgements by commits that end the alarms of at least five pages without an edit
of any page's text. *Open*: nothing has changed the page since.

Beside it what `ubp report` counts without judging any commit: moved pins, with and without an edit
of the page.

`with evidence` are alarms about pages that contain a name which the commit changed.
"""

import argparse
import re
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

from benchmarks.common.measure import print_table
from benchmarks.staleness.replay import (
    IDENTIFIER,
    SHORTEST_NAME,
    Step,
    clone,
    git,
    percent,
    read_steps,
)
from ubp.answers.report.report import ReportRequest, run
from ubp.answers.staleness.stale import report_stale
from ubp.index.session import Target
from ubp.workspace import Workspace

HEAD = re.compile(r"(?:---|<!-- ubp|\{/\* ubp)\n.*?\n(?:---|-->|\*/\})\n", re.DOTALL)
BULK = 5
RELATED, UNRELATED = "text edited, related", "text edited otherwise"
ALONE, IN_BULK = "acknowledged alone", "acknowledged in bulk"
REMOVED, OPEN = "page removed", "open"
OUTCOMES = (RELATED, UNRELATED, ALONE, IN_BULK, REMOVED, OPEN)


class Alarm(NamedTuple):
    """A page that the commit of a step makes stale."""

    step: int
    page: str
    sources: tuple[str, ...]
    has_evidence: bool


def main() -> None:
    """Print how many alarms ended in which way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clone", nargs="?", type=Path, default=Path(__file__).parents[2])
    parser.add_argument("--commits", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = clone(options.clone.resolve(), folder)
        steps = read_steps(root, options.commits)
        alarms = find_alarms(root, steps)
        outcomes = find_outcomes(root, steps, alarms)
        print_settled(root)
    rows = []
    for name, of in (("all", outcomes), ("with evidence", [o for o in outcomes if o[0]])):
        counts = Counter(outcome for _, outcome in of)
        cells = [f"{counts[outcome]} ({percent(counts[outcome], len(of))})" for outcome in OUTCOMES]
        rows.append([name, str(len(of)), *cells])
    commits = len({alarm.step for alarm in alarms})
    print_table(
        f"{commits} of {len(steps) - 1} commits with alarms", ["alarms", "pages", *OUTCOMES], rows
    )


def print_settled(root: Path) -> None:
    """Print what `ubp report` counts: alarms whose end moved a pin."""
    with Workspace.open(str(root)) as workspace:
        alarms = run(workspace.session, ReportRequest()).alarms
    rows = [
        [
            month.month or "all",
            *map(str, (month.alarms, month.edited, month.wrong, month.precision)),
        ]
        for month in ((*alarms.months, alarms.total) if alarms else ())
    ]
    names = ["settled", "alarms", "led to an edit", "wrong", "% right"]
    print_table("`ubp report`, from moved pins alone", names, rows)


def find_alarms(root: Path, steps: list[Step]) -> list[Alarm]:
    """Return the pages that each commit makes stale."""
    alarms = []
    with Workspace.open(str(root)) as workspace:
        for number, step in enumerate(steps[1:], start=1):
            target = Target(step.commit, base=steps[number - 1].commit)
            change = report_stale(workspace.session, target)
            alarms += [
                Alarm(
                    number,
                    page.page.filepath,
                    tuple(item.source_path for item in page.references),
                    any(item.evidence for item in page.references),
                )
                for page in change.introduced
                if page.level != "unknown"
            ]
    return alarms


def find_outcomes(root: Path, steps: list[Step], alarms: list[Alarm]) -> list[tuple[bool, str]]:
    """Return of each alarm whether it has evidence, and what ended it."""
    endings = [ending(root, steps, alarm) for alarm in alarms]
    acknowledged, edited = defaultdict(set), set()
    for alarm, (number, outcome) in zip(alarms, endings, strict=True):
        if outcome == ALONE:
            acknowledged[number].add(alarm.page)
        elif outcome in {RELATED, UNRELATED}:
            edited.add(number)
    bulk = {number for number, pages in acknowledged.items() if len(pages) >= BULK} - edited
    return [
        (
            alarm.has_evidence,
            IN_BULK if outcome == ALONE and number in bulk else outcome,
        )
        for alarm, (number, outcome) in zip(alarms, endings, strict=True)
    ]


def ending(root: Path, steps: list[Step], alarm: Alarm) -> tuple[int, str]:
    """Return the step that ended an alarm, and how."""
    for number in range(alarm.step, len(steps)):
        if alarm.page not in steps[number].touched:
            continue
        before = git(root, "show", f"{steps[number - 1].commit}:{alarm.page}")
        after = git(root, "show", f"{steps[number].commit}:{alarm.page}")
        if not after:
            return number, REMOVED
        if text_of(before) != text_of(after):
            return number, RELATED if is_related(root, steps, alarm, number) else UNRELATED
        if number > alarm.step:
            return number, ALONE
    return len(steps), OPEN


def is_related(root: Path, steps: list[Step], alarm: Alarm, number: int) -> bool:
    """Whether an edit of the page names a source of the alarm, or what changed in it."""
    names = set()
    for source in alarm.sources:
        names |= {source, Path(source).name, Path(source).stem}
        lines = changed_lines(root, steps, alarm.step, source)
        names |= {name for line in lines for name in IDENTIFIER.findall(line)}
    text = "\n".join(changed_lines(root, steps, number, alarm.page))
    words = set(re.findall(r"\w+", text))
    return any(
        name in (words if name.isidentifier() else text)
        for name in names
        if len(name) >= SHORTEST_NAME
    )


def changed_lines(root: Path, steps: list[Step], number: int, path: str) -> list[str]:
    """Return the lines of a file that a step removes or adds, without a page's references."""
    before, after = steps[number - 1].commit, steps[number].commit
    out = git(root, "diff", "--unified=0", "--no-ext-diff", before, after, "--", path)
    lines = [line[1:] for line in out.splitlines() if re.match(r"[-+](?![-+]{2})", line)]
    return [
        line for line in lines if not re.match(r"\s*(?:- (?:path: )?\S+$|(?:blob|reason):)", line)
    ]


def text_of(page: str) -> str:
    """Return a page without its front matter."""
    return HEAD.sub("", page, count=1) if HEAD.match(page) else page


if __name__ == "__main__":
    main()
