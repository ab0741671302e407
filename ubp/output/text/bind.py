"""Text of `ubp bind` for people: proposals with their reasons, or what was written; next steps."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ubp.bindings.features import BindingSuggestions, Evidence, PageSuggestions, Suggestion
from ubp.bindings.suggest import MIN_REVIEW_CONFIDENCE, confident_suggestions, count_bindings
from ubp.bindings.write import WriteResult
from ubp.core.model import FilePath
from ubp.core.shell import git_add, path_argument, ubp_command
from ubp.core.text import shorten
from ubp.frame.wording import MAX_PAGES, Style, count, printable

# The reasons on a proposal's line; --explain lists all.
MAX_REASONS = 3
REASON_COLUMNS = 60
# A longer path moves only its own reasons to the right.
PATH_COLUMNS = 56
KIND_COLUMNS = len("identifier")
# With --history, for a source that did not exist yet, or in a shallow clone.
NO_PIN = ", not pinned: its version when the page last changed is unknown"

_UPWARDS = re.compile(r"^(?:\.{0,2}/)+")


class BindTextOptions(NamedTuple):
    """How proposals are shown, and where they are read.

    Proposals with a confidence of at least `min_confidence` are written, of at least `min_shown`
    shown, for `max_pages` pages. `arguments` and `keys` (of front matter) are repeated by the next
    commands; `prefix` is the directory, from the root, where they are typed. `other_key`: a key in
    some page's front matter that seems to name sources already.
    """

    style: Style
    min_confidence: float
    min_shown: float
    is_quiet: bool = False
    is_explained: bool = False
    is_dry: bool = False
    is_pinned: bool = False
    arguments: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    prefix: FilePath = FilePath("")
    max_pages: int | None = None
    other_key: str | None = None

    def command(self, *words: str) -> str:
        """Return a command to type."""
        return self.style.cyan(ubp_command(*words, *self.arguments, keys=self.keys))


def bind_text(
    suggestions: BindingSuggestions, results: Sequence[WriteResult] | None, options: BindTextOptions
) -> str:
    """Return the proposals, or with `done` what was written."""
    lines = list(
        _proposals(suggestions, options) if results is None else _written(results, options)
    )
    return "".join(f"{line}\n" for line in lines)


def proposal_lines(suggestion: Suggestion, width: int, options: BindTextOptions) -> Iterator[str]:
    """Yield a proposal with its evidence: on one line, the path padded, or explained."""
    style = options.style
    is_confident = suggestion.confidence >= options.min_confidence
    digits = f"{suggestion.confidence:.2f}"
    path = printable(suggestion.source_path)
    padding = " " * max(0, width - len(path))
    confidence = style.green(digits) if is_confident else style.dim(digits)
    if not options.is_explained:
        yield f"  {confidence}  {path}{padding}  {style.dim(_reasons(suggestion))}".rstrip()
        return
    yield f"  {confidence}  {path}"
    for evidence in suggestion.evidence:
        yield f"        {round(100 * evidence.weight):3}%  {style.dim(_explained(evidence))}"


def path_width(suggestions: Sequence[Suggestion]) -> int:
    """Return the width of the column of paths."""
    widths = (len(printable(suggestion.source_path)) for suggestion in suggestions)
    return max((width for width in widths if width <= PATH_COLUMNS), default=0)


def summary_line(suggestions: BindingSuggestions, min_confidence: float) -> str:
    """Return how many pages are bound, and for how many there are proposals."""
    counts = count_bindings(suggestions, min_confidence)
    proposals = (
        f"proposals for {counts.proposed},"
        f" {counts.confident} of them at confidence {min_confidence:g} or above"
    )
    if suggestions.records:
        proposals = f"{count(suggestions.records, 'record')} of the past left out; {proposals}"
    if len(suggestions.pages) + suggestions.records + suggestions.bound < suggestions.documents:
        return f"{count(len(suggestions.pages), 'unbound page')} selected; {proposals}."
    bound = f"{suggestions.bound} bound" if suggestions.bound else "none bound"
    return f"{count(suggestions.documents, 'page')}, {bound}; {proposals}."


def next_steps(changed: Sequence[FilePath], prefix: FilePath, style: Style) -> str:
    """Return the commands to type after pages were written."""
    command = git_add(changed, prefix) if len(changed) <= MAX_PAGES else "git add -u"
    return f"{style.cyan(command)}, then {style.cyan(ubp_command('stale'))}"


def _proposals(suggestions: BindingSuggestions, options: BindTextOptions) -> Iterator[str]:
    if options.is_quiet:
        for page in suggestions.pages:
            for suggestion in confident_suggestions(page, options.min_shown):
                yield f"{printable(page.filepath)} {printable(suggestion.source_path)}"
        return
    pages = [page for page in suggestions.pages if confident_suggestions(page, options.min_shown)]
    for page in pages[: options.max_pages]:
        yield from _page(page, options)
    if more := len(pages[options.max_pages :] if options.max_pages else ()):
        folder = pages[len(pages) - more].filepath.rpartition("/")[0]
        command = ubp_command("bind", path_argument(folder or ".", options.prefix))
        shown = options.style.cyan(command)
        yield f"and {count(more, 'more page')}: use {shown} for one directory, or --quiet."
        yield ""
    yield from _summary(suggestions, options)


def _page(page: PageSuggestions, options: BindTextOptions) -> Iterator[str]:
    suggestions = confident_suggestions(page, options.min_shown)
    yield options.style.bold(printable(page.filepath))
    width = path_width(suggestions)
    for suggestion in suggestions:
        yield from proposal_lines(suggestion, width, options)
    yield ""


def _reasons(suggestion: Suggestion) -> str:
    """Return the strongest reasons that fit on a line, each once."""
    reasons = dict.fromkeys(
        _reason(evidence, suggestion.source_path) for evidence in suggestion.evidence
    )
    first, *rest = list(filter(None, reasons)) or [""]
    shown = [shorten(first, REASON_COLUMNS)]
    for evidence in rest:
        longer = "; ".join([*shown, evidence])
        if len(shown) < MAX_REASONS and len(longer) <= REASON_COLUMNS:
            shown.append(evidence)
    return "; ".join(shown)


def _reason(evidence: Evidence, source: str) -> str:
    position = f" on line {evidence.line}" if evidence.line else ""
    is_mentioned = evidence.kind in {"path", "file_name"}
    path = _UPWARDS.sub("", evidence.detail, count=1).rstrip("/")
    if is_mentioned and evidence.line and f"/{source}".rstrip("/").endswith(f"/{path}"):
        return f"mentioned{position}"
    if evidence.kind == "place" and " " not in evidence.detail.replace(
        ", ", ","
    ):  # words, no sentence
        return f"similar name ({printable(evidence.detail)})"
    return f"{printable(evidence.detail)}{position}"


def _explained(evidence: Evidence) -> str:
    position = f" (line {evidence.line})" if evidence.line else ""
    return (
        f"{evidence.kind.replace('_', ' '):<{KIND_COLUMNS}}  {printable(evidence.detail)}{position}"
    )


def _summary(suggestions: BindingSuggestions, options: BindTextOptions) -> Iterator[str]:
    counts, style = count_bindings(suggestions, options.min_confidence), options.style
    if not suggestions.pages:
        yield style.green(f"Every page lists sources ({count(suggestions.documents, 'page')}).")
        return
    yield summary_line(suggestions, options.min_confidence)
    if not counts.proposed:
        yield "Nothing in these pages or their history points to a source."
        return
    steps = []
    if counts.confident:
        written = f"{count(counts.sources, 'source')} to {count(counts.confident, 'page')}"
        steps.append((options.command("bind", "--write"), f"adds {written}"))
        pinned = "the same, pinned to each page's last edit to reveal drift"
        steps.append((options.command("bind", "--write", "--history"), pinned))
    steps.append((options.command("bind", "--interactive"), "asks about each proposal"))
    if counts.proposed > counts.confident and options.min_shown > MIN_REVIEW_CONFIDENCE:
        command = options.command("bind", "--min-confidence", f"{MIN_REVIEW_CONFIDENCE:g}")
        steps.append((command, "shows the uncertain proposals too"))
    if not options.is_explained:
        steps.append((options.command("bind", "--explain"), "lists all the evidence"))
    yield "Next:"
    width = max(len(command) for command, _ in steps)
    for command, purpose in steps:
        yield f"  {command}{' ' * (width - len(command))}  {purpose}"
    if key := options.other_key:
        command = style.cyan(ubp_command("stale", keys=[key]))
        yield f"If pages already list them under `{key}`: {command}"


def _written(results: Sequence[WriteResult], options: BindTextOptions) -> Iterator[str]:
    style = options.style
    written = [result for result in results if result.written]
    if not options.is_quiet:
        for result in written:
            yield from style.diff(result.diff) if options.is_dry else _named(result, options)
    for result in results:
        if result.skip_reason:
            yield style.bold(printable(result.filepath))
            yield f"  {style.yellow('skipped')}: {printable(result.skip_reason)}"
    if options.is_quiet:
        return
    if not written:
        minimum = f"{options.min_confidence:g} or above"
        yield f"Nothing to write: no proposal has a confidence of {minimum}."
        return
    sources = count(sum(len(result.written) for result in written), "source")
    pages = count(len(written), "page")
    if options.is_dry:
        yield f"Would add {sources} to {pages}."
        yield f"Next: {options.command('bind', '--write')}"
        return
    yield style.green(f"Added {sources} to {pages}.")
    yield f"Next: {next_steps([result.filepath for result in written], options.prefix, style)}"


def _named(result: WriteResult, options: BindTextOptions) -> Iterator[str]:
    style = options.style
    yield style.bold(printable(result.filepath))
    for reference in result.written:
        pin = f", pinned to {reference.pin}" if reference.pin else ""
        note = "" if reference.pin or not options.is_pinned else style.yellow(NO_PIN)
        yield f"  {printable(reference.source_path)}  {style.green(f'added{pin}')}{note}"
