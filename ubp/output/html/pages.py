"""The pages of a report that are not fresh: a line for each, and behind it what drifted."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from ubp.core.model import Commit, FilePath, ReferenceVerdict
from ubp.core.paths import is_glob
from ubp.core.shell import git_fetch, path_argument, ubp_command
from ubp.core.text import shorten
from ubp.frame.wording import MAX_COMMITS, PAGE_ORDER, count
from ubp.output.forge import Places
from ubp.output.html.lists import Reviewed, by_source, describe_answers
from ubp.output.html.markup import diff_blocks, listing_command, render, rule_name
from ubp.report.values import ChangedSource, Report, StalePage
from ubp.staleness.wording import describe_drift_time, describe_reference

# More cards make a browser slow, and nobody reads them: the rest is counted.
MAX_PAGES = 1_500
MAX_AUTHORS = 3
# The commits of the first sources are listed, those of further ones counted: 3,000 would take 1 MB.
MAX_DETAILS = 1_000
MAX_SUBJECT_CHARACTERS = 100


class _Source(NamedTuple):
    """A changed source as the template shows it; `number` counts those of all pages."""

    change: ChangedSource
    number: int
    description: str
    note: str
    commits: tuple[Commit, ...]
    commit_note: str
    same_page: FilePath | None
    command: str
    url: str
    line_url: str

    @property
    def name(self) -> str:
        """The source's path."""
        return self.change.reference.name or "."

    @property
    def has_lines(self) -> bool:
        """Whether it is known how many lines changed."""
        return self.change.added is not None and self.change.removed is not None

    @property
    def fetch(self) -> str:
        """The command that fetches what a partial clone lacks."""
        return git_fetch(self.change.missing)

    @property
    def blocks(self) -> Iterator[tuple[str, Markup]]:
        """The diff."""
        return diff_blocks(self.change.diff.split("\n"))


class _Card(NamedTuple):
    page: StalePage
    folder: int
    rules: Sequence[str]
    sources: Sequence[_Source]
    commands: Sequence[str]
    url: str


class _Context(NamedTuple):
    """What cards depend on: `owners` are the pages of the report's changed sources."""

    report: Report
    owners: Sequence[FilePath]
    reviewed: Reviewed
    places: Places


def pages(report: Report, folders: Mapping[FilePath, int], places: Places) -> Markup | None:
    """Return the pages, in the report's order; `folders` are the numbers of their directories."""
    if report.pages is None:
        return None
    return render(
        "pages.html",
        cards=_cards(report, report.pages[:MAX_PAGES], folders, places),
        places=places,
        hidden=len(report.pages) - MAX_PAGES,
        command=listing_command(report, "stale"),
        is_good=report.levels is not None and report.levels.bound,
        order=PAGE_ORDER,
        diff_command=ubp_command("stale", "--diff", "PAGE", keys=report.keys),
        ack_command=ubp_command("ack", "PAGE", keys=report.keys),
    )


def _cards(
    report: Report, shown: Sequence[StalePage], folders: Mapping[FilePath, int], places: Places
) -> Sequence[_Card]:
    owners = [page.path for page in report.pages or () for _ in page.sources]
    context = _Context(report, owners, by_source(report), places)
    cards, number = [], 0
    for page in shown:
        rules = tuple(dict.fromkeys(rule_name(source.reference) for source in page.sources))
        sources = [
            _source(source, number + offset, page, context)
            for offset, source in enumerate(page.sources)
        ]
        commands = [
            ubp_command(*words, path_argument(page.path), keys=report.keys)
            for words in (("ack",), ("stale", "--diff"))
        ]
        url = places.file_url(page.path)
        cards.append(_Card(page, folders[page.path], rules, sources, commands, url))
        number += len(sources)
    return cards


def _source(source: ChangedSource, number: int, page: StalePage, context: _Context) -> _Source:
    reference = source.reference
    when = describe_drift_time(reference, is_shallow=context.report.is_shallow)
    commits, note = _commits(reference.commits, is_listed=number < MAX_DETAILS)
    keys = context.report.keys
    return _Source(
        change=source,
        number=number,
        description=describe_reference(reference, when),
        note=describe_answers(source, page, context.reviewed) + _hidden_diff(source),
        commits=commits,
        commit_note=note,
        same_page=None if source.same_as is None else context.owners[source.same_as],
        command=ubp_command("stale", "--diff", path_argument(page.path), keys=keys),
        url=_source_url(reference, context.places),
        line_url=context.places.file_url(page.path, reference.reference.line),
    )


def _source_url(reference: ReferenceVerdict, places: Places) -> str:
    """Return where a source is shown; empty where there is none, or several, or elsewhere."""
    path = reference.moved_to or reference.source_path
    is_file = reference.current_blob is not None or reference.moved_to is not None
    if not is_file or is_glob(path) or reference.collection:
        return ""
    return places.file_url(path)


def _hidden_diff(source: ChangedSource) -> str:
    """Return the length of a diff that does not fit into the report."""
    is_cut = source.cut_lines and not source.diff
    return f", diff of {count(source.cut_lines, 'line')} not shown" if is_cut else ""


def _commits(commits: tuple[Commit, ...], *, is_listed: bool) -> tuple[tuple[Commit, ...], str]:
    """Return the commits to show, oldest first, and what to say of the others.

    The first one outdated the page.
    """
    if not is_listed:
        return (), f"{count(len(commits), 'commit')} by {_authors(commits)}" if commits else ""
    shown = tuple(
        commit._replace(subject=shorten(commit.subject, MAX_SUBJECT_CHARACTERS))
        for commit in commits[: -MAX_COMMITS - 1 : -1]
    )
    hidden = commits[:-MAX_COMMITS]
    note = f"and {count(len(hidden), 'more commit')} by {_authors(hidden)}" if hidden else ""
    return shown, note


def _authors(commits: tuple[Commit, ...]) -> str:
    authors = list(dict.fromkeys(commit.author for commit in commits))
    return ", ".join(authors[:MAX_AUTHORS]) + (", …" if len(authors) > MAX_AUTHORS else "")
