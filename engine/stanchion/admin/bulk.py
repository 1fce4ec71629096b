"""Acts on many entries of a set: first choose, so that a person can be asked, then act on just those.

Called by `stanchion dead|retry|schedule`. What was chosen is remembered by a fingerprint of its bytes: an
entry that changed, or a job that failed again and came back, was never agreed to and is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import redis

from stanchion.admin.actions import Action, Fate
from stanchion.admin.selection import Found, Selection, since
from stanchion.store import entries
from stanchion.store.entries import Answer

Progress = Callable[[int], None]
"""Called after each chunk with how many entries have been dealt with."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of the entries: done, gone before we came, refused by Redis, no jobs (and so left)."""

    chosen: int
    done: int = 0
    gone: int = 0
    refused: int = 0
    unreadable: int = 0

    def plus(self, fates: Sequence[Fate]) -> Tally:
        """With one more chunk."""
        return Tally(
            self.chosen,
            self.done + fates.count(Answer.DONE),
            self.gone + fates.count(Answer.GONE),
            self.refused + fates.count(Answer.REFUSED),
            self.unreadable + fates.count(None),
        )

    @property
    def is_complete(self) -> bool:
        """Whether nothing that was to go stayed where it was."""
        return self.refused == self.unreadable == 0


def matching(
    client: redis.Redis, set_key: str, selection: Selection, *, newest_first: bool = False
) -> Iterator[Found]:
    """The entries that a selection covers, in the order of their scores. Reads a page at a time."""
    now = entries.clock(client)
    cursor = entries.start(newest_first=newest_first)
    while page := entries.page(client, set_key, cursor, newest_first=newest_first):
        cursor = entries.following(cursor, page)
        for entry in page:
            found = Found.read(entry)
            if selection.covers(found.job, since(set_key, found), now):
                yield found


def act(
    client: redis.Redis,
    set_key: str,
    action: Action,
    chosen: set[bytes],
    *,
    progress: Progress = lambda _: None,
) -> Tally:
    """Act on the entries with the fingerprints `chosen`; those that are met no more count as gone.

    Others who take entries of the very same score can push one past us unseen: walk until nothing is met.
    """
    left, tally, before = set(chosen), Tally(len(chosen)), len(chosen) + 1
    while left and len(left) < before:
        before = len(left)
        for fates in _walk(client, set_key, action, left):
            tally = tally.plus(fates)
            progress(len(chosen) - len(left))
    return tally.plus([Answer.GONE] * len(left))


def _walk(client: redis.Redis, set_key: str, action: Action, left: set[bytes]) -> Iterator[list[Fate]]:
    """One walk through the set; takes from `left` what it acted on."""
    cursor = entries.start(newest_first=False)
    while left and (page := entries.page(client, set_key, cursor)):
        picked = [found for found in map(Found.read, page) if found.fingerprint in left]
        fates = action(client, set_key, picked) if picked else []
        left.difference_update(found.fingerprint for found in picked)
        removed = {
            found.entry.member
            for found, fate in zip(picked, fates, strict=True)
            if fate in (Answer.DONE, Answer.GONE)
        }
        cursor = entries.following(cursor, page, removed)
        yield fates


def act_on(client: redis.Redis, set_key: str, action: Action, chosen: Sequence[Found]) -> Tally:
    """Act on entries that are at hand, at most PER_CALL of them a call."""
    tally = Tally(len(chosen))
    for at in range(0, len(chosen), entries.PER_CALL):
        tally = tally.plus(action(client, set_key, chosen[at : at + entries.PER_CALL]))
    return tally
