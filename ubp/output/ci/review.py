"""The cases of a change for a pull request: annotations of GitHub, and a comment in Markdown."""

import re
from collections.abc import Callable, Iterator, Mapping

from ubp.answers.review.review import (
    LIKELY,
    CaseRecord,
    ReviewRecord,
    change_lines,
    page_lines,
    summary,
)
from ubp.frame.records import judge_sentences
from ubp.frame.wording import printable, printable_line
from ubp.frame.writer import Writer
from ubp.output.ci.github import MAX_PER_KIND, command
from ubp.output.ci.markdown import MAX_CHARACTERS, MAX_TEXT_CHARACTERS, code
from ubp.staleness.wording import judgement_sentence

MIN_FENCE = 3


def github_text(record: ReviewRecord) -> str:
    """Return an annotation for each case: a warning if it is likely, else a notice."""
    lines: list[str] = []
    room = {"warning": MAX_PER_KIND, "notice": MAX_PER_KIND - bool(record.judge)}
    for case in record.cases:
        kind = "warning" if case.probability >= LIKELY else "notice"
        room[kind] -= 1
        if room[kind] < 0:
            continue
        reasons = [printable(reason.text) for reason in case.reasons]
        if case.judgement:
            reasons.insert(0, judgement_sentence(case.judgement, printable))
        steps = [f"If {action.when}: {action.command}" for action in case.actions]
        properties: dict[str, str | int | None] = {
            "file": case.filepath,
            "line": case.line,
            "title": f"{case.kind}, {case.probability:.0%}",
        }
        message = "\n".join([*reasons, *map(printable, steps)])
        lines.append(command("warning" if kind == "warning" else "notice", message, properties))
    if judged := list(judge_sentences(record.judge)):
        lines.append(command("notice", "\n".join(judged), {"title": "judged"}))
    return "".join(f"{line}\n" for line in lines)


def markdown_text(record: ReviewRecord) -> str:
    """Return a heading and a folded block for each case; what is too long is left out."""
    text = f"### UBP: {summary(record, Writer())}\n"
    for sentence in judge_sentences(record.judge, str):
        text += f"\n{code(sentence, MAX_TEXT_CHARACTERS)}\n"
    for number, case in enumerate(record.cases):
        block = "".join(f"{line}\n" for line in _block(case))
        if len(text) + len(block) > MAX_CHARACTERS:
            return f"{text}\n{len(record.cases) - number} more: `ubp review`\n"
        text += block
    return text


def _block(case: CaseRecord) -> Iterator[str]:
    place = code(f"{case.filepath}:{case.line}", MAX_TEXT_CHARACTERS, is_in_html=True)
    yield ""
    yield f"<details><summary>{place} {case.probability:.0%}, {case.kind}</summary>"
    if case.judgement:
        yield ""
        yield code(judgement_sentence(case.judgement), 4 * MAX_TEXT_CHARACTERS)
    for reason in case.reasons:
        yield ""
        yield code(reason.text, 2 * MAX_TEXT_CHARACTERS)
    yield from _fenced("markdown", page_lines(case.passages))
    yield from _fenced("diff", change_lines(case))
    for action in case.actions:
        yield f"If {code(action.when, MAX_TEXT_CHARACTERS)}: {code(action.command, MAX_CHARACTERS)}"
        yield ""
    yield "</details>"


def _fenced(language: str, lines: Iterator[str]) -> Iterator[str]:
    """Yield lines in a block that none of them can end."""
    body = [printable_line(line) for text in lines for line in text.split("\n")]
    longest = max((len(run) for line in body for run in re.findall("`+", line)), default=0)
    fence = "`" * max(MIN_FENCE, longest + 1)
    yield from ("", f"{fence}{language}", *body, fence, "")


FORMATS: Mapping[str, Callable[[ReviewRecord], str]] = {
    "github": github_text,
    "markdown": markdown_text,
}
