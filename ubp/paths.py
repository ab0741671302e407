"""Paths and globs from the repository's root: pure text, no file system."""
