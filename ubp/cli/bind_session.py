"""`ubp bind --interactive`: one question for each proposal, and the questions of `ubp init`."""

from collections.abc import Sequence
from dataclasses import replace

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
from ubp.bindings.write import Refusal, WriteResult, add_refusals, bind_pages
from ubp.cli.error_handler import CLEAN, FINDINGS
from ubp.cli.terminal import Terminal
from ubp.core.model import FilePath
from ubp.core.paths import normalize_path
from ubp.core.setup_files import read_config, write_config
from ubp.frame.wording import count, printable
from ubp.frame.writer import Writer
from ubp.index.parts import is_readable, part_at, part_lines
from ubp.index.session import Session

YES, NO, NEVER, EDIT, ALL, SKIP, DONE, QUIT = "y", "n", "x", "e", "a", "s", "d", "q"
HELP = {
    YES: "yes, write it to the page",
    NO: "no, never propose it for this page again",
    NEVER: "no, never propose this source for any page",
    EDIT: "edit: enter another file or directory",
    ALL: "accept this and all remaining proposals for this page",
    SKIP: "skip, ask again next time",
    DONE: "done with this page, skip its remaining proposals",
    QUIT: "quit, accepted proposals are written",
}


def run_session(
    suggestions: BindingSuggestions,
    request: BindRequest,
    session: Session,
    writer: Writer,
    terminal: Terminal,
) -> int:
    """Ask about every proposal that is confident enough, and write each page's accepted ones.

    A user who leaves early keeps what was written for the pages before.
    """
    min_confidence = request.min_confidence
    if min_confidence is None:
        min_confidence = MIN_REVIEW_CONFIDENCE
    shown_by_page = {
        page.filepath: shown
        for page in suggestions.pages
        if (shown := shown_suggestions(suggested_page_record(page), min_confidence))
    }
    if not shown_by_page:
        terminal.write(f"No proposals with a confidence of {min_confidence:g} or above.\n")
        return CLEAN
    # Which of them are confident does not depend on which are asked about.
    dialogue = _Dialogue(session, replace(request, min_confidence=None), writer, terminal)
    for number, (path, shown) in enumerate(shown_by_page.items(), 1):
        answer = dialogue.ask_about(path, shown, f"page {number} of {len(shown_by_page)}")
        if answer == QUIT:
            break
    return dialogue.end()


def ask(terminal: Terminal, question: str, default: str) -> str:
    """Ask for a line of text, showing the default in parentheses; Enter takes it.

    Raises:
        KeyboardInterrupt: the input ended.
    """
    terminal.write(f"{terminal.style.cyan('?')} {question}: ({default or 'none'}) ")
    terminal.flush()
    answer = terminal.stdin.readline()
    if not answer:  # Ctrl-D
        raise KeyboardInterrupt
    return answer.strip() or default


def ask_list(terminal: Terminal, question: str, default: Sequence[str]) -> tuple[str, ...]:
    """Ask for several words, separated by commas or spaces; "none" means no word."""
    answer = ask(terminal, question, ", ".join(default))
    return tuple(word for word in answer.replace(",", " ").split() if word != "none")


def choose(
    terminal: Terminal, question: str, choices: Sequence[str], default: str | None = None
) -> str:
    """Ask for one of the choices, which its first letters select; Enter takes the default.

    That is the first one, unless another is given.
    """
    default = default or choices[0]
    while True:
        answer = ask(terminal, f"{question} [{'/'.join(choices)}]", default).lower()
        matches = [choice for choice in choices if choice.startswith(answer)]
        if len(matches) == 1:
            return matches[0]


class _Dialogue:
    """The questions about all pages, with what was written and refused so far."""

    def __init__(
        self, session: Session, request: BindRequest, writer: Writer, terminal: Terminal
    ) -> None:
        self._session, self._request = session, request
        self._writer, self._terminal = writer, terminal
        self._results: list[WriteResult] = []
        self._refused: list[Refusal] = []

    def ask_about(
        self, path: FilePath, suggestions: Sequence[SuggestionRecord], page_position: str
    ) -> str:
        """Ask about a page's proposals, apply the answers, and return the last one."""
        suggestions = [
            suggestion
            for suggestion in suggestions
            if (None, suggestion.source_path) not in self._refused
        ]
        if not suggestions:
            return ""
        write, style = self._terminal.write, self._terminal.style
        write(f"{style.bold(printable(path))}  {style.dim(page_position)}\n")
        for line in proposal_lines(suggestions, self._writer, self._request):
            write(f"{line}\n")
        accepted: list[str] = []
        refused: list[Refusal] = []
        answer = ""
        for suggestion in suggestions:
            answer = ALL if answer == ALL else self._ask(suggestion)
            if answer == EDIT:
                accepted += self._ask_for_source()
            elif answer in {YES, ALL}:
                accepted.append(suggestion.source_path)
            elif answer == NO:
                refused.append((path, suggestion.source_path))
            elif answer == NEVER:
                refused.append((None, suggestion.source_path))
            elif answer in {DONE, QUIT}:
                break
        self._save(path, accepted, refused)
        return answer

    def end(self) -> int:
        """Print a summary and the next steps, and return the exit status."""
        written = [result for result in self._results if result.written]
        sources = count(sum(len(result.written) for result in written), "source")
        refused = f", {len(self._refused)} refused" if self._refused else ""
        write, style = self._terminal.write, self._terminal.style
        write(style.green(f"Added {sources} to {count(len(written), 'page')}{refused}.") + "\n")
        if self._refused:
            write("Refusals are saved in .ubp/config.json: commit it to share them.\n")
        if written:
            paths = [result.filepath for result in written]
            write(f"Next: {next_steps(paths, self._writer)}\n")
        return FINDINGS if len(written) < len(self._results) else CLEAN

    def _ask(self, suggestion: SuggestionRecord) -> str:
        while True:
            choices = "/".join([*HELP, "?"])
            question = f"Does it describe {printable(suggestion.source_path)}? [{choices}]"
            answer = ask(self._terminal, question, SKIP).lower()[:1]
            if answer in HELP:
                return answer
            lines = [f"  {letter}  {meaning}\n" for letter, meaning in HELP.items()]
            self._terminal.write("".join(lines))

    def _ask_for_source(self) -> tuple[str, ...]:
        """Ask for the file, folder or part that the page describes instead, until one exists.

        Enter skips the proposal: nothing.
        """
        while True:
            question = "File, directory or path#symbol (from the repository root)"
            answer = ask(self._terminal, question, "")
            if not answer:
                return ()
            path = normalize_path(answer)
            view = self._session.view()
            entry = view.entry(path) if path else None
            if path and entry:
                return (f"{path}/" if entry.is_directory else path,)
            part = part_at(view, path) if path else None
            exists = part and view.entry(part.path) is not None
            if part and exists and (part_lines(view, [part])[part] or not is_readable(part)):
                return (part.name,)
            self._terminal.write(f"{printable(answer)} does not exist.\n")

    def _save(self, path: FilePath, accepted: list[str], refused: list[Refusal]) -> None:
        if accepted:
            for result in bind_pages(
                self._session,
                {path: accepted},
                pin=self._request.pin,
                from_history=self._request.history,
                is_dry=False,
            ):
                self._results.append(result)
                if result.skip_reason:
                    skipped = self._terminal.style.yellow("skipped")
                    self._terminal.write(f"  {skipped}: {printable(result.skip_reason)}\n")
        if refused:
            self._refused += refused
            config_dir = self._session.repository.config_dir
            write_config(config_dir, add_refusals(read_config(config_dir), refused))
        self._terminal.write("\n")
