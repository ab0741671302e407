"""Text for agents."""
