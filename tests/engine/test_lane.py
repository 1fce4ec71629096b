"""Lanes: one call in flight on each, and never a number twice."""

from __future__ import annotations

from stanchion.lane import Lane, LanePool


def test_a_lane_in_use_is_not_handed_out_again() -> None:
    pool = LanePool()
    first, second = pool.take(), pool.take()
    assert first.nonce != second.nonce
    pool.give_back(first)
    assert pool.take() is first


def test_every_taking_numbers_a_new_call() -> None:
    pool = LanePool()
    numbers = []
    for _ in range(3):
        lane = pool.take()
        numbers.append(lane.number)
        pool.give_back(lane)
    assert numbers == [1, 2, 3]


def test_a_renewed_lane_is_another_sequence() -> None:
    lane = Lane()
    lane.advance()
    nonce = lane.nonce
    lane.renew()
    assert lane.nonce != nonce
    assert lane.number == 0
