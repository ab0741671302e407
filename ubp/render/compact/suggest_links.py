"""Pairs of pages for agents: two places with what is said there, and the words of both."""

from collections.abc import Iterator, Mapping
from typing import Any

from ubp.cutting import summarise
from ubp.render.wording import count, printable

Record = Mapping[str, Any]

# Both passages of ten pairs take 4,000 characters; the record has more of them.
PASSAGE = 110


def text(record: Record) -> str:
    """The pairs, the surest first, then those that say the same."""
    pairs, same = record["suggestions"], record.get("duplicates", [])
    lines = [f"{_summary(len(pairs))} ({record['content_notice']})"]
    for pair in pairs:
        lines += _pair(pair)
    if same:
        lines.append("Not links but the same text twice:")
        lines += [f"  {_place(pair['first'])} and {_place(pair['second'])}" for pair in same]
    if pending := record.get("pending_sections"):
        lines.append(f"[{count(pending, 'section')} could not be compared]")
    return "\n".join(lines) + "\n"


def _summary(number: int) -> str:
    if number == 0:
        return "No pair without a link stands out so much; a lower min_score shows more."
    verb = "is" if number == 1 else "are"
    return f"{count(number, 'pair')} of pages {verb} close and not linked."


def _pair(pair: Record) -> Iterator[str]:
    terms = ", ".join(map(printable, pair.get("shared_terms", [])))
    yield f"{pair['score']:.2f}{f' both say {terms}' if terms else ''}"
    for part in (pair["first"], pair["second"]):
        stale = "" if part["staleness"] in {"fresh", "untracked"} else f" ({part['staleness']})"
        yield f"  {_place(part)} {' > '.join(map(printable, part['heading_path']))}{stale}"
        if part.get("content"):
            passage = summarise(part["content"], PASSAGE) or part["content"][:PASSAGE]
            yield f"    {printable(passage)}"


def _place(part: Record) -> str:
    return f"{printable(part['filepath'])}:{part['line_start']}-{part['line_end']}"
