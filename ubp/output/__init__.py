"""Values to text, JSON records, CI formats and HTML pages."""
