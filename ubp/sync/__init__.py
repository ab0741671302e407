"""Collections from the network: fetch, convert, commit. No other package reaches it."""
