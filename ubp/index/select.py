"""Resolve the PATHs that a user types to pages and sources."""

import os
import re
from collections.abc import Sequence

from ubp.core.errors import PageNotFoundError, RevisionNotFoundError, UsageError
from ubp.core.model import FilePath
from ubp.core.paths import Glob, ancestors, doc_id, is_glob, nfc, normalize_path
from ubp.core.shell import path_argument, quote, ubp_command
from ubp.git.repository import Repository
from ubp.index.view import View

MAX_SUGGESTIONS = 3  # in an error

# Bytes of a name that are not UTF-8 are lone surrogates here; protocols that need UTF-8 get this.
UNREADABLE = "\ufffd"
_SURROGATE = re.compile("[\ud800-\udfff]")

_DOC_ID = r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"


def select_pages(
    arguments: Sequence[str], view: View, repository: Repository
) -> frozenset[FilePath]:
    """Return the documents that these files, folders, globs or unique endings of paths match.

    Paths are relative to the working directory or, where they match nothing there, to the root: a
    hook runs in the root, whatever the directory of the user who sees its commands.

    Raises:
        UsageError: one of them matches no document.
    """
    documents = view.document_paths()
    selected: set[FilePath] = set()
    for argument in arguments:
        matches = _select(argument, documents, repository)
        if not matches:
            raise _no_page(argument, view, repository)
        selected.update(matches)
    return frozenset(selected)


def shorten_selection(
    arguments: Sequence[str], view: View, repository: Repository
) -> tuple[str, ...]:
    """Return arguments for the working directory that select the same documents.

    Folders, and patterns for the files in a folder, replace what they match where all of it is
    selected.

    Raises:
        UsageError: one of the arguments matches no document.
    """
    documents = view.document_paths()
    left = set(select_pages(arguments, view, repository))
    folders = sorted({folder for path in left for folder in ancestors(path)}, key=len)
    # Of folders with the same documents the innermost, in the place of the outermost.
    patterns = {tuple(_at_path(FilePath(folder), documents)): folder for folder in folders}
    for ending in sorted({*map(_same_ending, left)}):
        patterns.setdefault(tuple(_at_path(FilePath(ending), documents)), ending)
    shortened = []
    for matches, pattern in patterns.items():
        if len(matches) > 1 and left.issuperset(matches):
            left.difference_update(matches)
            shortened.append(pattern or ".")
    return tuple(path_argument(path, repository.prefix) for path in (*shortened, *sorted(left)))


def select_page(argument: str, view: View, repository: Repository) -> FilePath:
    """Return the one document that a path, the unique ending of a path, or a `doc_id` matches.

    Raises:
        UsageError: it matches none, or several.
    """
    if page := view.page(path_from_root(argument, repository)):
        return page.filepath
    documents = view.document_paths()
    if is_doc_id(argument):
        collection = view.context.collection
        matches = [path for path in documents if doc_id(path, collection) == argument.lower()]
    else:
        matches = _select(argument, documents, repository)
    if len(matches) > 1:
        raise PageNotFoundError(
            f"{argument} matches {len(matches)} pages.",
            near=tuple(matches[:MAX_SUGGESTIONS]),
            cause="Exactly one page is expected.",
            hint=f"Choose one, for example {quote(path_argument(matches[0]))}.",
        )
    if not matches:
        raise _no_page(argument, view, repository)
    return matches[0]


def select_section(argument: str, view: View, repository: Repository) -> tuple[FilePath, str]:
    """Return the document that PATH or PATH#SECTION means, and the section ("": the whole one).

    A path may contain a `#` itself.

    Raises:
        UsageError: it matches no document, or several.
    """
    try:
        return select_page(argument, view, repository), ""
    except PageNotFoundError:
        path, separator, section = argument.partition("#")
        if not separator or not path or not section:
            raise
        return select_page(path, view, repository), section


def select_sources(
    arguments: Sequence[str], sources: Sequence[FilePath], repository: Repository
) -> frozenset[FilePath]:
    """Return those of these files that the arguments match, as for `select_pages`.

    Raises:
        UsageError: one of them matches none.
    """
    selected: set[FilePath] = set()
    for argument in arguments:
        matches = _select(argument, sources, repository)
        if not matches:
            raise UsageError(
                f"Source not found: {argument}",
                cause="No source has this path. Pages, binary files, generated files and excluded"
                " files are not sources.",
                hint="Run `ubp coverage` without a PATH to list all sources.",
            )
        selected.update(matches)
    return frozenset(selected)


def select_title(title: str, view: View) -> FilePath:
    """Return the one document with this title, else the one whose title contains it.

    Case and Unicode form are ignored.

    Raises:
        PageNotFoundError: no document matches, or several do.
    """
    titles = {
        page.filepath: _fold(page.facts.title or _stem(page.filepath)) for page in view.pages()
    }
    folded = _fold(title)
    matches = [path for path, page_title in titles.items() if page_title == folded]
    matches = matches or [path for path, page_title in titles.items() if folded in page_title]
    if len(matches) == 1:
        return matches[0]
    raise PageNotFoundError(
        f'{len(matches) or "No"} page titles match "{title}".',
        near=tuple(matches[:MAX_SUGGESTIONS]),
        cause="Exactly one page is expected.",
        hint=f"Choose one by its path, for example {quote(path_argument(matches[0]))}."
        if matches
        else "Search for the page instead.",
    )


def similar_pages(name: str, view: View) -> tuple[str, ...]:
    """Return the documents whose paths end with a name, else those with the most similar paths."""
    from ubp.core.text import closest_names

    documents = view.document_paths()
    ending = f"/{name.strip('/')}"
    several = [document for document in documents if document.endswith(ending)]
    return tuple(several[:MAX_SUGGESTIONS] or closest_names(name, documents, MAX_SUGGESTIONS, 0.5))


def is_doc_id(argument: str) -> bool:
    """Return whether an argument is a `doc_id` and not a path."""
    return re.fullmatch(_DOC_ID, argument) is not None


def path_from_root(argument: str, repository: Repository) -> FilePath:
    """Return a PATH, relative to the working directory, as a path from the repository's root.

    Raises:
        UsageError: it is outside the repository.
    """
    text = argument.replace(os.sep, "/") if os.sep != "/" else argument
    if os.path.isabs(argument) and repository.root is not None:
        text = os.path.relpath(os.path.realpath(argument), os.path.realpath(repository.root))
        path = normalize_path(text.replace(os.sep, "/"))
    else:
        path = normalize_path(f"{repository.prefix}/{text}" if repository.prefix else text)
    if path is None:
        raise UsageError(
            f"{argument} is outside the repository.",
            hint="Use a path relative to the working directory, as with git.",
        )
    return path


def _select(argument: str, documents: Sequence[FilePath], repository: Repository) -> list[FilePath]:
    path = path_from_root(argument, repository)
    found = _at_path(path, documents)
    if not found and repository.prefix and (from_root := normalize_path(argument)):
        found = _at_path(from_root, documents)
    if found:
        return found
    ending = "/" + argument.strip("/")
    endings = [document for document in documents if document.endswith(ending)]
    if not endings and (UNREADABLE in path or "\\x" in path):
        return [document for document in documents if path in _printable_forms(document)]
    return endings if len(endings) == 1 else []


def _at_path(path: FilePath, documents: Sequence[FilePath]) -> list[FilePath]:
    """Return the document at a path, those below it, or those that it matches as a glob."""
    if path in documents:
        return [path]
    below = [document for document in documents if not path or document.startswith(path + "/")]
    if not below and is_glob(path):
        glob = Glob(path)
        return [document for document in documents if glob.matches(document)]
    return below


def _same_ending(path: FilePath) -> str:
    """Return the pattern of the files in the same folder that end like this one."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}*{os.path.splitext(name)[1]}"


def _printable_forms(path: FilePath) -> tuple[str, str]:
    """Return a path that is not UTF-8 as it appears in texts and in records."""
    raw = path.encode("utf-8", "surrogateescape")
    return raw.decode("utf-8", "backslashreplace"), _SURROGATE.sub(UNREADABLE, path)


def _fold(title: str) -> str:
    return nfc(title).casefold().strip()


def _stem(path: FilePath) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def _no_page(argument: str, view: View, repository: Repository) -> PageNotFoundError:
    message = f"Page not found: {argument}"
    path = path_from_root(argument, repository)
    if path and (entry := view.entry(path)):
        command = ubp_command("impact", path_argument(path, repository.prefix))
        cause = "It is a file that is not a page." if entry.is_file else "It is not a page."
        return PageNotFoundError(
            message,
            cause="No page is in it." if entry.is_directory else cause,
            hint=f"Pages are listed by `ubp list-pages`, those that depend on it by `{command}`.",
        )
    if path and (folder := view.opaque_folder(path)):
        return PageNotFoundError(
            message,
            cause=f"{folder} is a submodule or a symbolic link, in which Git lists no files.",
            hint="Run the command in the submodule, or use the path that the link leads to.",
        )
    near = similar_pages(argument, view)
    if not near and _is_revision(argument, repository):
        return PageNotFoundError(
            message,
            cause="It is a revision.",
            hint=f"Where the command has these options: --base {quote(argument)} for the change"
            f" since then, --ref {quote(argument)} for the pages as they were.",
        )
    return PageNotFoundError(
        message,
        near=near,
        cause="Several paths end with this."
        if near and near[0].endswith(f"/{argument.strip('/')}")
        else "No document in this snapshot has this path.",
        hint=f"Did you mean {', '.join(quote(path_argument(path)) for path in near)}?"
        if near
        else "Run `ubp list-pages` to list all pages.",
    )


def _is_revision(argument: str, repository: Repository) -> bool:
    try:
        repository.resolve(argument)
    except RevisionNotFoundError:
        return False
    return True
