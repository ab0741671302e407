"""The wording of verdicts, levels and ages, shared by findings, texts, records and reports."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple, Protocol

from ubp.core.config import COLLECTION_NAME
from ubp.core.model import Affected, Evidence, Level, NameChange, Note, ReferenceVerdict, Verdict
from ubp.core.shell import ubp_command
from ubp.staleness.model import Summary

MAX_EVIDENCE_SHOWN = 3

LEVEL_WORDS: Mapping[Level, str] = {
    "stale": "stale",
    "possibly_stale": "possibly stale",
    "unknown": "unknown",
    "fresh": "fresh",
    "untracked": "lists no sources",
}
# The levels of pages that list sources, worst first.
BOUND_LEVELS: tuple[Level, ...] = ("stale", "possibly_stale", "unknown", "fresh")
# After a number of pages.
COUNTED_LEVEL_WORDS: Mapping[Level, str] = {**LEVEL_WORDS, "untracked": "without sources"}


def describe_verdict(verdict: Verdict, when: str = "", moved_to: str | None = None) -> str:
    """Return a verdict as the predicate of its source: `modified 12 days ago`, `never existed`.

    `when` follows the participle with a space or a comma before it; `moved_to` is written as it is
    given.
    """
    match verdict:
        case "fresh":
            return "fresh"
        case "modified" | "deleted":
            return f"{verdict}{when}"
        case "moved":
            return f"moved{f' to {moved_to}' if moved_to else ''}{when}"
        case "created":
            return f"created{when}, after the page"
        case "not_found":
            return "never existed"
        case "unknown":
            return f"could not be verified: {UNKNOWN_REASONS[None]}"


# The extra that finds symbols, and what adds it to a hook of pre-commit.
PARSER_EXTRA = "symbols"
HOOK_PARSER = "additional_dependencies: [ast-grep-py]"


@cache
def install_parser() -> str:
    """Return the shell command that installs what finds symbols."""
    from ubp.core.installation import install_command  # it reads the installation's metadata

    return install_command(PARSER_EXTRA)


UNKNOWN_REASONS: Mapping[Note | None, str] = {
    None: "the history of this clone starts after the page was written",
    "no_parser": "ast-grep, which finds symbols, is not installed",
    "no_collection": "this version of the collection is not on this machine",
    "no_version": "the configuration pinned no version of the collection when the page was written",
    "no_pin": "its pin is the id of no commit or file in this repository",
    "other_repository": "it is in another repository, and the reference has no pin",
}
UNKNOWN_CAUSES: Mapping[Note | None, str] = {
    None: "this clone is shallow",
    "no_parser": "ast-grep is not installed",
    "no_collection": "a collection is not on this machine",
    "no_version": "a collection had no pinned version",
    "no_pin": "a pin is the id of no commit or file",
    "other_repository": "a source in another repository has no pin",
}
PIN_OF_OTHER_REPOSITORY = "Pin the source: add its blob in that repository as `blob`."
WHOLE_REASONS: Mapping[Note, str] = {
    "no_blob": "one of its versions is not on this machine, or too large or too slow to parse",
    "no_parser": "ast-grep, which finds symbols, is not installed",
    "no_language": "UBP finds no symbols in this kind of file",
    "no_part": "only files have symbols, sections and lines",
}


def describe_reference(
    reference: ReferenceVerdict, when: str = "", moved_to: str | None = None
) -> str:
    """Return the verdict on a reference as `describe_verdict` does, and why it is the file's.

    `moved_to` is the new reference as it is to be written, by default unchanged.
    """
    if reference.verdict == "not_found" and (name := unnamed_collection(reference)):
        return f"names a collection `{name}` that the configuration lacks"
    new_name = (moved_to or reference.new_name) if reference.verdict == "moved" else None
    return describe_noted(
        reference.verdict, reference.note, when, new_name, unfetched=reference.unfetched
    )


def unnamed_collection(reference: ReferenceVerdict) -> str:
    """Return `api` where `api:docs/limits.md` is neither a file nor in a named collection."""
    name, separator, path = reference.reference.literal.partition(":")
    is_name = separator and path and re.fullmatch(COLLECTION_NAME, name)
    return name if is_name and path[0] not in ":/\\" and not reference.collection else ""


def describe_noted(
    verdict: Verdict,
    note: Note | None,
    when: str = "",
    moved_to: str | None = None,
    *,
    unfetched: str = "",
) -> str:
    """Return a verdict as `describe_verdict` does, and why it is unknown or the whole file's.

    `unfetched` is what would have to be fetched (`ReferenceVerdict.unfetched`).
    """
    fetch = f"; fetch it: {ubp_command('collections', 'sync', unfetched)}" if unfetched else ""
    if verdict == "unknown" and note in UNKNOWN_REASONS:
        return f"could not be verified: {UNKNOWN_REASONS[note]}{fetch}"
    if verdict == "not_found" and note == "no_listing":
        return "is in a submodule or behind a symbolic link, where Git lists no files"
    text = describe_verdict(verdict, when, moved_to)
    if note is None or note not in WHOLE_REASONS or verdict == "fresh":
        return text
    return f"{text} (as a whole: {WHOLE_REASONS[note]}{fetch})"


def describe_ignored_fragment(reference: ReferenceVerdict) -> str | None:
    """Return why the fragment of a reference has no effect, None if it has."""
    note = reference.note
    if note is None or note not in {"no_language", "no_part"}:
        return None
    return WHOLE_REASONS[note]


class Unverified(Protocol):
    """A reference that could not be verified, as an engine's value or in a record."""

    @property
    def note(self) -> Note | None:
        """Why it was not compared; None: history is too short."""

    @property
    def unfetched(self) -> str | None:
        """The version of a collection that must be fetched first."""


def unknown_cause(references: Iterable[Unverified]) -> str:
    """Return why these references could not be verified: `this clone is shallow`."""
    found = {UNKNOWN_CAUSES.get(reference.note, UNKNOWN_CAUSES[None]) for reference in references}
    causes = [cause for cause in UNKNOWN_CAUSES.values() if cause in found]
    return join_names(causes) if causes else ""


class Remedy(NamedTuple):
    """A command that lets references be verified, and what it does."""

    command: str
    purpose: str


def unknown_remedies(references: Iterable[Unverified], page: str = "PAGE") -> list[Remedy]:
    """Return what to do about references that could not be verified; `page` is one with them."""
    remedies = []
    for reference in references:
        match reference.note:
            case "no_parser":
                remedy = Remedy(install_parser(), f"finds symbols (pre-commit: {HOOK_PARSER})")
            case "no_collection":
                command = ubp_command("collections", "sync", reference.unfetched or "")
                remedy = Remedy(command, "fetches that version of the collection")
            case "no_version":
                remedy = Remedy(ubp_command("ack", page), "pins what you reviewed")
            case "no_pin":
                remedy = Remedy(ubp_command("ack", page), "pins what you reviewed")
            case "other_repository":
                purpose = "in a clone of that repository prints the `blob` to pin"
                remedy = Remedy("git rev-parse HEAD:PATH", purpose)
            case _:
                unshallow = "fetches the history (in CI: fetch-depth: 0)"
                remedy = Remedy("git fetch --unshallow", unshallow)
        remedies.append(remedy)
    return list(dict.fromkeys(remedies))


def verdict_sentence(reference: ReferenceVerdict, when: str = "") -> str:
    """Return a verdict as a sentence: `src/auth.py was modified 12 days ago.`."""
    is_participle = reference.verdict in {"modified", "deleted", "moved", "created"}
    verb = "was " if is_participle else "is " if reference.verdict == "fresh" else ""
    return f"{reference.name} {verb}{describe_reference(reference, when)}."


def describe_drift_time(
    reference: ReferenceVerdict, *, is_staged: bool = False, is_shallow: bool = False
) -> str:
    """Return when a reference drifted, for `describe_verdict`; empty where nothing is known.

    `is_staged`: the drift is that of a commit in the making; `is_shallow`: history is incomplete.
    """
    if is_staged:
        return " by this commit"
    if reference.since is not None:
        return _drift_ages(reference)
    if reference.age_days is not None:
        return ", not committed yet"
    return " before the history of this clone starts" if is_shallow else ""


def _drift_ages(reference: ReferenceVerdict) -> str:
    """Return when a source was deleted, moved or created, or was first and last modified."""
    first, last = age(reference.age_days or 0), age(reference.last_age_days or 0)
    if reference.verdict in {"deleted", "moved"}:
        return f" {last}"
    is_same = reference.verdict == "created" or first == last
    return f" {first}" if is_same else f" {first}, last {last}"


def evidence_sentence(reference: ReferenceVerdict, when: str = "") -> str:
    """Return which names of its changed lines a page contains; empty where none is known.

    `when` follows the participle, as in `describe_verdict`.
    """
    if reference.is_unread:
        return "The changed lines could not be read: the clone lacks them, or there are too many."
    clauses = []
    for change, names in group_evidence(reference.evidence):
        verb = "is" if len(names) == 1 else "are"
        places = [f"`{evidence.name}` (line {evidence.line})" for evidence in names]
        clauses.append(f"{join_names(places)} {verb} {change}")
    return f"{', '.join(clauses)}{when}." if clauses else ""


class AnyJudgement(Protocol):
    """A verdict of the judge, as an engine's value or in a record."""

    @property
    def affected(self) -> Affected:
        """Whether the change affects the page."""

    @property
    def probability(self) -> float | None:
        """The probability that the page must be edited."""

    @property
    def line(self) -> str:
        """The line of the page that it quotes."""

    @property
    def why(self) -> str:
        """Its reason."""


def judgement_sentence(judgement: AnyJudgement, quote: Callable[[str], str] = str) -> str:
    """Return a verdict of the judge, with what it quotes and why; `quote` writes its words."""
    chance = "" if judgement.probability is None else f" ({judgement.probability:.0%})"
    quotation = f" \u201c{quote(judgement.line)}\u201d" if judgement.line else ""
    return f"Judged {judgement.affected}{chance}:{quotation} {quote(judgement.why)}"


def group_evidence(
    evidence: Sequence[Evidence],
) -> list[tuple[NameChange, tuple[Evidence, ...]]]:
    """Return the names that texts show by what happened to them, in their order."""
    groups: dict[NameChange, list[Evidence]] = {}
    for found in evidence[:MAX_EVIDENCE_SHOWN]:
        groups.setdefault(found.change, []).append(found)
    return [(change, tuple(names)) for change, names in groups.items()]


def join_names(names: Sequence[str]) -> str:
    """Return names as in a sentence: `a, b and c`."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


# Up to these numbers of days an age is in days or months, as people say it: "45 days", "20 months".
MAX_DAYS, MAX_MONTHS_DAYS = 60, 730


def age(days: int) -> str:
    """Return how long ago something was: `today`, `12 days ago`, `5 years ago`."""
    return "today" if days == 0 else f"{time_span(days)} ago"


def time_span(days: int) -> str:
    """Return a number of days as people say it, in whole days, months or years."""
    if days <= MAX_DAYS:
        number, unit = days, "day"
    elif days <= MAX_MONTHS_DAYS:
        number, unit = days * 12 // 365, "month"
    else:
        number, unit = days // 365, "year"
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


def counted_levels(summary: Summary) -> str:
    """Return how many pages have each level, worst first: `2 stale, 35 fresh`."""
    counts = [(getattr(summary, level), LEVEL_WORDS[level]) for level in BOUND_LEVELS]
    return ", ".join(f"{number} {words}" for number, words in counts if number)


def counted_bound(summary: Summary) -> str:
    """Return how many pages list sources: `40 of 128 pages list sources`."""
    if not summary.documents:
        return "No pages found"
    pages = "page" if summary.documents == 1 else "pages"
    if not summary.bound:
        return f"No page lists sources yet ({summary.documents} {pages} found)"
    verb = "lists" if summary.bound == 1 else "list"
    return f"{summary.bound} of {summary.documents} {pages} {verb} sources"
