"""The graph for people, for Graphviz and for Mermaid; a title can be anything."""

from collections.abc import Iterator

from ubp.graph.neighbours import Neighbourhood, Tie
from ubp.model import FilePath
from ubp.render.ansi import Style
from ubp.render.wording import count, printable

# Mermaid reads HTML, entities of its own and Markdown in labels; a quotation mark ends them.
_MERMAID = {ord(character): f"#{ord(character)};" for character in "#&\"'`<>\\[](){}|"}


def graph_text(found: Neighbourhood, style: Style, *, is_quiet: bool) -> str:
    """Each page with the pages that it leads to; quietly the ties alone, a line each."""
    if is_quiet:
        return "".join(
            f"{_path(t.source)} -> {_path(t.target)} ({t.link_type})\n" for t in found.ties
        )
    out: dict[FilePath, list[Tie]] = {document.path: [] for document in found.documents}
    for tie in found.ties:
        out.get(tie.source, []).append(tie)
    lines: list[str] = []
    for document in found.documents:
        mark = "  (center)" if document.path == found.center else ""
        lines.append(f"{style.bold(_path(document.path))}  {printable(document.title)}{mark}")
        lines += [f"  -> {_path(tie.target)} ({tie.link_type})" for tie in out[document.path]]
    pages, links = count(len(found.documents), "page"), count(len(found.ties), "link")
    return "".join(f"{line}\n" for line in [*lines, *([""] if lines else []), f"{pages}, {links}."])


def dot_text(found: Neighbourhood) -> str:
    """Graphviz's language."""
    lines = ["digraph ubp {", "  rankdir=LR;", "  node [shape=box];"]
    lines += [
        f"  {_dot(document.path)} [label={_dot(document.title)}];" for document in found.documents
    ]
    lines += [
        f"  {_dot(tie.source)} -> {_dot(tie.target)} [label={_dot(tie.link_type)}];"
        for tie in found.ties
    ]
    return "\n".join([*lines, "}"]) + "\n"


def mermaid_text(found: Neighbourhood) -> str:
    """Mermaid's language, which GitHub draws in a Markdown block (up to 500 links)."""
    names = {document.path: f"n{index}" for index, document in enumerate(found.documents)}
    lines = ["graph LR"]
    lines += [
        f'  {names[document.path]}["{_mermaid(document.title)}"]' for document in found.documents
    ]
    lines += list(_arrows(found, names))
    return "\n".join(lines) + "\n"


def _arrows(found: Neighbourhood, names: dict[FilePath, str]) -> Iterator[str]:
    for tie in found.ties:
        if tie.source in names and tie.target in names:
            yield f"  {names[tie.source]} -->|{tie.link_type}| {names[tie.target]}"


def _path(path: FilePath) -> str:
    return printable(path)


def _dot(text: str) -> str:
    # A backslash begins an escape in labels (\N is the node's name): two stand for one.
    escaped = printable(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _mermaid(text: str) -> str:
    return printable(text).translate(_MERMAID)
