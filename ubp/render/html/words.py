"""What became of a source, in a reader's words."""

from ubp.model import ReferenceVerdict
from ubp.render.html.markup import Html, tag
from ubp.render.wording import age, shell_word
from ubp.report.values import Report

STALE, MISSING = "stale-doc", "missing-source"
_GONE = frozenset({"deleted", "moved", "not_found"})


def rule_of(answer: ReferenceVerdict) -> str:
    """The rule of `ubp check` that finds it."""
    return MISSING if answer.verdict in _GONE else STALE


def key_options(report: Report) -> list[str]:
    """What a command needs to read the same front matter."""
    return [word for key in report.keys for word in ("--key", shell_word(key))]


def rest_of(number: int, command: str, report: Report) -> Html | None:
    """How many more there are than are shown, and what lists them."""
    if number <= 0:
        return None
    typed = " ".join([command, *key_options(report)])
    return tag("p", f"and {number} more, which ", tag("code", typed), " lists.", class_="none")


def verdict_words(answer: ReferenceVerdict, report: Report) -> str:
    """What became of it, and when."""
    when = _when(answer, report)
    match answer.verdict:
        case "not_found":
            return "not found: no commit ever had it"
        case "unknown":
            return "unknown: this clone's history ends before the page was written"
        case "moved":
            return f"moved{f' to {answer.moved_to}' if answer.moved_to else ''}{when}"
        case "created":
            return f"created after the page{when}"
        case verdict:
            return f"{verdict}{when}"


def _when(answer: ReferenceVerdict, report: Report) -> str:
    if answer.since is not None:
        return f" {age(answer.age_days or 0)}"
    if answer.age_days is not None:
        return ", not committed yet"
    return " before this clone's history begins" if report.is_shallow else " at an unknown time"
