"""Projects: agents search, index, store and delete documents in them."""
