"""The gate's copy of the config: fresh when it can be, the last good one when it cannot."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import redis
import redis.asyncio

from stanchion.dev.redis_server import RedisServer
from stanchion.gate.config import REBUILD_SECONDS, ConfigCache
from stanchion.policy.contract import Config, encode
from stanchion.policy.lock_policy import LockPolicy
from stanchion.policy.match import Match
from stanchion.policy.owner import Owner
from stanchion.policy.queue_policy import QueueConfig
from stanchion.policy.tenant_budget import Limits, TenantBudget
from stanchion.store import config, connection, keys

pytestmark = pytest.mark.redis

IMPORTS = keys.config("queue", "imports")


def queue(
    name: str = "imports",
    *,
    paused: bool = False,
    generation: int = 1,
    namespace: str = "shop",
    uid: str = "u",
) -> QueueConfig:
    owner = Owner(namespace, name, uid, generation)
    return QueueConfig(owner=owner, queue=name, paused=paused)


def lock(name: str, namespace: str = "shop") -> LockPolicy:
    return LockPolicy(Owner(namespace, name, f"u-{name}"), Match(("imports",)), "UntilExecuted")


def budget(name: str, namespace: str = "shop") -> TenantBudget:
    return TenantBudget(Owner(namespace, name, f"u-{name}"), Match(("imports",)), Limits(weight=2))


@pytest.fixture
def cache() -> ConfigCache:
    return ConfigCache()


async def write(client: redis.asyncio.Redis, *policies: Config) -> None:
    for policy in policies:
        assert (await config.write(client, encode(policy, "install"), take_over=True)).in_redis


def test_before_any_config_nothing_is_governed(redis_client: redis.Redis, cache: ConfigCache) -> None:
    assert cache.view.epoch == ""
    view = cache.refresh(redis_client)
    assert (view.epoch, view.queue("imports"), view.lock("imports", "x")) == ("", None, None)
    assert cache.problems == ()


async def test_a_full_redis_still_tells_its_config(
    aredis: redis.asyncio.Redis, redis_client: redis.Redis, cache: ConfigCache
) -> None:
    """Else a worker that is started to drain it would know of no pause and no limit."""
    await write(aredis, queue(paused=True))
    redis_client.config_set("maxmemory", "1")
    try:
        seen = [cache.refresh(redis_client), await ConfigCache().arefresh(aredis)]
    finally:
        redis_client.config_set("maxmemory", "0")
    assert [view.queue("imports") == queue(paused=True) for view in seen] == [True, True]


async def test_both_shells_read_the_same_view(
    aredis: redis.asyncio.Redis, redis_client: redis.Redis, cache: ConfigCache
) -> None:
    await write(aredis, queue(), lock("catalog"), budget("fair"))
    view = await cache.arefresh(aredis)
    assert view.queue("imports") == queue()
    assert view.lock("imports", "catalog.load") == lock("catalog")
    assert view.budget("imports") == budget("fair")
    assert view.epoch == await config.epoch(aredis)
    assert ConfigCache().refresh(redis_client) == view


async def test_a_policy_of_another_namespace_does_not_act(
    aredis: redis.asyncio.Redis, cache: ConfigCache
) -> None:
    await write(aredis, queue(), lock("theirs", "other"), budget("theirs", "other"))
    view = await cache.arefresh(aredis)
    assert view.lock("imports", "catalog.load") is None
    assert view.budget("imports") is None


async def test_only_what_changed_is_read_again(
    aredis: redis.asyncio.Redis, redis_client: redis.Redis, cache: ConfigCache
) -> None:
    await write(aredis, queue(), queue("mail", uid="m"))
    cache.refresh(redis_client)
    await write(aredis, queue("mail", paused=True, generation=2, uid="m"))
    before = calls(redis_client, "hgetall")
    view = cache.refresh(redis_client)
    assert calls(redis_client, "hgetall") - before == 2, "the index and one hash"
    mail = view.queue("mail")
    assert mail is not None
    assert mail.paused


async def test_a_new_owner_of_an_equal_spec_is_seen(aredis: redis.asyncio.Redis, cache: ConfigCache) -> None:
    await write(aredis, queue())
    await cache.arefresh(aredis)
    await write(aredis, queue(namespace="billing", uid="u-2"))
    taken = (await cache.arefresh(aredis)).queue("imports")
    assert taken is not None
    assert taken.owner.namespace == "billing"


async def test_a_deleted_policy_is_gone(aredis: redis.asyncio.Redis, cache: ConfigCache) -> None:
    await write(aredis, queue())
    await cache.arefresh(aredis)
    await config.delete(aredis, "queue", "imports", "u", "install")
    assert (await cache.arefresh(aredis)).queue("imports") is None
    assert cache.problems == ()


Damage = Callable[[redis.Redis], object]
DAMAGE: dict[str, tuple[Damage, str]] = {
    "changed by hand": (lambda client: client.hset(IMPORTS, "paused", "false"), "changed by hand"),
    "a field lost": (lambda client: client.hdel(IMPORTS, "owner"), "is missing"),
    "deleted": (lambda client: client.delete(IMPORTS), "its hash is gone"),
    "no text": (lambda client: client.hset(IMPORTS, "fairness", b"\xff"), "changed by hand"),
    "another type": (lambda client: client.set(IMPORTS, "1"), "cannot be read"),
}


@pytest.mark.parametrize("damage", DAMAGE)
async def test_a_damaged_hash_leaves_the_last_good_copy_in_force(
    aredis: redis.asyncio.Redis,
    redis_client: redis.Redis,
    cache: ConfigCache,
    damage: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await write(aredis, queue(paused=True))
    cache.refresh(redis_client)
    await write(aredis, queue(paused=True, generation=2), queue("mail", uid="m"))
    act, message = DAMAGE[damage]
    # The stamp moves too, so that the reader looks at the damaged hash.
    redis_client.hset(keys.CONFIG_INDEX, "queue/imports", "00:u")
    act(redis_client)

    with caplog.at_level(logging.WARNING, "stanchion.config"):
        for _ in range(3):
            view = cache.refresh(redis_client)

    kept = view.queue("imports")
    assert kept is not None
    assert kept.paused
    assert view.queue("mail") is not None, "the other hashes are read"
    assert [message in problem for problem in cache.problems] == [True]
    assert len(caplog.records) == 1, "said once, not at every reading"

    await write(aredis, queue(generation=3))
    repaired = cache.refresh(redis_client).queue("imports")
    assert repaired is not None
    assert not repaired.paused
    assert not cache.problems


async def test_a_damaged_hash_without_a_good_copy_governs_nothing(
    aredis: redis.asyncio.Redis, cache: ConfigCache
) -> None:
    await write(aredis, queue(paused=True))
    await aredis.hset(IMPORTS, "paused", "no")
    assert (await cache.arefresh(aredis)).queue("imports") is None
    assert "queue/imports: digest" in cache.problems[0]


async def test_a_flushed_redis_takes_no_limit_away(
    aredis: redis.asyncio.Redis, redis_client: redis.Redis, cache: ConfigCache
) -> None:
    await write(aredis, queue(paused=True))
    known = cache.refresh(redis_client)
    redis_client.flushall()
    assert cache.refresh(redis_client) == known
    assert cache.problems == ("Redis holds no config, the last one stays",)


async def test_a_config_that_comes_back_piece_by_piece_takes_no_limit_away(
    aredis: redis.asyncio.Redis,
) -> None:
    now = 1000.0
    cache = ConfigCache(clock=lambda: now)
    await write(aredis, queue(paused=True), lock("catalog"), queue("gone", uid="g"))
    await cache.arefresh(aredis)
    await aredis.flushall()
    await write(aredis, lock("catalog"))

    view = await cache.arefresh(aredis)
    kept = view.queue("imports")
    assert kept is not None
    assert kept.paused
    assert view.epoch == await config.epoch(aredis), "gated scripts take it: nobody reads in circles"
    assert "until written again the last config stays: queue/gone, queue/imports" in cache.problems[0]

    await write(aredis, queue(paused=False, generation=2))
    back = (await cache.arefresh(aredis)).queue("imports")
    assert back is not None
    assert not back.paused

    await config.delete(aredis, "queue", "imports", "u", "install")
    assert (await cache.arefresh(aredis)).queue("imports") is None, "it was back, so it was deleted"

    now += REBUILD_SECONDS
    await write(aredis, queue(paused=True, generation=3))
    assert (await cache.arefresh(aredis)).queue("gone") is None
    assert cache.problems == ()


def test_a_redis_that_is_away_takes_no_limit_away(tmp_path: Path, cache: ConfigCache) -> None:
    with RedisServer(tmp_path) as server:
        client = connection.connect(server.url)
        written = encode(queue(), "install")
        for field, value in written.fields.items():
            client.hset(IMPORTS, field, value)
        client.hset(keys.CONFIG_INDEX, written.entry, written.stamp)
        client.set(keys.CONFIG_EPOCH, "1-a")
        known = cache.refresh(client)
    assert cache.refresh(client) == known
    assert "did not answer" in cache.problems[0]


async def test_an_entry_of_a_kind_to_come_is_named_and_left_alone(
    aredis: redis.asyncio.Redis, cache: ConfigCache
) -> None:
    await write(aredis, queue())
    await aredis.hset(keys.CONFIG_INDEX, "robot/x", "00:u")
    assert (await cache.arefresh(aredis)).queue("imports") == queue()
    assert cache.problems == ("robot/x: is of no kind this version knows",)


async def test_threads_see_whole_views(
    aredis: redis.asyncio.Redis, redis_url: str, cache: ConfigCache
) -> None:
    """Two queues always change together; no reader may see one of them changed alone."""
    await write(aredis, queue(), lock("catalog"))
    failures: list[BaseException] = []

    def read() -> None:
        try:
            with connection.connect(redis_url) as client:
                for _ in range(50):
                    view = cache.refresh(client)
                    assert view.lock("imports", "x") is not None
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for generation in range(2, 20):
        await write(aredis, queue(paused=generation % 2 == 0, generation=generation))
    for thread in threads:
        thread.join()
    assert failures == []


def calls(client: redis.Redis, command: str) -> int:
    """How often the server has run `command`."""
    stats: dict[str, dict[str, int]] = client.info("commandstats")
    return stats.get(f"cmdstat_{command}", {"calls": 0})["calls"]
