"""Leaf: bytes to facts: front matter and references, and the pins written back."""
