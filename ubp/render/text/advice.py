"""What to do next, as commands that can be typed where the user stands."""

from collections.abc import Iterator, Sequence

from ubp.model import Assessment
from ubp.render.shown import shown_pages, shown_references
from ubp.render.text.telling import Telling
from ubp.render.text.typed import typed
from ubp.render.wording import count
from ubp.staleness.report import StaleReport

# One command names this many pages; more make it unreadable.
MOST_PAGES = 5
# As long as Git's own short ids grow in the largest repositories.
SHORT_ID = 10


def advise(report: StaleReport, telling: Telling) -> list[str]:
    """The next steps; none where all is well."""
    pages = [
        one
        for one in shown_pages(report, every=False)
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


def _state_steps(worst: Assessment, report: StaleReport, telling: Telling) -> Iterator[str]:
    page = typed(worst.page.filepath, telling.prefix)
    is_here = report.snapshot.kind == "worktree"
    revision = [] if is_here else ["--ref", (report.snapshot.commit or "HEAD")[:SHORT_ID]]
    steps = []
    if not telling.diffs:
        command = telling.command("stale", "--diff", *revision, page)
        steps.append((command, "what changed in its sources"))
    if is_here and _is_answerable(worst):
        steps.append((telling.command("ack", page), "the page was read and is still true"))
    elif is_here:
        steps.append((page, "change or remove the references to what is gone"))
    if steps:
        yield "Next:"
    width = max((len(command) for command, _ in steps), default=0)
    for command, purpose in steps:
        yield f"  {command}{' ' * (width - len(command))}  {purpose}"


def _change_steps(pages: Sequence[Assessment], telling: Telling) -> Iterator[str]:
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
    words += [typed(one.page.filepath, telling.prefix) for one in acknowledgeable[:MOST_PAGES]]
    words += ["…"] if len(acknowledgeable) > MOST_PAGES else []
    yield f"  {telling.command(*words)}"


def _is_answerable(one: Assessment) -> bool:
    """Whether `ack` can pin something: what is gone has no id to pin."""
    return any(
        answer.current_blob is not None
        for answer in shown_references(one, every=False)
        if answer.verdict != "unknown"
    )


def _is_pinned(one: Assessment) -> bool:
    answers = shown_references(one, every=False)
    return any(answer.baseline == "pin" for answer in answers)


def _unknown_steps(report: StaleReport, telling: Telling) -> Iterator[str]:
    unknown = [
        one for one in report.pages if any(answer.verdict == "unknown" for answer in one.references)
    ]
    if not unknown:
        return
    style = telling.style
    page = typed(unknown[0].page.filepath, telling.prefix)
    yield (
        f"{style.cyan('Hint:')} {count(len(unknown), 'page')} could not be verified,"
        " because this clone is shallow. Fetch the history,"
    )
    yield f"  {style.cyan('git fetch --unshallow')}  (in CI: fetch-depth: 0)"
    yield f"or pin what was read, which needs none: {telling.command('ack', page)}"
