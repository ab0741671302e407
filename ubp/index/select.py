"""Use case: which pages, and which sources, the PATHs mean that a user types."""

import os
import re
from collections.abc import Iterable, Sequence

from ubp.core.errors import PageNotFoundError, UsageError
from ubp.core.model import FilePath
from ubp.core.paths import Glob, doc_id, is_glob, nfc, normalize_path
from ubp.core.shell import path_argument, quote
from ubp.git.repository import Repository
from ubp.index.view import View

MAX_SUGGESTIONS = 3  # names that an error offers

# Bytes of a name that are no UTF-8 are lone surrogates here; protocols that want UTF-8 get this.
UNREADABLE = "\ufffd"
_SURROGATE = re.compile("[\ud800-\udfff]")

_DOC_ID = r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"


def select_pages(
    arguments: Sequence[str], view: View, repository: Repository
) -> frozenset[FilePath]:
    """The documents that these files, folders, globs or unique endings of paths name.

    Raises:
        UsageError: one of them names no document.
    """
    documents = view.document_paths()
    selected: set[FilePath] = set()
    for argument in arguments:
        found = _select(argument, documents, repository)
        if not found:
            raise _no_page(argument, documents)
        selected.update(found)
    return frozenset(selected)


def select_page(argument: str, view: View, repository: Repository) -> FilePath:
    """The one document that a path, the unique ending of a path, or a `doc_id` names.

    Raises:
        UsageError: it names none, or several.
    """
    if page := view.page(path_from_root(argument, repository)):
        return page.filepath
    documents = view.document_paths()
    if is_doc_id(argument):
        found = [path for path in documents if doc_id(path) == argument.lower()]
    else:
        found = _select(argument, documents, repository)
    if len(found) > 1:
        raise PageNotFoundError(
            f"{argument} names {len(found)} pages.",
            near=tuple(found[:MAX_SUGGESTIONS]),
            cause="This command is about one page.",
            hint=f"Name one of them, as in {quote(path_argument(found[0]))}.",
        )
    if not found:
        raise _no_page(argument, documents)
    return found[0]


def select_sources(
    arguments: Sequence[str], sources: Sequence[FilePath], repository: Repository
) -> frozenset[FilePath]:
    """Those of these files that the arguments name, as `select_pages` understands them.

    Raises:
        UsageError: one of them names none.
    """
    selected: set[FilePath] = set()
    for argument in arguments:
        found = _select(argument, sources, repository)
        if not found:
            raise UsageError(
                f"No source is named {argument}.",
                cause="No file that a page could describe has that path: pages, binary and"
                " generated files, and what is excluded do not count.",
                hint="`ubp coverage` without a PATH lists what there is.",
            )
        selected.update(found)
    return frozenset(selected)


def select_title(title: str, view: View) -> FilePath:
    """The one document that has this title, else the one whose title has this in it.

    Case and Unicode form do not count.

    Raises:
        PageNotFoundError: there is none, or there are several.
    """
    titles = {
        page.filepath: _folded(page.facts.title or _stem(page.filepath)) for page in view.pages()
    }
    wanted = _folded(title)
    found = [path for path, one in titles.items() if one == wanted]
    found = found or [path for path, one in titles.items() if wanted in one]
    if len(found) == 1:
        return found[0]
    raise PageNotFoundError(
        f"{len(found) or 'No'} pages have {title} in their titles.",
        near=tuple(found[:MAX_SUGGESTIONS]),
        cause="One page is asked for.",
        hint=f"Name one by its path, as in {quote(path_argument(found[0]))}."
        if found
        else "Search for it instead.",
    )


def is_doc_id(argument: str) -> bool:
    """Whether an argument is no path but a `doc_id`."""
    return re.fullmatch(_DOC_ID, argument) is not None


def path_from_root(argument: str, repository: Repository) -> FilePath:
    """What a PATH means from the repository's root; it is relative to the working directory.

    Raises:
        UsageError: it leads out of the repository.
    """
    text = argument.replace(os.sep, "/") if os.sep != "/" else argument
    if os.path.isabs(argument) and repository.root is not None:
        text = os.path.relpath(os.path.realpath(argument), os.path.realpath(repository.root))
        path = normalize_path(text.replace(os.sep, "/"))
    else:
        path = normalize_path(f"{repository.prefix}/{text}" if repository.prefix else text)
    if path is None:
        raise UsageError(
            f"{argument} lies outside the repository.",
            hint="Paths are relative to the working directory, as git's are.",
        )
    return path


def _select(argument: str, documents: Sequence[FilePath], repository: Repository) -> list[FilePath]:
    path = path_from_root(argument, repository)
    if path in documents:
        return [path]
    below = [document for document in documents if not path or document.startswith(path + "/")]
    if below:
        return below
    if is_glob(path):
        glob = Glob(path)
        return [document for document in documents if glob.matches(document)]
    ending = "/" + argument.strip("/")
    endings = [document for document in documents if document.endswith(ending)]
    if not endings and (UNREADABLE in path or "\\x" in path):
        return [document for document in documents if path in _told(document)]
    return endings if len(endings) == 1 else []


def _told(path: FilePath) -> tuple[str, str]:
    """How a name is told that is no UTF-8: in a text, and where a program reads it."""
    raw = path.encode("utf-8", "surrogateescape")
    return raw.decode("utf-8", "backslashreplace"), _SURROGATE.sub(UNREADABLE, path)


def _folded(title: str) -> str:
    return nfc(title).casefold().strip()


def _stem(path: FilePath) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def _no_page(argument: str, documents: Iterable[FilePath]) -> PageNotFoundError:
    from ubp.core.text import closest_names

    ending = "/" + argument.strip("/")
    several = [document for document in documents if document.endswith(ending)]
    near = several[:MAX_SUGGESTIONS] or closest_names(argument, documents, MAX_SUGGESTIONS, 0.5)
    return PageNotFoundError(
        f"No page is named {argument}.",
        near=tuple(near),
        cause="Several pages end so." if several else "No document of this snapshot has that path.",
        hint=f"Did you mean {', '.join(quote(path_argument(path)) for path in near)}?"
        if near
        else "`ubp list-pages` lists every page.",
    )
