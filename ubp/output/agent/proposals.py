"""Texts about proposals for agents: an edit with its diff and its effect, the open proposals."""

from collections.abc import Iterator, Mapping
from typing import Any

from ubp.frame.quoting import fenced, name, new_marker, quoted, title
from ubp.frame.wording import SHORT_ID, count, printable
from ubp.output.agent.pages import notice

Record = Mapping[str, Any]
MAX_FINDINGS = 10


def edit_text(record: Record) -> str:
    """Return where an edit was proposed, what it changes, and what that does."""
    marker = new_marker(record["diff"])
    proposal = record["proposal"]
    place = f"proposal {proposal['id']}, on the branch {proposal['branch']}"
    lines = [
        f"Proposed as {place}; a person reviews it. {notice(record, marker)}",
        f"{name(record['filepath'])} now has blob {record['blob'][:SHORT_ID]} there.",
        *_effect(record["effect"]),
        *(f"Warning: {printable(warning)}" for warning in record.get("warnings", ())),
        "",
        *fenced(record["diff"], marker),
    ]
    return "\n".join(lines) + "\n"


def proposals_text(record: Record) -> str:
    """Return a line for each open proposal."""
    proposals = record["proposals"]
    lines = [f"{count(len(proposals), 'open proposal')}. {notice(record)}"]
    for proposal in proposals:
        last = proposal["edits"][-1]
        lines.append(
            f"{proposal['id']}: {title(proposal['title'])} by {quoted(proposal['client'])}"
            f" (session {name(proposal['session'])}), {proposal['updated_at']}:"
            f" {quoted(last.get('reason', ''))}"
        )
    return "\n".join(lines) + "\n"


def decision_text(record: Record) -> str:
    """Return how a proposal ended."""
    return f"Proposal {record['id']} is {record['event']}; the log keeps it.\n"


def _effect(effect: Record) -> Iterator[str]:
    for page in effect["staleness"]:
        before, after = page.get("before"), page.get("after")
        if before is None:
            yield f"Staleness of the new page: {after}."
        else:
            yield f"Staleness: {before} before, {after} after."
    for key, verb in (("introduced", "Introduces"), ("fixed", "Fixes")):
        findings = effect.get(key, ())
        if findings:
            yield f"{verb} {count(len(findings), 'finding')}:"
        for finding in findings[:MAX_FINDINGS]:
            place = f"{name(finding['filepath'])}:{finding['line']}"
            yield f"  {place} {quoted(finding['message'])} [{finding['rule']}]"
