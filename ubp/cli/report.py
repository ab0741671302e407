"""`ubp report` and `ubp badge`."""

import os
from typing import Annotated

from cyclopts import Parameter

from ubp.answers.pages.get_graph import GraphRequest, read_graph
from ubp.answers.report.badge import LABEL, BadgeRequest
from ubp.answers.report.badge import text as badge_text
from ubp.answers.report.report import (
    ReportRequest,
    describe_levels,
    read_report,
    report_record,
    text,
)
from ubp.cli.error_handler import CLEAN
from ubp.cli.open_workspace import open_workspace
from ubp.cli.outputs import (
    check_folder,
    find_places,
    open_in_browser,
    write_file,
    write_html,
)
from ubp.cli.parameters import (
    PICTURE_LIMIT,
    HtmlFile,
    In,
    Keys,
    OptionalNumber,
    Revision,
)
from ubp.cli.print_answer import read_collection
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.frame.wording import joined, printable
from ubp.frame.writer import Writer
from ubp.index.session import Target
from ubp.output.forge import Editor
from ubp.table import find_report_topics

DEFAULT_NAME = "report.html"
GRAPH_NAME = "graph.html"
# The graph in the report shows folders and the main pages: more would make it slow to load.
SECTION_LIMIT = 500


def badge(
    *,
    output: Annotated[str | None, Parameter(metavar="FILE")] = None,
    label: Annotated[str, Parameter(metavar="TEXT")] = LABEL,
    ref: Revision = None,
    key: Keys = None,
    terminal: Terminal,
) -> int:
    """Run `ubp badge`.

    Args:
        output: Write the badge to this file instead of stdout.
        label: Text on the left side (docs).
        ref: Use this revision instead of the work tree.
        key: Front matter key that lists sources, instead of the configured keys; repeatable.
        terminal: Where the answer goes.
    """
    from ubp.output.badge import badge_svg

    if output is not None:
        check_folder(output, terminal)
    with open_workspace(terminal, keys=key or ()) as workspace:
        record = workspace.ask(BadgeRequest(label, ref))
    if output is not None:
        write_file(output, badge_svg(record), terminal)
    if terminal.options.json:
        terminal.record(record, is_versioned=False)
    elif output is None:
        terminal.use_utf8()
        terminal.write(badge_svg(record))
    else:
        writer = Writer(is_quiet=terminal.options.quiet)
        for line in badge_text(record, writer):
            terminal.write(f"{line} Wrote {printable(output)}.\n")
    return CLEAN


def report(  # noqa: PLR0913  # the command's options
    *,
    html: HtmlFile = None,
    graph: Annotated[bool, Parameter(negative="")] = False,
    open_: bool = False,
    commits: OptionalNumber = None,
    weeks: OptionalNumber = None,
    ref: Revision = None,
    in_: In = None,
    key: Keys = None,
    editor: Annotated[Editor | None, Parameter(metavar="EDITOR")] = None,
    terminal: Terminal,
) -> int:
    """Run `ubp report`.

    Args:
        html: Write the full report, with diffs, to a self-contained HTML file
            (.ubp/report.html).
        graph: Write the graph of pages beside the HTML file (graph.html). The report links to
            it wherever it exists.
        open_: Write the HTML file and open it in a browser.
        commits: Length of the trend in commits of the main line.
        weeks: Length of the trend in weeks (12).
        ref: Report on this revision instead of the work tree.
        editor: Link files to this editor instead of the repository's forge: vscode, cursor, zed
            or idea.
        in_: Report on a collection instead of this repository; the HTML file must be named.
        key: Front matter key that lists sources, instead of the configured keys; repeatable.
        terminal: Where the answer goes.
    """
    file = html[0] if html else None
    if file is not None:
        check_folder(file, terminal)
    has_page = html is not None or open_ or graph
    request = ReportRequest(commits, weeks, ref)
    collection = read_collection(in_, ref)
    if collection is not None and has_page and file is None:
        raise UsageError("--in requires a file name for the report.", hint="Add one: --html FILE")
    with open_workspace(terminal, keys=key or (), collection=collection) as workspace:
        session = workspace.session
        topics = find_report_topics(session, session.view(Target(ref))) if has_page else None
        result = read_report(session, request, topics)._replace(keys=tuple(key or ()))
        config_dir = session.repository.config_dir
        places = find_places(workspace, result.snapshot, editor, terminal) if has_page else None
        graph_request = GraphRequest(ref=ref, limit=SECTION_LIMIT)
        section = read_graph(session, graph_request, include_summaries=True) if has_page else None
        graph_request = GraphRequest(ref=ref, limit=PICTURE_LIMIT)
        whole = read_graph(session, graph_request, include_summaries=True) if graph else None
    record = report_record(result)
    if terminal.options.json:
        terminal.record(record)
    elif not has_page:
        writer = Writer(terminal.style, is_quiet=terminal.options.quiet, keys=result.keys)
        terminal.show(joined(text(record, writer)))
    if has_page:
        from ubp.output.html.report import NO_PLACES, report_html

        if not (terminal.options.json or terminal.options.quiet):
            levels = describe_levels(record)
            terminal.write(f"{levels[:1].upper()}{levels[1:]}.\n")
        if whole is not None:
            from ubp.output.html.graph import graph_html

            beside = None if file is None else os.path.join(os.path.dirname(file), GRAPH_NAME)
            write_html(beside, GRAPH_NAME, graph_html(whole, result.name), config_dir, terminal)
        folder = config_dir
        if file is not None:
            folder = os.path.dirname(os.path.join(terminal.directory, file))
        link = GRAPH_NAME if os.path.isfile(os.path.join(folder, GRAPH_NAME)) else ""
        page = report_html(result, link, section, places or NO_PLACES)
        file = write_html(file, DEFAULT_NAME, page, config_dir, terminal)
        if open_:
            open_in_browser(file, terminal)
    return CLEAN
