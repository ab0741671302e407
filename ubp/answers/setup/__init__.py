"""The answers about UBP itself: its setup, its index, its model, its version."""
