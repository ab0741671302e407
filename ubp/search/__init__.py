"""Keyword, semantic and graph-aware search, and questions about links."""
