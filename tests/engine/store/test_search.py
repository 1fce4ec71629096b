"""Finding a job by its id, in every place it can be."""

from __future__ import annotations

import json

import pytest
import redis

from stanchion.store import keys, search
from stanchion.store.search import Place, Sighting

pytestmark = pytest.mark.redis


def payload(jid: str, **fields: object) -> bytes:
    return json.dumps({"class": "A", "jid": jid, "queue": "mail", "args": [], **fields}).encode()


JOB = payload("wanted")
OTHERS = [payload(f"j{at}", parent="wanted") for at in range(30)]


def found(client: redis.Redis, jid: str = "wanted") -> list[Sighting]:
    return list(search.find(client, jid, ["other", "mail"]).sightings)


@pytest.mark.parametrize("set_key", search.SETS)
def test_in_a_set(redis_client: redis.Redis, set_key: str) -> None:
    redis_client.zadd(set_key, dict.fromkeys([JOB, *OTHERS], 7.5))
    assert found(redis_client) == [Sighting(Place(set_key), JOB, score=7.5)]


def test_in_a_list_with_its_place_in_line(redis_client: redis.Redis) -> None:
    redis_client.lpush(keys.queue("mail"), *OTHERS, JOB, *OTHERS)
    assert found(redis_client) == [Sighting(Place.READY, JOB, "mail", position=31)]


def test_in_the_hands_of_a_worker(redis_client: redis.Redis) -> None:
    redis_client.hset(keys.BEATS, "vm:1:ab", 3)
    redis_client.hset(keys.members("vm:1:ab"), "i1", '["mail"]')
    redis_client.hset(keys.lease("i1"), "1.1", b"mail|5000|" + JOB)
    assert found(redis_client) == [Sighting(Place.LEASED, JOB, "mail", holder="vm:1:ab", since_seconds=5.0)]
    redis_client.rename(keys.lease("i1"), "elsewhere")
    redis_client.lpush(keys.inbox("i1", "mail"), JOB)
    assert found(redis_client) == [Sighting(Place.INBOX, JOB, "mail", holder="vm:1:ab")]


@pytest.mark.parametrize("key", [keys.work("vm:2:cd"), keys.work_of_sidekiq_6("vm:2:cd")])
@pytest.mark.parametrize("is_text", [True, False])
def test_in_the_hands_of_ruby(redis_client: redis.Redis, key: str, is_text: bool) -> None:
    redis_client.sadd(keys.PROCESSES, "vm:2:cd")
    record = {"queue": "mail", "payload": JOB.decode() if is_text else json.loads(JOB), "run_at": 9}
    redis_client.hset(key, mapping={"a": "garbage", "b": "{}", "c": json.dumps(record)})
    [sighting] = found(redis_client)
    assert (sighting.place, sighting.holder, sighting.since_seconds) == (Place.RUNNING, "vm:2:cd", 9.0)
    assert search.identify(sighting.payload) == "wanted"


def test_a_bounded_search_says_where_it_stopped(
    redis_client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "PER_CALL", 10)
    redis_client.lpush(keys.queue("mail"), JOB, *OTHERS)
    redis_client.zadd(keys.RETRY, {f"{at:0100}": 1.0 for at in range(1000)})
    cut = search.find(redis_client, "wanted", ["mail"], limit=20)
    assert cut == search.Search((), ("queue:mail", "retry"))
    assert search.find(redis_client, "wanted", ["mail"], limit=2000).sightings[0].position == 1


def test_ids_that_look_like_patterns_are_taken_literally(redis_client: redis.Redis) -> None:
    odd = payload("a*[b]?^")
    redis_client.zadd(keys.DEAD, {odd: 1.0, payload("axb"): 1.0, b"{": 2.0})
    assert [each.payload for each in found(redis_client, "a*[b]?^")] == [odd]
    assert found(redis_client, "*") == []
    assert [each.payload for each in found(redis_client, "sha1:60ba4b2daa4e")] == [b"{"]


@pytest.mark.parametrize("jid", ["\u00fc", 'say "hi"', "a\\b"])
def test_ids_that_json_escapes_are_found(redis_client: redis.Redis, jid: str) -> None:
    redis_client.zadd(keys.DEAD, {payload(jid): 1.0})
    redis_client.lpush(keys.queue("mail"), payload(jid))
    assert [each.place for each in found(redis_client, jid)] == [Place.READY, Place.DEAD]


def test_a_job_that_moves_while_we_look_is_found_the_second_time(
    redis_client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is promoted just after the lists were looked at and before the sets are."""
    redis_client.zadd(keys.SCHEDULE, {JOB: 1.0})
    look_into = search.in_set

    def promote_first(client: redis.Redis, *args: object, **kwargs: object) -> object:
        if client.zrem(keys.SCHEDULE, JOB):
            client.lpush(keys.queue("mail"), JOB)
        return look_into(client, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(search, "in_set", promote_first)
    assert [each.place for each in found(redis_client)] == [Place.READY]
