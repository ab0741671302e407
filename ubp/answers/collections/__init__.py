"""Answers about collections: documents of other repositories and of the web."""
