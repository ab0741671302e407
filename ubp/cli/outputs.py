"""`--format` and `--output-file`: one run, printed in one format and written to files in others."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from ubp.cli.files import check_folder, write_file
from ubp.cli.provenance import find_provenance
from ubp.cli.terminal import Format, Terminal
from ubp.errors import UsageError
from ubp.render.ansi import Style
from ubp.render.formats import FORMATS, render
from ubp.render.outcome import Outcome
from ubp.render.records import to_json
from ubp.workspace import Workspace

OWN: tuple[Format, Format] = ("text", "json")
NAMES = (*OWN, *FORMATS)


class Answer(NamedTuple):
    """What a command answers: its own text and record, and its outcome for all other formats."""

    text: Callable[[Style], str]
    record: Callable[[], Mapping[str, Any]]
    outcome: Callable[[], Outcome]


class Outputs(NamedTuple):
    """The format of stdout, and for each file its format."""

    stdout: str
    files: tuple[tuple[str, str], ...]

    def deliver(self, answer: Answer, workspace: Workspace, terminal: Terminal) -> None:
        """Render every format once, write the files, then print.

        Raises:
            UsageError: a file cannot be written.
        """
        wanted = {self.stdout, *(name for name, _ in self.files)} & FORMATS.keys()
        outcome = _complete(answer.outcome(), wanted, workspace, terminal) if wanted else None
        texts = {name: render(name, outcome) for name in wanted} if outcome else {}
        for name, path in self.files:
            write_file(path, texts[name] if name in texts else _own(name, answer), terminal)
        if self.stdout == "json":
            terminal.record(answer.record())
        elif self.stdout == "text":
            terminal.write(answer.text(terminal.style))
        else:
            terminal.speak_utf8()
            terminal.write(texts[self.stdout])


def read_outputs(stdout: Format | None, files: Sequence[str], terminal: Terminal) -> Outputs:
    """Understand `--format` and each `FORMAT=PATH`; what cannot work is told before the work.

    Raises:
        UsageError: no such format or folder, or contradicting options.
    """
    if terminal.options.json and stdout not in {None, "json"}:
        raise UsageError(
            f"--json and --format {stdout} contradict each other.",
            hint=f"Write one to a file: --format {stdout} --output-file json=PATH",
        )
    is_json = terminal.options.json or stdout == "json"
    if is_json and not terminal.options.json:
        terminal.set(terminal.options._replace(json=True))  # an error is one object, too
    pairs = tuple(_pair(written, terminal) for written in files)
    places = [os.path.abspath(path) for _, path in pairs]
    twice = [path for _, path in pairs if places.count(os.path.abspath(path)) > 1]
    if twice:
        raise UsageError(
            f"{twice[0]} is named twice.", hint="Give each --output-file a path of its own."
        )
    return Outputs("json" if is_json else stdout or "text", pairs)


def _pair(written: str, terminal: Terminal) -> tuple[str, str]:
    name, _, path = written.partition("=")
    if name not in NAMES or not path:
        raise UsageError(
            f"--output-file {written} is not understood.",
            cause=f"Expected is FORMAT=PATH; formats are {', '.join(NAMES)}.",
            hint="For example: --output-file sarif=ubp.sarif",
        )
    check_folder(path, terminal)
    return name, path


def _complete(
    outcome: Outcome, wanted: Collection[str], workspace: Workspace, terminal: Terminal
) -> Outcome:
    """Add what only some formats tell."""
    report = outcome.report
    if any(FORMATS[name].is_placed for name in wanted):
        report = workspace.place(report)
    seen = find_provenance(workspace, report.snapshot, terminal.environment)
    return outcome._replace(report=report, provenance=seen)


def _own(name: str, answer: Answer) -> str:
    """What a command says itself, without colours."""
    if name == "json":
        return to_json(answer.record(), is_indented=True) + "\n"
    return answer.text(Style())
