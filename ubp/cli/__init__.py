"""The command line: commands, options, exit codes."""
