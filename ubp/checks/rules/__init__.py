"""The rules of `ubp check`, one module each."""
