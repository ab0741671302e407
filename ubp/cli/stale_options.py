"""The options of `ubp stale` and its exit status. A hook loads this module."""

from typing import Literal, NamedTuple

from ubp.cli.error_handler import CLEAN, FAILED, FINDINGS
from ubp.cli.terminal import Format
from ubp.core.model import Alarms, Level
from ubp.staleness.model import StaleReport

FailOn = Literal["stale", "possibly_stale", "never"]
FAILING: dict[FailOn, tuple[Level, ...]] = {
    "stale": ("stale",),
    "possibly_stale": ("stale", "possibly_stale"),
    "never": (),
}


class StaleOptions(NamedTuple):
    """The options of `ubp stale`; `ubp.cli.stale_command` describes them."""

    paths: tuple[str, ...] = ()
    staged: bool = False
    amend: bool = False
    base: str | None = None
    ref: str | None = None
    since: str | None = None
    days: float | None = None
    keys: tuple[str, ...] = ()
    every: bool = False
    exit_code: bool = False
    fail_on: FailOn | None = None
    alarms: Alarms | None = None
    max_cases: int | None = None
    diff: bool = False
    format: Format | None = None
    output_files: tuple[str, ...] = ()
    translations: bool = False


def exit_status(report: StaleReport, fail_on: FailOn | None, *, is_hook: bool = False) -> int:
    """Return 1 for findings that fail, else 2 where a reference is unknown, else 0.

    What is not an alarm (`staleness.alarms`) never fails, of a change or of a state; where its
    lines cannot be read, that is unknown. In a hook what is unknown is only a warning.
    """
    references = [
        reference
        for assessment in report.pages
        for reference in assessment.references
        if not reference.is_debt and not reference.is_noted and reference.verdict != "fresh"
    ]
    levels = FAILING[fail_on] if fail_on else ()
    if report.is_change and fail_on != "never":
        levels = ("stale", "possibly_stale")
    failing = [reference for reference in references if reference.level in levels]
    unknown = [reference for reference in references if reference.verdict == "unknown"]
    if report.alarms != "any":
        unknown += [reference for reference in failing if reference.is_unread]
        failing = [reference for reference in failing if not reference.is_unread]
    if report.is_change and fail_on != "never" and report.translation_severity == "error":
        failing += [page.references[0] for page in report.outdated_translations]
    # Obsolete lines of the debt file fail the check of a state.
    if failing or (levels and report.obsolete_debts):
        return FINDINGS
    return FAILED if unknown and not is_hook else CLEAN
