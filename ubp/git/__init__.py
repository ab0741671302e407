"""Leaf: repositories, snapshots and history, from the git command and libgit2."""
