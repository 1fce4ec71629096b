"""`stanchion queue`: what it prints, and what it does to Redis."""

from __future__ import annotations

import json
import time

import pytest
import redis

from stanchion.cli.main import main
from stanchion.store import keys, queues

pytestmark = pytest.mark.redis

Captured = pytest.CaptureFixture[str]


def fill(client: redis.Redis) -> None:
    client.sadd(keys.QUEUES, "mail", "imports")
    head = {"class": "A", "jid": "a", "enqueued_at": time.time() - 240.0}
    client.rpush(keys.queue("mail"), json.dumps({**head, "enqueued_at": time.time()}), json.dumps(head))
    client.sadd(keys.PROCESSES, "vm:1:ab")
    info = {"hostname": "vm", "pid": 1, "queues": ["mail"], "labels": ["stanchion"]}
    client.hset(
        keys.process("vm:1:ab"),
        mapping={"info": json.dumps(info), "beat": time.time(), "busy": 1, "concurrency": 10},
    )
    client.hset(keys.work("vm:1:ab"), "0", json.dumps({"queue": "mail", "payload": "{}", "run_at": 1}))


def test_ls_shows_every_queue(redis_url: str, redis_client: redis.Redis, capsys: Captured) -> None:
    fill(redis_client)
    redis_client.sadd(keys.PAUSED, "imports")
    assert main(["queue", "ls", "--redis-url", redis_url]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows == [
        ["QUEUE", "WAITING", "OLDEST", "BUSY", "WORKERS", "PAUSED"],
        ["imports", "0", "-", "0", "0", "runtime"],
        ["mail", "2", "4m", "1", "1", "no"],
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
        "queue": "orders", "waiting": 0, "oldest_age_seconds": None, "busy": 0, "workers": 0,
        "paused": True, "paused_by": "policy",
    }  # fmt: skip
    assert (lines["mail"]["paused"], lines["mail"]["paused_by"]) == (False, None)


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


def test_a_name_that_nobody_knows_is_warned_of_and_paused_all_the_same(
    redis_url: str, redis_client: redis.Redis, capsys: Captured
) -> None:
    fill(redis_client)
    assert main(["queue", "pause", "mial", "mail", "--redis-url", redis_url]) == 0
    printed = capsys.readouterr()
    assert printed.err == "stanchion: warning: nobody knows a queue mial yet; is the name right?\n"
    assert redis_client.smembers(keys.PAUSED) == {b"mial", b"mail"}


def test_a_name_that_only_ruby_accepts(redis_url: str, redis_client: redis.Redis, capsys: Captured) -> None:
    name = "weird name"
    redis_client.lpush(keys.queue(name), '{"class":"A","jid":"a","args":[]}')
    at = ("--redis-url", redis_url)
    assert main(["queue", "show", name, *at]) == 0
    assert main(["job", "ls", name, *at]) == 0
    assert main(["why", "a", *at]) == 1  # nothing lists the queue yet: a pause does
    assert main(["queue", "pause", name, *at]) == 0
    assert main(["why", "a", *at]) == 0
    assert "stanchion queue unpause 'weird name'" in capsys.readouterr().out
    assert main(["queue", "unpause", name, *at]) == 0
    assert main(["queue", "delete", name, "--yes", *at]) == 2
    assert "`stanchion queue clear 'weird name'` empties it" in capsys.readouterr().err
    assert main(["queue", "pause", name, *at]) == 0
    assert main(["queue", "clear", name, "--yes", *at]) == 0
    assert main(["queue", "delete", name, "--yes", *at]) == 0
    assert redis_client.exists(keys.PAUSED, keys.queue(name)) == 0


def test_a_full_redis_says_what_to_do_and_can_be_drained(
    redis_url: str, redis_client: redis.Redis, capsys: Captured
) -> None:
    fill(redis_client)
    redis_client.sadd(keys.PAUSED, "mail")
    redis_client.zadd(keys.DEAD, {"oops": 1.0})
    redis_client.config_set("maxmemory", 1)
    at = ("--redis-url", redis_url)
    try:
        assert main(["queue", "pause", "imports", *at]) == 1
        assert main(["why", "a", *at]) == 0
        assert main(["queue", "unpause", "mail", *at]) == 0
        assert main(["queue", "clear", "mail", "--yes", *at]) == 0
        assert main(["dead", "clear", "--yes", *at]) == 0
    finally:
        redis_client.config_set("maxmemory", 0)
    assert "is full and refuses writes; raise maxmemory or drain a queue" in capsys.readouterr().err


def test_show_one_queue(redis_url: str, redis_client: redis.Redis, capsys: Captured) -> None:
    fill(redis_client)
    redis_client.hset(keys.counters("mail"), mapping={"enq": 7, "done": 4})
    redis_client.hset(keys.config("queue", "mail"), "owner", "shop/mail")
    assert main(["queue", "show", "mail", "--redis-url", redis_url]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Queue:      mail",
        "Waiting:    2, the oldest for 4m",
        "Running:    1",
        "Paused:     no",
        "Policy:     shop/mail",
        "Counters:   enq 7, done 4",
        "Served by:  1 process",
        "  vm:1:ab: 1 of 10 slots busy",
    ]
    assert main(["queue", "show", "mail", "--json", "--redis-url", redis_url]) == 0
    assert json.loads(capsys.readouterr().out)["served_by"] == ["vm:1:ab"]
    assert main(["queue", "show", "mial", "--redis-url", redis_url]) == 1


def test_clear_then_delete(redis_url: str, redis_client: redis.Redis, capsys: Captured) -> None:
    fill(redis_client)
    redis_client.hset(keys.counters("mail"), "enq", 2)
    assert main(["queue", "delete", "mail", "--yes", "--redis-url", redis_url]) == 2
    assert "queue mail holds 2 jobs; `stanchion queue clear mail` empties it" in capsys.readouterr().err
    assert main(["queue", "clear", "mail", "--dry-run", "--redis-url", redis_url]) == 0
    assert redis_client.llen(keys.queue("mail")) == 2
    assert main(["queue", "clear", "mail", "imports", "--yes", "--redis-url", redis_url]) == 0
    assert main(["queue", "delete", "mail", "--yes", "--redis-url", redis_url]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "2 ready jobs would be deleted",
        "2 ready jobs deleted",
        "mail deleted",
    ]
    assert redis_client.smembers(keys.QUEUES) == {b"imports"}
    assert redis_client.exists(keys.counters("mail"), keys.queue("mail")) == 0


def test_a_queue_with_a_job_is_not_forgotten(redis_client: redis.Redis) -> None:
    redis_client.sadd(keys.QUEUES, "mail")
    redis_client.lpush(keys.queue("mail"), "{}")
    assert queues.delete(redis_client, "mail") is False
    assert redis_client.smembers(keys.QUEUES) == {b"mail"}


def test_deleting_what_is_not_there_says_so(
    redis_url: str, redis_client: redis.Redis, capsys: Captured
) -> None:
    assert main(["queue", "delete", "mial", "--yes", "--redis-url", redis_url]) == 1
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "mial: there is no such queue\n")


def test_a_key_of_a_wrong_type_breaks_its_own_row_only(
    redis_url: str, redis_client: redis.Redis, capsys: Captured
) -> None:
    fill(redis_client)
    redis_client.set(keys.queue("imports"), "oops")
    redis_client.zadd(keys.RETRY, {"a": 1, "b": 2})
    redis_client.zadd(keys.DEAD, {"c": 1})
    assert main(["queue", "ls", "--redis-url", redis_url]) == 0
    printed = capsys.readouterr()
    rows = [line.split() for line in printed.out.splitlines()[1:]]
    assert rows == [["imports", "broken", "-", "0", "0", "no"], ["mail", "2", "4m", "1", "1", "no"]]
    assert printed.err.splitlines() == [
        "imports: key queue:imports is of the wrong type; `stanchion doctor` says more",
        "2 retrying, 1 dead: stanchion dead ls",
    ]
    assert main(["queue", "ls", "--json", "--redis-url", redis_url]) == 0
    assert [line.get("broken", "") != "" for line in json.loads(capsys.readouterr().out)] == [True, False]
