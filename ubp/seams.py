"""What the joints between rooms look like: progress, warnings, the clock."""
