"""Review a change: which pages it concerns, and what a reader needs to decide about each."""
