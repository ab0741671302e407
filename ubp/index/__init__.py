"""From a snapshot to facts, and from facts to a view."""
