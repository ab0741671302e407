"""Answers about pages and the links between them."""
