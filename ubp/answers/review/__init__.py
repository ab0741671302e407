"""Answers about what a change means for the documentation."""
