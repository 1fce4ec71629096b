"""Pure: facts in, actions and conditions out, the time passed in. Nothing here does I/O."""
