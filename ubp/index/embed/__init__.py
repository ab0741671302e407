"""Vectors: the embedding model and similarity."""
