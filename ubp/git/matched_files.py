"""The files of a commit that match a glob, and the id of the tree that Git would make of them."""

from collections.abc import Mapping

from ubp.git.repository import Repository
from ubp.git.trees import entries_at, list_tree, tree_id
from ubp.model import Entry, FilePath, ObjectId
from ubp.paths import Glob


def files_below(
    repository: Repository, commit: ObjectId, folder: FilePath
) -> dict[FilePath, Entry]:
    """The files below a folder ("" is the root), by their whole paths."""
    tree = entries_at(repository, {commit: [folder]})[commit, folder]
    if tree is None or not tree.is_directory:
        return {}
    lead = f"{folder}/" if folder else ""
    entries = list_tree(repository, tree.id)
    return {
        FilePath(lead + name): entry for name, entry in entries.items() if not entry.is_directory
    }


def matched_id(files: Mapping[FilePath, Entry], glob: Glob) -> ObjectId | None:
    """The id of the tree with the files that match; None where none does."""
    matched = [(path, entry) for path, entry in files.items() if glob.matches(path)]
    return tree_id(matched) if matched else None
