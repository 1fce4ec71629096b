"""Who of `processes` is Ruby, in which version, and what that makes us write."""

from __future__ import annotations

import json
from typing import Any

import pytest
import redis
import redis.asyncio

from stanchion.dialect import Dialect
from stanchion.store import keys
from stanchion.store.ruby_processes import RubyProcesses, ruby_version

pytestmark = pytest.mark.redis

OURS = {"version": "7.3.9", "labels": ["stanchion"]}


def live(client: redis.Redis, identity: str, info: Any) -> None:
    client.sadd(keys.PROCESSES, identity)
    client.hset(identity, "info", info if isinstance(info, (str, bytes)) else json.dumps(info))


def test_those_who_live_decide(redis_client: redis.Redis) -> None:
    ruby = RubyProcesses("auto")
    live(redis_client, "ours:1:a", OURS)
    assert ruby.refresh(redis_client) == Dialect.of("auto")
    live(redis_client, "new:1:a", {"version": "8.1.7", "labels": []})
    assert ruby.refresh(redis_client) == Dialect.of("8")
    live(redis_client, "old:1:a", {"version": "7.3.9", "labels": ["reliable"]})
    assert ruby.refresh(redis_client) == Dialect(frozenset({7, 8}))
    redis_client.srem(keys.PROCESSES, "new:1:a")
    assert ruby.refresh(redis_client) == Dialect.of("7")


async def test_an_asyncio_client_sees_the_same(
    aredis: redis.asyncio.Redis, redis_client: redis.Redis
) -> None:
    live(redis_client, "new:1:a", {"version": "8.1.7", "labels": []})
    assert await RubyProcesses("auto").arefresh(aredis) == Dialect.of("8")
    assert await RubyProcesses("6").arefresh(aredis) == Dialect.of("6")


def test_a_process_that_died_without_a_word_counts_for_nothing(redis_client: redis.Redis) -> None:
    redis_client.sadd(keys.PROCESSES, "dead:1:a")
    ruby = RubyProcesses("auto")
    assert ruby.refresh(redis_client) == Dialect.of("auto")
    live(redis_client, "dead:1:a", {"version": "8.1.7"})
    assert ruby.refresh(redis_client) == Dialect.of("8")


def test_garbage_hurts_nobody(redis_client: redis.Redis) -> None:
    live(redis_client, "new:1:a", {"version": "8.1.7"})
    bad = ["", "null", "{", "[1]", b"\xff", '{"version": 8, "labels": 1}', "[" * 9999]
    for number, info in enumerate(bad):
        live(redis_client, f"garbage:{number}:a", info)
    redis_client.sadd(keys.PROCESSES, b"\xff\xfe", "list:1:a")
    redis_client.rpush("list:1:a", "a key of another type")
    assert RubyProcesses("auto").refresh(redis_client) == Dialect.of("8")
    redis_client.set(keys.PROCESSES, "a key of another type")
    assert RubyProcesses("auto").refresh(redis_client) == Dialect.of("auto")


def test_a_version_is_read_once(redis_client: redis.Redis) -> None:
    ruby = RubyProcesses("auto")
    live(redis_client, "new:1:a", {"version": "8.1.7"})
    ruby.refresh(redis_client)
    redis_client.config_resetstat()
    ruby.refresh(redis_client)
    assert set(redis_client.info("commandstats")) - {"cmdstat_config|resetstat"} == {"cmdstat_smembers"}


@pytest.mark.parametrize(
    ("info", "version"),
    [
        (OURS, ""),
        ({"version": "8.1.7", "labels": []}, "8.1.7"),
        ({"hostname": "vm", "pid": 7, "labels": [], "queues": ["mail"]}, "6.4"),
        ({"pid": 7}, ""),
    ],
)
def test_only_ruby_has_a_ruby_version_and_6_states_none(info: Any, version: str) -> None:
    assert ruby_version(json.dumps(info).encode()) == version
