"""Names and symbols of source files."""
