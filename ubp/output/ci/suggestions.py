"""Edits of pages that a forge shows as suggestions, which a click commits.

They are what `ubp check --fix` would write, and new pins of pages that the change edits, too: these
only where the reader finds the page accurate. GitHub takes suggestions for lines of its own diff
alone, so the Action asks for that diff and keeps those whose lines it has, with the same text.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from ubp.frame.wording import count
from ubp.output.ci.markdown import MAX_MESSAGE_CHARACTERS, code, fenced
from ubp.output.ci.outcome import Outcome, is_text, machine_json, resolving_commands
from ubp.output.ci.suggested_edits import Suggestion

MARK = "<!-- ubp: suggestion "
MAX_COMMENTS = 20  # of one review: more are not read, and `ubp check --fix` makes them all
DIGEST_DIGITS = 16

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)")


def suggestions_text(outcome: Outcome) -> str:
    """Return the edits as JSON: where they are, both texts, and the body of a comment."""
    return machine_json(
        {
            "suggestions": [
                {
                    "path": suggestion.path,
                    "line": suggestion.line,
                    "before": list(suggestion.before),
                    "after": list(suggestion.after),
                    "body": _body(suggestion, outcome),
                }
                for suggestion in outcome.suggestions
                if is_text(suggestion.path)
            ]
        }
    )


def write_review(suggestions: str, files: str, known: str, commit: str, review: str) -> int:
    """Write the review of a pull request as GitHub's API takes it; return its number of comments.

    All are names of files, but `commit`: the suggestions as they are written here; the files of the
    pull request, an object a line with its `filename` and its `patch`; and the first lines of the
    comments that exist already.
    """
    with open(suggestions, encoding="utf-8") as file:
        made = json.load(file)["suggestions"]
    with open(files, encoding="utf-8") as file:
        patches = {item["filename"]: item.get("patch") or "" for item in map(json.loads, file)}
    with open(known, encoding="utf-8") as file:
        comments = list(_comments(made, patches, {line.strip() for line in file}))[:MAX_COMMENTS]
    with open(review, "w", encoding="utf-8") as file:
        body = f"UBP suggests {count(len(comments), 'edit')}."  # which the event requires
        json.dump(
            {"commit_id": commit, "event": "COMMENT", "body": body, "comments": comments}, file
        )
    return len(comments)


def _comments(
    made: Iterable[Mapping[str, Any]], patches: Mapping[str, str], known: Collection[str]
) -> Iterator[dict[str, Any]]:
    for suggestion in made:
        body, first, before = suggestion["body"], suggestion["line"], suggestion["before"]
        shown = new_lines(patches.get(suggestion["path"], ""))
        last = first + len(before) - 1
        is_shown = [shown.get(number) for number in range(first, last + 1)] == before
        if not is_shown or body.split("\n")[0] in known:
            continue
        comment = {"path": suggestion["path"], "line": last, "side": "RIGHT", "body": body}
        if first < last:
            comment |= {"start_line": first, "start_side": "RIGHT"}
        yield comment


def new_lines(patch: str) -> dict[int, str]:
    """Return the lines of the new version that a patch shows, by number."""
    lines: dict[int, str] = {}
    number = 0
    for line in patch.split("\n"):
        if head := _HUNK.match(line):
            number = int(head[1])
        elif line[:1] in {" ", "+"} and number:
            lines[number] = line[1:]
            number += 1
    return lines


def _body(suggestion: Suggestion, outcome: Outcome) -> str:
    """Return a comment: a mark that names the edit, the findings, the edit, and a command."""
    texts = "\n".join((suggestion.path, *suggestion.before, "", *suggestion.after))
    digest = sha256(texts.encode()).hexdigest()[:DIGEST_DIGITS]
    messages = [code(finding.message, MAX_MESSAGE_CHARACTERS) for finding in suggestion.findings]
    note = ["", "If the page is still accurate:"] if suggestion.is_pin else []
    commands = resolving_commands(suggestion.findings, outcome)
    typed = ["", "Or, typed:", "", fenced("\n".join(commands), "sh")] if commands else []
    return "\n".join(
        [
            f"{MARK}{digest} -->",
            *messages,
            *note,
            "",
            fenced("\n".join(suggestion.after), "suggestion"),
            *typed,
        ]
    )
