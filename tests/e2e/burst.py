"""The story of the end-to-end test: a burst meets a queue without workers. Told once, judged by many."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import redis

from e2e.watch import Object, watch
from stanchion.store import keys
from testcluster.cluster import NodeCluster
from testcluster.redis_server import ReachableRedis
from testcluster.waiting import wait_until

HERE = Path(__file__).parent
APP = HERE / "app"
QUEUE = POLICY = "ledger"
STARTED = "ledger:started"
JOBS = 6_000
DRAIN_SECONDS = 240
"""Limit for the whole burst: two cores carry the cluster, Redis and the workers."""
ZERO_SECONDS = 240
"""Limit from the last job to no replica: the 120 s over which arrivals are counted, the window, the drain."""
STOP_SECONDS = 60


@dataclass(frozen=True)
class Burst:
    """What was seen while it lasted."""

    accepted: int
    statuses: list[Object]
    """Each state of the policy's status, in order."""
    table: str
    """What `kubectl get qp --watch` printed meanwhile."""
    pods: dict[str, Object]
    """Pod name -> its last state, the stopped container included."""
    starts: dict[bytes, int]
    """jid -> how often it was started."""
    counters: dict[bytes, bytes]
    left_behind: dict[str, int]
    """Redis key -> length, for the places where a lost or failed job would lie."""

    @property
    def peak_ready(self) -> int:
        return max(int(status.get("readyReplicas", 0)) for status in self.statuses)


def tell(cluster: NodeCluster, server: ReachableRedis, namespace: str, folder: Path) -> Burst:
    """Push the burst and watch until the last pod has gone; raises TimedOut where that is late."""
    with (
        redis.Redis.from_url(server.url_for_tests) as client,
        watch(cluster, folder, "pods", namespace, "json") as pods,
        watch(cluster, folder, "queuepolicies", namespace, "json") as policies,
        watch(cluster, folder, "queuepolicies", namespace, "wide") as table,
    ):
        accepted = push(server.url_for_tests)
        wait_until(lambda: done(client) >= JOBS, f"{JOBS} jobs to be done", DRAIN_SECONDS)
        wait_for_zero(cluster, namespace)
        return Burst(
            accepted=accepted,
            statuses=[policy.get("status", {}) for policy in policies.objects()],
            table=table.text,
            pods={pod["metadata"]["name"]: pod for pod in pods.objects()},
            starts={jid: int(count) for jid, count in client.hgetall(STARTED).items()},
            counters=client.hgetall(keys.counters(QUEUE)),
            left_behind={
                keys.RETRY: client.zcard(keys.RETRY),
                keys.DEAD: client.zcard(keys.DEAD),
                keys.RECOVERIES: client.hlen(keys.RECOVERIES),
                keys.queue(QUEUE): client.llen(keys.queue(QUEUE)),
            },
        )


def push(url: str) -> int:
    """Push as an application would, from a process of its own; returns how many were accepted."""
    program = subprocess.run(
        [sys.executable, "-m", "ledger", str(JOBS)],
        cwd=APP,
        env={**os.environ, "STANCHION_REDIS_URL": url},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert program.returncode == 0, program.stderr
    return int(program.stdout)


def done(client: redis.Redis) -> int:
    return int(client.hget(keys.counters(QUEUE), "done") or 0)


def wait_for_zero(cluster: NodeCluster, namespace: str) -> None:
    """Until the policy shows no pod, and then until those that still stop have stopped."""
    zero = ("--for=jsonpath={.status.replicas}=0", f"queuepolicy/{POLICY}", f"--timeout={ZERO_SECONDS}s")
    cluster.kubectl("wait", "--namespace", namespace, *zero, timeout_seconds=ZERO_SECONDS + 10)

    def no_pods() -> bool:
        return not cluster.get("pods", "--namespace", namespace)["items"]

    wait_until(no_pods, "the last pod to stop", STOP_SECONDS)
