"""UBP ties Markdown pages to the code that they describe, and Git tells when they part."""

__version__ = "0.1.0"
