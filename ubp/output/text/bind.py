"""`ubp bind` for people: proposals with their reasons, or what was written; and what comes next."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ubp.bindings.features import BindingSuggestions, Evidence, PageSuggestions, Suggestion
from ubp.bindings.suggest import confident_suggestions, count_bindings
from ubp.bindings.write import WriteResult
from ubp.core.model import FilePath
from ubp.core.shell import git_add, ubp_command
from ubp.output.wording import MAX_PAGES, Style, and_more, count, printable

# What is told of a proposal on its line; --explain tells all.
MAX_REASONS = 3
REASON_COLUMNS = 60
# A longer path moves its reasons to the right, and no others.
PATH_COLUMNS = 56
KIND_COLUMNS = len("identifier")
# With --history, of a source that did not exist, or in a shallow clone.
NO_PIN = " without a pin: no history tells how it was when the page last changed"

_UPWARDS = re.compile(r"^(?:\.{0,2}/)+")


class BindTextOptions(NamedTuple):
    """How proposals are told, and where they are read.

    From `sure` on they are written, from `least` on shown, of `most` pages. `arguments` and `keys`
    (of front matter) are what a next command has to repeat; `prefix` is the folder, from the root,
    where it is typed. `other_key`: a key of some page's front matter that seems to name sources
    already.
    """

    style: Style
    sure: float
    least: float
    is_quiet: bool = False
    is_explained: bool = False
    is_dry: bool = False
    is_pinned: bool = False
    arguments: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    prefix: FilePath = FilePath("")
    most: int | None = None
    other_key: str | None = None

    def command(self, *words: str) -> str:
        """Return a command to type."""
        return self.style.cyan(ubp_command(*words, *self.arguments, keys=self.keys))


def bind_text(
    found: BindingSuggestions, done: Sequence[WriteResult] | None, telling: BindTextOptions
) -> str:
    """The proposals, or with `done` what was written."""
    lines = list(_proposals(found, telling) if done is None else _written(done, telling))
    return "".join(f"{line}\n" for line in lines)


def proposal_lines(one: Suggestion, width: int, telling: BindTextOptions) -> Iterator[str]:
    """A proposal with what speaks for it: the path in so many columns, on a line or explained."""
    style = telling.style
    is_sure = one.confidence >= telling.sure
    number = f"{one.confidence:.2f}"
    path = printable(one.source_path)
    gap = " " * max(0, width - len(path))
    shown = style.green(number) if is_sure else style.dim(number)
    if not telling.is_explained:
        yield f"  {shown}  {path}{gap}  {style.dim(_reasons(one))}".rstrip()
        return
    yield f"  {shown}  {path}"
    for reason in one.evidence:
        yield f"        {round(100 * reason.weight):3} %  {style.dim(_explained(reason))}"


def path_width(suggestions: Sequence[Suggestion]) -> int:
    """So many columns their paths take, below each other."""
    widths = (len(printable(one.source_path)) for one in suggestions)
    return max((width for width in widths if width <= PATH_COLUMNS), default=0)


def summary_line(found: BindingSuggestions, sure: float) -> str:
    """How many pages are bound, and how many could be: for `ubp init`, too."""
    counted = count_bindings(found, sure)
    if len(found.pages) + found.bound < found.documents:
        asked = count(len(found.pages), "page")
        return f"Of {asked} {counted.proposed} could be bound, {counted.confident} with confidence"
    named = f"{found.bound} bound" if found.bound else "none bound"
    pages = f"{count(found.documents, 'page')}, {named}"
    return f"{pages}; {counted.proposed} could be, {counted.confident} with confidence"


def next_steps(changed: Sequence[FilePath], prefix: FilePath, style: Style) -> str:
    """What to do about pages that were written."""
    command = style.cyan(git_add(changed[:MAX_PAGES], prefix))
    more = and_more(len(changed) - MAX_PAGES)
    return f"{command}{more}, then {style.cyan(ubp_command('stale'))}"


def _proposals(found: BindingSuggestions, telling: BindTextOptions) -> Iterator[str]:
    if telling.is_quiet:
        for page in found.pages:
            for one in confident_suggestions(page, telling.least):
                yield f"{printable(page.filepath)} {printable(one.source_path)}"
        return
    told = [page for page in found.pages if confident_suggestions(page, telling.least)]
    for page in told[: telling.most]:
        yield from _page(page, telling)
    if more := len(told[telling.most :] if telling.most else ()):
        command = telling.style.cyan(ubp_command("bind", "DIR"))
        yield f"and {count(more, 'more page')}: {command} tells of a folder, --quiet a line each."
        yield ""
    yield from _summary(found, telling)


def _page(page: PageSuggestions, telling: BindTextOptions) -> Iterator[str]:
    shown = confident_suggestions(page, telling.least)
    yield telling.style.bold(printable(page.filepath))
    width = path_width(shown)
    for one in shown:
        yield from proposal_lines(one, width, telling)
    yield ""


def _reasons(one: Suggestion) -> str:
    """The strongest reasons that fit; a path that is mentioned speaks as a file name, too."""
    told = dict.fromkeys(_reason(reason, one.source_path) for reason in one.evidence)
    first, *others = list(filter(None, told)) or [""]
    shown = [first if len(first) <= REASON_COLUMNS else f"{first[: REASON_COLUMNS - 1]}\u2026"]
    for reason in others:
        longer = "; ".join([*shown, reason])
        if len(shown) < MAX_REASONS and len(longer) <= REASON_COLUMNS:
            shown.append(reason)
    return "; ".join(shown)


def _reason(one: Evidence, source: str) -> str:
    where = f" in line {one.line}" if one.line else ""
    is_mentioned = one.kind in {"path", "file_name"}
    path = _UPWARDS.sub("", one.detail, count=1).rstrip("/")
    if is_mentioned and one.line and f"/{source}".rstrip("/").endswith(f"/{path}"):
        return f"named{where}"
    if one.kind == "place" and " " not in one.detail.replace(", ", ","):  # words, no sentence
        return f"called alike: {printable(one.detail)}"
    return f"{printable(one.detail)}{where}"


def _explained(one: Evidence) -> str:
    where = f" (line {one.line})" if one.line else ""
    return f"{one.kind.replace('_', ' '):<{KIND_COLUMNS}}  {printable(one.detail)}{where}"


def _summary(found: BindingSuggestions, telling: BindTextOptions) -> Iterator[str]:
    counted, style = count_bindings(found, telling.sure), telling.style
    if not found.pages:
        yield style.green(f"All of {count(found.documents, 'page')} name sources.")
        return
    yield f"{summary_line(found, telling.sure)} ({telling.sure:g} or more)."
    if not counted.proposed:
        yield "Nothing in these pages or their history points to a source."
        return
    steps = []
    if counted.confident:
        what = f"{count(counted.sources, 'source')} into {count(counted.confident, 'page')}"
        steps.append((telling.command("bind", "--write"), f"writes {what}"))
        drift = "so that drift since each page was written shows"
        steps.append((telling.command("bind", "--write", "--history"), f"the same, {drift}"))
    steps.append((telling.command("bind", "--interactive"), "asks about each of them"))
    if not telling.is_explained:
        steps.append((telling.command("bind", "--explain"), "tells all that speaks for them"))
    yield "Next:"
    width = max(len(command) for command, _ in steps)
    for command, purpose in steps:
        yield f"  {command}{' ' * (width - len(command))}  {purpose}"
    if key := telling.other_key:
        command = style.cyan(ubp_command("stale", keys=[key]))
        yield f"Or do pages name them under `{key}` already? {command}"


def _written(done: Sequence[WriteResult], telling: BindTextOptions) -> Iterator[str]:
    style = telling.style
    changed = [one for one in done if one.written]
    if not telling.is_quiet:
        for one in changed:
            yield from style.diff(one.diff) if telling.is_dry else _named(one, telling)
    for one in done:
        if one.skip_reason:
            yield style.bold(printable(one.filepath))
            yield f"  {style.yellow('left')}: {printable(one.skip_reason)}"
    if telling.is_quiet:
        return
    if not changed:
        yield f"Nothing to write: no proposal has a confidence of {telling.sure:g} or more."
        return
    sources = count(sum(len(one.written) for one in changed), "source")
    pages = count(len(changed), "page")
    if telling.is_dry:
        yield f"{sources} would be named in {pages}."
        yield f"Next: {telling.command('bind', '--write')}"
        return
    yield style.green(f"{sources} named in {pages}.")
    yield f"Next: {next_steps([one.filepath for one in changed], telling.prefix, style)}"


def _named(one: WriteResult, telling: BindTextOptions) -> Iterator[str]:
    style = telling.style
    yield style.bold(printable(one.filepath))
    for naming in one.written:
        pinned = f", pinned to {naming.pin}" if naming.pin else ""
        loose = "" if naming.pin or not telling.is_pinned else style.yellow(NO_PIN)
        yield f"  {printable(naming.source_path)}  {style.green(f'named{pinned}')}{loose}"
