"""Notes: bookmarks and what people write down, over time and for a question."""
