"""Calls to a real Redis: what lands where, for blocking callers, asyncio ones and forked children."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
import redis
import redis.asyncio

from engine.ready import jids
from stanchion.app import App
from stanchion.client import Client
from stanchion.errors import InvalidArguments, Refused, StanchionError
from stanchion.job import Job
from stanchion.policy.contract import encode
from stanchion.policy.owner import Owner
from stanchion.policy.queue_policy import QueueConfig
from stanchion.settings import Settings
from stanchion.store import config, keys
from stanchion.verdict import Verdict


@pytest.fixture
def app(redis_url: str) -> App:
    return App(redis_url)


@pytest.mark.redis
def test_a_job_is_in_its_queue_as_sidekiq_would_write_it(app: App, redis_client: redis.Redis) -> None:
    before = time.time()
    verdict = app.enqueue("mail.welcome", [7], queue="mail", tenant="acme", retries=3)
    payload = json.loads(redis_client.lindex("queue:mail", 0) or b"")
    assert verdict == Verdict("enqueued", payload["jid"])
    assert before <= payload["enqueued_at"] == payload["created_at"] <= time.time()
    assert payload | {"created_at": 0, "enqueued_at": 0} == {
        "retry": 3,
        "queue": "mail",
        "args": [7],
        "class": "mail.welcome",
        "jid": verdict.jid,
        "created_at": 0,
        "tenant": "acme",
        "enqueued_at": 0,
    }


@pytest.mark.redis
def test_a_scheduled_job_waits_in_the_schedule(app: App, redis_client: redis.Redis) -> None:
    verdict = app.enqueue("mail.welcome", delay=30)
    [member] = redis_client.zrange(keys.SCHEDULE, 0, -1)
    assert isinstance(member, bytes)
    score = redis_client.zscore(keys.SCHEDULE, member)
    assert (verdict.status, verdict.until) == ("scheduled", score)
    assert "enqueued_at" not in json.loads(member)
    assert score == json.loads(member)["created_at"] + 30


@pytest.mark.redis
async def test_bulk_calls_carry_their_own_queues_and_times(app: App, redis_client: redis.Redis) -> None:
    verdicts = await app.aenqueue_many(
        [app.call("a", queue="one"), app.call("a", queue="two"), app.call("a", delay=60)]
    )
    assert [verdict.status for verdict in verdicts] == ["enqueued", "enqueued", "scheduled"]
    assert (jids(redis_client, "one"), jids(redis_client, "two")) == ([verdicts[0].jid], [verdicts[1].jid])
    await app.aclose()


@pytest.mark.redis
def test_a_bulk_call_with_large_arguments_is_cut_by_size(app: App, redis_client: redis.Redis) -> None:
    # 12 jobs of 400 kB: two fit in a chunk of a mebibyte.
    redis_client.config_resetstat()
    app.enqueue_many(app.call("a", ["x" * 400_000]) for _ in range(12))
    calls = redis_client.info("commandstats")["cmdstat_evalsha"]["calls"]
    assert len(jids(redis_client)) == 12
    assert calls == 6


def test_an_empty_bulk_call_asks_nothing(closed_url: str) -> None:
    assert App(closed_url).enqueue_many([]) == []


def test_a_bulk_call_of_what_is_no_call_says_what_to_pass() -> None:
    app = App()

    @app.job
    def work() -> None: ...

    with pytest.raises(InvalidArguments, match=r"such as job.call\(7\) makes, not JobDefinition"):
        app.enqueue_many([work])  # type: ignore[list-item]


@pytest.mark.redis
def test_a_wrong_call_in_a_bulk_raises_before_its_chunk_is_sent(app: App, redis_client: redis.Redis) -> None:
    with pytest.raises(InvalidArguments):
        app.enqueue_many(app.call("a", [n] if n < 50 else [b"x"]) for n in range(100))
    assert jids(redis_client) == []


@pytest.mark.redis
def test_a_callers_jid_makes_a_second_call_harmless(app: App, redis_client: redis.Redis) -> None:
    first = app.enqueue("a", jid="order-7", delay=60)
    again = app.enqueue("a", jid="order-7")
    assert (first.status, first.reason) == ("scheduled", None)
    assert (again.status, again.reason, again.accepted) == ("scheduled", "already enqueued", True)
    assert jids(redis_client) == []
    assert redis_client.zcard(keys.SCHEDULE) == 1


@pytest.mark.redis
def test_a_lane_that_somebody_else_used_is_left_and_the_job_is_in(
    app: App, redis_url: str, redis_client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    nonces = iter(["same", "same", "other"])
    monkeypatch.setattr("stanchion.lane.secrets", SimpleNamespace(token_hex=lambda size: next(nonces)))
    twin = App(redis_url)
    verdicts = [app.enqueue("a", jid="1"), twin.enqueue("a", jid="2")]
    assert jids(redis_client) == ["1", "2"]
    assert [verdict.status for verdict in verdicts] == ["enqueued", "enqueued"]
    assert sorted(redis_client.keys("stanchion:lane:*")) == [b"stanchion:lane:other", b"stanchion:lane:same"]


def forked(work: Callable[[], object]) -> int:
    """Do `work` in a forked child; returns its pid. The child's exit code is 0 if `work` did not raise."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return pid


@pytest.mark.redis
def test_a_forked_child_leaves_its_parents_lane_alone(app: App, redis_client: redis.Redis) -> None:
    app.enqueue("a", jid="parent")
    [lane] = redis_client.keys("stanchion:lane:*")
    record = redis_client.get(lane)
    assert os.waitpid(forked(lambda: app.enqueue("a", jid="child")), 0)[1] == 0
    assert jids(redis_client) == ["parent", "child"]
    assert redis_client.get(lane) == record


@pytest.mark.redis
def test_parent_and_forked_children_enqueue_side_by_side(app: App, redis_client: redis.Redis) -> None:
    def enqueue_30(who: str) -> None:
        for n in range(30):
            app.enqueue("a", jid=f"{who}-{n}")

    app.enqueue("a", jid="before")
    children = [forked(partial(enqueue_30, who)) for who in ("one", "two", "three")]
    enqueue_30("parent")
    assert [os.waitpid(pid, 0)[1] for pid in children] == [0, 0, 0]
    expected = {"before"} | {f"{who}-{n}" for who in ("one", "two", "three", "parent") for n in range(30)}
    assert Counter(jids(redis_client)) == Counter(expected)


@pytest.mark.redis
def test_one_app_serves_event_loop_after_event_loop(app: App, redis_client: redis.Redis) -> None:
    async def twice() -> list[Verdict]:
        try:
            return [await app.aenqueue("a"), await app.aenqueue("a")]
        finally:
            await app.aclose()

    verdicts = asyncio.run(twice()) + asyncio.run(twice())
    assert jids(redis_client) == [verdict.jid for verdict in verdicts]


@pytest.mark.redis
async def test_a_policy_that_changes_is_obeyed_by_the_next_call(
    app: App, aredis: redis.asyncio.Redis, redis_client: redis.Redis
) -> None:
    async def declare(max_retries: int | None, generation: int) -> None:
        policy = QueueConfig(Owner("shop", "default", "u", generation), "default", max_retries=max_retries)
        assert (await config.write(aredis, encode(policy, "test"))).in_redis

    await declare(5, 1)
    await app.aenqueue("a")
    await declare(2, 2)
    await app.aenqueue("a")
    await asyncio.to_thread(app.enqueue, "a", retries=9)
    retries = [json.loads(raw)["retry"] for raw in redis_client.lrange("queue:default", 0, -1)]
    assert retries == [9, 2, 5]
    await app.aclose()


@pytest.mark.redis
@pytest.mark.parametrize(
    ("wire", "alive", "kind"),
    [
        ("auto", [], float),
        ("auto", ["8.1.7"], int),
        ("auto", ["8.1.7", "7.3.9"], float),
        ("8", ["6.4.1"], int),
        ("7", ["8.1.7"], float),
    ],
)
async def test_times_are_written_as_the_live_ruby_processes_read_them(
    wire: str, alive: list[str], kind: type, redis_url: str, redis_client: redis.Redis
) -> None:
    for version in alive:
        redis_client.sadd(keys.PROCESSES, version)
        redis_client.hset(version, "info", json.dumps({"version": version}))
    for make in ("push", "bulk"):
        app = App(settings=Settings(redis_url, wire=wire))
        if make == "push":
            await app.aenqueue("a", queue="mail")
        else:
            await app.aenqueue_many([app.call("a", queue="mail")])
        raw: Any = redis_client.rpop(keys.queue("mail"))
        job = Job.parse(raw)
        assert [type(job.fields[name]) for name in ("created_at", "enqueued_at")] == [kind, kind]
        assert job.enqueued_at_seconds == pytest.approx(time.time(), abs=60)
        await app.aclose()


def test_what_redis_refuses_is_not_repeated(app: App, redis_client: redis.Redis) -> None:
    redis_client.set("queue:default", "no list")
    with pytest.raises(StanchionError, match="refused the call: WRONGTYPE"):
        app.enqueue("a")
    verdicts = app.enqueue_many([app.call("a", queue="other"), app.call("a")])
    assert [verdict.status for verdict in verdicts] == ["enqueued", "refused"]


def test_a_refusal_raises_unless_it_is_to_be_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = Verdict("refused", "a1", reason="over its quota")
    monkeypatch.setattr(Client, "push", lambda self, call: refusal)
    with pytest.raises(Refused, match="job a1 was refused: over its quota") as caught:
        App().enqueue("a")
    assert caught.value.verdict is refusal
    assert App().enqueue("a", on_refused="return") is refusal
    assert App(on_refused="return").enqueue("a") is refusal
    with pytest.raises(Refused):
        App(on_refused="return").enqueue("a", on_refused="raise")


async def test_a_blocking_call_in_a_coroutine_warns_at_the_callers_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Client, "push", lambda self, call: Verdict("enqueued", "a1"))
    monkeypatch.setattr(Client, "push_many", lambda self, calls: [])
    app = App()

    @app.job
    def work() -> None: ...

    for name, block in (
        ("enqueue", work.enqueue),
        ("enqueue", work.options(delay=1).enqueue),
        ("enqueue", lambda: app.enqueue("work")),
        ("enqueue_many", lambda: app.enqueue_many([])),
    ):
        with pytest.warns(RuntimeWarning, match=rf"{name}\(\) blocks .* a{name}") as warned:
            block()
        assert [warning.filename for warning in warned] == [__file__]
