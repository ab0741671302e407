"""Proposals: edits by agents, as commits on branches of their own, and their review by people."""
