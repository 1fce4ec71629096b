"""The `stanchion` command: one file a command, argument parsing and printing and nothing else."""
