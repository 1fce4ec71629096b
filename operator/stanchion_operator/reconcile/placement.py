"""Where each healthy QueuePolicy lives: what the reconcile loop found, for the autoscaler to work on."""

from __future__ import annotations

from dataclasses import dataclass

from stanchion.policy.queue_policy import QueuePolicy
from stanchion_operator.kube.paths import Key
from stanchion_operator.redis_config.server import Server


@dataclass(frozen=True, slots=True)
class Placement:
    """A policy that owns its queue. `target` is the Deployment that runs it, if it scales one."""

    policy: QueuePolicy
    server: Server
    target: Key | None = None
    ours: bool = False
    """We made the target, so its pods report unready once they are quiet."""
    riders: tuple[QueuePolicy, ...] = ()
    """Policies whose queues the target's workers serve as well."""


Placements = dict[Key, Placement]
