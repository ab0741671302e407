"""The evidence for a suggestion in words."""

from collections.abc import Mapping
from typing import NamedTuple

from ubp.bindings.features import Evidence, EvidenceKind, RawSignals, Signals, shares
from ubp.bindings.folders import Folder
from ubp.bindings.path_evidence import shared_words
from ubp.bindings.sources import CandidateSources
from ubp.core.model import FilePath
from ubp.core.paths import is_within
from ubp.markdown.mentions import Mention, PageMentions

MAX_SHOWN_NAMES = 3

_FOLDER_DETAILS: dict[EvidenceKind, str] = {
    "path": "{} are mentioned",
    "file_name": "{} are mentioned",
    "identifier": "identifiers from {}",
    "link": "{} mention this page",
    "commit": "shared commits with {}",
    "sibling": "other pages list {}",
    "place": "{} have similar names",
}


class ExplainContext(NamedTuple):
    """The evidence about a document, and the signals of each source by its number."""

    page: FilePath
    raw: RawSignals
    mentions: PageMentions
    sources: CandidateSources
    signals: Mapping[int, Signals]


def explain_source(number: int, context: ExplainContext) -> tuple[Evidence, ...]:
    """Return the evidence for a source, the strongest first."""
    return tuple(
        [
            Evidence(kind, *_detail(kind, number, context), weight)
            for kind, weight in shares(context.signals[number]).items()
        ]
    )


def explain_folder(folder: Folder, context: ExplainContext) -> tuple[Evidence, ...]:
    """Return the evidence for a directory: its mention, and the evidence for its files."""
    mention = folder.mention
    if not folder.likely:
        return (Evidence("path", mention.text, mention.line or None, 1.0),) if mention else ()
    weights: dict[EvidenceKind, float] = {}
    counts: dict[EvidenceKind, int] = {}
    for number in folder.likely:
        for kind, weight in shares(context.signals[number]).items():
            weights[kind] = weights.get(kind, 0.0) + weight / len(folder.likely)
            counts[kind] = counts.get(kind, 0) + 1
    total = len(folder.sources)
    evidence = []
    for kind, weight in sorted(weights.items(), key=lambda pair: -pair[1]):
        if kind == "path" and mention:
            evidence.append(Evidence("path", mention.text, mention.line or None, weight))
        else:
            is_all = counts[kind] == total
            files = f"all {total} files" if is_all else f"{counts[kind]} of {total} files"
            evidence.append(Evidence(kind, _FOLDER_DETAILS[kind].format(files), None, weight))
    return tuple(evidence)


def _detail(kind: EvidenceKind, number: int, context: ExplainContext) -> tuple[str, int | None]:
    """Return the text of an evidence and its line in the document."""
    page, raw, mentions, sources, _ = context
    if kind in {"path", "file_name"}:
        mention = _first_mention(number, raw, sources)
        return mention.text, mention.line or None
    if kind == "identifier":
        return _identifiers(number, mentions, sources)
    if kind == "commit":
        commits = raw.co_changes[number].commits
        return f"{commits} shared {'commit' if commits == 1 else 'commits'}", None
    if kind == "sibling":
        return f"{raw.siblings[number][1]} lists it", None
    if kind == "place":
        words = ", ".join(shared_words(page, number, sources)) or "similar names"
        return "in the same folder" if raw.similar_paths[number].beside else words, None
    return "it mentions this page", None


def _first_mention(number: int, raw: RawSignals, sources: CandidateSources) -> Mention:
    text_mentions = raw.text_mentions
    if number in text_mentions.first:
        return text_mentions.first[number]
    path = sources.paths[number]
    of_folders = (
        mention for folder, mention in text_mentions.folders.items() if is_within(path, folder)
    )
    return next(of_folders, Mention("", 0, 0))


def _identifiers(
    number: int, mentions: PageMentions, sources: CandidateSources
) -> tuple[str, int | None]:
    def importance(mention: Mention) -> tuple[float, int]:
        weight = 1 + sources.defines(number, mention.text)
        return -weight / len(sources.users[mention.text]), mention.line

    used = [mention for mention in mentions.identifiers if sources.uses(number, mention.text)]
    shown = sorted(used, key=importance)[:MAX_SHOWN_NAMES]
    lines = [mention.line for mention in shown if mention.line]
    return ", ".join(mention.text for mention in shown), min(lines, default=None)
