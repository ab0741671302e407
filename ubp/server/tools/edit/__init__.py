"""The tool set `edit`: agents propose edits, which people review."""
