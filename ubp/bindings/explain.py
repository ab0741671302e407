"""The evidence for a proposal, in words."""

from collections.abc import Mapping
from typing import NamedTuple

from ubp.bindings.features import Evidence, EvidenceKind, RawSignals, Signals, shares
from ubp.bindings.folders import Folder
from ubp.bindings.sources import CandidateSources
from ubp.markdown.mentions import Mention, PageMentions

MAX_SHOWN_NAMES = 3

# What of a directory's files speaks for it.
_OF_FILES: dict[EvidenceKind, str] = {
    "path": "{} are named",
    "file_name": "{} are named",
    "identifier": "names of {}",
    "link": "{} name this page",
    "commit": "commits in common with {}",
    "sibling": "other pages name {}",
    "place": "{} are called alike",
}


class ExplainContext(NamedTuple):
    """What is known of a page and the sources, and the signals of each source by its number."""

    said: RawSignals
    mentions: PageMentions
    sources: CandidateSources
    signals: Mapping[int, Signals]


def find_reasons(number: int, known: ExplainContext) -> tuple[Evidence, ...]:
    """What speaks for a source, the strongest first."""
    said, mentions, sources, signals = known
    return tuple(
        [
            Evidence(kind, *_told(kind, number, said, mentions, sources), weight)
            for kind, weight in shares(signals[number]).items()
        ]
    )


def find_folder_reasons(folder: Folder, known: ExplainContext) -> tuple[Evidence, ...]:
    """What speaks for a directory: that it is named, and what speaks for how many of its files."""
    named = folder.mention
    if not folder.likely:
        return (Evidence("path", named.text, named.line or None, 1.0),) if named else ()
    weights: dict[EvidenceKind, float] = {}
    counts: dict[EvidenceKind, int] = {}
    for number in folder.likely:
        for kind, weight in shares(known.signals[number]).items():
            weights[kind] = weights.get(kind, 0.0) + weight / len(folder.likely)
            counts[kind] = counts.get(kind, 0) + 1
    whole = len(folder.inside)
    return tuple(
        [
            Evidence("path", named.text, named.line or None, weight)
            if kind == "path" and named
            else Evidence(kind, _OF_FILES[kind].format(_some(counts[kind], whole)), None, weight)
            for kind, weight in sorted(weights.items(), key=lambda one: -one[1])
        ]
    )


def _some(count: int, whole: int) -> str:
    return f"all its {whole} files" if count == whole else f"{count} of its {whole} files"


def _told(
    kind: EvidenceKind,
    number: int,
    said: RawSignals,
    mentions: PageMentions,
    sources: CandidateSources,
) -> tuple[str, int | None]:
    if kind in {"path", "file_name"}:
        return _mention(number, said, sources)
    if kind == "identifier":
        return _identifiers(number, mentions, sources)
    if kind == "commit":
        commits = said.together[number].commits
        return f"{commits} {'commit' if commits == 1 else 'commits'} in common", None
    if kind == "sibling":
        return f"{said.siblings[number][1]} names it", None
    if kind == "place":
        return _place(number, said), None
    return "it names this page", None


def _mention(number: int, said: RawSignals, sources: CandidateSources) -> tuple[str, int | None]:
    found = said.mentioned.first.get(number)
    if found is None:
        path = sources.paths[number]
        found = next(
            (
                one
                for folder, one in said.mentioned.folders.items()
                if path.startswith(f"{folder}/")
            ),
            Mention("", 0, 0),
        )
    return found.text, found.line or None


def _identifiers(
    number: int, mentions: PageMentions, sources: CandidateSources
) -> tuple[str, int | None]:
    found = [one for one in mentions.identifiers if sources.uses(number, one.text)]
    found.sort(key=lambda one: (-_telling(one, number, sources), one.line))
    shown = found[:MAX_SHOWN_NAMES]
    lines = [one.line for one in shown if one.line]
    return ", ".join(one.text for one in shown), min(lines, default=None)


def _telling(mention: Mention, number: int, sources: CandidateSources) -> float:
    is_defined = sources.defines(number, mention.text)
    return (1 + is_defined) / len(sources.users[mention.text])


def _place(number: int, said: RawSignals) -> str:
    placed = said.placed[number]
    if placed.beside:
        return "in the same folder"
    return ", ".join(placed.words) or "names alike"
