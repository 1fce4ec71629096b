"""Waking without polling, and pausing without spinning."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import redis

from engine.worker.jobs_app import LEDGER, RELEASE, STARTED
from engine.worker.running import Worker, leased, values, waiting
from stanchion.app import App
from stanchion.policy.contract import encode
from stanchion.policy.owner import Owner
from stanchion.policy.queue_policy import QueueConfig
from stanchion.store import config, connection, keys, queues
from waiting import until

pytestmark = pytest.mark.redis

IDLE_COMMANDS_PER_BEAT = 80
"""Commands inside scripts included: the beat, the scheduler's looks, one wait per queue and block."""
NOTICE_SECONDS = 1.0


@pytest.fixture
def app(redis_url: str) -> App:
    return App(redis_url)


@pytest.fixture
def worker(redis_url: str, tmp_path: Path) -> Iterator[Worker]:
    with Worker(redis_url, tmp_path, "-c", "2", queues=("urgent", "mail")) as running:
        yield running


def commands_per_beat(client: redis.Redis, beats: int = 2) -> float:
    """How many commands Redis carries out between one beat of the worker and a later one."""
    seen, commands = -1, 0
    with client.monitor() as monitor:  # type: ignore[no-untyped-call]
        for one in monitor.listen():
            commands += seen >= 0
            seen += one["command"].startswith(f"HINCRBY {keys.BEATS} ")
            if seen == beats:
                break
    return commands / beats


def waits(client: redis.Redis) -> int:
    """How many blocked moves stand."""
    clients = [one for one in client.client_list() if one["name"].startswith("stanchion-wait")]
    return sum("b" in one["flags"] for one in clients)


def test_an_idle_worker_asks_little(worker: Worker, redis_client: redis.Redis) -> None:
    assert commands_per_beat(redis_client) < IDLE_COMMANDS_PER_BEAT


def test_an_idle_worker_starts_a_job_at_once(app: App, worker: Worker, redis_client: redis.Redis) -> None:
    """No poll interval lies between push and start, on any of its queues."""
    for number, queue in enumerate(("mail", "urgent", "mail")):
        app.enqueue("note", [number], queue=queue)
        ran = partial(lambda count: redis_client.llen(LEDGER) == count, number + 1)
        until(ran, timeout_seconds=NOTICE_SECONDS)


def test_a_full_worker_leaves_jobs_to_others(app: App, worker: Worker, redis_client: redis.Redis) -> None:
    """With no slot free nothing may lie in an inbox, out of the reach of idle workers."""
    for number in range(2):
        app.enqueue("hold", [number], queue="mail")
    until(lambda: redis_client.llen(STARTED) == 2)
    until(lambda: waits(redis_client) == 0)
    for number in range(2, 5):
        app.enqueue("hold", [number], queue="mail")
    assert waiting(redis_client) == [2, 3, 4]
    redis_client.rpush(RELEASE, *range(5))
    until(lambda: sorted(values(redis_client, LEDGER)) == list(range(5)))


def test_strict_order_takes_the_first_queue_first(
    app: App, worker: Worker, redis_client: redis.Redis
) -> None:
    for number in range(2):
        app.enqueue("hold", [number], queue="mail")
    until(lambda: redis_client.llen(STARTED) == 2)
    app.enqueue("hold", [10], queue="mail")
    app.enqueue("hold", [20], queue="urgent")
    redis_client.rpush(RELEASE, 1)
    until(lambda: redis_client.llen(STARTED) == 3)
    assert values(redis_client, STARTED)[-1] == 20


def test_a_paused_queue_stands_still_without_spinning_and_wakes_when_unpaused(
    app: App, worker: Worker, redis_client: redis.Redis
) -> None:
    assert queues.pause(redis_client, ["mail"]) == ["mail"]
    until(lambda: waits(redis_client) == 1, timeout_seconds=NOTICE_SECONDS)
    for number in range(5):
        app.enqueue("note", [number], queue="mail")
    app.enqueue("note", [99], queue="urgent")
    until(lambda: values(redis_client, LEDGER) == [99])
    assert commands_per_beat(redis_client) < IDLE_COMMANDS_PER_BEAT
    assert waiting(redis_client) == [0, 1, 2, 3, 4]
    assert queues.unpause(redis_client, ["mail"]) == ["mail"]
    until(lambda: redis_client.llen(LEDGER) == 6, timeout_seconds=NOTICE_SECONDS)


def test_pause_and_push_at_once_runs_nothing(app: App, worker: Worker, redis_client: redis.Redis) -> None:
    """The flag is the authority: a waiting child may be handed the job, but gives it back."""
    app.enqueue("note", [0], queue="mail")
    until(lambda: redis_client.llen(LEDGER) == 1)
    with redis_client.pipeline(transaction=True) as pipeline:
        pipeline.sadd(keys.PAUSED, "mail")
        for number in range(1, 4):
            pipeline.lpush(keys.queue("mail"), f'{{"class":"note","jid":"{number:024}","args":[{number}]}}')
        pipeline.execute()
    until(lambda: waiting(redis_client) == [1, 2, 3])
    until(lambda: waits(redis_client) == 1)
    assert values(redis_client, LEDGER) == [0]
    assert leased(redis_client) == 0


def test_a_flag_set_without_a_message_is_noticed_by_the_next_beat(
    app: App, worker: Worker, redis_client: redis.Redis
) -> None:
    """As Sidekiq Pro and a hand at redis-cli do it."""
    redis_client.sadd(keys.PAUSED, "mail")
    until(lambda: waits(redis_client) == 1)
    app.enqueue("note", [1], queue="mail")
    redis_client.srem(keys.PAUSED, "mail")
    until(lambda: values(redis_client, LEDGER) == [1])


async def test_a_policys_pause_and_limits_are_obeyed(
    app: App, worker: Worker, redis_url: str, redis_client: redis.Redis
) -> None:
    owner = Owner("shop", "mail", "uid-1", 1, "2026-01-01T00:00:00Z")
    async with connection.connect_async(redis_url) as client:
        paused = QueueConfig(owner, "mail", paused=True, max_retries=0)
        await config.write(client, encode(paused, managed_by="test"))
        until(lambda: waits(redis_client) == 1)
        await app.aenqueue("fail", ["never again"], queue="mail")
        assert waiting(redis_client) == ["never again"]
        owner = Owner("shop", "mail", "uid-1", 2, "2026-01-01T00:00:00Z")
        running = QueueConfig(owner, "mail", paused=False, max_retries=0)
        await config.write(client, encode(running, managed_by="test"))
    until(lambda: redis_client.zcard(keys.DEAD) == 1)
    assert redis_client.zcard(keys.RETRY) == 0


def test_a_stuck_child_holds_no_hostages(app: App, worker: Worker, redis_client: redis.Redis) -> None:
    """A job that stops the child's loop while a wait stands: what the wait moves in goes back."""
    app.enqueue("hog", [1], queue="urgent")
    until(lambda: redis_client.llen(STARTED) == 1)
    app.enqueue("note", [2], queue="mail")
    # The wait that stands is served in the instant of the push.
    assert redis_client.llen(keys.inbox(worker.incarnations[0], "mail")) == 1
    until(lambda: waiting(redis_client) == [2], timeout_seconds=6)
