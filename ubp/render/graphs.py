"""The graph for people, for Graphviz and for Mermaid; a title can be anything."""

from collections.abc import Iterator

from ubp.graph.neighbours import Neighbourhood, Tie
from ubp.model import FilePath, Level
from ubp.relating import PageGraph
from ubp.render.ansi import Style
from ubp.render.text.levels import WORDS
from ubp.render.wording import count, printable

# Mermaid reads HTML, entities of its own and Markdown in labels; a quotation mark ends them.
_MERMAID = {ord(character): f"#{ord(character)};" for character in "#&\"'`<>\\[](){}|"}
_COLOURS: dict[Level, str] = {"stale": "red", "possibly_stale": "orange"}


def graph_text(found: PageGraph, style: Style, *, is_quiet: bool) -> str:
    """Each page with the pages that it leads to; quietly the ties alone, a line each."""
    near = found.near
    if is_quiet:
        return "".join(
            f"{_path(t.source)} -> {_path(t.target)} ({t.link_type})\n" for t in near.ties
        )
    out: dict[FilePath, list[Tie]] = {document.path: [] for document in near.documents}
    for tie in near.ties:
        out[tie.source].append(tie)
    lines: list[str] = []
    for document in near.documents:
        level = found.assessments[document.path].level
        stale = f", {style.yellow(WORDS[level])}" if level in _COLOURS else ""
        mark = "  (center)" if document.path == near.center else ""
        title = printable(document.title)
        lines.append(f"{style.bold(_path(document.path))}  {title}{stale}{mark}")
        lines += [f"  -> {_path(tie.target)} ({tie.link_type})" for tie in out[document.path]]
    links = count(len(near.ties), "link")
    return "".join(f"{x}\n" for x in [*lines, *([""] if lines else []), f"{_size(near)}, {links}."])


def dot_text(found: PageGraph) -> str:
    """Graphviz's language; stale pages have a colour."""
    near = found.near
    lines = ["digraph ubp {", *_note("  // ", near), "  rankdir=LR;", "  node [shape=box];"]
    for document in near.documents:
        colour = _COLOURS.get(found.assessments[document.path].level)
        more = f", color={colour}" if colour else ""
        lines.append(f"  {_dot(document.path)} [label={_dot(document.title)}{more}];")
    lines += [
        f"  {_dot(tie.source)} -> {_dot(tie.target)} [label={_dot(tie.link_type)}];"
        for tie in near.ties
    ]
    return "\n".join([*lines, "}"]) + "\n"


def mermaid_text(found: PageGraph) -> str:
    """Mermaid's language, which GitHub draws in a Markdown block (up to 500 links)."""
    near = found.near
    names = {document.path: f"n{index}" for index, document in enumerate(near.documents)}
    lines = ["graph LR", *_note("  %% ", near)]
    lines += [
        f'  {names[document.path]}["{_mermaid(document.title)}"]' for document in near.documents
    ]
    lines += [f"  {names[t.source]} -->|{t.link_type}| {names[t.target]}" for t in near.ties]
    lines += _coloured(found, names)
    return "\n".join(lines) + "\n"


def _coloured(found: PageGraph, names: dict[FilePath, str]) -> Iterator[str]:
    for level, colour in _COLOURS.items():
        stale = [name for path, name in names.items() if found.assessments[path].level == level]
        if stale:
            yield f"  classDef {level} stroke:{colour}"
            yield f"  class {','.join(stale)} {level}"


def _note(mark: str, near: Neighbourhood) -> list[str]:
    return [f"{mark}{_size(near)}"] if near.left_out else []


def _size(near: Neighbourhood) -> str:
    shown, total = len(near.documents), count(near.total, "page")
    if not near.left_out:
        return total
    kept = "the nearest" if near.center else "those with the most links"
    return f"{shown} of {total} ({kept})"


def _path(path: FilePath) -> str:
    return printable(path)


def _dot(text: str) -> str:
    # A backslash begins an escape in labels (\N is the node's name): two stand for one.
    escaped = printable(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _mermaid(text: str) -> str:
    return printable(text).translate(_MERMAID)
