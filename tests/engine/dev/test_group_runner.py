"""One tick of a group: figures for every queue it serves, and a held number while Redis is away."""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
import redis.asyncio

from stanchion.dev.fleet import Fleet, WorkerCommand
from stanchion.dev.group import groups_of
from stanchion.dev.group_runner import GroupRunner
from stanchion.dev.leash import Leash
from stanchion.job import Job
from stanchion.policy.queue_policy import QueuePolicy
from stanchion.store import connection, keys

pytestmark = pytest.mark.redis

SLEEPER = WorkerCommand((sys.executable, "-S", "-c", "import time; time.sleep(600)"))
NOWHERE = "redis://127.0.0.1:1/0"


@pytest.fixture
def leash() -> Iterator[Leash]:
    held = Leash(grace_seconds=0.5)
    yield held
    held.close()


class Announcements(list[tuple[str, str]]):
    """What the runner has to say about its workers."""

    def __call__(self, queue: str, text: str) -> None:
        self.append((queue, text))


def policy(name: str, **spec: Any) -> QueuePolicy:
    return QueuePolicy.from_manifest({"metadata": {"name": name}, "spec": spec})


def group_runner(
    client: redis.asyncio.Redis, leash: Leash, *policies: QueuePolicy
) -> tuple[GroupRunner, Fleet, Announcements]:
    (group,) = groups_of(policies, app=None, commands={}, redis_url=NOWHERE)
    said = Announcements()
    fleet = Fleet(group.policy.queue, SLEEPER, leash, lambda worker, line: None)
    return GroupRunner(group, fleet, client, said), fleet, said


async def backlog(client: redis.asyncio.Redis, queue: str, jobs: int) -> None:
    job = Job.create("j", [], queue=queue, jid="x", retry=True, now=1.0).replace(enqueued_at=time.time() - 5)
    await client.lpush(keys.queue(queue), *[job.dump()] * jobs)


async def test_a_look_shows_the_figures_and_leaves_the_workers_alone(
    aredis: redis.asyncio.Redis, leash: Leash
) -> None:
    owner = policy("imports", workers={"image": "i", "app": "a:b"}, autoscaling={"minReplicas": 1})
    runner, fleet, said = group_runner(aredis, leash, owner)
    await backlog(aredis, "imports", 3)
    await runner.look()
    (status,) = runner.statuses()
    assert status.waiting == 3
    assert (fleet.wanted, fleet.pids, said) == (0, [], [])


async def test_the_demand_of_a_rider_starts_the_owners_workers(
    aredis: redis.asyncio.Redis, leash: Leash
) -> None:
    owner = policy("imports", workers={"image": "i", "app": "a:b"}, autoscaling={"minReplicas": 1})
    rider = policy("mail", latencyTargetSeconds=10, workers={"policyRef": {"name": "imports"}})
    runner, fleet, said = group_runner(aredis, leash, owner, rider)
    await backlog(aredis, "mail", 100)
    await runner.tick()
    await runner.tick()
    await fleet.kill()
    assert said[0] == ("imports", "0 → 1 workers  0 is below minReplicas 1")
    assert said[1][1].startswith("1 → ")
    own, other = runner.statuses()
    assert (own.queue, own.rides_on, own.waiting) == ("imports", "", 0)
    assert (other.queue, other.rides_on, other.waiting) == ("mail", "imports", 100)
    assert other.age_seconds is not None
    assert 5 <= other.age_seconds < 15
    assert runner.idle_seconds == 0


async def test_with_redis_away_the_number_holds_and_the_figures_are_unknown(leash: Leash) -> None:
    async with connection.connect_async(NOWHERE) as client:
        runner, fleet, said = group_runner(
            client, leash, policy("imports", workers={"image": "i", "app": "a:b"})
        )
        fleet.wanted = 3
        await runner.tick()
        assert (fleet.wanted, said) == (3, [])
        (row,) = runner.statuses()
        assert (row.age_seconds, row.waiting, row.running) == (None, None, 3)  # as far as we know
        assert row.reason.startswith("held: Redis cannot be read")
        await fleet.kill()


async def test_a_manual_number_is_kept_whatever_waits(aredis: redis.asyncio.Redis, leash: Leash) -> None:
    manual = policy(
        "imports", workers={"image": "i", "app": "a:b", "replicas": 2}, autoscaling={"mode": "Manual"}
    )
    runner, fleet, _ = group_runner(aredis, leash, manual)
    await backlog(aredis, "imports", 5000)
    await runner.tick()
    assert fleet.running == 2
    await fleet.kill()


async def test_a_worker_counts_as_running_once_it_has_registered(
    aredis: redis.asyncio.Redis, leash: Leash
) -> None:
    runner, fleet, _ = group_runner(aredis, leash, policy("imports", workers={"image": "i", "app": "a:b"}))
    await runner.tick()
    assert [(row.running, row.wanted) for row in runner.statuses()] == [(0, 1)]
    info = {"hostname": socket.gethostname(), "pid": fleet.pids[0], "queues": ["imports"], "concurrency": 10}
    await aredis.sadd(keys.PROCESSES, "one")
    await aredis.hset(keys.process("one"), "info", json.dumps(info))
    await runner.tick()
    assert [(row.running, row.wanted) for row in runner.statuses()] == [(1, 1)]
    await fleet.kill()


async def test_idleness_is_counted_from_the_first_empty_look(
    aredis: redis.asyncio.Redis, leash: Leash
) -> None:
    runner, fleet, _ = group_runner(aredis, leash, policy("imports", workers={"image": "i", "app": "a:b"}))
    await runner.tick()
    first = runner.idle_seconds
    await runner.tick()
    assert 0 <= first < runner.idle_seconds
    await fleet.kill()
