"""Formats for CI systems."""
