"""The measured half of a QueuePolicy's status, and when it has moved enough to be written."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from stanchion.policy.queue_policy import QueuePolicy
from stanchion.scaling.decision import Decision
from stanchion.scaling.estimate import Estimate
from stanchion.scaling.facts import QueueFacts
from stanchion.scaling.history import ScaleEvent
from stanchion.scaling.law import Demand
from stanchion_operator.decide.conditions import Condition, timestamp
from stanchion_operator.decide.report import differs
from stanchion_operator.decide.target import Target

Json = Mapping[str, Any]

FIGURES = ("oldestAgeSeconds", "latency", "waiting", "busy", "demand", "sampledAt")
MOST_EVENTS = 20
FIGURES_EVERY_SECONDS = 30.0
MOVED_SHARE = 0.1


def fields(
    policy: QueuePolicy,
    facts: QueueFacts | None,
    target: Target | None,
    decision: Decision | None,
    events: Sequence[ScaleEvent],
    reason: str,
    now: float,
) -> dict[str, Any]:
    """The fields, figures included. What is not known is left out."""
    shown: dict[str, Any] = {}
    if target is not None and target.desired is not None:
        shown["desiredReplicas"] = target.desired
    if facts is not None:
        age = round(facts.oldest_age_seconds)
        shown |= {
            "oldestAgeSeconds": age,
            "latency": f"{age}s/{policy.latency_target_seconds}s",
            "waiting": facts.waiting,
            "busy": facts.busy,
            "sampledAt": timestamp(now),
        }
    if decision is not None and decision.estimate and decision.demand and policy.workers:
        shown["demand"] = _demand(decision.estimate, decision.demand, policy.workers.slots_per_replica)
    if events:
        shown |= {
            "lastScaleTime": timestamp(events[-1].at_seconds),
            "lastScaleReason": reason,
            "scaleEvents": [
                {
                    "time": timestamp(event.at_seconds),
                    "from": event.from_replicas,
                    "to": event.to_replicas,
                }
                for event in events[-MOST_EVENTS:]
            ],
        }
    return shown


def conditions(policy: QueuePolicy, facts: QueueFacts | None, target: Target | None) -> list[Condition]:
    """What was seen, and what scaling does about it. Without facts nothing is claimed about the queue."""
    said = [target.active, target.able, target.limited] if target is not None else []
    if facts is None:
        unknown = "Redis could not be read"
        return [
            *said,
            Condition("LatencyTargetMet", None, "RedisUnreachable", unknown),
            Condition("Paused", None, "RedisUnreachable", unknown),
        ]
    late = facts.oldest_age_seconds > policy.latency_target_seconds
    return [
        *said,
        Condition(
            "LatencyTargetMet",
            not late,
            "AboveTarget" if late else "WithinTarget",
            f"the oldest job waits longer than {policy.latency_target_seconds} s"
            if late
            else f"the oldest job waits at most {policy.latency_target_seconds} s",
        ),
        _paused(policy, facts),
    ]


def _paused(policy: QueuePolicy, facts: QueueFacts) -> Condition:
    if policy.paused:
        return Condition("Paused", True, "PausedBySpec", "spec.paused is true")
    if facts.paused:
        return Condition("Paused", True, "RuntimeOverride", "paused at run time, by command or web page")
    return Condition("Paused", False, "NotPaused", "workers take jobs of this queue")


def worth_writing(wanted: Json, shown: Json, now: float) -> bool:
    """Any news beside the figures is; figures alone if they moved by a tenth and the last are 30 s old."""
    news = {field: value for field, value in wanted.items() if field not in FIGURES}
    if differs(news, shown):
        return True
    if not any(_moved(wanted.get(field), shown.get(field)) for field in FIGURES if field != "sampledAt"):
        return False
    return now - _seconds(shown.get("sampledAt")) >= FIGURES_EVERY_SECONDS


def restored_events(shown: Json) -> list[ScaleEvent]:
    """The scale events an earlier life of the operator wrote."""
    return [
        ScaleEvent(_seconds(event["time"]), event["from"], event["to"])
        for event in shown.get("scaleEvents") or ()
    ]


def _moved(wanted: Any, shown: Any) -> bool:
    """Whether a figure differs by more than a tenth of the larger one; text only if it is no number."""
    if isinstance(wanted, Mapping) and isinstance(shown, Mapping):
        return any(_moved(value, shown.get(name)) for name, value in wanted.items())
    try:
        one, other = float(wanted), float(shown)
    except (TypeError, ValueError):
        # "7s/10s" repeats two numbers that are compared by themselves
        return (wanted is None) != (shown is None)
    return abs(one - other) > MOVED_SHARE * max(abs(one), abs(other))


def _seconds(time: str | None) -> float:
    return datetime.fromisoformat(time).timestamp() if time else 0.0


def _demand(estimate: Estimate, demand: Demand, slots_per_replica: int) -> dict[str, Any]:
    """The figures the number was computed from; rates as decimal text, so that nothing rounds them again."""
    return {
        "arrivalRatePerSecond": _rate(estimate.arrival_rate),
        "shortArrivalRatePerSecond": _rate(estimate.arrival_rate_short),
        "serviceMilliseconds": round(estimate.service_seconds * 1000),
        "backlog": estimate.backlog,
        "oldestAgeSeconds": round(estimate.oldest_age_seconds),
        "dueRatePerSecond": _rate(estimate.due_rate),
        "longBusySlots": estimate.long_busy_slots,
        "slots": math.ceil(demand.slots),
        "slotsPerReplica": slots_per_replica,
        "winningTerm": demand.winning_term,
        "replicas": demand.replicas,
    }


def _rate(per_second: float) -> str:
    return f"{per_second:.3f}".rstrip("0").rstrip(".")
