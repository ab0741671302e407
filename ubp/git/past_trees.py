"""The files of many commits, read by libgit2 as differences from one to the next."""

from collections.abc import Callable, Iterable, Iterator

import pygit2

from ubp.core.errors import GitCommandError
from ubp.core.model import FilePath, ObjectId
from ubp.git.libgit2 import check_tree_size
from ubp.git.output import decode_path
from ubp.git.repository import Repository

REGULAR_FILES = frozenset({0o100644, 0o100755})


def walk_trees(
    repository: Repository, commits: Iterable[ObjectId], is_wanted: Callable[[FilePath], bool]
) -> Iterator[tuple[ObjectId, dict[FilePath, ObjectId]]]:
    """Yield the blob of each wanted file of each commit; the dictionary is changed in between.

    Only regular files are asked about.

    Neighbors should be alike: only what differs between them is read.

    Raises:
        TreeTooLargeError: a commit has too many files.
        GitCommandError: a commit or tree is missing.
    """
    libgit2 = repository.libgit2()
    files: dict[FilePath, ObjectId] = {}
    previous: pygit2.Tree | None = None
    flags = pygit2.enums.DiffOption.SKIP_BINARY_CHECK | pygit2.enums.DiffOption.INCLUDE_TYPECHANGE
    for commit in commits:
        try:
            tree = libgit2[commit].peel(pygit2.Tree)
            check_tree_size(tree)
            if previous is None:
                difference = tree.diff_to_tree(flags=flags, swap=True)
            else:
                difference = previous.diff_to_tree(tree, flags=flags)
        except (KeyError, pygit2.GitError) as error:
            message = f"a tree of commit {commit} is missing"
            raise GitCommandError(
                f"Cannot read the history: {message}.", status=-1, stderr=message
            ) from error
        for delta in difference.deltas:
            if delta.status == pygit2.enums.DeltaStatus.DELETED:
                files.pop(decode_path(delta.old_file.raw_path), None)
            elif delta.new_file.mode in REGULAR_FILES:
                path = decode_path(delta.new_file.raw_path)
                if path in files or is_wanted(path):
                    files[path] = ObjectId(str(delta.new_file.id))
            else:
                files.pop(decode_path(delta.new_file.raw_path), None)
        previous = tree
        yield commit, files
