"""Fetch the pages of a web site that belong to an import, and convert them together."""

import mimetypes
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urldefrag, urlsplit, urlunsplit

from ubp.core.model import FilePath, Progress
from ubp.core.paths import match_any
from ubp.index.collections import Problem
from ubp.sync.convert import HtmlPage, decode, is_too_deep, relative_link, text_page
from ubp.sync.fetch import Fetcher, FetchError, Response, check_url

MAX_PAGES = 2000
MAX_TOTAL_BYTES = 256 * 1000 * 1000
MAX_NAME_BYTES = 200

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", ""})
TEXT_TYPES = frozenset({"text/markdown", "text/x-markdown", "text/plain"})
PAGE_SUFFIX = re.compile(r"\.(?:x?html?|md|markdown|txt)$", re.IGNORECASE)
CONTENTS_PAGE = re.compile(r"(?:^|/)(?:index|contents|toc|default)(?:\.\w+)?$|/$", re.IGNORECASE)


@dataclass(slots=True)
class Crawl:
    """The pages of an import as they were fetched, and what could not be."""

    scope: "Scope"
    start: FilePath
    pages: dict[FilePath, Response] = field(default_factory=dict)
    paths: dict[str, FilePath] = field(default_factory=dict)  # by address, also of redirects
    problems: list[Problem] = field(default_factory=list)
    absent: dict[str, FilePath] = field(default_factory=dict)


class Scope:
    """Which addresses are pages of an import: those below the directory of its first page.

    Of a page that is not a table of contents, only that page, unless `include` names others.
    """

    def __init__(self, start: str, include: tuple[str, ...]) -> None:
        parts = urlsplit(start)
        self._origin = parts.scheme, parts.netloc.lower()
        self._folder = parts.path.rpartition("/")[0] + "/"
        self._include = include
        is_contents = CONTENTS_PAGE.search(parts.path or "/") is not None
        if not include and not is_contents:
            self._include = (self._path(parts.path) or "",)

    def path_of(self, url: str) -> FilePath | None:
        """Return the path of an address within the import; None: it does not belong there."""
        parts = urlsplit(url)
        if (parts.scheme, parts.netloc.lower()) != self._origin or parts.query:
            return None
        path = self._path(parts.path or "/")
        if path is None or (self._include and not match_any(self._include, path)):
            return None
        return path

    def _path(self, url_path: str) -> FilePath | None:
        if not url_path.startswith(self._folder):
            return None
        name = unquote(url_path.removeprefix(self._folder), errors="replace")
        if not name or name.endswith("/"):
            name += "index"
        kind = mimetypes.guess_type(name)[0]
        if kind is not None and kind not in HTML_TYPES | TEXT_TYPES:
            return None
        path = f"{PAGE_SUFFIX.sub('', name)}.md"
        for part in path.split("/"):
            is_bad = part.startswith(".") or not part.isprintable() or "\\" in part
            if not part or is_bad or len(part.encode(errors="replace")) > MAX_NAME_BYTES:
                return None
        return FilePath(path)


def crawl(fetcher: Fetcher, address: str, include: tuple[str, ...], progress: Progress) -> Crawl:
    """Fetch the pages of an import, following the links between them.

    Raises:
        FetchError: the first page could not be fetched, or is not a page.
    """
    first = _fetch(fetcher, _page_address(address))
    scope = Scope(first.url, include)
    start = scope.path_of(urlunsplit(urlsplit(first.url)._replace(query="")))
    if start is None:
        raise FetchError("the patterns of --include do not match the path of its first page")
    if _media_type(first) not in HTML_TYPES | TEXT_TYPES:
        raise FetchError(f"it is {_media_type(first)}, not a page")
    result = Crawl(scope, start)
    queue = deque([_page_address(address)])
    seen = set(queue)
    responses = {queue[0]: first}
    total = 0
    while queue:
        url = queue.popleft()
        progress("Fetching pages", len(result.pages), len(result.pages) + len(queue) + 1)
        if len(result.pages) >= MAX_PAGES or total > MAX_TOTAL_BYTES:
            limit = f"{MAX_PAGES} pages" if total <= MAX_TOTAL_BYTES else "256 MB"
            result.problems.append(Problem(url, f"not fetched: the import has more than {limit}"))
            break
        response = responses.pop(url, None) or _try_to_fetch(fetcher, url, result)
        if response is None:
            continue
        final = urldefrag(response.url)[0]
        path = start if url == _page_address(address) else scope.path_of(final)
        if path is None or _media_type(response) not in HTML_TYPES | TEXT_TYPES:
            continue  # it redirects to another site, or is not a page
        result.paths[url] = result.paths[final] = path
        if path in result.pages:
            continue
        result.pages[path] = response
        total += len(response.body)
        for link in _links(response):
            target = _page_address(link)
            if target not in seen and scope.path_of(target) is not None:
                seen.add(target)
                queue.append(target)
    return result


def _fetch(fetcher: Fetcher, url: str) -> Response:
    """Return a page.

    Raises:
        FetchError: it could not be fetched, or takes too long to parse.
    """
    response = fetcher.fetch(url)
    is_html = _media_type(response) in HTML_TYPES
    if is_html and is_too_deep(decode(response.body, response.content_type)):
        raise FetchError("its elements are nested too deeply")
    return response


def _try_to_fetch(fetcher: Fetcher, url: str, result: Crawl) -> Response | None:
    """Return a page; None: it could not be fetched, which is noted in `result`."""
    try:
        return _fetch(fetcher, url)
    except FetchError as error:
        path = result.scope.path_of(url)
        if error.is_absent and path:
            result.absent[url] = path
        else:
            result.problems.append(Problem(url, error.reason))
        return None


def convert_pages(result: Crawl, progress: Progress) -> tuple[dict[FilePath, bytes], str]:
    """Return the pages as Markdown by path, and the version that the first page states."""
    targets: dict[FilePath, set[str]] = {}
    for response in result.pages.values():
        for link in _links(response):
            address, fragment = urldefrag(link)
            path = result.paths.get(_page_address(address))
            if path and fragment:
                targets.setdefault(path, set()).add(unquote(fragment))
    files: dict[FilePath, bytes] = {}
    version = ""
    for done, (path, response) in enumerate(result.pages.items()):
        progress("Converting pages", done, len(result.pages))
        text = decode(response.body, response.content_type)
        if _media_type(response) in TEXT_TYPES:
            markdown = text_page(text, response.url)
        else:
            page = HtmlPage(text, response.url)
            version = page.version if path == result.start else version
            markdown = page.convert(_Resolver(result.paths, path), targets.get(path, set()))
        files[path] = markdown.encode("utf-8", "replace")
    return files, version


@dataclass(frozen=True, slots=True)
class _Resolver:
    """Rewrites an address to a page of the import as a link relative to the current page."""

    paths: Mapping[str, FilePath]
    current: FilePath

    def __call__(self, address: str) -> str:
        url, fragment = urldefrag(address)
        path = self.paths.get(_page_address(url))
        if path is None:
            return address
        return relative_link(self.current, path, fragment)


def _links(response: Response) -> Iterator[str]:
    if _media_type(response) in HTML_TYPES:
        page = HtmlPage(decode(response.body, response.content_type), response.url)
        yield from page.links


def _page_address(address: str) -> str:
    """Return an address without its fragment, with a path, as it is compared."""
    url = urldefrag(address)[0]
    try:
        check_url(url)
    except FetchError:
        return url
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.lower(), path=parts.path or "/"))


def _media_type(response: Response) -> str:
    return response.content_type.partition(";")[0].strip().lower()
