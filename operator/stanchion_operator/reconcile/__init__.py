"""One loop for every kind, level-triggered: gather, decide, act, say so. Two small functions a kind."""
