"""Changes of projects that agents ask for: index a path, delete, synchronize, store a text.

The repository that is served, and others with a history of their own, are read in place; only
written collections change. Documents are imported only from folders that the user has configured.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from ubp.core.errors import (
    BadArgumentError,
    CollectionError,
    DocumentNotFoundError,
    NotARepositoryError,
    RepositoryError,
    UsageError,
)
from ubp.core.model import FilePath
from ubp.core.paths import doc_id
from ubp.git.repository import open_repository
from ubp.git.snapshot import LOCATION_VARIABLES
from ubp.index.collections import (
    Collection,
    Problem,
    collections_dir,
    read_collection,
    write_collection,
)
from ubp.index.session import Session, Target
from ubp.index.store.page_facts import PageFactsTable
from ubp.index.view import View
from ubp.kits.rag.projects import (
    CONFIG_VARIABLE,
    Project,
    Settings,
    is_allowed,
    is_below,
    open_project,
    project_names,
    read_settings,
    served_name,
    unless_purged,
)
from ubp.search.dates import updated_at
from ubp.search.fields import make_filter
from ubp.sync.documents import (
    Compared,
    ExternalDocument,
    ImportedFolder,
    add_external,
    compare_folders,
    create_written,
    delete_documents,
    former_paths,
    import_files,
    prefix_of,
)
from ubp.sync.repositories import Context

HOURS = {"h": 1, "d": 24, "w": 24 * 7, "y": 24 * 365}
MAX_TTL_HOURS = 24 * 365 * 100


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """A file or folder to index, in a project; `detects`: the project is named after the folder."""

    path: str
    project: str = ""
    is_recursive: bool = False
    fields: Mapping[str, object] | None = None
    is_updating: bool = False
    detects: bool = False


class Indexed(NamedTuple):
    """The documents that a project has of a path, their chunks, and what could not be indexed.

    `below` is the number of documents in folders of a folder that was indexed without them.
    """

    project: str
    files: tuple[str, ...]
    chunks: int
    problems: tuple[Problem, ...]
    below: int = 0


class DeleteFilters(NamedTuple):
    """Which documents to delete; `older_than` is a duration, such as 30d or 1w."""

    older_than: str = ""
    category: str = ""
    source_type: str = ""


class StoredText(NamedTuple):
    """A text that was stored: its document's id, and when it expires ("": never)."""

    document_id: str
    expires_at: str


def index_path(session: Session, request: IndexRequest) -> Indexed:
    """Index a file or folder: in place where Git has it, else as a copy in a written collection.

    Raises:
        UsageError: the path is not in a configured folder, or no project is named.
        CollectionError: another process is writing, or the project is not one to write to.
        RepositoryError: it could not be written.
    """
    settings = read_settings(session.environment)
    path = _resolve(session, settings, request.path)
    root = session.repository.root
    if root is not None and is_below(path, [os.path.realpath(root)]):
        name = served_name(session)
        if request.project not in {"", name} and not request.detects:
            raise BadArgumentError(
                "project",
                f"{request.path} is in the repository that is served, which is the project {name}.",
                hint=f"Leave project out, or pass {name}.",
            )
        with open_project(session, name) as project:
            return _indexed_in_place(project, path, request)
    repository_root = _work_tree(session, path)
    if repository_root is not None and is_below(repository_root, settings.roots):
        name = _project_name(session, settings, request, repository_root)
        _register_local(session, name, repository_root)
        with open_project(session, name) as project:
            return _indexed_in_place(project, path, request)
    name = _project_name(session, settings, request, path)
    context = context_of(session)
    collection = create_written(name, context)
    is_file = os.path.isfile(path)
    folder = os.path.dirname(path) if is_file else path
    source = ImportedFolder(
        prefix_of(folder),
        folder,
        request.is_recursive,
        (os.path.basename(path),) if is_file else (),
        dict(request.fields or {}),
    )
    imported = import_files(collection, source, context, is_updating=request.is_updating)
    return Indexed(name, imported.paths, imported.chunks, imported.problems, imported.below)


def store_text(session: Session, project: str, document: ExternalDocument) -> StoredText:
    """Store a text that was given in a project, which is created if need be.

    Raises:
        UsageError: the project may not be used, or the text is too long.
        CollectionError: another process is writing.
        RepositoryError: it could not be written.
    """
    settings = read_settings(session.environment)
    _check_writable(session, settings, project)
    context = context_of(session)
    collection = create_written(project, context)
    stored = add_external(collection, document, context)
    return StoredText(doc_id(stored.path, project), stored.expires_at)


def delete(
    session: Session,
    *,
    document_id: str = "",
    project: str = "",
    filters: DeleteFilters | None = None,
    purge: bool = False,
) -> tuple[str, ...]:
    """Delete documents of a written collection, and return their ids: one, all, or some of all.

    `purge` also removes them from the history, those that were deleted earlier, too.

    Raises:
        BadArgumentError: nothing says which documents.
        DocumentNotFoundError: no project has the document.
        CollectionError: the project is not a written collection.
        RepositoryError: it could not be written.
    """
    if not (document_id or project or (filters and any(filters))):
        raise BadArgumentError(
            "document_id", "Pass document_id, project or filters: nothing says what to delete."
        )
    context = context_of(session)

    def select() -> tuple[Collection, set[FilePath]]:
        with _project_of(session, project, document_id, is_former=purge) as opened:
            return _written(opened), _selected(opened, document_id, filters, is_former=purge)

    collection, wanted = unless_purged(session, select)
    removed = delete_documents(collection, wanted, context, purge=purge)
    gone = sorted(wanted) if purge else removed
    return tuple(doc_id(path, collection.name) for path in gone)


def synchronize(
    session: Session, project: str, *, path: str = "", full: bool = False, removes: bool = False
) -> Compared:
    """Bring a project up to date with its files, and remove what has expired.

    Raises:
        UsageError: the path is not in a configured folder.
        CollectionError: there is no such project, or another process is writing.
        RepositoryError: it could not be written.
    """
    settings = read_settings(session.environment)
    within = _resolve(session, settings, path) if path else ""
    with open_project(session, project) as opened:
        if not opened.is_written:
            return _read_in_place(opened, within, full=full)
        collection = _written(opened)
    return compare_folders(
        collection, context_of(session), within=within, is_full=full, removes=removes
    )


def context_of(session: Session) -> Context:
    """Return how the process of a session writes to collections."""
    folder = collections_dir(session.environment)
    return Context(folder, session.environment, session.progress, session.clock)


def _resolve(session: Session, settings: Settings, path: str) -> str:
    """Return the real path; symbolic links lead to where they point, which must be allowed, too."""
    root = session.repository.root
    start = os.path.realpath(root) if root else os.curdir
    allowed = [*([start] if root else []), *settings.roots]
    try:
        real = os.path.realpath(os.path.join(start, os.path.expanduser(path)))
    except ValueError:  # no file has a NUL or half a surrogate pair in its name
        real = ""
    if not is_below(real, allowed):
        raise BadArgumentError(
            "path",
            f"{path} is not in a folder that may be read.",
            cause="Those are the repository that is served, and the configured roots.",
            hint=f"List its folder under `roots` in the file that {CONFIG_VARIABLE} names.",
        )
    if not os.path.lexists(real):
        raise BadArgumentError("path", f"{path} does not exist.")
    return real


def _work_tree(session: Session, path: str) -> str | None:
    """Return the root of the work tree that a path is in; None: it is in none."""
    environment = {
        name: value for name, value in session.environment.items() if name not in LOCATION_VARIABLES
    }
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    try:
        with open_repository(folder, environment) as repository:
            return os.path.realpath(repository.root) if repository.root else None
    except (NotARepositoryError, RepositoryError):
        return None


def _project_name(session: Session, settings: Settings, request: IndexRequest, folder: str) -> str:
    name = request.project or settings.project
    if request.detects and not request.project:
        base = os.path.basename(folder if os.path.isdir(folder) else os.path.dirname(folder))
        name = re.sub(r"[^a-z0-9-]+", "-", base.lower()).strip("-") or "documents"
    if not name:
        raise BadArgumentError(
            "project",
            f"{request.path} is not in the repository that is served: name a project.",
            hint="Pass project, or auto_detect to name it after the folder.",
        )
    _check_writable(session, settings, name)
    return name


def _check_writable(session: Session, settings: Settings, name: str) -> None:
    if name == served_name(session):
        raise BadArgumentError(
            "project",
            f"Nothing is written to {name}: it is the repository that is served.",
            hint="Use the name of another project, which is created if need be.",
        )
    if not is_allowed(session, settings, name):
        raise BadArgumentError(
            "project",
            f"The project {name} may not be used.",
            hint=f"List it under `projects` in the file that {CONFIG_VARIABLE} names.",
        )


def _register_local(session: Session, name: str, root: str) -> None:
    folder = collections_dir(session.environment)
    known = read_collection(folder, name)
    if known is None:
        write_collection(folder, Collection(name, "local", root))
    elif (known.kind, known.address) != ("local", root):
        raise UsageError(
            f"The folder is a Git repository, and the project {name} is another one.",
            cause="Repositories are read in place and are projects of their own.",
            hint="Pass a project of its own, or auto_detect.",
        )


def _indexed_in_place(project: Project, path: str, request: IndexRequest) -> Indexed:
    session = project.session
    view = session.view()
    root = os.path.realpath(session.repository.root or "")
    relative = os.path.relpath(path, root).replace(os.sep, "/")
    documents = view.document_paths()
    if relative in documents:
        files, below = [FilePath(relative)], 0
    else:
        prefix = "" if relative == "." else f"{relative}/"
        found = [document for document in documents if document.startswith(prefix)]
        files = [
            document
            for document in found
            if request.is_recursive or "/" not in document.removeprefix(prefix)
        ]
        below = len(found) - len(files)
    problems = []
    if not files and not below:
        problems.append(Problem(relative, "no document of the repository's configuration"))
    if request.fields and files:
        reason = "files of a repository stay as they are: write metadata into their front matter"
        problems.append(Problem(relative, reason))
    blobs = view.link_graph().blobs(files)
    chunks = view.full_text().chunks(set(blobs.values()))
    count = sum(len(chunks.get(blob, ())) for blob in blobs.values())
    return Indexed(project.name, tuple(files), count, tuple(problems), below)


def _read_in_place(project: Project, within: str, *, full: bool) -> Compared:
    """Index what was not indexed yet; of a repository nothing else has to be done."""
    session = project.session
    view = session.view()
    root = os.path.realpath(session.repository.root or session.repository.git_dir)
    paths = [
        path
        for path in view.document_paths()
        if not within or is_below(os.path.join(root, path), [within])
    ]
    blobs = {path: entry.id for path, entry in view.entries(paths).items() if entry}
    if full:
        session.store.forget_pages(set(blobs.values()))
    missing = PageFactsTable(session.store.database).missing(set(blobs.values()))
    view.full_text()
    changed = [path for path, blob in blobs.items() if blob in missing]
    committed = view.base_entries(changed)
    return Compared(
        tuple(path for path in changed if committed[path] is None),
        tuple(path for path in changed if committed[path] is not None),
        (),
        len(blobs) - len(changed),
        (),
    )


@contextmanager
def _project_of(
    session: Session, project: str, document_id: str, *, is_former: bool
) -> Iterator[Project]:
    """Open the project that a deletion is about: the named one, or the one with the document."""
    if project or not document_id:
        with open_project(session, project or None) as opened:
            yield opened
        return
    settings = read_settings(session.environment)
    context = context_of(session)
    for name in project_names(session, settings):
        try:
            with open_project(session, name) as opened:
                paths = {*_with_expired(opened).document_paths()}
                if is_former and opened.is_written:
                    paths |= {*former_paths(_written(opened), context)}
                if any(doc_id(path, opened.collection_name) == document_id for path in paths):
                    yield opened
                    return
        except CollectionError:
            continue
    raise DocumentNotFoundError(f"There is no document {document_id}.")


def _written(project: Project) -> Collection:
    if project.collection is None or not project.is_written:
        kind = "repository that is served"
        if project.collection is not None:
            kind = "collection that agents do not write"
            if project.collection.kind == "local":
                kind = "local collection, a repository that is read in place"
        raise UsageError(
            f"Documents of {project.name} are not deleted: it is a {kind}.",
            cause="Only what agents have added can be deleted by them.",
            hint="Delete its files with Git.",
        )
    return project.collection


def _selected(
    project: Project, document_id: str, filters: DeleteFilters | None, *, is_former: bool
) -> set[FilePath]:
    """Return the documents to delete; `is_former`: those that were deleted earlier, too."""
    context = context_of(project.session)
    if filters and any(filters):
        return _filtered(project, filters)
    paths = {*_with_expired(project).document_paths()}
    if is_former:
        paths |= {*former_paths(_written(project), context)}
    if not document_id:
        return paths
    name = project.collection_name
    wanted = {path for path in paths if doc_id(path, name) == document_id}
    if not wanted:
        raise DocumentNotFoundError(f"There is no document {document_id}.")
    return wanted


def _with_expired(project: Project) -> View:
    """Return a view with the documents that have expired: they can still be deleted."""
    session = project.session
    return session.try_view(session.snapshot(Target()))


def _filtered(project: Project, filters: DeleteFilters) -> set[FilePath]:
    session, view = project.session, _with_expired(project)
    paths = view.document_paths()
    fields = view.fields(paths)
    for name, value in (("category", filters.category), ("source_type", filters.source_type)):
        if value:
            condition = make_filter(name, ":", value)
            paths = [path for path in paths if condition.matches(fields.get(path, {}))]
    if filters.older_than:
        match = re.fullmatch(r"(\d{1,6})\s*([hdwy])", filters.older_than.strip())
        if match is None:
            raise BadArgumentError(
                "filters",
                f"older_than is not a duration: {filters.older_than}.",
                hint="Write a number and h, d, w or y: 30d.",
            )
        oldest = session.clock() - int(match[1]) * HOURS[match[2]] * 3600
        dates = updated_at(session, view, paths)
        paths = [path for path in paths if (date := dates[path]) is not None and date <= oldest]
    return set(paths)
