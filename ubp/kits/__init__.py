"""Kits: tool sets of neighbouring servers, each with its engine, answers and importers."""
