"""The answers: one module each, with its request, its record, and its text."""
