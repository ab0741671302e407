"""`ubp stale --translations`: which translations are up to date with their originals."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple

from ubp.answers.staleness.stale import commit_lines, diff_lines
from ubp.answers.staleness.stale_record import AssessedPageRecord, assessed_page_record
from ubp.core.model import Assessment, FilePath, ReferenceVerdict
from ubp.core.shell import path_argument, ubp_command
from ubp.frame.fields import Count
from ubp.frame.records import SnapshotRecord, snapshot_record
from ubp.frame.wording import Style, count, printable
from ubp.index.session import Session
from ubp.staleness.model import LanguageCount, SourceDiff, StaleReport
from ubp.staleness.translation_rules import ProposedRule, propose_rules, rules_text
from ubp.staleness.translations import count_languages
from ubp.staleness.wording import LEVEL_WORDS, describe_drift_time, describe_reference


class TranslationTextOptions(NamedTuple):
    """How the text is written; `is_listed`: each translation has lines, not only its language."""

    style: Style
    prefix: str
    is_listed: bool
    diffs: Mapping[tuple[FilePath, ReferenceVerdict], SourceDiff]


class LanguageRecord(NamedTuple):
    """The translations of a language."""

    language: Annotated[str, "language, as the paths name it"]
    fresh: Annotated[Count, "number of translations that are up to date"]
    stale: Annotated[Count, "number of translations whose original changed"]
    missing: Annotated[Count, "number of originals without a translation"]
    orphaned: Annotated[Count, "number of translations whose original does not exist"]
    unknown: Annotated[Count, "number of translations that could not be verified"]
    missing_originals: Annotated[tuple[str, ...], "paths of the originals without a translation"]


class TranslationsRecord(NamedTuple):
    """Translations by language, and those that are not up to date."""

    languages: Annotated[tuple[LanguageRecord, ...], "languages, in alphabetical order"]
    documents: Annotated[
        tuple[AssessedPageRecord, ...],
        "translations with the reference to their original: those that are not up to date (with"
        " --staged or --base: any more), with --all every one; worst level first, then by path",
    ]
    snapshot: SnapshotRecord
    is_shallow: Annotated[bool, "whether this clone is shallow"]


def count_translations(
    session: Session, report: StaleReport, *, is_narrowed: bool = False
) -> tuple[LanguageCount, ...]:
    """Count a report's translations by language, and the missing ones.

    `is_narrowed`: the report is about some pages, and only their languages are counted.
    """
    view, rules = session.view_of(report.snapshot), session.config.translations
    counts = count_languages(view, rules, report.translations)
    return tuple(language for language in counts if language.pages or not is_narrowed)


def propose_missing_rules(session: Session) -> tuple[ProposedRule, ...]:
    """Return the rules for translations that fit the repository, most pages first.

    None where the configuration has some.
    """
    if session.config.translations:
        return ()
    return propose_rules(session.view(), session.repository)


def translations_record(
    report: StaleReport,
    languages: Sequence[LanguageCount],
    listed: Sequence[Assessment],
    diffs: Mapping[tuple[FilePath, ReferenceVerdict], SourceDiff],
) -> TranslationsRecord:
    """Return the record of the translations of a report, of which some are `listed`."""
    return TranslationsRecord(
        languages=tuple(map(language_record, languages)),
        documents=tuple(assessed_page_record(page, report, diffs) for page in listed),
        snapshot=snapshot_record(report.snapshot),
        is_shallow=report.is_shallow,
    )


def language_record(language: LanguageCount) -> LanguageRecord:
    """Return the record of the translations of a language."""
    return LanguageRecord(
        language=language.language,
        fresh=language.fresh,
        stale=language.stale,
        missing=len(language.missing),
        orphaned=language.orphaned,
        unknown=language.unknown,
        missing_originals=language.missing,
    )


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
        folder = outdated[0].page.filepath.rpartition("/")[0] or "."
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
