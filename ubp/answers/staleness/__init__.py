"""Answers about drift: which pages no longer describe their sources, and their review."""
