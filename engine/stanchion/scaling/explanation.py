"""The words of a decision: HPA's condition reasons, and one line that names the figures that decided.

Called by `autoscaler`; it words what was decided and decides nothing.
"""

from __future__ import annotations

from stanchion.scaling.decision import Condition
from stanchion.scaling.estimate import Estimate
from stanchion.scaling.law import Demand


def ready_for_new_scale() -> Condition:
    """AbleToScale when no window holds the number back."""
    return Condition(True, "ReadyForNewScale", "the recommended number is not held back by a window")


def stabilized(wanted: int, stable: int) -> Condition:
    """AbleToScale after stabilization turned `wanted` into `stable`."""
    if stable > wanted:
        message = f"{wanted} would do now, but {stable} was wanted within the scale-in window"
        return Condition(True, "ScaleDownStabilized", message)
    if stable < wanted:
        message = f"{wanted} is wanted now, but {stable} would have done within the scale-out window"
        return Condition(True, "ScaleUpStabilized", message)
    return ready_for_new_scale()


def active() -> Condition:
    """ScalingActive while the queue can be read."""
    return Condition(True, "ValidMetricFound", "the queue's facts were read from Redis")


def blind() -> Condition:
    """ScalingActive without facts."""
    message = "Redis could not be read, so the number of replicas is held"
    return Condition(False, "FailedGetExternalMetric", message)


def limited(wanted: int, low: int, high: int, min_replicas: int, max_replicas: int) -> Condition:
    """ScalingLimited, where the policies allow `low` to `high`. On a tie the bound is named."""
    if wanted > high and high < max_replicas:
        return Condition(True, "ScaleUpLimit", f"the scale-out policies allow {high} of {wanted} now")
    if wanted > max_replicas:
        return Condition(True, "TooManyReplicas", f"{wanted} is above maxReplicas {max_replicas}")
    if wanted < low and low > min_replicas:
        return Condition(True, "ScaleDownLimit", f"the scale-in policies allow {low}, not {wanted}, now")
    if wanted < min_replicas:
        return Condition(True, "TooFewReplicas", f"{wanted} is below minReplicas {min_replicas}")
    return Condition(False, "DesiredWithinRange", "the wanted number is within the bounds")


def correction(current: int, min_replicas: int, max_replicas: int) -> str:
    """Why a number was corrected, or held, without looking at the queue."""
    if current > max_replicas:
        return f"{current} is above maxReplicas {max_replicas}"
    if current < min_replicas:
        return f"{current} is below minReplicas {min_replicas}"
    return "held: Redis cannot be read"


def fallback(desired: int, waited_seconds: float) -> str:
    """Why the fallback number applies."""
    return f"fallback: Redis could not be read for {waited_seconds:.0f} s, so at least {desired}"


def reason(
    estimate: Estimate,
    demand: Demand,
    target_seconds: float,
    desired: int,
    able: Condition,
    limit: Condition,
) -> str:
    """One line: the winning term with its figures, and what held the number back, if anything did."""
    line = f"{_term(estimate, demand, target_seconds)}: {demand.slots:.1f} slots = {demand.replicas}"
    if limit.status:
        return f"{line}, now {desired} ({limit.reason})"
    if able.reason != "ReadyForNewScale":
        return f"{line}, now {desired} ({able.reason})"
    return line


def _term(estimate: Estimate, demand: Demand, target_seconds: float) -> str:
    service = f"{estimate.service_seconds * 1000:.0f} ms"
    match demand.winning_term:
        case "tail":
            age = f"{estimate.oldest_age_seconds:.1f} s of {target_seconds:g} s"
            return f"tail: {estimate.backlog} wait, oldest {age}, {service} each"
        case "steady":
            return f"steady: {estimate.arrival_rate:.1f}/s of {service}"
        case "due":
            return f"due: {estimate.due_rate:.1f}/s of {service} soon"
        case "long":
            return f"long: {estimate.long_busy_slots} slots run long jobs"
        case "none":
            return "none: nothing to do"
