"""What a command needs of a terminal: flags of a run, input, progress, output and exit codes. Knows no command."""
