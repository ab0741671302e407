"""Rules over a snapshot, and their findings."""
