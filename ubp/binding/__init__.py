"""What pages describe: proposed from the text and from history, judged from history."""
