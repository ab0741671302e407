"""The link graph as one HTML file: a picture to explore, and the same as a list.

The file needs no network and no other file. Cytoscape.js, which draws it, is inside (MIT licence,
named at the beginning of `cytoscape.min.js`). As an MCP App it is a page without a graph, which
draws the one that its host passes on.
"""

import json
from typing import Any, NamedTuple

from markupsafe import Markup

from ubp.core.model import LINK_TYPES, QUIET_LEVELS, Assessment, FilePath, Level
from ubp.core.paths import ancestors
from ubp.core.version import __version__
from ubp.frame.wording import count, printable
from ubp.output.html.graph_layout import place_pages
from ubp.output.html.markup import content_policy, read_asset, render
from ubp.search.traverse import PageGraph
from ubp.staleness.wording import LEVEL_WORDS, describe_reference

# Cytoscape adds this element to a page that does not have it, which the policy would forbid.
_CYTOSCAPE_STYLE = Markup(".__________cytoscape_container { position: relative; }")
# More pages are shown as folders first.
MAX_OPEN = 2_000


class AppGraph(NamedTuple):
    """A graph for the app: what its page contains, and what the script draws."""

    markup: Markup
    data: dict[str, Any]


def graph_html(graph: PageGraph, name: str) -> str:
    """Return the whole file; `name` is that of the repository."""
    data = json.dumps(graph_data(graph), ensure_ascii=True).replace("<", "\\u003c")
    return _page(
        "graph.html",
        start="graph_file.js",
        title=f"{name}: document graph",
        data=Markup(data),  # noqa: S704  # JSON without a sign that ends a script
        **_body(graph, name),
    )


def graph_app_html() -> str:
    """Return the page of the MCP App, which is the same for all graphs."""
    return _page("graph_app.html", start="graph_app.js", title="Document graph")


def app_graph(graph: PageGraph, name: str) -> AppGraph:
    """Return a graph as the MCP App gets it; `name` is that of the repository."""
    return AppGraph(render("graph_body.html", **_body(graph, name)), graph_data(graph))


def _page(template: str, *, start: str, **values: Any) -> str:
    """Return a page with the styles and scripts of a graph; `start` is the script that draws it."""
    style = read_asset("report.css") + "\n" + read_asset("graph.css")
    scripts = {
        "library": read_asset("cytoscape.min.js"),
        "script": read_asset("graph.js"),
        "start": read_asset(start),
    }
    page = render(
        template,
        policy=content_policy([style, _CYTOSCAPE_STYLE], scripts.values()),
        version=__version__,
        style=style,
        cytoscape_style=_CYTOSCAPE_STYLE,
        **scripts,
        **values,
    )
    return f"{page}\n"


def _body(graph: PageGraph, name: str) -> dict[str, Any]:
    """Return the values of `graph_body.html`."""
    shown = count(len(graph.near.documents), "page")
    total = "" if not graph.near.left_out else f" of {graph.near.total}"
    return {
        "name": name,
        "size": f"{shown}{total}, {count(len(graph.near.edges), 'link')}.",
        "levels": [(level, LEVEL_WORDS[level]) for level in _levels(graph)],
        "types": [(kind, kind.replace("_", " ")) for kind in _types(graph)],
        "folders": _folders(graph),
        "pages": _listed_pages(graph),
    }


def graph_data(graph: PageGraph) -> dict[str, Any]:
    """Return what the script draws: pages with their positions, links, sources."""
    near = graph.near
    links = {path: sum(counts) for path, counts in near.counts.items()}
    positions = place_pages([document.path for document in near.documents], links)
    numbers = {document.path: number for number, document in enumerate(near.documents)}
    return {
        "center": None if near.center is None else numbers[near.center],
        "isFolded": len(numbers) > MAX_OPEN,
        "pages": [
            {
                "path": printable(document.path),
                "folder": printable(document.path.rpartition("/")[0]),
                "title": printable(document.title),
                "type": printable(document.doc_type),
                "level": graph.assessments[document.path].level,
                "age": _age(graph.assessments[document.path]),
                "text": printable(graph.summaries.get(document.path, "")),
                "links": links[document.path],
                "x": round(positions[document.path].x, 1),
                "y": round(positions[document.path].y, 1),
                "sources": [
                    {
                        "path": printable(verdict.name),
                        "level": verdict.level,
                        "state": printable(describe_reference(verdict)),
                    }
                    for verdict in graph.assessments[document.path].references
                ],
            }
            for document in near.documents
        ],
        "links": [
            [numbers[edge.source], numbers[edge.target], LINK_TYPES.index(edge.link_type)]
            for edge in near.edges
        ],
        "types": list(LINK_TYPES),
        "levels": {level: LEVEL_WORDS[level] for level in _levels(graph)},
    }


def _age(assessment: Assessment) -> int | None:
    """Return the days since the oldest drift."""
    ages = [verdict.age_days for verdict in assessment.references if verdict.age_days is not None]
    return max(ages, default=None) if assessment.level not in QUIET_LEVELS else None


def _levels(graph: PageGraph) -> list[Any]:
    found = {assessment.level for assessment in graph.assessments.values()}
    return [level for level in LEVEL_WORDS if level in found]


def _types(graph: PageGraph) -> list[Any]:
    found = {edge.link_type for edge in graph.near.edges}
    return [kind for kind in LINK_TYPES if kind in found]


def _folders(graph: PageGraph) -> list[str]:
    return sorted(
        {folder for document in graph.near.documents for folder in ancestors(document.path)} - {""}
    )


class _ListedPage(NamedTuple):
    """A page of the list, which holds the same as the picture; `targets` are titles."""

    path: FilePath
    title: str
    level: Level
    targets: tuple[str, ...]


def _listed_pages(graph: PageGraph) -> list[_ListedPage]:
    """Return the pages for screen readers and without the script."""
    titles = {document.path: document.title for document in graph.near.documents}
    linked: dict[FilePath, dict[FilePath, str]] = {path: {} for path in titles}
    for edge in graph.near.edges:
        linked[edge.source][edge.target] = titles[edge.target]
    return [
        _ListedPage(path, title, graph.assessments[path].level, tuple(linked[path].values()))
        for path, title in titles.items()
    ]
