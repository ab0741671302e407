"""The pages of a report: what matters most comes first, and its diffs are shown."""

from collections.abc import Iterable, Mapping, Sequence

from ubp.model import Assessment, FilePath, ReferenceVerdict, SourceReference
from ubp.report.values import ChangedSource, OtherPage, StalePage
from ubp.staleness.report import SourceDiff
from ubp.staleness.verdict import SEVERITY

# A reader of a report gets an idea of the change; `ubp stale --diff PAGE` shows the whole.
MOST_DIFF_LINES = 120
MOST_LINE_CHARACTERS = 400
# All diffs together and the sources that they are of: with its pages and lists a report of 1,000
# stale pages of 3 sources each stays below 2 MB.
MOST_CHARACTERS = 1_500_000
SOURCE_CHARACTERS = 450
LEAST_DIFF_CHARACTERS = 300_000

AT_REST = frozenset({"fresh", "untracked"})
Diffs = Iterable[tuple[Assessment, ReferenceVerdict, SourceDiff]]


def describe_pages(
    assessed: Sequence[Assessment],
    diffs: Diffs,
    links_in: Mapping[FilePath, int],
) -> tuple[StalePage, ...]:
    """The pages that are not fresh: worst level first, then by weight."""
    shown: dict[tuple[FilePath, SourceReference], ChangedSource] = {}
    for one, answer, diff in diffs:
        shown[one.page.filepath, answer.reference] = _changed(answer, diff)
    pages = []
    for one in assessed:
        sources = tuple(
            shown.get((one.page.filepath, answer.reference)) or ChangedSource(answer)
            for answer in one.references
            if answer.verdict != "fresh"
        )
        if one.level not in AT_REST:
            pages.append(_page(one, sources, links_in))
    rank = {level: position for position, level in enumerate(SEVERITY)}
    pages.sort(key=lambda page: (rank[page.assessment.level], -page.weight, page.path))
    return tuple(_share_diffs(pages))


def describe_others(
    assessed: Sequence[Assessment], links_in: Mapping[FilePath, int]
) -> tuple[OtherPage, ...]:
    """The pages that are fresh or name no sources: the most linked first."""
    others = [
        OtherPage(one.page, one.level, links_in[one.page.filepath])
        for one in assessed
        if one.level in AT_REST
    ]
    return tuple(sorted(others, key=lambda page: (-page.links_in, page.page.filepath)))


def _page(
    one: Assessment, sources: tuple[ChangedSource, ...], links_in: Mapping[FilePath, int]
) -> StalePage:
    ages = [s.answer.age_days for s in sources if s.answer.age_days is not None]
    return StalePage(
        assessment=one,
        sources=sources,
        links_in=links_in[one.page.filepath],
        added=sum(source.added or 0 for source in sources),
        removed=sum(source.removed or 0 for source in sources),
        lines=sum(source.lines for source in sources),
        age_days=max(ages, default=None),
    )


def _changed(answer: ReferenceVerdict, diff: SourceDiff) -> ChangedSource:
    lines = diff.text.split("\n") if diff.text else []
    kept = [_short(line) for line in lines[:MOST_DIFF_LINES]]
    is_counted = bool(diff.lines) and not diff.missing
    return ChangedSource(
        answer=answer,
        added=diff.added if is_counted else None,
        removed=diff.removed if is_counted else None,
        lines=diff.lines if is_counted else 0,
        diff="\n".join(kept),
        cut_lines=len(lines) - len(kept),
        missing=diff.missing,
    )


def _short(line: str) -> str:
    if len(line) <= MOST_LINE_CHARACTERS:
        return line.removesuffix("\r")
    return line[:MOST_LINE_CHARACTERS] + "…"


def _share_diffs(pages: Sequence[StalePage]) -> Iterable[StalePage]:
    """Show each diff once, and of all together as much as a report can hold."""
    shown: dict[tuple[object, ...], int] = {}
    sources_length = SOURCE_CHARACTERS * sum(len(page.sources) for page in pages)
    number, left = 0, max(MOST_CHARACTERS - sources_length, LEAST_DIFF_CHARACTERS)
    for page in pages:
        sources = []
        for source in page.sources:
            told = source
            what = _what_changed(source.answer)
            if source.diff and what in shown:
                told = source._replace(diff="", same_as=shown[what])
            elif len(source.diff) > left:
                cut = source.cut_lines + source.diff.count("\n") + 1
                told = source._replace(diff="", cut_lines=cut)
            elif source.diff:
                shown[what] = number
                left -= len(source.diff)
            sources.append(told)
            number += 1
        yield page._replace(sources=tuple(sources))


def _what_changed(answer: ReferenceVerdict) -> tuple[object, ...]:
    return answer.source_path, answer.moved_to, answer.baseline_blob, answer.current_blob
