"""Reports on repositories: fetch one, ask its forge, and commit what was found.

A repository is mirrored beside the collections, the report is committed to one of its own.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256

from ubp.core.errors import CollectionError
from ubp.core.model import Progress
from ubp.core.shell import ubp_command
from ubp.git.write import write_commit
from ubp.index.collections import (
    CURRENT,
    Collection,
    collection_environment,
    collections_dir,
    open_collection,
    read_collection,
    write_collection,
)
from ubp.index.session import Session, SessionOptions
from ubp.kits.notes.forges import MIRRORS, ask_forge
from ubp.kits.notes.reports import (
    REPORT_COLLECTION,
    OssReport,
    RepositoryAddress,
    write_report,
)
from ubp.kits.notes.score import NEEDED_FILES, verify
from ubp.sync.imports import AUTHOR
from ubp.sync.repositories import Context, create_repository, locked
from ubp.sync.run import add_collection


def verify_repository(
    address: RepositoryAddress,
    environment: Mapping[str, str],
    progress: Progress,
    clock: Callable[[], float],
) -> OssReport:
    """Fetch a repository, and return the report on its head, which is saved.

    Raises:
        CollectionError: it cannot be fetched.
        RepositoryError: it cannot be read, or the report cannot be written.
    """
    folder = os.path.join(collections_dir(environment), MIRRORS)
    context = Context(folder, environment, progress, clock)
    digest = sha256(address.url.casefold().encode()).hexdigest()[:16]
    mirror = Collection(digest, "mirror", address.url, NEEDED_FILES)
    commit = add_collection(mirror, "", context).after
    if commit is None:
        raise CollectionError(f"Nothing could be fetched from {address.url}.")
    path = os.path.join(folder, f"{digest}.git")
    options = SessionOptions(
        collection_environment(path, mirror, environment),
        progress=progress,
        clock=clock,
        revision=commit,
    )
    forge = ask_forge(address, commit, environment)
    with Session.open(path, options) as session:
        report = verify(session, address, commit, forge, int(clock()))
    save_report(report, address, replace(context, folder=collections_dir(environment)))
    return report


def save_report(report: OssReport, address: RepositoryAddress, context: Context) -> None:
    """Commit a report to the collection of reports, which is made if there is none.

    Raises:
        CollectionError: its name is that of another collection.
        RepositoryError: the commit cannot be written.
    """
    path = os.path.join(context.folder, f"{REPORT_COLLECTION}.git")
    # In place, as a repository of the user's: nothing is ever fetched into it.
    collection = Collection(REPORT_COLLECTION, "local", path)
    existing = read_collection(context.folder, REPORT_COLLECTION)
    if existing is not None and existing.address != path:
        raise CollectionError(
            f"The name {REPORT_COLLECTION} is taken.",
            cause=f"It is the collection of {existing.address}.",
            hint="Remove it: " + ubp_command("collections", "remove", REPORT_COLLECTION),
        )
    with locked(context.folder, REPORT_COLLECTION):
        if not os.path.isdir(path):
            owned = replace(collection, kind="import")
            create_repository(path, owned, context.environment)
        with open_collection(context.folder, collection, context.environment) as repository:
            write_commit(
                repository,
                CURRENT,
                {address.path: write_report(report)},
                message=f"Verify {report.url}\n\nCommit: {report.commit}\n",
                author=AUTHOR,
                when=context.clock(),
            )
        write_collection(context.folder, replace(collection, synced_at=report.verified_at))
