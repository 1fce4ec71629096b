"""A QueuePolicy, end to end: images, Helm, operator, workers and Redis as a user runs them.

A burst of 6,000 jobs of 50 ms meets a queue whose workers are at zero. The tests judge what was seen.
"""

from __future__ import annotations

import itertools
import math
import re

import pytest
import redis

from e2e.burst import JOBS, POLICY, QUEUE, Burst
from e2e.watch import Object
from stanchion.scaling import law
from stanchion.scaling.estimate import Estimate
from stanchion.store import keys
from testcluster.cluster import NodeCluster
from testcluster.redis_server import ReachableRedis
from testcluster.waiting import wait_until

pytestmark = [pytest.mark.node, pytest.mark.timeout(900)]


def test_every_job_ran_exactly_once(burst: Burst) -> None:
    assert burst.accepted == JOBS
    assert len(burst.starts) == JOBS
    assert set(burst.starts.values()) == {1}
    assert burst.counters[b"done"] == str(JOBS).encode()
    assert burst.left_behind == dict.fromkeys(burst.left_behind, 0)


def test_several_workers_appear_and_all_go(burst: Burst) -> None:
    assert burst.statuses[0]["desiredReplicas"] == 0
    assert burst.peak_ready >= 3
    last = burst.statuses[-1]
    assert (last["desiredReplicas"], last["replicas"]) == (0, 0)


def test_the_number_follows_from_the_figures_in_status(burst: Burst) -> None:
    shown = [status for status in burst.statuses if "demand" in status]
    assert shown[0]["desiredReplicas"] == 0
    for before, status in itertools.pairwise(shown):
        figures = status["demand"]
        # The run time is shown in whole milliseconds, and slots are rounded up.
        least, most = (recompute(status, run_time_off_by_ms=off) for off in (-0.5, 0.5))
        assert least.winning_term == most.winning_term == figures["winningTerm"]
        assert math.ceil(least.slots) <= figures["slots"] <= math.ceil(most.slots)
        assert figures["replicas"] in possible_replicas(figures, before, status)
        if status["desiredReplicas"] > before["desiredReplicas"]:  # scaling out waits for no window
            assert status["desiredReplicas"] == min(figures["replicas"], status["maxReplicas"])
    assert "tail" in {status["demand"]["winningTerm"] for status in shown}


def recompute(status: Object, *, run_time_off_by_ms: float) -> law.Demand:
    """The control law on the figures that the status shows, the run time a little off."""
    figures = status["demand"]
    estimate = Estimate(
        arrival_rate=float(figures["arrivalRatePerSecond"]),
        arrival_rate_short=float(figures["shortArrivalRatePerSecond"]),
        service_seconds=(figures["serviceMilliseconds"] + run_time_off_by_ms) / 1000,
        backlog=figures["backlog"],
        oldest_age_seconds=figures["oldestAgeSeconds"],
        long_busy_slots=figures["longBusySlots"],
        due_rate=float(figures["dueRatePerSecond"]),
    )
    return law.demand(estimate, target_seconds=status["latencyTargetSeconds"])


def possible_replicas(figures: Object, *around: Object) -> set[int]:
    """What the law makes of these slots, given the numbers around: one within 10 % is kept."""
    numbers = {number for status in around for number in (status["replicas"], status["desiredReplicas"])}
    return {
        law.replicas_for(slots, figures["slotsPerReplica"], current)
        for slots in (figures["slots"] - 1, figures["slots"])  # shown rounded up
        for current in numbers
    }


def test_kubectl_get_shows_latency_and_number(burst: Burst) -> None:
    header, *rows = burst.table.splitlines()
    assert re.match(r"NAME +QUEUE +LATENCY +WAITING +MIN +MAX +WORKERS +RUNNING +READY +AGE", header)
    row = re.compile(rf"{POLICY} +{QUEUE} +(\d+s/10s) +(\d+) +0 +5 +(\d+) +(\d+) +True ")
    seen = [match for match in map(row.match, rows) if match]
    assert {match[3] for match in seen} >= {"0", "5"}


def test_no_worker_was_killed_with_a_job_in_hand(burst: Burst) -> None:
    assert len(burst.pods) >= 3
    for name, pod in burst.pods.items():
        for container in pod["status"].get("containerStatuses", []):
            assert container["restartCount"] == 0, name
            assert container["state"]["terminated"]["exitCode"] == 0, name
    assert burst.left_behind[keys.RECOVERIES] == 0


@pytest.mark.usefixtures("burst")
def test_deleting_the_policy_cleans_up(
    node_cluster: NodeCluster, shop: str, redis_in_cluster: ReachableRedis
) -> None:
    with redis.Redis.from_url(redis_in_cluster.url_for_tests) as client:
        config = keys.config("queue", QUEUE)
        assert client.exists(config)
        node_cluster.kubectl("delete", "queuepolicy", POLICY, "--namespace", shop)
        wait_until(lambda: not client.exists(config), "the config hash to go", timeout_seconds=30)
        wait_until(
            lambda: not node_cluster.get("deployments,pods", "--namespace", shop)["items"],
            "the Deployment to go",
            timeout_seconds=30,
        )
