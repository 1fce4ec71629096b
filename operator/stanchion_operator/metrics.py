"""Every Prometheus series of the operator, with labels bounded by the number of policies."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

REGISTRY = CollectorRegistry()

PASSES = Counter(
    "stanchion_operator_reconciles", "Passes by kind and result", ("kind", "result"), registry=REGISTRY
)
PASS_SECONDS = Histogram(
    "stanchion_operator_reconcile_seconds", "Duration of a pass", ("kind",), registry=REGISTRY
)
WAITING_KEYS = Gauge("stanchion_operator_workqueue_depth", "Keys that wait for a pass", registry=REGISTRY)
LEADING = Gauge("stanchion_operator_leading", "1 while this process may write", registry=REGISTRY)
REPAIRS = Counter(
    "stanchion_operator_config_repairs",
    "Config hashes that had been changed or lost in Redis",
    ("kind",),
    registry=REGISTRY,
)
REDIS_UP = Gauge("stanchion_operator_redis_up", "1 while the server answers", ("address",), registry=REGISTRY)
DESIRED = Gauge(
    "stanchion_operator_desired_replicas", "Replicas wanted", ("namespace", "policy"), registry=REGISTRY
)
CURRENT = Gauge(
    "stanchion_operator_current_replicas", "Replicas asked for", ("namespace", "policy"), registry=REGISTRY
)
OLDEST_AGE = Gauge(
    "stanchion_operator_oldest_age_seconds",
    "Age of the oldest eligible job",
    ("namespace", "policy"),
    registry=REGISTRY,
)
BACKLOG = Gauge(
    "stanchion_operator_waiting_jobs", "Eligible jobs that wait", ("namespace", "policy"), registry=REGISTRY
)
TICKS = Counter("stanchion_operator_autoscaler_ticks", "Looks at a queue", ("result",), registry=REGISTRY)
OF_A_POLICY = (DESIRED, CURRENT, OLDEST_AGE, BACKLOG)


@contextmanager
def timed_pass(kind: str) -> Iterator[None]:
    """Observe the duration of a pass and count it if it fails."""
    started = time.monotonic()
    try:
        yield
    except Exception:
        PASSES.labels(kind, "error").inc()
        raise
    finally:
        PASS_SECONDS.labels(kind).observe(time.monotonic() - started)


def count_pass(kind: str, result: str) -> None:
    """Count a pass that ended without an error."""
    PASSES.labels(kind, result).inc()


def forget_policy(namespace: str, name: str) -> None:
    """Drop the series of a policy that is gone."""
    for gauge in OF_A_POLICY:
        with suppress(KeyError):
            gauge.remove(namespace, name)
