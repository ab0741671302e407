"""Records as agents read them: the same facts in fewer characters, one file a tool."""
