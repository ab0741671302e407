"""Tools about notes: bookmarks, and what people write down."""
