"""Answers about how fresh the documentation is as a whole."""
