from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from stanchion_operator.errors import ApiError, NotLeading
from stanchion_operator.kube.client import REQUEST_TIMEOUT_SECONDS
from stanchion_operator.kube.lease import DURATION_SECONDS, Lease, Seen, first_transition, observe


def seen(holder: str = "other", changed_at: float = 100.0) -> Seen:
    return Seen(holder, "t1", 15.0, 3, changed_at)


@pytest.mark.parametrize(
    ("before", "now", "free"),
    [
        (seen(), 114.9, False),
        (seen(), 115.0, True),
        (seen(holder="us"), 100.0, True),
        (seen(holder=""), 100.0, True),
    ],
)
def test_a_lease_is_free_when_released_ours_or_long_unchanged(before: Seen, now: float, free: bool) -> None:
    assert before.may_be_taken("us", now) is free


def test_only_our_own_clock_says_when_it_changed() -> None:
    spec = {"holderIdentity": "other", "renewTime": "t1", "leaseDurationSeconds": 15, "leaseTransitions": 3}
    first = observe(None, spec, 100.0)
    assert observe(first, spec, 110.0).changed_at == 100.0
    assert observe(first, spec | {"renewTime": "t2"}, 110.0).changed_at == 110.0


def test_a_lease_made_anew_counts_on_from_higher() -> None:
    assert first_transition(1_800_000_060.0) == first_transition(1_800_000_000.0) + 1
    assert first_transition(2**32) < 2**31  # leaseTransitions is a 32-bit integer


class OneLease:
    """The API server as far as one Lease goes: a compare-and-set cell that can be cut off."""

    def __init__(self) -> None:
        self.spec: dict[str, Any] = {}
        self.version = 0
        self.away = False

    async def request(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        if self.away:
            raise ApiError(0, "cut off")
        body: Mapping[str, Any] = options.get("body") or {}
        if method == "GET" and not self.version:
            raise ApiError(404, "none")
        if method == "PUT" and body["metadata"]["resourceVersion"] != str(self.version):
            raise ApiError(409, "modified")
        if method in ("POST", "PUT"):
            self.version += 1
            self.spec = dict(body["spec"])
        return {"metadata": {"resourceVersion": str(self.version)}, "spec": dict(self.spec)}


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


async def test_writing_stops_before_the_lease_can_lapse() -> None:
    server, clock = OneLease(), Clock()
    lease = Lease(server, "ns", "lease", "us", clock)  # type: ignore[arg-type]
    with pytest.raises(NotLeading):
        lease.check()
    await lease.acquire()
    lease.check()
    server.away = True
    clock.now += DURATION_SECONDS - REQUEST_TIMEOUT_SECONDS - 1.5
    lease.check()
    clock.now += 0.6  # a request sent now could end when somebody else leads
    with pytest.raises(NotLeading):
        lease.check()


async def test_each_change_of_hands_raises_the_fence() -> None:
    server, clock = OneLease(), Clock()
    one = Lease(server, "ns", "lease", "one", clock)  # type: ignore[arg-type]
    two = Lease(server, "ns", "lease", "two", clock)  # type: ignore[arg-type]
    await one.acquire()
    assert await two._try() is False
    await one.release()
    await two.acquire()
    assert two.transitions == one.transitions + 1
    assert not one.leading
