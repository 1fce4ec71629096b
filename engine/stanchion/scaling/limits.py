"""From a recommendation to an allowed number: stabilize, then limit the rate, then clamp.

The rules, their order and their rounding are those of the HorizontalPodAutoscaler v2 with `behavior`
set (an exact percentage is taken exactly, where upstream's binary arithmetic may add a pod).
"""

from __future__ import annotations

from collections.abc import Sequence

from stanchion.scaling.behavior import Behavior, Policy, Rules
from stanchion.scaling.history import Recommendation, ScaleEvent


def stabilize(
    desired: int, current: int, recommendations: Sequence[Recommendation], behavior: Behavior, now: float
) -> int:
    """Up waits for the lowest recommendation of its window, down for the highest of its own."""

    def within(window_seconds: int) -> list[int]:
        cutoff = now - window_seconds
        return [past.replicas for past in recommendations if past.at_seconds > cutoff]

    up = min([desired, *within(behavior.up.stabilization_window_seconds)])
    down = max([desired, *within(behavior.down.stabilization_window_seconds)])
    return min(max(current, up), down)


def up_limit(current: int, events: Sequence[ScaleEvent], rules: Rules, now: float) -> int:
    """The highest number the scale-out policies allow; never below `current`."""
    if rules.select == "Disabled":
        return current
    limits = [_upper(policy, _period_start(current, events, policy, now)) for policy in rules.policies]
    return max(current, min(limits) if rules.select == "Min" else max(limits))


def down_limit(current: int, events: Sequence[ScaleEvent], rules: Rules, now: float) -> int:
    """The lowest number the scale-in policies allow; never above `current`."""
    if rules.select == "Disabled":
        return current
    limits = [_lower(policy, _period_start(current, events, policy, now)) for policy in rules.policies]
    return min(current, max(limits) if rules.select == "Min" else min(limits))


def remember(
    events: Sequence[ScaleEvent], event: ScaleEvent | None, behavior: Behavior, now: float
) -> tuple[ScaleEvent, ...]:
    """The events still needed by a policy, and the new one."""
    kept = [
        past
        for past in events
        if past.at_seconds > now - (behavior.down if past.removed else behavior.up).longest_period_seconds
    ]
    return (*kept, event) if event else tuple(kept)


def _period_start(current: int, events: Sequence[ScaleEvent], policy: Policy, now: float) -> int:
    """How many replicas there were when the policy's period began."""
    recent = [event for event in events if event.at_seconds > now - policy.period_seconds]
    return current - sum(event.added for event in recent) + sum(event.removed for event in recent)


def _upper(policy: Policy, start: int) -> int:
    if policy.kind == "Pods":
        return start + policy.value
    return -(-start * (100 + policy.value) // 100)  # rounded up


def _lower(policy: Policy, start: int) -> int:
    if policy.kind == "Pods":
        return start - policy.value
    return int(start * (100 - policy.value) / 100)  # rounded towards zero
