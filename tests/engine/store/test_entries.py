"""Walking through a sorted set and moving its entries by their exact bytes."""

from __future__ import annotations

import json
import math

import pytest
import redis

from engine.ready import jids
from rig.redis_versions import every_redis
from stanchion.store import entries, keys
from stanchion.store.entries import Answer, Cursor, Entry, Requeue

MAIL = b'{"class":"A","jid":"%d","queue":"mail","args":[],"note":[],"big":12345678901234567890}'


def entry(name: str, score: float) -> Entry:
    return Entry(name.encode(), score)


@pytest.mark.parametrize(
    ("cursor", "page", "removed", "following"),
    [
        (Cursor(-math.inf), [], set(), Cursor(-math.inf)),
        (Cursor(-math.inf), [entry("a", 1), entry("b", 2)], set(), Cursor(2, 1)),
        (Cursor(-math.inf), [entry("a", 1), entry("b", 2), entry("c", 2)], set(), Cursor(2, 2)),
        (Cursor(-math.inf), [entry("a", 1), entry("b", 2), entry("c", 2)], {b"a", b"b"}, Cursor(2, 1)),
        (Cursor(2, 3), [entry("d", 2), entry("e", 2)], set(), Cursor(2, 5)),
        (Cursor(2, 3), [entry("d", 2), entry("e", 2)], {b"d", b"e"}, Cursor(2, 3)),
        (Cursor(2, 3), [entry("d", 2), entry("e", 5)], {b"d"}, Cursor(5, 1)),
    ],
)
def test_a_walk_goes_on_behind_what_it_left(
    cursor: Cursor, page: list[Entry], removed: set[bytes], following: Cursor
) -> None:
    assert entries.following(cursor, page, removed) == following


@pytest.mark.redis
@pytest.mark.parametrize("newest_first", [False, True])
def test_pages_cover_a_set_with_equal_scores_once(redis_client: redis.Redis, newest_first: bool) -> None:
    count = 3 * entries.PER_CALL
    redis_client.zadd(keys.DEAD, {f"m{at}": at // (2 * entries.PER_CALL) for at in range(count)})
    cursor, seen = entries.start(newest_first=newest_first), []
    while page := entries.page(redis_client, keys.DEAD, cursor, newest_first=newest_first):
        seen += [entry.member for entry in page]
        cursor = entries.following(cursor, page)
    assert len(seen) == len(set(seen)) == count


def requeue(client: redis.Redis, *payloads: bytes) -> list[Answer]:
    moves = [Requeue(Entry(each, 0), "mail", each.replace(b"note", b"seen")) for each in payloads]
    return entries.requeue(client, keys.DEAD, moves)


@every_redis
@pytest.mark.redis
def test_requeue_pushes_what_it_saw_and_nothing_else(redis_client: redis.Redis) -> None:
    one, two, three = MAIL % 1, MAIL % 2, MAIL % 3
    redis_client.zadd(keys.DEAD, {one: 1.5, three: 2.5})
    assert requeue(redis_client, one, two, three) == [Answer.DONE, Answer.GONE, Answer.DONE]
    assert jids(redis_client, "mail") == ["1", "3"]
    assert redis_client.lindex(keys.queue("mail"), -1) == one.replace(b"note", b"seen")
    assert redis_client.smembers(keys.QUEUES) == {b"mail"}
    assert redis_client.hgetall(keys.counters("mail")) == {b"eligible_enq": b"2"}
    assert redis_client.exists(keys.DEAD) == 0


@every_redis
@pytest.mark.redis
def test_what_redis_refuses_stays_as_it_was(redis_client: redis.Redis) -> None:
    redis_client.zadd(keys.DEAD, {MAIL % 1: 1.25})
    redis_client.set(keys.queue("mail"), "no list")
    assert requeue(redis_client, MAIL % 1) == [Answer.REFUSED]
    assert redis_client.zscore(keys.DEAD, MAIL % 1) == 1.25
    redis_client.zadd(keys.RETRY, {"x": 7.5})
    redis_client.set(keys.DEAD, "no set")
    answers = entries.bury(redis_client, keys.RETRY, [Entry(b"x", 7.5)], now=9.0, keep_jobs=1, keep_seconds=1)
    assert answers == [Answer.REFUSED]
    assert redis_client.zscore(keys.RETRY, "x") == 7.5


@every_redis
@pytest.mark.redis
def test_a_full_memory_moves_jobs_all_the_same(redis_client: redis.Redis) -> None:
    redis_client.zadd(keys.DEAD, {MAIL % 1: 1.0})
    redis_client.zadd(keys.RETRY, {MAIL % 2: 1.0})
    redis_client.config_set("maxmemory", "1")
    try:
        assert requeue(redis_client, MAIL % 1) == [Answer.DONE]
        [answer] = entries.bury(
            redis_client, keys.RETRY, [Entry(MAIL % 2, 1.0)], now=9.0, keep_jobs=9, keep_seconds=100
        )
    finally:
        redis_client.config_set("maxmemory", "0")
    assert answer == Answer.DONE
    assert redis_client.zscore(keys.DEAD, MAIL % 2) == 9.0


@every_redis
@pytest.mark.redis
def test_bury_keeps_the_bytes_and_trims(redis_client: redis.Redis) -> None:
    redis_client.zadd(keys.DEAD, {"too old": 10.0, "old": 60.0, "young": 99.0})
    redis_client.zadd(keys.RETRY, {MAIL % 1: 500.0})
    answers = entries.bury(
        redis_client, keys.RETRY, [Entry(MAIL % 1, 0), Entry(MAIL % 2, 0)], now=100.0, keep_jobs=2,
        keep_seconds=50,
    )  # fmt: skip
    assert answers == [Answer.DONE, Answer.GONE]
    assert redis_client.zrange(keys.DEAD, 0, -1, withscores=True) == [(b"young", 99.0), (MAIL % 1, 100.0)]
    assert redis_client.exists(keys.RETRY) == 0
    assert json.loads(MAIL % 1)["jid"] == "1"


@pytest.mark.redis
def test_delete_and_clear(redis_client: redis.Redis) -> None:
    redis_client.zadd(keys.DEAD, {"a": 1.0, "b": 2.0, "c": 3.0})
    assert entries.delete(redis_client, keys.DEAD, [Entry(b"a", 1.0), Entry(b"z", 1.0)]) == [
        Answer.DONE,
        Answer.GONE,
    ]
    assert entries.clear(redis_client, keys.DEAD) == 2
    assert entries.clear(redis_client, keys.DEAD) == 0
