"""Remove files from all history of a repository, and their bytes from its object database.

For repositories that UBP writes itself: nobody else holds their commits. The caller keeps other
writers away, since what no reference leads to yet would be removed, too.
"""

import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

import pygit2

from ubp.core.errors import RepositoryError
from ubp.core.model import MODE_TREE, FilePath, ObjectId
from ubp.git.command import OPTIONS, run_git
from ubp.git.repository import Repository
from ubp.git.write import open_for_writing, ref_busy, update_refs

Names = Mapping[str, "Names | None"]
"""Files to remove by name; below a name there are either more names, or the file itself: None."""

# Files in which git keeps the ids of commits that no reference leads to.
FORMER_TIPS = ("FETCH_HEAD", "ORIG_HEAD")


def remove_from_history(repository: Repository, paths: Collection[FilePath]) -> None:
    """Rewrite every reference without these files; commits that changed nothing else disappear.

    Authors, dates and messages stay. The bytes are still there: see `drop_unreachable`.

    Raises:
        RepositoryError: writing failed, or other processes keep moving a reference.
    """
    listing = repository.run("for-each-ref", "--format=%(objectname) %(objecttype) %(refname)")
    refs = [line.split(" ", 2) for line in os.fsdecode(listing).splitlines()]
    for _, kind, name in refs:
        if kind != "commit":
            raise RepositoryError(
                f"Cannot remove files from the history of {name}.", cause=f"It is a {kind}."
            )
    rewriter = _Rewriter(open_for_writing(repository), _names(paths))
    commits: dict[str, ObjectId] = {}
    history = repository.run("rev-list", "--topo-order", "--reverse", "--all")
    for commit in history.decode("ascii").split():
        commits[commit] = rewriter.rewrite(commit, commits)
    updates = [(name, commits[old], ObjectId(old)) for old, _, name in refs if commits[old] != old]
    if updates and not update_refs(repository, updates, "purge"):
        raise ref_busy(updates[0][0])


def drop_unreachable(repository: Repository) -> None:
    """Delete every object that no reference leads to: loose, packed, or in a reflog.

    Raises:
        GitCommandError: git failed; what is reachable is unharmed.
    """
    for keep in Path(repository.git_dir, "objects", "pack").glob("*.keep"):
        keep.unlink()  # a killed `git fast-import` leaves them, and they would save their packs
    for name in FORMER_TIPS:
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(repository.git_dir, name))
    for arguments in (
        ["reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"],
        ["repack", "-a", "-d", "-q"],
        ["prune", "--expire=now"],
    ):
        run_git(
            arguments,
            cwd=repository.git_dir,
            environment=repository.environment,
            options=(*OPTIONS, "-c", "repack.writeBitmaps=false"),
        )


class _Rewriter:
    """Writes commits and trees again without some files, each once."""

    def __init__(self, libgit2: pygit2.Repository, removed: Names) -> None:
        self._libgit2 = libgit2
        self._removed = removed
        self._trees: dict[tuple[str, int], pygit2.Oid | None] = {}

    def rewrite(self, commit_id: str, rewritten: Mapping[str, ObjectId]) -> ObjectId:
        """Return the commit that replaces another one, given those that replace its parents."""
        commit = self._libgit2[commit_id].peel(pygit2.Commit)
        parents = [rewritten[str(parent)] for parent in commit.parent_ids]
        tree = self._stripped(commit.tree, self._removed) or self._libgit2.TreeBuilder().write()
        is_same_tree = tree == commit.tree.id
        if is_same_tree and all(
            rewritten[parent] == parent for parent in map(str, commit.parent_ids)
        ):
            return ObjectId(commit_id)
        if len(parents) == 1 and not is_same_tree:
            parent = self._libgit2[parents[0]].peel(pygit2.Commit)
            if parent.tree.id == tree:
                return parents[0]
        new = self._libgit2.create_commit(
            None, commit.author, commit.committer, commit.message, tree, [*parents]
        )
        return ObjectId(str(new))

    def _stripped(self, tree: pygit2.Tree, removed: Names) -> pygit2.Oid | None:
        """Return the id of a tree without the files; None: nothing is left."""
        key = str(tree.id), id(removed)
        if key not in self._trees:
            self._trees[key] = self._strip(tree, removed)
        return self._trees[key]

    def _strip(self, tree: pygit2.Tree, removed: Names) -> pygit2.Oid | None:
        replaced: dict[str, pygit2.Oid | None] = {}
        for name, below in removed.items():
            if name not in tree:
                continue
            entry = tree[name]
            if below is None:
                replaced[name] = None
            elif isinstance(entry, pygit2.Tree):
                stripped = self._stripped(entry, below)
                if stripped != entry.id:
                    replaced[name] = stripped
        if not replaced:
            return tree.id
        builder = self._libgit2.TreeBuilder(tree)
        for name, stripped in replaced.items():
            builder.remove(name)
            if stripped is not None:
                builder.insert(name, stripped, pygit2.enums.FileMode(MODE_TREE))
        return builder.write() if len(builder) else None


def _names(paths: Collection[FilePath]) -> Names:
    root: dict[str, Names | None] = {}
    for path in paths:
        *folders, name = path.split("/")
        below = root
        for folder in folders:
            below = below.setdefault(folder, {})  # type: ignore[assignment]  # built here
        below[name] = None
    return root
