"""`stanchion doctor` on a Redis that Ruby used, and on broken ones. It must never write."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import redis

from rig.redis_node import RedisNode
from stanchion.cli.main import main
from stanchion.store import keys

pytestmark = pytest.mark.redis

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def to_redis(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANCHION_REDIS_URL", redis_url)


def diagnosis(captured: Captured) -> tuple[int, dict[str, str], set[str]]:
    """The exit code, findings by what they say with their rank, and what was seen to fit."""
    code = main(["doctor", "--json"])
    answer = json.loads(captured.readouterr().out)
    return code, {each["what"]: each["rank"] for each in answer["findings"]}, {
        each["what"] for each in answer["fits"]
    }  # fmt: skip


def test_an_empty_redis(capsys: Captured) -> None:
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Server     redis ")
    assert "Queues     0 queues, 0 jobs ready" in lines
    assert lines[-1] == "Nothing is wrong."


def test_a_redis_that_ruby_used(redis_client: redis.Redis, capsys: Captured) -> None:
    """Jobs that nobody serves, in retry past their time, leased by a dead worker, under the gem's locks."""
    now = time.time()
    job = {"class": "Wrapper", "wrapped": "Mail", "jid": "a", "queue": "mail", "args": [], "bid": "b"}
    redis_client.sadd(keys.QUEUES, "mail")
    redis_client.lpush(keys.queue("mail"), json.dumps(job), "{")
    redis_client.zadd(keys.RETRY, {json.dumps(job): now - 600})
    redis_client.sadd(keys.PROCESSES, "vm:2:cd", "vm:3:ef")
    info = {"version": "6.4.1", "queues": ["other"], "concurrency": 5}
    redis_client.hset(keys.process("vm:2:cd"), mapping={"info": json.dumps(info), "beat": now})
    redis_client.hset(keys.BEATS, "vm:1:ab", 3)
    redis_client.hset(keys.members("vm:1:ab"), "i1", '["mail"]')
    redis_client.hset(keys.lease("i1"), "1.1", "mail|5000|{}")
    redis_client.lpush(keys.inbox("i1", "mail"), "{}")
    redis_client.zadd("uniquejobs:digests", {"uniquejobs:x": 1.0})
    redis_client.hset("uniquejobs:x:LOCKED", "a", "{}")
    redis_client.sadd("shop:queues", "old")
    code, findings, fits = diagnosis(capsys)
    assert code == 1
    assert findings == {
        "nobody serves queue mail: 2 jobs waiting": "critical",
        "2 jobs in the hands of the dead process vm:1:ab": "critical",
        "there are queues under the prefix shop:": "warning",
        "1 job in retry overdue by more than a minute": "warning",
        "1 of 3 entries looked at are no jobs": "warning",
        "1 process listed and dead: vm:3:ef": "note",
    }
    assert fits == {
        "Sidekiq 6.4.1",
        "1 Ruby process",
        "ActiveJob (2 of 3 jobs looked at)",
        "batches (2 of 3 jobs looked at)",
        "sidekiq-unique-jobs (it holds 1 lock)",
    }


@pytest.mark.parametrize("key", [keys.QUEUES, keys.RETRY, keys.PROCESSES, keys.CONFIG_INDEX, "queue:mail"])
def test_a_key_of_a_wrong_type_is_named(redis_client: redis.Redis, capsys: Captured, key: str) -> None:
    redis_client.set(key, "something else")
    if key == "queue:mail":
        redis_client.sadd(keys.QUEUES, "mail")
    _, findings, _ = diagnosis(capsys)
    assert findings[f"the key {key!r} is a string"] == "critical"


@pytest.mark.parametrize(
    ("settings", "flag", "what"),
    [
        ((), "--sentinel", "this is a Sentinel, no data server"),
        (("cluster-enabled yes",), "", "this is a Redis Cluster"),
    ],
)
def test_what_is_no_single_data_server_is_named(
    tmp_path: Path, capsys: Captured, settings: tuple[str, ...], flag: str, what: str
) -> None:
    """These refuse what the rest of the look needs."""
    with RedisNode(tmp_path, *settings, flag=flag) as node:
        assert main(["doctor", "--redis-url", node.url]) == 1
    assert f"1. critical: {what}" in capsys.readouterr().out.splitlines()


def test_it_writes_nothing_and_needs_no_config(
    redis_client: redis.Redis, redis_url: str, capsys: Captured
) -> None:
    """Run as a user who may only read, and may neither CONFIG nor SCAN."""
    redis_client.sadd(keys.QUEUES, "mail")
    redis_client.acl_setuser(
        "reader",
        enabled=True,
        passwords=["+pw"],
        categories=["+@read", "+@fast", "+@connection", "+@transaction", "-@write"],
        commands=["+info", "-scan"],
        keys=["*"],
    )
    try:
        assert main(["doctor", "--redis-url", redis_url.replace("://", "://reader:pw@")]) == 0
        redis_client.acl_setuser("reader", enabled=True, commands=["-info"])
        main(["doctor", "--redis-url", redis_url.replace("://", "://reader:pw@")])
        assert "INFO is denied to this user" in capsys.readouterr().out
    finally:
        redis_client.acl_deluser("reader")
    assert redis_client.keys() == [b"queues"]
