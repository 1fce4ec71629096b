"""Config hashes as the operator writes them, on a real Redis. (The scripts have their own tests.)"""

from __future__ import annotations

import pytest
import redis

from stanchion.policy.queue_policy import QueuePolicy
from stanchion_operator.errors import NotLeading, Unreachable
from stanchion_operator.kube.paths import QUEUE_POLICY, Key
from stanchion_operator.reconcile.config_writer import ConfigWriter
from stanchion_operator.redis_config.server import Server

pytestmark = pytest.mark.redis

KEY = Key(QUEUE_POLICY, "shop", "imports")
HASH = "stanchion:config:queue:imports"


def policy(name: str = "imports", uid: str = "u1") -> QueuePolicy:
    metadata = {"name": name, "namespace": "shop", "uid": uid, "creationTimestamp": "2026-01-01T00:00:00Z"}
    return QueuePolicy.from_manifest({"metadata": metadata, "spec": {"queueName": "imports"}})


class Leader:
    """A writer with a fence that can be lowered and a Lease that can be lost."""

    def __init__(self) -> None:
        self.fence = 7
        self.leads = True

    def check(self) -> None:
        if not self.leads:
            raise NotLeading("lost")

    def writer(self, managed_by: str = "install/one") -> ConfigWriter:
        return ConfigWriter(managed_by, lambda: self.fence, self.check)


@pytest.fixture
def leader() -> Leader:
    return Leader()


async def test_outcomes_follow_what_redis_holds(
    redis_url: str, redis_client: redis.Redis, leader: Leader
) -> None:
    server, writer = Server(redis_url), leader.writer()

    async def outcome() -> str:
        return (await writer.write(KEY, policy(), [server])).outcome

    assert await outcome() == "created"
    assert await outcome() == "unchanged"
    redis_client.hset(HASH, "latencyTargetSeconds", "999")
    assert await outcome() == "repaired"
    redis_client.delete(HASH)
    assert await outcome() == "repaired"
    await server.close()


async def test_a_deposed_leader_writes_nothing(
    redis_url: str, redis_client: redis.Redis, leader: Leader
) -> None:
    server, writer = Server(redis_url), leader.writer()
    await writer.write(KEY, policy(), [server])
    leader.fence -= 1
    redis_client.hset(HASH, "latencyTargetSeconds", "999")
    assert (await writer.write(KEY, policy(), [server])).outcome == "stale"
    assert redis_client.hget(HASH, "latencyTargetSeconds") == b"999"
    leader.leads = False
    with pytest.raises(NotLeading):
        await writer.write(KEY, policy(), [server])
    await server.close()


async def test_a_strangers_hash_is_a_conflict_until_taken_over(redis_url: str, leader: Leader) -> None:
    server = Server(redis_url)
    await leader.writer("install/other").write(KEY, policy("theirs", "u9"), [server])
    writer = leader.writer()
    result = await writer.write(KEY, policy(), [server])
    assert (result.outcome, result.owner) == ("conflict", "shop/theirs")
    assert (await writer.write(KEY, policy(), [server], take_over=True)).in_redis
    await server.close()


async def test_what_a_loser_wrote_first_is_taken_over(redis_url: str, leader: Leader) -> None:
    server, writer = Server(redis_url), leader.writer()
    younger = Key(QUEUE_POLICY, "shop", "younger")
    await writer.write(younger, policy("younger", "u2"), [server])
    result = await writer.write(KEY, policy(), [server], take_over_from={"shop/younger"})
    assert result.in_redis
    assert not await writer.is_anothers(server, policy())
    assert await writer.is_anothers(server, policy("younger", "u2"))
    await server.close()


async def test_removing_one_claimant_leaves_the_owners_hash(
    redis_url: str, redis_client: redis.Redis, leader: Leader
) -> None:
    server, writer = Server(redis_url), leader.writer()
    younger = Key(QUEUE_POLICY, "shop", "younger")
    await writer.write(KEY, policy(), [server])
    await writer.write(younger, policy("younger", "u2"), [server])
    await writer.remove(younger)
    assert redis_client.exists(HASH)
    await writer.remove(KEY)
    assert not redis_client.exists(HASH)
    await server.close()


async def test_a_sweep_takes_only_what_is_ours_and_undeclared(
    redis_url: str, redis_client: redis.Redis, leader: Leader
) -> None:
    server, writer = Server(redis_url), leader.writer()
    await writer.write(KEY, policy(), [server])
    other = QueuePolicy.from_manifest({"metadata": {"name": "mail", "namespace": "shop", "uid": "u3"}})
    await leader.writer("cli").write(Key(QUEUE_POLICY, "shop", "mail"), other, [server])
    assert await writer.sweep(server, {"queue/imports"}) == []
    assert await writer.sweep(server, set()) == ["queue/imports"]
    assert redis_client.exists("stanchion:config:queue:mail")
    await server.close()


async def test_a_policy_that_moves_leaves_nothing_behind(
    redis_url: str, redis_client: redis.Redis, leader: Leader
) -> None:
    old, new = Server(redis_url), Server(redis_url.rpartition("/")[0] + "/1")
    writer = leader.writer()
    await writer.write(KEY, policy(), [old])
    await writer.write(KEY, policy(), [new])
    assert not redis_client.exists(HASH)
    assert writer.keys_on(new) == [KEY]
    assert writer.used() == {new}
    for server in (old, new):
        await server.close()


async def test_a_server_that_is_away_keeps_the_config_from_no_other(
    redis_url: str, redis_client: redis.Redis, leader: Leader
) -> None:
    servers = [*(Server(f"redis://127.0.0.1:{port}/0") for port in range(1, 6)), Server(redis_url)]
    with pytest.raises(Unreachable):
        await leader.writer().write(KEY, policy(), servers)
    assert redis_client.exists(HASH)
    for server in servers:
        await server.close()
