"""Pins in YAML blocks: lines put in, characters replaced, lines taken out."""

import re
from collections.abc import Iterator, Sequence

from ubp.parse.edits import Edit, EditError, Text
from ubp.parse.references import Named, Step
from ubp.parse.yaml_tree import Node, write_scalar

_NEXT_LINE = re.compile(r"(?:\r\n|\r|\n) *(?=[^\s#])")


def pin_lines(blob: str, reason: str | None) -> tuple[str, ...]:
    """Write a pin's lines: path, id and reason stand apart, so that merges do not meet."""
    return f"blob: {blob}", *([f"reason: {write_scalar(reason)}"] if reason else [])


def pin_text(text: Text, step: Step, lines: Sequence[str]) -> Iterator[Edit]:
    """Make a mapping of a source that is a text, in a list or a key's only value."""
    source, key = step
    if key is None:
        yield Edit(source.start, source.start, "path: ")
        yield text.insert_below(text.end(source), text.indent(source.start), lines)
    elif not text.before(source.start).strip():
        yield Edit(source.start, source.start, "- path: ")
        yield text.insert_below(text.end(source), text.indent(source.start) + "  ", lines)
    else:  # the key's line keeps its comment, and the list begins below it
        item = [f"- path: {text.written(source)}", *(f"  {line}" for line in lines)]
        yield Edit(len(text.text[: source.start].rstrip()), source.end, "")
        yield text.insert_below(source.end, text.indent(key.start) + "  ", item)


def pin_mapping(text: Text, named: Named, blob: str, reason: str | None) -> Iterator[Edit]:
    """Set `blob` and `reason` in the mapping that names the source, where they differ."""
    reference, place = named
    path_key, path = place.trail[-1].key, place.source
    mapping = place.mapping or path
    old_blob, old_reason = mapping.get("blob"), mapping.get("reason")
    blob_line, *reason_lines = pin_lines(blob, reason)
    below_path: list[str] = []
    if old_blob is None:
        below_path.append(blob_line)
    elif reference.pin != blob:
        yield _replace(text, old_blob[1], blob)
    if reference.reason != reason:
        if old_reason is not None:
            yield (
                _remove(text, *old_reason)
                if reason is None
                else _replace(text, old_reason[1], write_scalar(reason), keeps_quotes=False)
            )
        elif old_blob is None:
            below_path += reason_lines
        else:
            key, value = old_blob
            yield text.insert_below(text.end(value), text.indent(key.start), reason_lines)
    if below_path and path_key is not None:
        yield text.insert_below(text.end(path), text.indent(path_key.start), below_path)


def _replace(text: Text, old: Node, new: str, *, keeps_quotes: bool = True) -> Edit:
    if old.kind != "scalar" or old.is_shared:
        raise EditError("What stands in its place is no plain text.")
    end = text.end(old)
    if old.start >= end:  # "blob:" and nothing
        return Edit(old.start, old.start, f" {new}")
    if keeps_quotes and text.text[old.start] in "\"'":
        return Edit(old.start + 1, end - 1, new)
    return Edit(old.start, end, new)


def _remove(text: Text, key: Node, value: Node) -> Edit:
    start, end = text.line_start(key.start), text.line_end(max(key.end, text.end(value)))
    if text.before(key.start).strip():  # "- reason: …": the dash stays, for the line that follows
        following = _NEXT_LINE.match(text.text, end)
        if following:
            return Edit(key.start, following.end(), "")
        return Edit(len(text.text[: key.start].rstrip()), end, "")
    return Edit(start, end + len(text.newline(end)), "")
