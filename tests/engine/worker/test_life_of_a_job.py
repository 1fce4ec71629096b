"""From push to done, retry, schedule and dead, with a real worker, and the keys Sidekiq reads on the way."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import redis

from engine.worker.jobs_app import LEDGER, RELEASE, STARTED
from engine.worker.running import Worker, leased, payloads, values
from stanchion.app import App
from stanchion.store import keys
from waiting import until

pytestmark = pytest.mark.redis


def first(client: redis.Redis, set_key: str) -> tuple[bytes, float]:
    """The earliest member of a sorted set and its score."""
    found: Any = client.zrange(set_key, 0, 0, withscores=True)
    member, score = found[0]
    return member, score


@pytest.fixture
def app(redis_url: str) -> App:
    """A producer that needs no code."""
    return App(redis_url)


@pytest.fixture
def worker(redis_url: str, tmp_path: Path) -> Iterator[Worker]:
    with Worker(redis_url, tmp_path, "-c", "4") as running:
        yield running


def test_runs_sync_and_async_jobs_in_order_and_counts_them(
    app: App, worker: Worker, redis_client: redis.Redis
) -> None:
    for number in range(20):
        app.enqueue("note", [number], queue="mail")
    app.enqueue("hold", [20], queue="mail")
    redis_client.rpush(RELEASE, 1)
    until(lambda: redis_client.llen(LEDGER) == 21)
    assert sorted(values(redis_client, LEDGER)) == list(range(21))
    until(lambda: redis_client.get(keys.STAT_PROCESSED) == b"21")
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    assert redis_client.get(keys.stat_day("processed", day)) == b"21"
    assert 0 < redis_client.ttl(keys.stat_day("processed", day)) <= 5 * 365 * 86_400
    counters = redis_client.hgetall(keys.counters("mail"))
    assert (counters[b"enq"], counters[b"eligible_enq"], counters[b"done"]) == (b"21", b"21", b"21")
    assert b"failed" not in counters
    runtime: Any = redis_client.hgetall(keys.runtime("note"))
    assert runtime[b"n"] == b"20"
    assert sum(int(count) for field, count in runtime.items() if field.startswith(b"b")) == 20
    assert leased(redis_client) == 0


def test_a_scheduled_job_runs_when_it_is_due(app: App, worker: Worker, redis_client: redis.Redis) -> None:
    app.enqueue("note", [1], queue="mail", delay=1.0)
    _, due = first(redis_client, keys.SCHEDULE)
    until(lambda: redis_client.llen(LEDGER) == 1)
    assert 0 <= time.time() - due < 3
    assert redis_client.hget(keys.counters("mail"), "eligible_enq") == b"1"


def test_a_ruby_clients_scheduled_job_is_seen_within_a_second(
    worker: Worker, redis_client: redis.Redis
) -> None:
    """Ruby adds to the set without telling anybody."""
    member = '{"retry":3,"queue":"mail","class":"note","args":[7],"jid":"e11976940832383409068450","x":1}'
    redis_client.zadd(keys.SCHEDULE, {member: time.time()})
    until(lambda: values(redis_client, LEDGER) == [7], timeout_seconds=3)


def test_a_failing_job_waits_in_retry_as_sidekiq_writes_it_and_dies_when_exhausted(
    app: App, worker: Worker, redis_client: redis.Redis
) -> None:
    app.enqueue("fail", ["no luck"], queue="mail", retries=1)
    until(lambda: redis_client.zcard(keys.RETRY) == 1)
    (payload,) = payloads(redis_client, keys.RETRY)
    member, score = first(redis_client, keys.RETRY)
    assert (payload["error_class"], payload["error_message"]) == ("RuntimeError", "no luck")
    assert isinstance(payload["failed_at"], float)
    assert payload["retry_count"] == 0
    assert 15 <= score - payload["failed_at"] < 25
    redis_client.zadd(keys.RETRY, {member: 0.0})
    until(lambda: redis_client.zcard(keys.DEAD) == 1)
    (buried,) = payloads(redis_client, keys.DEAD)
    assert (buried["retry_count"], buried["jid"]) == (1, payload["jid"])
    assert redis_client.zcard(keys.RETRY) == 0
    assert redis_client.get(keys.STAT_FAILED) == b"2"
    assert redis_client.hmget(keys.counters("mail"), "done", "failed") == [b"2", b"2"]


def test_an_unknown_job_is_retried_with_a_clear_error(
    app: App, worker: Worker, redis_client: redis.Redis
) -> None:
    app.enqueue("NoSuchJob", [], queue="mail")
    until(lambda: redis_client.zcard(keys.RETRY) == 1)
    (payload,) = payloads(redis_client, keys.RETRY)
    assert payload["error_class"] == "stanchion.errors.UnknownJob"
    assert "'NoSuchJob'" in payload["error_message"]


def test_arguments_that_do_not_fit_are_an_error_of_the_job(
    app: App, worker: Worker, redis_client: redis.Redis
) -> None:
    app.enqueue("note", [1, 2, 3], queue="mail")
    until(lambda: redis_client.zcard(keys.RETRY) == 1)
    assert "3 argument(s) do not fit" in payloads(redis_client, keys.RETRY)[0]["error_message"]


@pytest.mark.parametrize(
    "raw", [b"{not json", b"[]", b'{"class":"note"}', b'{"class":"note","jid":"a","args":[NaN]}']
)
def test_what_is_no_job_is_buried_as_it_is(raw: bytes, worker: Worker, redis_client: redis.Redis) -> None:
    redis_client.lpush(keys.queue("mail"), raw)
    until(lambda: redis_client.zrange(keys.DEAD, 0, -1) == [raw])
    assert leased(redis_client) == 0


def test_a_job_that_cancels_itself_has_failed(app: App, worker: Worker, redis_client: redis.Redis) -> None:
    app.enqueue("cancel_itself", [], queue="mail")
    until(lambda: redis_client.zcard(keys.RETRY) == 1)
    assert payloads(redis_client, keys.RETRY)[0]["error_class"].endswith("CancelledError")


def test_sidekiqs_page_sees_the_process_and_what_it_runs(
    app: App, worker: Worker, redis_client: redis.Redis
) -> None:
    verdict = app.enqueue("hold", [1], queue="mail")
    until(lambda: redis_client.hlen(keys.work(worker.identity)) == 1)
    assert redis_client.smembers(keys.PROCESSES) == {worker.identity.encode()}
    (work,) = redis_client.hvals(keys.work(worker.identity))
    record = json.loads(work)
    assert record["queue"] == "mail"
    assert json.loads(record["payload"])["jid"] == verdict.jid
    assert isinstance(record["run_at"], int)
    process = redis_client.hgetall(keys.process(worker.identity))
    assert set(process) == {b"info", b"concurrency", b"busy", b"beat", b"rtt_us", b"quiet", b"rss"}
    assert (process[b"concurrency"], process[b"busy"], process[b"quiet"]) == (b"4", b"1", b"false")
    for key in (keys.process(worker.identity), keys.work(worker.identity)):
        assert 50 < redis_client.ttl(key) <= 60
    redis_client.rpush(RELEASE, 1)
    until(lambda: not redis_client.exists(keys.work(worker.identity)))


def test_the_web_pages_quiet_and_stop_are_obeyed(app: App, worker: Worker, redis_client: redis.Redis) -> None:
    redis_client.lpush(keys.signals(worker.identity), "TSTP")
    until(lambda: redis_client.hget(keys.process(worker.identity), "quiet") == b"true")
    app.enqueue("note", [1], queue="mail")
    redis_client.lpush(keys.signals(worker.identity), "TERM")
    assert worker.process.wait(timeout=15) == 0
    assert redis_client.llen(keys.queue("mail")) == 1
    assert redis_client.smembers(keys.PROCESSES) == set()
    assert not redis_client.exists(keys.BEATS, keys.consumers("mail"), STARTED)
