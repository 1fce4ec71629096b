"""The order in which a trip looks at its queues."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.worker.options import QueueWeight
from stanchion.worker.queue_order import order

QUEUES = (QueueWeight("urgent", 6), QueueWeight("normal", 3), QueueWeight("slow", 1))
ROUNDS = 20_000


def test_strict_keeps_the_order_given() -> None:
    assert order(QUEUES, "strict", Random(1)) == ("urgent", "normal", "slow")


@given(how=st.sampled_from(["strict", "weighted", "random"]), seed=st.integers())
def test_every_queue_is_looked_at_once(how: str, seed: int) -> None:
    assert sorted(order(QUEUES, how, Random(seed))) == ["normal", "slow", "urgent"]


@pytest.mark.parametrize(
    ("how", "shares"),
    [
        ("weighted", {"urgent": 0.6, "normal": 0.3, "slow": 0.1}),
        ("random", dict.fromkeys(("urgent", "normal", "slow"), 1 / 3)),
    ],
)
def test_shares_of_standing_first(how: str, shares: dict[str, float]) -> None:
    rng = Random(7)
    firsts = [order(QUEUES, how, rng)[0] for _ in range(ROUNDS)]
    for queue, share in shares.items():
        assert firsts.count(queue) / ROUNDS == pytest.approx(share, abs=0.02)
