"""`ubp bind --interactive`: proposed sources as items, and what was decided about them."""

from collections.abc import Iterator
from functools import partial

from ubp.answers.bindings.bind import (
    BindRequest,
    next_steps,
    proposal_lines,
    shown_suggestions,
    suggested_page_record,
)
from ubp.answers.bindings.suggestion import SuggestionRecord
from ubp.bindings.features import BindingSuggestions
from ubp.bindings.suggest import MIN_REVIEW_CONFIDENCE
from ubp.bindings.write import Refusal, add_refusals, bind_pages
from ubp.cli.decide import decide
from ubp.cli.decisions import Choice, Decision, Item, Panes
from ubp.cli.display import fit_end
from ubp.cli.error_handler import CLEAN, FINDINGS
from ubp.cli.terminal import Terminal
from ubp.core.model import FilePath
from ubp.core.paths import normalize_path
from ubp.core.setup_files import read_config, write_config
from ubp.frame.wording import Style, count, joined, printable, printable_line
from ubp.frame.writer import Writer
from ubp.git.snapshot import read_document
from ubp.index.parts import is_readable, part_at, part_lines
from ubp.index.session import Session

ACCEPTED = Choice("a", "add", "added", help="add the source to the page")
REFUSED = Choice("r", "refuse", "refused", help="never propose it for this page again")
NEVER = Choice(
    "x", "refuse everywhere", "refused everywhere", help="never propose it for any page again"
)
# Of a page, the lines around those with the evidence; else of it and of a source its beginning.
CONTEXT = 3
MAX_LINES = 200
PAGE_WIDTH = 16  # in the list

Proposal = tuple[FilePath, SuggestionRecord]


def decide_bindings(
    suggestions: BindingSuggestions,
    request: BindRequest,
    session: Session,
    writer: Writer,
    terminal: Terminal,
) -> int:
    """Let the user decide about each proposal that is confident enough, then apply that."""
    min_confidence = request.min_confidence
    if min_confidence is None:
        min_confidence = MIN_REVIEW_CONFIDENCE
    proposals: list[Proposal] = [
        (page.filepath, suggestion)
        for page in suggestions.pages
        for suggestion in shown_suggestions(suggested_page_record(page), min_confidence)
    ]
    if not proposals:
        terminal.write(f"No proposals with a confidence of {min_confidence:g} or above.\n")
        return CLEAN
    items = [binding_item(proposal, session) for proposal in proposals]
    decided = decide("Proposed sources", items, session.repository, terminal)
    return _apply(
        [(proposals[number], made) for number, made in decided.items()],
        request,
        session,
        writer,
        terminal,
    )


def binding_item(proposal: Proposal, session: Session) -> Item:
    """Return the item of a proposed source."""
    path, suggestion = proposal
    other = Choice(
        "e",
        "other source",
        "other source",
        help="add another file, folder or part of a file",
        prompt="File, directory or path#symbol, from the repository root",
        check=lambda answer: "" if find_source(session, answer) else f"{answer} does not exist.",
    )
    return Item(
        printable(suggestion.source_path),
        f"{suggestion.confidence:.0%}  {fit_end(printable(path), PAGE_WIDTH)}",
        (ACCEPTED, REFUSED, NEVER, other),
        partial(_panes, proposal, session),
    )


def find_source(session: Session, answer: str) -> str | None:
    """Return the file, folder or part of a file that a user names, None if it does not exist."""
    path = normalize_path(answer)
    view = session.view()
    entry = view.entry(path) if path else None
    if path and entry:
        return f"{path}/" if entry.is_directory else path
    part = part_at(view, path) if path else None
    exists = part and view.entry(part.path) is not None
    if part and exists and (part_lines(view, [part])[part] or not is_readable(part)):
        return part.name
    return None


def _panes(proposal: Proposal, session: Session, decision: Decision) -> Panes:
    path, suggestion = proposal
    write = Writer(Style(is_on=True))
    lines = {evidence.line for evidence in suggestion.evidence if evidence.line}
    _, *evidence = proposal_lines([suggestion], write, BindRequest(explain=True))
    probability = f"{suggestion.confidence:.0%} likely. The evidence, and its share:"
    source = _chosen(suggestion, decision, session)
    return Panes(
        printable(path),
        joined([probability, *evidence, "", *_page_lines(path, lines, session, write)]),
        printable(source),
        joined(_source_lines(source, session, write)),
    )


def _chosen(suggestion: SuggestionRecord, decision: Decision, session: Session) -> str:
    """Return the source that an item is about: the proposed one, or the one that was typed."""
    if decision.choice and decision.choice.key == "e":
        return find_source(session, decision.text) or decision.text
    return suggestion.source_path


def _page_lines(path: FilePath, marked: set[int], session: Session, write: Writer) -> Iterator[str]:
    """Yield the lines of a page around those with the evidence, which are bold; else its first."""
    data = session.view().read([path])[path] or b""
    lines = data.decode("utf-8", "surrogateescape").splitlines()
    shown = [
        number
        for number in range(1, len(lines) + 1)
        if any(abs(number - line) <= CONTEXT for line in marked)
    ]
    last = 0
    for number in shown or range(1, min(len(lines), MAX_LINES) + 1):
        if number > last + 1:
            yield write.style.dim("   …")
        last = number
        text = printable_line(lines[number - 1])
        line = write.style.strong(text) if number in marked else text
        yield f"{write.style.dim(f'{number:4}')} {line}"


def _source_lines(source: str, session: Session, write: Writer) -> Iterator[str]:
    """Yield the beginning of a source: of a file its lines, of a folder its files."""
    view = session.view()
    path = FilePath(source.partition("#")[0] if view.entry(FilePath(source)) is None else source)
    folder = FilePath(path.rstrip("/"))
    entry = view.entry(folder)
    if entry is None:
        return
    if entry.is_directory:
        yield from (write.name(file) for file, _ in view.files(FilePath(f"{folder}/")))
        return
    part = part_at(view, FilePath(source))
    spans = part_lines(view, [part])[part] if part else ()
    first, last = spans[0] if spans else (1, MAX_LINES)
    data = read_document(session.repository, view.snapshot, path, entry) or b""
    lines = data.decode("utf-8", "surrogateescape").splitlines()
    for number, line in enumerate(lines[first - 1 : last][:MAX_LINES], first):
        yield f"{write.style.dim(f'{number:4}')} {printable_line(line)}"


def _apply(
    decided: list[tuple[Proposal, Decision]],
    request: BindRequest,
    session: Session,
    writer: Writer,
    terminal: Terminal,
) -> int:
    """Write accepted sources and refusals; print a summary and the next steps."""
    accepted: dict[FilePath, list[str]] = {}
    refused: list[Refusal] = []
    for (path, suggestion), decision in decided:
        if decision.choice == REFUSED:
            refused.append((path, suggestion.source_path))
        elif decision.choice == NEVER:
            refused.append((None, suggestion.source_path))
        else:
            accepted.setdefault(path, []).append(_chosen(suggestion, decision, session))
    results = bind_pages(
        session, accepted, pin=request.pin, from_history=request.history, is_dry=False
    )
    if refused:
        config_dir = session.repository.config_dir
        write_config(config_dir, add_refusals(read_config(config_dir), refused))
    style = terminal.style
    for result in results:
        if result.skip_reason:
            skipped = style.yellow("skipped")
            page = style.bold(printable(result.filepath))
            terminal.write(f"{page}  {skipped}: {printable(result.skip_reason)}\n")
    written = [result for result in results if result.written]
    sources = count(sum(len(result.written) for result in written), "source")
    refusals = f", {len(refused)} refused" if refused else ""
    terminal.write(
        style.green(f"Added {sources} to {count(len(written), 'page')}{refusals}.") + "\n"
    )
    if refused:
        terminal.write("Refusals are saved in .ubp/config.json: commit it to share them.\n")
    if written:
        terminal.write(f"Next: {next_steps([result.filepath for result in written], writer)}\n")
    return FINDINGS if len(written) < len(results) else CLEAN
