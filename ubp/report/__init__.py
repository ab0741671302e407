"""The report on a whole repository."""
