"""Leaf: `.ubp/knowledge.db`: schema, facts, listings, history; all the SQL."""
