"""Markdown: from bytes to documents, and edits of documents."""
