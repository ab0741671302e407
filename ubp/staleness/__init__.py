"""Which documents have drifted from their sources, and since when."""
