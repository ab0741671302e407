"""The tool set `docs`: to find, read and connect pages."""
