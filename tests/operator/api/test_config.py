"""What is declared stands in Redis, and comes back when Redis or a hand has changed it."""

from __future__ import annotations

import time
from datetime import datetime

import pytest

from rig.shop import Shop
from waiting import until

pytestmark = [pytest.mark.api, pytest.mark.usefixtures("operator")]

RESYNC_SECONDS = 30


def key(queue: str) -> str:
    return f"stanchion:config:queue:{queue}"


def test_a_policy_becomes_a_config_hash(shop: Shop, queue: str) -> None:
    shop.policy("imports", {"queueName": queue, "latencyTargetSeconds": 7})
    shop.wait_for("imports", "Ready", ("True", "Ready"))
    fields = shop.redis.hgetall(key(queue))
    assert fields[b"latencyTargetSeconds"] == b"7"
    assert fields[b"owner"] == f"{shop.namespace}/imports".encode()
    status = shop.get("queuepolicy", "imports")["status"]
    assert status["queue"] == queue
    assert status["observedGeneration"] == 1
    assert status["redis"]["server"].endswith(
        shop.url.rpartition("@")[2].removeprefix("redis://").split("/")[0]
    )
    assert status["selector"] == ""


def test_a_change_of_the_spec_reaches_redis(shop: Shop, queue: str) -> None:
    shop.policy("imports", {"queueName": queue, "paused": False})
    shop.wait_for("imports", "Ready", ("True", "Ready"))
    shop.policy("imports", {"queueName": queue, "paused": True})
    until(lambda: shop.redis.hget(key(queue), "paused") == b"true")
    shop.wait_for("imports", "Paused", ("True", "PausedBySpec"))
    assert shop.condition("imports", "Ready") == ("True", "Ready")


@pytest.mark.parametrize("damage", ["deleted", "edited"])
def test_drift_is_repaired_within_a_resync(shop: Shop, queue: str, damage: str) -> None:
    shop.policy("imports", {"queueName": queue})
    shop.wait_for("imports", "Ready", ("True", "Ready"))
    before = shop.redis.hgetall(key(queue))
    if damage == "deleted":
        shop.redis.delete(key(queue))
    else:
        shop.redis.hset(key(queue), mapping={"latencyTargetSeconds": "9999", "stranger": "1"})
    until(lambda: shop.redis.hgetall(key(queue)) == before, timeout_seconds=RESYNC_SECONDS)
    until(lambda: "ConfigRepaired" in shop.kubectl("get", "events"))


def test_a_deleted_policy_takes_its_hash_but_no_jobs_along(shop: Shop, queue: str) -> None:
    shop.policy("imports", {"queueName": queue})
    shop.wait_for("imports", "Ready", ("True", "Ready"))
    shop.redis.lpush(f"queue:{queue}", b"{}")
    shop.kubectl("delete", "queuepolicy", "imports")
    until(lambda: not shop.redis.exists(key(queue)))
    assert shop.redis.llen(f"queue:{queue}") == 1


def test_a_hash_that_nobody_declares_is_swept(shop: Shop, queue: str) -> None:
    shop.policy("imports", {"queueName": queue})
    shop.wait_for("imports", "Ready", ("True", "Ready"))
    for name in ("orphan", "stranger"):
        shop.redis.copy(key(queue), key(name))
        shop.redis.hset(key(name), mapping={"owner": "gone/gone", "ownerUid": "gone"})
        shop.redis.hset("stanchion:config:index", f"queue/{name}", "0:gone")
    shop.redis.hset(key("stranger"), "managedBy", "cli")
    until(lambda: not shop.redis.exists(key("orphan")), timeout_seconds=RESYNC_SECONDS)
    assert shop.redis.hget(key("stranger"), "managedBy") == b"cli"


def test_without_its_secret_a_policy_says_so_and_recovers(shop: Shop, queue: str) -> None:
    shop.kubectl("delete", "secret", "stanchion-redis")
    shop.policy("imports", {"queueName": queue})
    shop.wait_for("imports", "Ready", ("False", "SecretMissing"))
    shop.kubectl("create", "secret", "generic", "stanchion-redis", f"--from-literal=url={shop.url}")
    shop.wait_for("imports", "Ready", ("True", "Ready"))


def test_a_secret_nobody_allowed_is_refused(shop: Shop, queue: str) -> None:
    shop.policy("imports", {"queueName": queue, "redis": {"secretRef": {"name": "other"}}})
    shop.wait_for("imports", "Ready", ("False", "SecretNotAllowed"))


def test_the_older_policy_owns_the_queue(shop: Shop, queue: str) -> None:
    shop.policy("older", {"queueName": queue, "latencyTargetSeconds": 5})
    shop.wait_for("older", "Ready", ("True", "Ready"))
    until(lambda: int(time.time()) > _created(shop, "older"))  # ages are whole seconds
    shop.policy("younger", {"queueName": queue, "latencyTargetSeconds": 50})
    shop.wait_for("younger", "Conflict", ("True", "QueueTaken"))
    assert shop.condition("younger", "Ready") == ("False", "QueueTaken")
    assert shop.redis.hget(key(queue), "latencyTargetSeconds") == b"5"
    shop.kubectl("delete", "queuepolicy", "younger")
    until(lambda: not shop.exists("queuepolicy", "younger"))
    assert shop.redis.hget(key(queue), "latencyTargetSeconds") == b"5"
    assert shop.condition("older", "Ready") == ("True", "Ready")


def test_the_younger_policy_takes_over_when_the_older_goes(shop: Shop, queue: str) -> None:
    shop.policy("older", {"queueName": queue})
    shop.wait_for("older", "Ready", ("True", "Ready"))
    until(lambda: int(time.time()) > _created(shop, "older"))
    shop.policy("younger", {"queueName": queue})
    shop.wait_for("younger", "Conflict", ("True", "QueueTaken"))
    shop.kubectl("delete", "queuepolicy", "older")
    shop.wait_for("younger", "Ready", ("True", "Ready"))
    assert shop.redis.hget(key(queue), "owner") == f"{shop.namespace}/younger".encode()


def test_a_lock_policy_is_written_where_its_queues_are(shop: Shop, queue: str) -> None:
    spec = {"match": {"queues": [queue]}, "lock": "UntilExecuted"}
    shop.policy("once", spec, kind="LockPolicy")
    shop.wait_for("once", "Effective", ("False", "NoMatch"), of="lockpolicy")
    lock = f"stanchion:config:lock:{shop.namespace}/once"
    assert not shop.redis.exists(lock)
    shop.policy("imports", {"queueName": queue})
    until(lambda: shop.redis.hget(lock, "lock") == b"UntilExecuted")
    shop.wait_for("once", "Ready", ("True", "Ready"), of="lockpolicy")
    assert shop.get("lockpolicy", "once")["status"]["matched"]["queues"] == 1
    shop.kubectl("delete", "lockpolicy", "once")
    until(lambda: not shop.redis.exists(lock))


def _created(shop: Shop, name: str) -> int:
    stamp = shop.get("queuepolicy", name)["metadata"]["creationTimestamp"]
    return int(datetime.fromisoformat(stamp).timestamp())
