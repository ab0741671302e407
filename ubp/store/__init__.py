"""Leaf: `<git common dir>/ubp/index-*.db`: schema, facts, listings, history; all the SQL."""
