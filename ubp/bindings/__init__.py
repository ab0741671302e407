"""Which sources each document describes: proposals, coverage, and a review of existing bindings."""
