"""Specifications: collections with a language, each answer with its citation."""
