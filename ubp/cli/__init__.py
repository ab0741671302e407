"""Front end: the command line, one file a command group."""
