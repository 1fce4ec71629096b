"""What no single object can say: two manifests that claim the same thing, and workers that nobody owns.

The operator finds the same in a cluster and shows it as conditions; here it is known before anything is
applied. Called by `stanchion check`, `apply` and `dev` with manifests that are valid one by one. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping

from stanchion.manifest.document import Json, Manifest
from stanchion.manifest.problem import Problem

MAX_RIDERS = 16
"""Most queues that ride on one policy's workers."""

_Key = tuple[Hashable, ...]


def check_set(manifests: Iterable[Manifest], *, one_redis: bool = False) -> tuple[Problem, ...]:
    """Conflicts, each reported at the later manifest: an object stated twice, a queue or a target Deployment
    with two QueuePolicies, and a policyRef that cannot be followed within the set.

    With `one_redis` all queues are on the same server whatever their Secrets say, as for `dev` and `apply`;
    without it only policies that name the same Secret in the same namespace are known to share one.
    """
    objects: dict[_Key, Manifest] = {}
    problems: list[Problem] = []
    for manifest in manifests:
        first = objects.setdefault((manifest.kind, manifest.namespace, manifest.name), manifest)
        if first is not manifest:
            problems.append(_taken(manifest, "metadata.name", f"{manifest.kind} {manifest.name}", first))
    policies = [manifest for manifest in objects.values() if manifest.kind == "QueuePolicy"]
    problems += _claimed_twice(policies, one_redis)
    problems += _misled(policies, one_redis)
    return tuple(problems)


def queue_name(manifest: Manifest) -> str:
    """The queue a QueuePolicy governs: `spec.queueName`, else its own name."""
    return str(_at(manifest.body, "spec", "queueName") or manifest.name)


def _claimed_twice(policies: list[Manifest], one_redis: bool) -> Iterator[Problem]:
    owners: dict[_Key, Manifest] = {}
    for policy in policies:
        queue, target = queue_name(policy), _at(policy.body, "spec", "workers", "targetRef")
        claims: list[tuple[_Key, str, str]] = [
            (("queue", _redis(policy, one_redis), queue), "spec.queueName", f"queue {queue}")
        ]
        if target is not None:
            key = ("target", policy.namespace, str(target.get("name")))
            claims.append((key, "spec.workers.targetRef", f"Deployment {target.get('name')}"))
        for claim, field, what in claims:
            owner = owners.setdefault(claim, policy)
            if owner is not policy:
                yield _taken(policy, field, what, owner)


def _misled(policies: list[Manifest], one_redis: bool) -> Iterator[Problem]:
    """A policyRef to an owner outside the set is not judged: the cluster may have it."""
    known = {(policy.namespace, policy.name): policy for policy in policies}
    riders: dict[_Key, int] = defaultdict(int)
    for policy in policies:
        name = _at(policy.body, "spec", "workers", "policyRef", "name")
        owner = known.get((policy.namespace, str(name)))
        if name is None or owner is None:
            continue
        riders[owner.namespace, owner.name] += 1
        workers = _at(owner.body, "spec", "workers") or {}
        wrong = ""
        if "image" not in workers and "targetRef" not in workers:
            wrong = f"QueuePolicy {name} has no workers of its own (image or targetRef)"
        elif _redis(policy, one_redis) != _redis(owner, one_redis):
            wrong = f"QueuePolicy {name} is on another Redis"
        elif riders[owner.namespace, owner.name] > MAX_RIDERS:
            wrong = f"more than {MAX_RIDERS} queues ride on QueuePolicy {name}"
        if wrong:
            field = "spec.workers.policyRef.name"
            yield Problem(policy.file, policy.line_of(field), field, "Conflict", wrong)


def _taken(manifest: Manifest, field: str, what: str, owner: Manifest) -> Problem:
    message = (
        f"{what} already belongs to {owner.kind} {owner.namespace}/{owner.name} at {owner.file}:{owner.line}"
    )
    if field == "metadata.name":
        message = f"{what} is already stated at {owner.file}:{owner.line}"
    return Problem(manifest.file, manifest.line_of(field), field, "Conflict", message)


def _redis(policy: Manifest, one_redis: bool) -> _Key:
    if one_redis:
        return ()
    secret = _at(policy.body, "spec", "redis", "secretRef") or {}
    return (policy.namespace, str(secret.get("name", "")), str(secret.get("key", "url")))


def _at(value: Json, *keys: str) -> Json:
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
