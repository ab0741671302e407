"""Results to text and records; one file a format."""
