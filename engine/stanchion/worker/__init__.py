"""Runs jobs. Read in this order: options, supervisor, children, child, trips, execute, outcome."""
