"""Answers for people at a terminal; one file a command."""
