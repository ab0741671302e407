"""Git: objects, trees, history."""
