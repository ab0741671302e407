"""Tools about projects: search, index, delete, suggest, synchronize, store texts."""
