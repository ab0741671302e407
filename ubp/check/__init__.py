"""Use case: what is wrong with the pages of a snapshot, or with what a change brings."""
