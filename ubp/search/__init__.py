"""Use case: which sections answer a query, and why."""
