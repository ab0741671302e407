"""Use case: which pages no longer describe their sources, since when, by whom."""
