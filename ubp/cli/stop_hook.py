"""`ubp review --stop-hook`: what an agent reads when it stops: at most three lines, or nothing.

The agent's program sends JSON on stdin and reads JSON on stdout. Claude Code and Codex continue for
`{"decision": "block", "reason": …}`, VS Code for the same in `hookSpecificOutput`, and Cursor for a
`followup_message`. A status of 2 would block, too, so that a failure of UBP has another one.
"""

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from ubp.answers.review.review import LIKELY, CaseRecord, ReviewRequest, run
from ubp.cli.error_handler import CLEAN, FINDINGS
from ubp.cli.open_workspace import open_workspace
from ubp.cli.terminal import Terminal
from ubp.core.errors import UbpError
from ubp.core.files import read_regular_file, write_atomically
from ubp.core.shell import ubp_command
from ubp.frame.quoting import quoted
from ubp.frame.wording import count

MAX_INPUT = 1_000_000  # characters; Claude Code sends the last message, too
SHOWN = "stop-hook.json"  # in the folder of the index: the cases that were shown
MAX_REMEMBERED = 500
_KINDS = {
    "bound": "lists a source that changed",
    "removed-name": "has a name that no source has any more",
    "changed-value": "gives a value that the change replaces",
    "proposed": "describes what changed, without listing it",
    "translation": "is a translation of a page that changed",
    "collection": "lists a document of a collection that changed",
    "link": "has a link that leads nowhere now",
}


def run_stop_hook(request: ReviewRequest, terminal: Terminal) -> int:
    """Print what makes an agent continue, if a page is probably wrong and was not shown yet."""
    payload = _read_payload(terminal)
    if payload is None or _is_continued(payload):
        return CLEAN
    try:
        with open_workspace(terminal) as workspace:
            likely = run(workspace.session, request, LIKELY).cases
            file = os.path.join(workspace.session.repository.data_dir, SHOWN)
            if not _remember(file, [case.fingerprint for case in likely]):
                return CLEAN
    except UbpError as error:
        terminal.report(error)
        return FINDINGS
    terminal.write(json.dumps(_answer(payload, message(likely)), ensure_ascii=False) + "\n")
    return CLEAN


def _read_payload(terminal: Terminal) -> Mapping[str, Any] | None:
    """Return what the agent's program sent, empty for a person; None: it is not an object."""
    if terminal.stdin is None or terminal.stdin.isatty():
        return {}
    try:
        payload = json.loads(terminal.stdin.read(MAX_INPUT))
    except (ValueError, RecursionError):
        return None
    return payload if isinstance(payload, dict) else None


def _is_continued(payload: Mapping[str, Any]) -> bool:
    """Return whether the agent goes on because of a hook already, or was interrupted."""
    was_interrupted = payload.get("status", "completed") != "completed"
    return bool(payload.get("stop_hook_active") or payload.get("loop_count") or was_interrupted)


def _remember(file: str, fingerprints: list[str]) -> bool:
    """Return whether one of these cases was not shown before, and write them down."""
    shown: list[str] = []
    with suppress(OSError, ValueError):
        stored = json.loads(read_regular_file(file, MAX_INPUT, follows_link=False))
        shown = [str(item) for item in stored] if isinstance(stored, list) else []
    new = [fingerprint for fingerprint in fingerprints if fingerprint not in shown]
    if not new:
        return False
    os.makedirs(os.path.dirname(file), exist_ok=True)
    write_atomically(file, json.dumps([*shown, *new][-MAX_REMEMBERED:]).encode())
    return True


def message(likely: Iterable[CaseRecord]) -> str:
    """Return at most three lines about cases: how many, the first one, and what to do."""
    first, *others = likely
    also = ", ".join(quoted(case.filepath) for case in others[:2])
    more = f", and {count(len(others) - 2, 'more page')}" if len(others) > 2 else ""  # noqa: PLR2004  # as many are named
    place = f"{quoted(first.filepath)} wrong (line {first.line})"
    lines = [f"This change probably makes {place}: the page {_reason(first)}."]
    if others:
        lines.append(f"Also review {also}{more}.")
    settle = ubp_command("ack", "PAGE", "--reason", "WHY")
    tools = {action.tool for case in (first, *others) for action in case.actions}
    can_settle = "ubp_acknowledge" in tools
    accurate = f", or if it is still accurate: `{settle}`" if can_settle else ""
    lines.append(f"Call ubp_review_change, or run `ubp review`; then edit each page{accurate}.")
    return "\n".join(lines)


def _reason(case: CaseRecord) -> str:
    names = [name for reason in case.reasons for name in reason.names]
    if names and case.kind != "changed-value":
        return f"names {quoted(names[0].name)}, which the change {_VERBS[names[0].change]}"
    return _KINDS[case.kind]


_VERBS = {"removed": "removes", "added": "adds", "changed": "touches"}


def _answer(payload: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    """Return the JSON that the program which sent the payload understands."""
    if "loop_count" in payload:  # Cursor
        return {"followup_message": text}
    decision = {"decision": "block", "reason": text}
    if "timestamp" in payload or "hookEventName" in payload:  # VS Code
        return {"hookSpecificOutput": {"hookEventName": "Stop", **decision}}
    return decision
