"""Answers about edits that agents propose, and about their review."""
