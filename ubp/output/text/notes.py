"""Texts about notes for people: answers, trends, reports."""

from collections.abc import Iterator, Sequence

from ubp.frame.wording import SHORT_ID, Style, count, day, joined, printable, printable_line
from ubp.notes.answer import WrittenAnswer
from ubp.notes.ask import NotesAnswer
from ubp.notes.note import day_of
from ubp.notes.reports import OssReport, ScorePoint
from ubp.notes.trends import Topic, Trends
from ubp.notes.wording import trends_summary

BARS = "▁▂▃▄▅▆▇█"
SHOWN_PASSAGES, MAX_LINES = 3, 20
NAME_WIDTH = 28


def answer_text(
    answer: NotesAnswer, written: WrittenAnswer | None, style: Style, *, is_quiet: bool
) -> str:
    """Return the answer with its passages."""
    if not answer.passages:
        return style.yellow("No note answers this.") + "\nHint: Try other words.\n"
    return joined(_answer_lines(answer, written, style, is_quiet=is_quiet))


def _answer_lines(
    answer: NotesAnswer, written: WrittenAnswer | None, style: Style, *, is_quiet: bool
) -> Iterator[str]:
    if written and written.text:
        yield from map(printable_line, written.text.splitlines())
        yield ""
        yield style.dim(f"Written by {printable(written.model)} from these passages:")
    elif written:
        yield style.yellow(printable(written.problem))
    if answer.is_weak:
        yield style.yellow("Probably no note answers this. The nearest passages:")
    for number, passage in enumerate(answer.passages[:SHOWN_PASSAGES], 1):
        place = f"{passage.note.path}:{passage.line_start}"
        yield f"{style.bold(f'[{number}] {printable(passage.note.title)}')}  {printable(place)}"
        if passage.note.url:
            yield f"    {style.cyan(printable(passage.note.url))}"
        if not is_quiet:
            lines = passage.text.strip("\n").splitlines()
            yield from (f"    {printable_line(line)}" for line in lines[:MAX_LINES])
            if len(lines) > MAX_LINES:
                yield style.dim(f"    … {count(len(lines) - MAX_LINES, 'more line')}")
    others = answer.passages[SHOWN_PASSAGES:]
    if others:
        paths = dict.fromkeys(printable(passage.note.path) for passage in others)
        yield style.dim(f"See also: {', '.join(paths)}")
    yield style.dim(f"Confidence that a passage answers: {answer.confidence:.2f}")


def trends_text(trends: Trends, style: Style) -> str:
    """Return the topics as a table with a line of the last periods, and new names."""
    span = f"{day_of(trends.start)} to {day_of(trends.end - 1)}"
    category = f", category {printable(trends.category)}" if trends.category else ""
    lines = [style.bold(f"{span}{category}"), printable(trends_summary(trends))]
    if trends.topics:
        lines.append("")
        lines += [_topic_line(topic, style) for topic in trends.topics]
    if trends.notable:
        lines += ["", style.bold("Notes about most of these topics")]
        lines += [
            f"  {printable(notable.note.title)}  {style.dim(printable(notable.note.path))}"
            for notable in trends.notable
        ]
    if trends.new_tools:
        names = (
            f"{printable(tool.name)} ({tool.mentions})"
            if tool.mentions > 1
            else printable(tool.name)
            for tool in trends.new_tools
        )
        lines += ["", f"New names: {', '.join(names)}"]
    return joined(lines)


def _topic_line(topic: Topic, style: Style) -> str:
    color = {"up": style.green, "new": style.green, "down": style.yellow}.get(topic.trend, str)
    name = printable(topic.name)
    return (
        f"  {name:<{NAME_WIDTH}} {topic.notes:>4}  {topic.before:>4} before  "
        f"{color(f'{topic.trend:<6}')}  {sparkline(topic.line)}"
    )


def sparkline(numbers: Sequence[int]) -> str:
    """Return numbers as a row of bars."""
    highest = max(numbers, default=0)
    return "".join(
        BARS[0] if not highest else BARS[number * (len(BARS) - 1) // highest] for number in numbers
    )


def oss_report_text(report: OssReport, style: Style) -> str:
    """Return the score with its points, and the other facts."""
    color = {"LOW_RISK": style.green, "VERIFY": style.yellow}.get(report.verdict, style.red)
    stars = "" if report.stars is None else f", {count(report.stars, 'star')}"
    width = max((len(point.name) for point in report.points), default=0)
    verdict = color(f"{report.score} of 100: {report.verdict}")
    licence = printable(report.license or "unknown licence")
    language = printable(report.language or "unknown language")
    at = f"commit {printable(report.commit[:SHORT_ID])}, read {day(report.verified_at)}"
    results = f"build {report.build_result}, tests {report.test_result}"
    lines = [
        f"{style.bold(printable(report.url))}  {verdict}",
        f"  {at}, {licence}, {language}{stars}",
        f"  {results} (by its own CI; nothing was run)",
        "",
        *(
            f"  {printable(point.name):<{width}}  {_points(point)}  {printable(point.evidence)}"
            for point in report.points
        ),
        "",
        f"  {printable(report.usage_notes)}",
    ]
    return joined(lines)


def _points(point: ScorePoint) -> str:
    return f"{point.points:>2} of {point.most:>2}" if point.most else "   -    "
