"""Questions to somebody at a terminal; Enter takes the default.

`ubp bind --interactive`: proposals, one by one, to somebody who knows.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ubp.bindings.features import BindingSuggestions, PageSuggestions, Suggestion
from ubp.bindings.suggest import confident_suggestions
from ubp.bindings.write import Refusal, WriteResult, add_refusals
from ubp.cli.error_handler import CLEAN, FINDINGS
from ubp.cli.terminal import Terminal
from ubp.core.model import FilePath
from ubp.core.paths import normalize_path
from ubp.core.setup_files import read_config, write_config
from ubp.output.text.bind import BindTextOptions, next_steps, path_width, proposal_lines
from ubp.output.wording import count, printable
from ubp.workspace import Workspace


def ask(terminal: Terminal, question: str, default: str) -> str:
    """One answer; the default is shown in parentheses."""
    shown = default or "none"
    terminal.write(f"{terminal.style.cyan('?')} {question}: ({shown}) ")
    terminal.flush()
    answer = terminal.stdin.readline()
    if not answer:  # the end of the input: Ctrl-D
        raise KeyboardInterrupt
    return answer.strip() or default


def ask_list(terminal: Terminal, question: str, default: Sequence[str]) -> tuple[str, ...]:
    """Several answers, separated by commas or spaces."""
    answer = ask(terminal, question, ", ".join(default))
    words = (word.strip() for word in answer.replace(",", " ").split())
    return tuple(word for word in words if word != "none")


def choose(terminal: Terminal, question: str, choices: Sequence[str]) -> str:
    """One of the choices, by its first letters; the first one is the default."""
    while True:
        answer = ask(terminal, f"{question} [{'/'.join(choices)}]", choices[0]).lower()
        found = [choice for choice in choices if choice.startswith(answer)]
        if len(found) == 1:
            return found[0]


YES, NO, EDIT, ALL, SKIP, DONE, QUIT = "y", "n", "e", "a", "s", "d", "q"
HELP = {
    YES: "it does; write it into the page",
    NO: "it does not; never propose it again",
    EDIT: "it describes another file or folder, which I name",
    ALL: "it does, and so do all that follow for this page",
    SKIP: "not now; ask again next time",
    DONE: "leave the rest of this page",
    QUIT: "stop here; what was accepted is written",
}


class Pinning(NamedTuple):
    """Whether what is written is pinned: as it is, or as it was when the page last changed."""

    pin: bool = False
    from_history: bool = False


def run_session(
    found: BindingSuggestions,
    telling: BindTextOptions,
    workspace: Workspace,
    pinning: Pinning,
    terminal: Terminal,
) -> int:
    """Ask about every proposal that is told; write page by page what is accepted.

    Whoever leaves early keeps what was said about the pages before.
    """
    least = telling.least
    asked = [page for page in found.pages if confident_suggestions(page, least)]
    if not asked:
        terminal.write(f"Nothing to ask: no proposal has a confidence of {least:g} or more.\n")
        return CLEAN
    session = _Session(workspace, pinning, telling, terminal)
    for number, page in enumerate(asked, 1):
        session.ask_about(page, f"page {number} of {len(asked)}")
        if session.is_over:
            break
    return session.end()


class _Session:
    def __init__(
        self, workspace: Workspace, pinning: Pinning, telling: BindTextOptions, terminal: Terminal
    ) -> None:
        self.is_over = False
        self._workspace, self._pinning = workspace, pinning
        self._telling, self._terminal = telling, terminal
        self._bound: list[WriteResult] = []
        self._refused: list[Refusal] = []

    def ask_about(self, page: PageSuggestions, place: str) -> None:
        """Ask about a page's proposals, and do what the answers say."""
        shown = confident_suggestions(page, self._telling.least)
        self._show(page.filepath, place, shown)
        accepted: list[str] = []
        refused: list[Refusal] = []
        answer = ""
        for one in shown:
            answer = ALL if answer == ALL else self._ask(one)
            if answer == EDIT:
                accepted += self._edited(one)
            elif answer in {YES, ALL}:
                accepted.append(one.source_path)
            elif answer == NO:
                refused.append((page.filepath, one.source_path))
            elif answer in {DONE, QUIT}:
                break
        self._keep(page.filepath, accepted, refused)
        self.is_over = answer == QUIT

    def end(self) -> int:
        """Tell what was done and what is next."""
        written = [one for one in self._bound if one.named]
        sources = count(sum(len(one.named) for one in written), "source")
        refused = f", {len(self._refused)} refused" if self._refused else ""
        write, style = self._terminal.write, self._terminal.style
        write(style.green(f"{sources} named in {count(len(written), 'page')}{refused}.") + "\n")
        if self._refused:
            write("Refusals are kept in .ubp/config.json: commit it, and nobody is asked again.\n")
        if written:
            paths = [one.filepath for one in written]
            write(f"Next: {next_steps(paths, self._telling.prefix, style)}\n")
        return FINDINGS if len(written) < len(self._bound) else CLEAN

    def _show(self, path: FilePath, place: str, shown: Sequence[Suggestion]) -> None:
        write, style = self._terminal.write, self._terminal.style
        write(f"{style.bold(printable(path))}  {style.dim(place)}\n")
        for one in shown:
            for line in proposal_lines(one, path_width(shown), self._telling):
                write(f"{line}\n")

    def _ask(self, one: Suggestion) -> str:
        default = YES if one.confidence >= self._telling.sure else SKIP
        while True:
            choices = "/".join([*HELP, "?"])
            question = f"Does it describe {printable(one.source_path)}? [{choices}]"
            answer = ask(self._terminal, question, default).lower()[:1]
            if answer in HELP:
                return answer
            lines = [f"  {letter}  {meaning}\n" for letter, meaning in HELP.items()]
            self._terminal.write("".join(lines))

    def _edited(self, one: Suggestion) -> list[str]:
        """The file or folder that is meant instead; none where the user thinks better of it."""
        while True:
            answer = ask(self._terminal, "Which file or folder, from the root", one.source_path)
            path = normalize_path(answer)
            entry = self._workspace.session.view().entry(path) if path else None
            if path and entry:
                return [f"{path}/" if entry.is_directory else path]
            self._terminal.write(f"Nothing stands at {printable(answer)}.\n")

    def _keep(self, path: FilePath, accepted: list[str], refused: list[Refusal]) -> None:
        if accepted:
            for one in self._workspace.bind({path: accepted}, **self._pinning._asdict()):
                self._bound.append(one)
                if one.why_left:
                    told = self._terminal.style.yellow("left")
                    self._terminal.write(f"  {told}: {printable(one.why_left)}\n")
        if refused:
            self._refused += refused
            config_dir = self._workspace.session.repository.config_dir
            write_config(config_dir, add_refusals(read_config(config_dir), refused))
        self._terminal.write("\n")
