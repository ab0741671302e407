"""The link graph as HTML: a picture that answers what depends on a page or a source, and a list.

The file needs no network and no other file. Its scripts find the places of the items when they are
shown (`graph_layout.js`), draw them (`graph_canvas.js`) and answer questions (`graph.js`). The same
view is a section of the report, and an MCP App: a page without a graph, which draws the one that
its host passes on.
"""

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from markupsafe import Markup

from ubp.core.languages import main_language
from ubp.core.model import LINK_TYPES, QUIET_LEVELS, Assessment, FilePath, Level
from ubp.core.paths import ancestors
from ubp.core.version import __version__
from ubp.frame.wording import count, printable
from ubp.output.html.markup import content_policy, read_asset, render
from ubp.search.traverse import PageGraph
from ubp.staleness.wording import LEVEL_WORDS, describe_reference, time_span

# The first lines of more pages, and the titles that they link to, would take more than 2 MB.
MAX_TEXTS = 1_000
SCRIPTS = ("graph_layout.js", "graph_canvas.js", "graph.js")


class AppGraph(NamedTuple):
    """A graph for the app: what its page contains, and what the script draws."""

    markup: Markup
    data: dict[str, Any]


def graph_html(graph: PageGraph, name: str, source: FilePath | None = None) -> str:
    """Return the whole file; `name` is that of the repository.

    `source` is the source whose dependents are shown first.
    """
    return _page(
        "graph.html",
        start="graph_file.js",
        title=f"{name}: document graph",
        data=graph_json(graph, source),
        lang=main_language(document.title for document in graph.near.documents),
        body=_body(graph, name),
    )


def graph_app_html() -> str:
    """Return the page of the MCP App, which is the same for all graphs."""
    return _page("graph_app.html", start="graph_app.js", title="Document graph")


def app_graph(graph: PageGraph, name: str) -> AppGraph:
    """Return a graph as the MCP App gets it; `name` is that of the repository."""
    return AppGraph(_body(graph, name), graph_data(graph))


def graph_script() -> Markup:
    """Return the script that defines `drawGraph`."""
    return Markup("\n").join(map(read_asset, SCRIPTS))


def graph_json(graph: PageGraph, source: FilePath | None = None) -> Markup:
    """Return what the script draws, for an element of a page."""
    data = json.dumps(graph_data(graph, source), ensure_ascii=False, separators=(",", ":"))
    return Markup(data.replace("<", "\\u003c"))  # noqa: S704  # no sign in it ends a script


def graph_view(graph: PageGraph) -> Markup:
    """Return the element that the script draws into."""
    counts = Counter(assessment.level for assessment in graph.assessments.values())
    return render(
        "graph_view.html",
        levels=[(level, LEVEL_WORDS[level], counts[level]) for level in _levels(graph)],
        types=[(kind, kind.replace("_", " ")) for kind in _types(graph)],
        folders=_folders(graph),
        pages=_listed_pages(graph),
    )


def graph_section(graph: PageGraph, link: str) -> Markup:
    """Return the graph as a section of a report; `link` is the address of the whole graph."""
    return render("graph_section.html", size=_size(graph), view=graph_view(graph), link=link)


def _page(template: str, *, start: str, **values: Any) -> str:
    """Return a page with the styles and scripts of a graph; `start` is the script that draws it."""
    style = read_asset("report.css") + "\n" + read_asset("graph.css")
    scripts = {"script": graph_script(), "start": read_asset(start)}
    page = render(
        template,
        policy=content_policy([style], scripts.values()),
        version=__version__,
        style=style,
        **scripts,
        **values,
    )
    return f"{page}\n"


def _body(graph: PageGraph, name: str) -> Markup:
    return render("graph_body.html", name=name, size=_size(graph), view=graph_view(graph))


def _size(graph: PageGraph) -> str:
    shown = count(len(graph.near.documents), "page")
    total = "" if not graph.near.left_out else f" of {graph.near.total}"
    return f"{shown}{total}, {count(len(graph.near.edges), 'link')}."


def graph_data(graph: PageGraph, source: FilePath | None = None) -> dict[str, Any]:
    """Return what the script draws, in columns: a row for each page, link, source and its use."""
    documents = graph.near.documents
    numbers = {document.path: number for number, document in enumerate(documents)}
    assessments = [graph.assessments[document.path] for document in documents]
    levels = _levels(graph)
    folders = _Numbering(path.rpartition("/")[0] for path in numbers)
    kinds = _Numbering(document.doc_type for document in documents)
    sources = _Numbering(
        verdict.name for assessment in assessments for verdict in assessment.references
    )
    texts = graph.summaries if len(documents) <= MAX_TEXTS else {}
    links: list[list[int]] = [[] for _ in documents]
    typed = []
    for edge in graph.near.edges:
        ends = numbers[edge.source], numbers[edge.target]
        if edge.link_type == "references":
            links[ends[0]].append(ends[1])
        else:
            typed.append([*ends, LINK_TYPES.index(edge.link_type)])
    center = None if graph.near.center is None else numbers[graph.near.center]
    if source is not None and source in sources.numbers:
        center = len(documents) + sources.numbers[source]
    return {
        "center": center,
        "is_part": graph.near.center is not None or bool(graph.near.left_out),
        "levels": [[level, LEVEL_WORDS[level]] for level in levels],
        "types": list(LINK_TYPES),
        "folders": [printable(folder) for folder in folders.numbers],
        "kinds": [printable(kind) for kind in kinds.numbers],
        "titles": [printable(document.title) for document in documents],
        "names": [printable(path.rpartition("/")[2]) for path in numbers],
        "folder": [folders.numbers[path.rpartition("/")[0]] for path in numbers],
        "kind": [kinds.numbers[document.doc_type] for document in documents],
        "level": [levels.index(assessment.level) for assessment in assessments],
        "ages": {
            number: [days, time_span(days)]
            for number, assessment in enumerate(assessments)
            if (days := _age(assessment)) is not None
        },
        "texts": {
            numbers[path]: printable(text)
            for path, text in texts.items()
            if text and path in numbers
        },
        "sources": [printable(name) for name in sources.numbers],
        "uses": [
            [
                number,
                sources.numbers[verdict.name],
                levels.index(verdict.level) if verdict.level in levels else 0,
                printable(describe_reference(verdict)),
            ]
            for number, assessment in enumerate(assessments)
            for verdict in assessment.references
        ],
        "links": links,
        "typed": typed,
    }


class _Numbering:
    """Numbers of different values, from 0, in the order of their first occurrence."""

    def __init__(self, values: Iterable[str]) -> None:
        self.numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}


def _age(assessment: Assessment) -> int | None:
    """Return the days since the oldest drift."""
    ages = [verdict.age_days for verdict in assessment.references if verdict.age_days is not None]
    return max(ages, default=None) if assessment.level not in QUIET_LEVELS else None


def _levels(graph: PageGraph) -> list[Level]:
    """Return the levels of pages and of their sources, worst first."""
    found = {assessment.level for assessment in graph.assessments.values()}
    found |= {
        verdict.level for assessed in graph.assessments.values() for verdict in assessed.references
    }
    return [level for level in LEVEL_WORDS if level in found]


def _types(graph: PageGraph) -> list[Any]:
    found = {edge.link_type for edge in graph.near.edges}
    return [kind for kind in LINK_TYPES if kind in found]


def _folders(graph: PageGraph) -> list[str]:
    return sorted(
        {folder for document in graph.near.documents for folder in ancestors(document.path)} - {""}
    )


class _ListedPage(NamedTuple):
    """A page of the list, which has the same as the picture.

    `path` is empty where the title says it, and `targets` are the titles of the pages that it links
    to, unless there are too many pages.
    """

    path: str
    title: str
    level: Level
    targets: tuple[str, ...]


def _listed_pages(graph: PageGraph) -> list[_ListedPage]:
    """Return the pages for screen readers and without the script."""
    titles = {document.path: document.title for document in graph.near.documents}
    linked: dict[FilePath, dict[FilePath, str]] = {path: {} for path in titles}
    if len(titles) <= MAX_TEXTS:
        for edge in graph.near.edges:
            linked[edge.source][edge.target] = titles[edge.target]
    return [
        _ListedPage(
            "" if path == f"{title}.md" else path,
            title,
            graph.assessments[path].level,
            tuple(linked[path].values()),
        )
        for path, title in titles.items()
    ]
