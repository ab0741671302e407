"""The list of pages as `llms.txt` (https://llmstxt.org): for agents that read files only."""

from collections.abc import Iterator, Sequence
from functools import partial
from urllib.parse import quote

from ubp.answers.pages.list_pages import ListPagesRequest
from ubp.core.model import FilePath
from ubp.frame.wording import printable
from ubp.index.session import Session, Target
from ubp.search.folders import count_by_folder, folder_of
from ubp.search.list_pages import ListRequest, list_pages
from ubp.search.results import summarize_pages
from ubp.search.suggest_links import is_boilerplate
from ubp.staleness.state import assess_paths

HOMES = ("readme.md", "index.md", "docs/readme.md", "docs/index.md")  # in lower case
INDEX_PAGES = ("index.md", "README.md", "_index.md", "readme.md")
OPTIONAL = "Optional"  # the section of what may be skipped, by the format's definition


def llms_text(session: Session, request: ListPagesRequest) -> str:
    """Return all requested pages, with their first sentences, in a section for each folder.

    The title and the quotation are those of the home page. Links are relative to the root, where
    the file belongs. Changelogs, licenses and the like are optional.
    """
    view = session.view(Target(request.ref))
    chosen = ListRequest(
        request.doc_type,
        request.tags,
        "filepath",
        is_dated=False,
        ref=request.ref,
        folder=request.folder,
    )
    listed = list_pages(session, view, chosen, partial(assess_paths, session))
    titles = {page.document.path: page.document.title for page in listed.pages}
    summaries = summarize_pages(view, view.pages_at(titles))
    by_lower_case = {path.lower(): path for path in titles}
    home = next((by_lower_case[path] for path in HOMES if path in by_lower_case), None)
    needed = [path for path in titles if path != home and not is_boilerplate(path)]
    folders = [folder.path for folder in count_by_folder(needed)]
    sections: dict[str, list[FilePath]] = {}
    for path in needed:
        sections.setdefault(folder_of(path, folders), []).append(path)
    optional = [path for path in titles if path != home and is_boilerplate(path)]

    def lines() -> Iterator[str]:
        yield f"# {_one_line(titles[home] if home else session.repository.name)}"
        if home and summaries[home]:
            yield from ("", f"> {_one_line(summaries[home])}")
        for folder, paths in sorted(sections.items()):
            yield from ("", f"## {_one_line(_heading(folder))}", "", *map(entry, paths))
        if optional:
            yield from ("", f"## {OPTIONAL}", "", *map(entry, optional))

    def entry(path: FilePath) -> str:
        title = _one_line(titles[path]).translate({ord("["): r"\[", ord("]"): r"\]"})
        summary = f": {_one_line(summaries[path])}" if summaries[path] else ""
        return f"- [{title}]({quote(path, errors='surrogateescape')}){summary}"

    def _heading(folder: str) -> str:
        pages: Sequence[str] = [f"{folder}/{name}" for name in INDEX_PAGES]
        return next((titles[FilePath(path)] for path in pages if path in titles), folder or "Pages")

    return "\n".join(lines()) + "\n"


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))
