"""The cards of a report: a line for each page that is not fresh, and behind it what drifted."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from ubp.core.model import Commit, FilePath
from ubp.core.shell import git_fetch, path_argument, ubp_command
from ubp.core.text import shorten
from ubp.output.html.lists import Reviewed, by_source, describe_answers
from ubp.output.html.markup import (
    Html,
    code_line,
    join,
    path_text,
    remainder,
    rule_name,
    tag,
)
from ubp.output.wording import MAX_COMMITS, SHORT_ID, count, day, file_stem
from ubp.report.values import ChangedSource, Report, StalePage
from ubp.staleness.wording import LEVEL_WORDS, describe_drift_time, describe_reference

# More cards make a browser slow, and nobody reads them: the rest is counted.
MAX_PAGES = 1_500
MAX_AUTHORS = 3
# The commits of the first sources are listed, those of further ones counted: 3,000 would take 1 MB.
MAX_DETAILS = 1_000
MAX_SUBJECT_CHARACTERS = 100

_ELEMENTS = {"+": "ins", "-": "del", "@": "b"}


class _Context(NamedTuple):
    """What cards depend on: `owners` are the pages of the report's changed sources."""

    report: Report
    folders: Mapping[FilePath, int]
    owners: Sequence[FilePath]
    reviewed: Reviewed


def page_cards(report: Report, folders: Mapping[FilePath, int]) -> Html:
    """Return a card for each page, in the report's order; `folders` are their numbers."""
    pages = report.pages or ()
    shown = pages[:MAX_PAGES]
    owners = [page.path for page in pages for _ in page.sources]
    context = _Context(report, folders, owners, by_source(report))
    cards, number = [], 0
    for page in shown:
        cards.append(_card(page, number, context))
        number += len(page.sources)
    more = remainder(len(pages) - len(shown), report, "stale")
    return join([tag("div", *cards, class_="list", data_list="no-pages", data_sorted=True), more])


def _card(page: StalePage, number: int, context: _Context) -> Html:
    """Return a page's card; `number` is that of its first changed source."""
    level = page.assessment.level
    rules = dict.fromkeys(rule_name(source.reference) for source in page.sources)
    sources = (
        _source(source, number + offset, page, context)
        for offset, source in enumerate(page.sources)
    )
    return tag(
        "details",
        _summary(page),
        tag("ul", *sources),
        class_=f"page {level}",
        data_level=level,
        data_folder=context.folders[page.path],
        data_rules=" ".join(rules),
        data_changed=page.changed,
        data_links=page.links_in,
        data_age=page.age_days,
    )


def _summary(page: StalePage) -> Html:
    level = page.assessment.level
    title = page.assessment.page.facts.title or file_stem(page.path)
    return tag(
        "summary",
        tag(
            "span",
            tag("span", path_text(page.path), class_="path"),
            tag("span", LEVEL_WORDS[level], class_="badge"),
            tag("span", title, class_="title"),
            class_="name",
        ),
        tag("span", *_facts(page), class_="facts"),
    )


def _facts(page: StalePage) -> Iterator[Html]:
    yield tag("span", _lines(page.added, page.removed) if page.lines else "")
    yield tag("span", f"{page.changed_percent}% changed" if page.lines else "")
    yield tag("span", count(page.links_in, "link"))
    yield tag("span", count(page.age_days, "day") if page.age_days is not None else "")


def _lines(added: int, removed: int) -> Html:
    return join(
        [
            tag("ins", f"+{added}"),
            " ",
            tag("del", f"\N{MINUS SIGN}{removed}"),
        ]
    )


def _source(source: ChangedSource, number: int, page: StalePage, context: _Context) -> Html:
    reference = source.reference
    answers = describe_answers(source, page, context.reviewed)
    when = describe_drift_time(reference, is_shallow=context.report.is_shallow)
    head = tag(
        "p",
        tag("b", path_text(reference.name or "."), class_="path"),
        f" {describe_reference(reference, when)} ",
        _lines(source.added, source.removed)
        if source.added is not None and source.removed is not None
        else None,
        tag("small", f" line {reference.reference.line}{answers}{_hidden_diff(source)}"),
    )
    return tag(
        "li",
        head,
        _commits(reference.commits) if number < MAX_DETAILS else _commit_count(reference.commits),
        _diff(source, number, page, context),
        _missing(source),
    )


def _hidden_diff(source: ChangedSource) -> str:
    """Return the length of a diff that does not fit into the report."""
    is_cut = source.cut_lines and not source.diff
    return f", diff of {count(source.cut_lines, 'line')} not shown" if is_cut else ""


def _commits(commits: tuple[Commit, ...]) -> Html | None:
    """Return the commits, oldest first: the first one outdated the page."""
    if not commits:
        return None
    lines = [_commit(commit) for commit in commits[: -MAX_COMMITS - 1 : -1]]
    hidden = commits[:-MAX_COMMITS]
    if hidden:
        note = f"and {count(len(hidden), 'more commit')} by {_authors(hidden)}"
        lines.append(tag("li", note, class_="quiet"))
    return tag("ol", *lines)


def _commit_count(commits: tuple[Commit, ...]) -> Html | None:
    note = f"{count(len(commits), 'commit')} by {_authors(commits)}"
    return tag("ol", tag("li", note)) if commits else None


def _authors(commits: tuple[Commit, ...]) -> str:
    authors = list(dict.fromkeys(commit.author for commit in commits))
    return ", ".join(authors[:MAX_AUTHORS]) + (", …" if len(authors) > MAX_AUTHORS else "")


def _commit(commit: Commit) -> Html:
    return tag(
        "li",
        tag("code", commit.id[:SHORT_ID]),
        " ",
        tag("time", day(commit.date)),
        f" {commit.author}: {shorten(commit.subject, MAX_SUBJECT_CHARACTERS)}",
    )


def _diff(source: ChangedSource, number: int, page: StalePage, context: _Context) -> Html | None:
    summary = tag("summary", "What changed")
    if source.same_as is not None:
        note = f"Same diff as for {context.owners[source.same_as]}"
        link = tag("p", tag("a", note, href=f"#diff-{source.same_as}"))
        return tag("details", summary, link, class_="diff")
    if not source.diff:
        return None
    keys = context.report.keys
    command = ubp_command("stale", "--diff", path_argument(page.path), keys=keys)
    cut = f"{count(source.cut_lines, 'more line')}: "
    return tag(
        "details",
        summary,
        tag("pre", _diff_lines(source.diff), tabindex=0, role="group", aria_label="Diff"),
        tag("p", cut, tag("code", command), class_="cut") if source.cut_lines else None,
        class_="diff",
        id=f"diff-{number}",
    )


def _diff_lines(diff: str) -> Html:
    """Return a diff in which adjacent lines of one kind share an element, to save tags."""
    blocks = []
    for element, lines in groupby(diff.split("\n"), key=_element):
        content = join([code_line(line) for line in lines], "\n")
        blocks.append(tag(element, content))
    return join(blocks)


def _element(line: str) -> str:
    return "b" if line.startswith(("--- a/", "+++ b/")) else _ELEMENTS.get(line[:1], "span")


def _missing(source: ChangedSource) -> Html | None:
    if not source.missing:
        return None
    command = tag("code", git_fetch(source.missing))
    return tag(
        "p", "This partial clone lacks the compared versions. Fetch them: ", command, class_="cut"
    )
