"""Lanes: how a call sent twice is recorded once.

A lane is a nonce and a counter that outlive the socket. One call is in flight on it at a time, so Redis needs
to keep only its last call to know a repeat. A forked child must never use its parent's lanes: whoever holds a
pool makes a new one in a new process.
"""

from __future__ import annotations

import secrets
from collections import deque

NONCE_BYTES = 12


class Lane:
    """One numbered sequence of calls."""

    __slots__ = ("nonce", "number")

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Start a new sequence: somebody else used this one."""
        self.nonce = secrets.token_hex(NONCE_BYTES)
        self.number = 0

    def advance(self) -> None:
        """Number the next call. Also after a call whose fate is unknown: its late arrival is then refused."""
        self.number += 1


class LanePool:
    """Free lanes; taking and returning are safe between threads and event loops."""

    def __init__(self) -> None:
        self._free: deque[Lane] = deque()

    def take(self) -> Lane:
        """A lane no one else uses, its number advanced."""
        try:
            lane = self._free.pop()
        except IndexError:
            lane = Lane()
        lane.advance()
        return lane

    def give_back(self, lane: Lane) -> None:
        """The call on this lane is over, one way or another."""
        self._free.append(lane)
