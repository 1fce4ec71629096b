"""The number of replicas follows the queue, up at once and down by draining; nobody else's is fought."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from rig.fleet import FakeFleet
from rig.operator_process import OperatorProcess
from rig.shop import Shop
from waiting import until

pytestmark = [pytest.mark.api, pytest.mark.usefixtures("operator")]

PATIENCE_SECONDS = 40
NO_WINDOW = {"scaleDown": {"stabilizationWindowSeconds": 0}}


def scaled_policy(queue: str, **scaling: Any) -> dict[str, Any]:
    bounds = {"minReplicas": 0, "maxReplicas": 5, "behavior": NO_WINDOW}
    return {
        "queueName": queue,
        "latencyTargetSeconds": 10,
        "workers": {"image": "example/shop:1", "app": "shop.jobs:app"},
        "autoscaling": bounds | scaling,
    }


def push(shop: Shop, queue: str, count: int) -> None:
    now = time.time()
    jobs = [
        json.dumps({"class": "work", "args": [], "jid": f"{n:024x}", "queue": queue, "enqueued_at": now})
        for n in range(count)
    ]
    shop.redis.lpush(f"queue:{queue}", *jobs)
    shop.redis.hincrby(f"stanchion:counters:{queue}", "eligible_enq", count)


def drained(fleet: FakeFleet) -> bool:
    return not fleet.beat()


def test_a_burst_wakes_workers_straight_to_the_computed_number(
    shop: Shop, queue: str, operator: OperatorProcess
) -> None:
    shop.policy("imports", scaled_policy(queue))
    shop.wait_for("imports", "Ready", ("True", "Ready"))
    push(shop, queue, 100)  # 100 jobs of an assumed second within 5 s: 20 slots and more
    until(lambda: shop.replicas("imports-workers") > 0, timeout_seconds=PATIENCE_SECONDS)
    status = shop.get("queuepolicy", "imports")["status"]
    until(lambda: shop.get("queuepolicy", "imports")["status"].get("scaleEvents"))
    status = shop.get("queuepolicy", "imports")["status"]
    first = status["scaleEvents"][0]
    assert first["from"] == 0
    assert first["to"] == min(5, status["demand"]["replicas"])
    assert status["demand"]["winningTerm"] == "tail"
    assert status["demand"]["backlog"] == 100
    assert status["desiredReplicas"] == first["to"]
    assert "100 wait" in status["lastScaleReason"]
    series = f'stanchion_operator_current_replicas{{namespace="{shop.namespace}",policy="imports"}}'
    until(lambda: f"{series} {first['to']}.0" in operator.get("/metrics"))
    shop.wait_for("imports", "WorkersAvailable", ("True", "Waking"))
    assert shop.condition("imports", "Ready") == ("True", "Ready"), "a queue that wakes is in force"


def test_a_restart_in_a_burst_costs_no_worker(shop: Shop, queue: str, operator: OperatorProcess) -> None:
    shop.policy("imports", scaled_policy(queue))
    shop.wait_for("imports", "Ready", ("True", "Ready"))
    push(shop, queue, 1_000)  # more than maxReplicas can take, so the number has nowhere to go
    until(lambda: shop.replicas("imports-workers") == 5, timeout_seconds=PATIENCE_SECONDS)
    until(lambda: shop.get("queuepolicy", "imports")["status"].get("scaleEvents"))
    before = shop.get("queuepolicy", "imports")["status"]
    assert operator.stop() == 0
    operator.start()
    until(operator.is_leading, timeout_seconds=PATIENCE_SECONDS)
    series = f'stanchion_operator_desired_replicas{{namespace="{shop.namespace}",policy="imports"}}'
    until(lambda: f"{series} 5.0" in operator.get("/metrics"), timeout_seconds=PATIENCE_SECONDS)
    assert shop.replicas("imports-workers") == 5
    after = shop.get("queuepolicy", "imports")["status"]
    assert after["scaleEvents"] == before["scaleEvents"]
    assert after["lastScaleReason"] == before["lastScaleReason"]


def test_scale_in_quiets_and_waits_for_the_busy(shop: Shop, queue: str) -> None:
    shop.policy("imports", scaled_policy(queue, minReplicas=2))
    fleet = FakeFleet(shop, "imports", queue)
    until(lambda: len(fleet.beat()) == 2, timeout_seconds=PATIENCE_SECONDS)
    working = fleet.pods()[0]
    fleet.busy[working] = 3
    fleet.beat()
    shop.policy("imports", scaled_policy(queue, minReplicas=0))
    until(lambda: fleet.beat() == [working], timeout_seconds=PATIENCE_SECONDS)
    assert shop.replicas("imports-workers") == 1
    fleet.busy[working] = 0
    until(lambda: drained(fleet), timeout_seconds=PATIENCE_SECONDS)
    until(lambda: shop.replicas("imports-workers") == 0, timeout_seconds=PATIENCE_SECONDS)
    assert working in fleet.quiet


def test_a_pod_that_is_busy_and_not_ready_stops_every_scale_in(shop: Shop, queue: str) -> None:
    shop.policy("imports", scaled_policy(queue, minReplicas=2))
    fleet = FakeFleet(shop, "imports", queue)
    until(lambda: len(fleet.beat()) == 2, timeout_seconds=PATIENCE_SECONDS)
    sick = fleet.pods()[0]
    fleet.busy[sick] = 1
    fleet.sick.add(sick)
    fleet.beat()
    shop.policy("imports", scaled_policy(queue, minReplicas=1))
    shop.wait_for("imports", "AbleToScale", ("True", "Draining"))
    assert shop.replicas("imports-workers") == 2
    fleet.sick.clear()
    until(lambda: len(fleet.beat()) == 1, timeout_seconds=PATIENCE_SECONDS)
    assert fleet.pods() == [sick]


def test_redis_away_holds_the_number(shop_on_own_redis: tuple[Shop, Any], queue: str) -> None:
    shop, server = shop_on_own_redis
    shop.policy("imports", scaled_policy(queue, minReplicas=2))
    shop.wait_for("imports", "ScalingActive", ("True", "ValidMetricFound"))
    server.stop()
    shop.wait_for("imports", "ScalingActive", ("False", "FailedGetExternalMetric"))
    shop.wait_for("imports", "Ready", ("False", "RedisUnreachable"))
    assert shop.replicas("imports-workers") == 2
    assert shop.exists("deployment", "imports-workers")


def test_an_emptied_redis_has_its_config_back_within_a_resync(
    shop_on_own_redis: tuple[Shop, Any], queue: str
) -> None:
    shop, _ = shop_on_own_redis
    shop.policy("imports", scaled_policy(queue))
    shop.wait_for("imports", "Ready", ("True", "Ready"))
    shop.redis.flushall()
    until(lambda: shop.redis.exists(f"stanchion:config:queue:{queue}"), timeout_seconds=30)


def test_another_scaler_is_reported_and_not_fought(shop: Shop, queue: str) -> None:
    shop.policy("imports", scaled_policy(queue, minReplicas=1))
    shop.wait_for("imports", "ScalingActive", ("True", "ValidMetricFound"))
    shop.policy("imports", scaled_policy(queue, minReplicas=2))
    until(lambda: shop.replicas("imports-workers") == 2, timeout_seconds=PATIENCE_SECONDS)
    shop.kubectl("scale", "deployment", "imports-workers", "--replicas=1")
    shop.wait_for("imports", "Conflict", ("True", "ScaleConflict"))
    assert shop.condition("imports", "AbleToScale") == ("False", "ScaleConflict")
    assert shop.replicas("imports-workers") == 1
    shop.kubectl("annotate", "queuepolicy", "imports", "stanchion.dev/take-over=true")
    until(lambda: shop.replicas("imports-workers") == 2, timeout_seconds=PATIENCE_SECONDS)
    shop.wait_for("imports", "Conflict", ("False", "NoConflict"))


@pytest.mark.parametrize(
    ("annotation", "wanted"), [("paused=true", 0), ("paused-scale-out=true", 0), ("paused-replicas=4", 4)]
)
def test_orders_by_annotation_outrank_the_law(shop: Shop, queue: str, annotation: str, wanted: int) -> None:
    shop.policy("imports", scaled_policy(queue))
    shop.wait_for("imports", "Ready", ("True", "Ready"))
    shop.kubectl("annotate", "queuepolicy", "imports", f"stanchion.dev/{annotation}")
    kind = "AbleToScale" if "scale-out" in annotation else "ScalingActive"
    push(shop, queue, 1000)
    shop.wait_for("imports", kind, ("False", "PausedByAnnotation"))
    until(lambda: shop.replicas("imports-workers") == wanted, timeout_seconds=PATIENCE_SECONDS)
    shop.kubectl("annotate", "queuepolicy", "imports", f"stanchion.dev/{annotation.partition('=')[0]}-")
    until(lambda: shop.replicas("imports-workers") == 5, timeout_seconds=PATIENCE_SECONDS)


def test_a_dry_run_only_says_what_it_would_do(shop: Shop, queue: str) -> None:
    shop.policy("imports", scaled_policy(queue, dryRun=True))
    shop.wait_for("imports", "Ready", ("True", "Ready"))
    push(shop, queue, 1000)
    until(lambda: shop.get("queuepolicy", "imports")["status"].get("desiredReplicas") == 5)
    assert shop.condition("imports", "ScalingActive") == ("False", "DryRun")
    assert shop.replicas("imports-workers") == 0


def test_idle_policies_and_deployments_are_not_written(shop: Shop, queue: str) -> None:
    shop.policy("imports", scaled_policy(queue))
    shop.wait_for("imports", "Ready", ("True", "Ready"))
    shop.wait_for("imports", "ScalingActive", ("True", "ValidMetricFound"))
    names = [("queuepolicy", "imports"), ("deployment", "imports-workers")]
    settled = time.monotonic() + 3
    until(lambda: time.monotonic() > settled)
    before = [shop.get(*name)["metadata"]["resourceVersion"] for name in names]
    several_resyncs = time.monotonic() + 13
    until(lambda: time.monotonic() > several_resyncs, timeout_seconds=15)
    assert [shop.get(*name)["metadata"]["resourceVersion"] for name in names] == before
