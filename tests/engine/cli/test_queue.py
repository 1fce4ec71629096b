"""`stanchion queue`: what it prints, and what it does to Redis."""

from __future__ import annotations

import json
import time

import pytest
import redis

from stanchion.cli.main import main
from stanchion.store import keys

pytestmark = pytest.mark.redis

Captured = pytest.CaptureFixture[str]


def fill(client: redis.Redis) -> None:
    client.sadd(keys.QUEUES, "mail", "imports")
    head = {"class": "A", "jid": "a", "enqueued_at": time.time() - 240.0}
    client.rpush(keys.queue("mail"), json.dumps({**head, "enqueued_at": time.time()}), json.dumps(head))
    client.sadd(keys.PROCESSES, "vm:1:ab")
    client.hset(keys.work("vm:1:ab"), "0", json.dumps({"queue": "mail", "payload": "{}", "run_at": 1}))


def test_ls_shows_every_queue(redis_url: str, redis_client: redis.Redis, capsys: Captured) -> None:
    fill(redis_client)
    redis_client.sadd(keys.PAUSED, "imports")
    assert main(["queue", "ls", "--redis-url", redis_url]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows == [
        ["QUEUE", "WAITING", "OLDEST", "BUSY", "PAUSED"],
        ["imports", "0", "-", "0", "runtime"],
        ["mail", "2", "4m", "1", "no"],
    ]


def test_ls_json(redis_url: str, redis_client: redis.Redis, capsys: Captured) -> None:
    fill(redis_client)
    redis_client.hset(keys.config("queue", "orders"), "paused", "true")
    redis_client.hset(keys.CONFIG_INDEX, "queue/orders", "digest")
    assert main(["queue", "ls", "--json", "--redis-url", redis_url]) == 0
    lines = {line["queue"]: line for line in json.loads(capsys.readouterr().out)}
    assert lines["mail"]["oldest_age_seconds"] == pytest.approx(240, abs=30)
    assert lines["mail"]["busy"] == 1
    assert lines["orders"] == {
        "queue": "orders", "waiting": 0, "oldest_age_seconds": None, "busy": 0, "paused": "policy",
    }  # fmt: skip


def test_ls_of_nothing_says_so(redis_url: str, capsys: Captured) -> None:
    assert main(["queue", "ls", "--redis-url", redis_url]) == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "no queue has held a job yet\n")


def test_pause_and_unpause_are_idempotent_and_announced(
    redis_url: str, redis_client: redis.Redis, capsys: Captured
) -> None:
    with redis_client.pubsub(ignore_subscribe_messages=True) as channel:  # type: ignore[no-untyped-call]
        channel.subscribe(keys.PAUSE_CHANNEL)
        channel.get_message(timeout=1)
        for verb in ("pause", "pause", "unpause", "unpause"):
            assert main(["queue", verb, "mail", "--redis-url", redis_url]) == 0
        assert redis_client.smembers(keys.PAUSED) == set()
        message = channel.get_message(timeout=1)
    assert message is not None
    assert message["data"] == b"mail"
    assert capsys.readouterr().out.splitlines() == [
        "mail paused",
        "mail was paused already",
        "mail unpaused",
        "mail was unpaused already",
    ]


def test_bad_names_and_an_absent_redis_are_one_line(redis_url: str, capsys: Captured) -> None:
    assert main(["queue", "pause", "a b", "--redis-url", redis_url]) == 2
    assert main(["queue", "ls", "--redis-url", "redis://127.0.0.1:1/0"]) == 1
    assert capsys.readouterr().err.count("\n") == 2
