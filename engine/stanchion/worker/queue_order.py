"""In which order a trip looks at the queues. Pure: the random source is passed in."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from stanchion.worker.options import QueueWeight


def order(queues: Sequence[QueueWeight], how: str, rng: Random) -> tuple[str, ...]:
    """`strict`: as given. `random`: shuffled. `weighted`: a queue's chance to stand before the others is
    its share of the weights, as when each name is repeated by its weight, shuffled, and kept once.
    """
    if how == "strict":
        return tuple(queue.name for queue in queues)
    # An exponential race: the smallest of expovariate(w) comes first with probability w / sum of weights.
    rates = {queue.name: queue.weight if how == "weighted" else 1 for queue in queues}
    return tuple(sorted(rates, key=lambda name: rng.expovariate(rates[name])))
