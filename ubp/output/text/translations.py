"""The text of `ubp stale --translations`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ubp.answers.staleness.stale import commit_lines, diff_lines
from ubp.core.model import Assessment, FilePath, ReferenceVerdict
from ubp.core.shell import path_argument, ubp_command
from ubp.frame.wording import Style, count, printable
from ubp.staleness.model import LanguageCount, SourceDiff, StaleReport
from ubp.staleness.translation_rules import ProposedRule, rules_text
from ubp.staleness.wording import LEVEL_WORDS, describe_drift_time, describe_reference


class TranslationTextOptions(NamedTuple):
    """How the text is written; `is_listed`: each translation has lines, not only its language."""

    style: Style
    prefix: str
    is_listed: bool
    diffs: Mapping[tuple[FilePath, ReferenceVerdict], SourceDiff]


def proposed_rules_text(rules: Sequence[ProposedRule]) -> str:
    """Return how many pages are translations, and the setting that names their originals."""
    if not rules:
        return ""
    pages = count(sum(rule.pages for rule in rules), "page")
    languages = count(max(rule.languages for rule in rules), "language")
    return (
        f"\n{pages} in {languages} seem to be translations. To compare them with their originals,"
        f" add to .ubp/config.json:\n  {printable(rules_text(rules))}\n"
    )


def translations_text(
    report: StaleReport,
    languages: Sequence[LanguageCount],
    listed: Sequence[Assessment],
    options: TranslationTextOptions,
) -> str:
    """Return the translations that are `listed`, a table of languages, and the next step."""
    lines: list[str] = []
    if options.is_listed:
        for assessment in listed:
            lines += _page(assessment, report, options)
    if not report.is_change and languages:
        lines += ([""] if lines else []) + list(_table(languages))
    elif not languages:
        lines.append("No page is a translation by the rules of the configuration.")
    lines += _summary(report, options)
    return "\n".join(lines) + "\n"


def _page(
    assessment: Assessment, report: StaleReport, options: TranslationTextOptions
) -> Iterator[str]:
    style = options.style
    for verdict in assessment.references:
        place = f"{assessment.page.filepath}:{verdict.reference.line}"
        paint = {"stale": style.red, "fresh": style.green}.get(assessment.level, style.yellow)
        yield f"{style.bold(printable(place))}  {paint(LEVEL_WORDS[assessment.level])}"
        is_staged = report.snapshot.kind == "staged" and not verdict.is_debt
        when = describe_drift_time(verdict, is_staged=is_staged, is_shallow=report.is_shallow)
        yield f"  {printable(f'{verdict.name}  {describe_reference(verdict, when)}')}"
        yield from commit_lines(verdict.commits, style)
        diff = options.diffs.get((assessment.page.filepath, verdict))
        if diff is not None:
            yield from diff_lines(diff.text, diff.missing, style)


def _table(languages: Sequence[LanguageCount]) -> Iterator[str]:
    """Yield a line for each language, and the total of several."""
    has_unknown = any(language.unknown for language in languages)
    names = ["fresh", "stale", "missing", "orphaned", *(["unknown"] if has_unknown else [])]
    rows = [(language.language, _numbers(language)) for language in languages]
    if len(rows) > 1:
        totals = [sum(numbers[place] for _, numbers in rows) for place in range(len(rows[0][1]))]
        rows.append(("all", totals))
    width = max(len("language"), *(len(name) for name, _ in rows))
    yield "  ".join([f"{'language':{width}}", *(f"{name:>8}" for name in names)])
    for name, numbers in rows:
        cells = (f"{number:>8}" for number in numbers[: len(names)])
        yield "  ".join([f"{printable(name):{width}}", *cells])


def _numbers(language: LanguageCount) -> list[int]:
    missing = len(language.missing)
    return [language.fresh, language.stale, missing, language.orphaned, language.unknown]


def _summary(report: StaleReport, options: TranslationTextOptions) -> Iterator[str]:
    style, outdated = options.style, report.outdated_translations
    if report.is_change:
        pages = count(len(outdated), "translation")
        yield f"{pages} not up to date after this change."
        return
    if not outdated:
        return
    page = path_argument(outdated[0].page.filepath, options.prefix)
    yield ""
    yield "Next:"
    if not options.is_listed:
        folder = FilePath(outdated[0].page.filepath.rpartition("/")[0])
        command = ubp_command("stale", "--translations", path_argument(folder, options.prefix))
        yield f"  {style.cyan(command)}  list the translations of a folder"
    if not options.diffs:
        command = ubp_command("stale", "--translations", "--diff", page)
        yield f"  {style.cyan(command)}  show what changed in the original"
    if any(verdict.current_blob for verdict in outdated[0].references):
        pinned = outdated[0].references[0].reference.pin_key
        if pinned:
            purpose = f"renew {pinned} once the translation is up to date"
            yield f"  {style.cyan(ubp_command('ack', page))}  {printable(purpose)}"
