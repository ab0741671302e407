"""Leaf: texts to vectors: where a model lies, its fingerprint, the bundled one."""
