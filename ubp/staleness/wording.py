"""The wording of verdicts, levels and ages, shared by findings, texts, records and reports."""

from collections.abc import Mapping

from ubp.core.model import Level, ReferenceVerdict, Verdict

LEVEL_WORDS: Mapping[Level, str] = {
    "stale": "stale",
    "possibly_stale": "possibly stale",
    "unknown": "unknown",
    "fresh": "fresh",
    "untracked": "lists no sources",
}


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
            return (
                "could not be verified: the history of this clone starts after the page was written"
            )


def verdict_sentence(source: str, verdict: Verdict, when: str = "") -> str:
    """Return a verdict as a sentence: `src/auth.py was modified 12 days ago.`."""
    is_participle = verdict in {"modified", "deleted", "moved", "created"}
    verb = "was " if is_participle else "is " if verdict == "fresh" else ""
    return f"{source} {verb}{describe_verdict(verdict, when)}."


def describe_drift_time(
    reference: ReferenceVerdict, *, is_staged: bool = False, is_shallow: bool = False
) -> str:
    """Return when a reference drifted, for `describe_verdict`; empty where nothing is known.

    `is_staged`: the drift is that of a commit in the making; `is_shallow`: history is incomplete.
    """
    if is_staged:
        return " by this commit"
    if reference.since is not None:
        return f" {age(reference.age_days or 0)}"
    if reference.age_days is not None:
        return ", not committed yet"
    return " before the history of this clone starts" if is_shallow else ""


def age(days: int) -> str:
    """Return how long ago something was: `today`, `1 day ago`, `12 days ago`."""
    if days == 0:
        return "today"
    return "1 day ago" if days == 1 else f"{days} days ago"
