"""Answers about bindings: which sources pages describe."""
