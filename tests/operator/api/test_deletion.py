"""Deleting a policy: what is kept, what is refused, and that nobody is held for ever."""

from __future__ import annotations

from typing import Any

import pytest

from rig.shop import Shop
from waiting import until

pytestmark = [pytest.mark.api, pytest.mark.usefixtures("operator")]

PATIENCE_SECONDS = 30


def gone(shop: Shop, name: str) -> bool:
    return not shop.exists("queuepolicy", name)


def delete(shop: Shop, name: str) -> None:
    shop.kubectl("delete", "queuepolicy", name, "--wait=false")


def test_delete_is_refused_while_jobs_remain(shop: Shop, queue: str) -> None:
    shop.policy("imports", {"queueName": queue, "deletionPolicy": "Delete"})
    shop.wait_for("imports", "Ready", ("True", "Ready"))
    shop.redis.sadd("queues", queue)
    shop.redis.lpush(f"queue:{queue}", b'{"class": "a", "args": [], "jid": "1", "queue": "q"}')
    delete(shop, "imports")
    shop.wait_for("imports", "CleanupBlocked", ("True", "JobsRemain"))
    shop.redis.delete(f"queue:{queue}")
    until(lambda: gone(shop, "imports"), timeout_seconds=PATIENCE_SECONDS)
    assert not shop.redis.sismember("queues", queue)
    assert not shop.redis.exists(f"stanchion:config:queue:{queue}")


def test_a_policy_that_lost_its_queue_does_not_wait_for_the_winners_jobs(shop: Shop, queue: str) -> None:
    # Names in this order: within one second of each other, the name decides who is older.
    shop.policy("first", {"queueName": queue})
    shop.wait_for("first", "Ready", ("True", "Ready"))
    shop.policy("second", {"queueName": queue, "deletionPolicy": "Delete"})
    shop.wait_for("second", "Conflict", ("True", "QueueTaken"))
    shop.redis.lpush(f"queue:{queue}", b"{}")
    delete(shop, "second")
    until(lambda: gone(shop, "second"), timeout_seconds=5)
    assert shop.redis.llen(f"queue:{queue}") == 1
    assert shop.redis.exists(f"stanchion:config:queue:{queue}")


def test_a_forced_delete_takes_the_jobs_along(shop: Shop, queue: str) -> None:
    shop.policy("imports", {"queueName": queue, "deletionPolicy": "Delete"})
    shop.wait_for("imports", "Ready", ("True", "Ready"))
    shop.redis.lpush(f"queue:{queue}", b"{}")
    shop.kubectl("annotate", "queuepolicy", "imports", "stanchion.dev/force-delete=true")
    delete(shop, "imports")
    until(lambda: gone(shop, "imports"), timeout_seconds=PATIENCE_SECONDS)
    assert not shop.redis.exists(f"queue:{queue}")


def test_retain_needs_no_finalizer_and_goes_without_redis(
    shop_on_own_redis: tuple[Shop, Any], queue: str
) -> None:
    shop, server = shop_on_own_redis
    shop.policy("imports", {"queueName": queue})
    shop.wait_for("imports", "Ready", ("True", "Ready"))
    assert "finalizers" not in shop.get("queuepolicy", "imports")["metadata"]
    server.stop()
    delete(shop, "imports")
    until(lambda: gone(shop, "imports"), timeout_seconds=5)


def test_a_dead_redis_can_be_given_up_by_annotation(shop_on_own_redis: tuple[Shop, Any], queue: str) -> None:
    shop, server = shop_on_own_redis
    shop.policy("imports", {"queueName": queue, "deletionPolicy": "Delete"})
    shop.wait_for("imports", "Ready", ("True", "Ready"))
    server.stop()
    delete(shop, "imports")
    shop.wait_for("imports", "CleanupBlocked", ("True", "RedisUnreachable"))
    shop.kubectl("annotate", "queuepolicy", "imports", "stanchion.dev/force-delete=true")
    until(lambda: gone(shop, "imports"), timeout_seconds=PATIENCE_SECONDS)
