"""How a child process ends, for its supervisor to read."""

from __future__ import annotations

DONE = 0
"""Drained: everything it held is recorded, or left to be returned."""
NOT_LOADED = 2
"""The app could not be loaded; the reason went over the link."""
FENCED = 3
"""Declared dead by another process while it lived: its jobs run elsewhere."""
