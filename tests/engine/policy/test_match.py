"""Overlaps: one winner, the same in every room."""

from __future__ import annotations

from itertools import permutations

import pytest

from stanchion.policy.lock_policy import LockPolicy
from stanchion.policy.match import Match, is_shadowed, matches_any, resolve
from stanchion.policy.overlap import overruled
from stanchion.policy.owner import Owner
from stanchion.policy.queue_policy import QueuePolicy, RedisRef
from stanchion.policy.scope import in_scope, may_use, queues_of, redis_of


def lock(
    name: str, queues: str = "*", jobs: str = "*", created_at: str = "", namespace: str = "shop"
) -> LockPolicy:
    match = Match(tuple(queues.split()), tuple(jobs.split()))
    return LockPolicy(Owner(namespace, name, created_at=created_at), match, "UntilExecuted")


def queue(
    name: str, namespace: str = "shop", queue: str = "", created_at: str = "", redis: RedisRef | None = None
) -> QueuePolicy:
    owner = Owner(namespace, name, created_at=created_at)
    return QueuePolicy(owner=owner, queue=queue or name, redis=redis)


BEST_FIRST = [
    lock("exact-job-exact-queue", "imports", "catalog.load"),
    lock("exact-job-glob-queue", "imp*", "catalog.load"),
    lock("exact-job", "*", "catalog.load"),
    lock("glob-job-exact-queue", "imports", "catalog.*"),
    lock("older-glob-job", "*", "catalog.*", created_at="2026-01-01T00:00:00Z"),
    lock("a-younger-glob-job", "*", "cat*", created_at="2026-02-01T00:00:00Z"),
    lock("exact-queue", "imports", "*"),
    lock("glob-queue", "*s", "*"),
    lock("anything-a"),
    lock("anything-b"),
]


def test_the_order_of_overlaps() -> None:
    resolution = resolve(reversed(BEST_FIRST), "imports", "catalog.load")
    found = [policy.owner.name for policy in (resolution.winner, *resolution.shadowed) if policy]
    assert found == [policy.owner.name for policy in BEST_FIRST]


def test_the_order_of_declaration_does_not_matter() -> None:
    for order in permutations(BEST_FIRST[:4]):
        assert resolve(order, "imports", "catalog.load").winner is BEST_FIRST[0]


def test_what_matches_neither_queue_nor_job_is_no_candidate() -> None:
    policies = [lock("other-queue", "mail"), lock("other-job", "*", "mail.*")]
    assert resolve(policies, "imports", "catalog.load").winner is None


def test_the_best_of_several_patterns_counts() -> None:
    listed = lock("listed", "* imports")
    assert resolve([lock("older", "imp*"), listed], "imports").winner is listed


@pytest.mark.parametrize(
    ("pattern", "name", "covers"),
    [
        ("catalog.*", "catalog.load", True),
        ("catalog.*", "catalogs.load", False),
        ("*.load", "catalog.load", True),
        ("Shop::*Worker", "Shop::MailWorker", True),
        ("a.b", "axb", False),
        ("CATALOG.*", "catalog.load", False),
    ],
)
def test_globs(pattern: str, name: str, covers: bool) -> None:
    assert matches_any([pattern], name) is covers


def test_a_policy_is_shadowed_when_it_wins_nowhere() -> None:
    younger = lock("younger", "imports", "catalog.*", created_at="2026-02-01T00:00:00Z")
    older = lock("older", "imports", "catalog.*", created_at="2026-01-01T00:00:00Z")
    narrow = lock("narrow", "imports", "catalog.load")
    assert is_shadowed(younger, [older], ["imports"])
    assert not is_shadowed(older, [younger], ["imports"])
    assert not is_shadowed(younger, [narrow], ["imports"])
    assert not is_shadowed(younger, [older], ["mail"]), "what matches nothing is not shadowed either"


def test_a_policy_reaches_only_the_queues_of_its_namespace() -> None:
    ours, theirs = lock("ours"), lock("theirs", namespace="other")
    assert in_scope([ours, theirs], "shop") == (ours,)
    elsewhere = RedisRef("second")
    queues = [queue("imports"), queue("mail", redis=elsewhere), queue("imports", namespace="other")]
    assert queues_of(ours, queues) == tuple(queues[:2])
    assert redis_of(ours, queues) == {None, elsewhere}
    assert redis_of(lock("narrow", "mail"), queues) == {elsewhere}
    assert redis_of(lock("nothing", "none"), queues) == frozenset()


def test_queue_names_a_namespace_may_use() -> None:
    allowed = {"shop": ("shop-*",)}
    assert may_use("shop", "shop-mail", allowed)
    assert not may_use("shop", "mail", allowed)
    assert not may_use("other", "shop-mail", allowed)
    assert may_use("other", "anything", {})


def test_the_older_of_two_queue_policies_owns_the_queue() -> None:
    older = queue("b", queue="imports", created_at="2026-01-01T00:00:00Z")
    younger = queue("a", queue="imports", created_at="2026-01-02T00:00:00Z", namespace="other")
    same_age = queue("c", queue="imports", created_at="2026-01-01T00:00:00Z")
    other = queue("mail")
    losers = overruled([younger, same_age, other, older], place=lambda policy: policy.queue)
    assert losers == {"other/a": older, "shop/c": older}
