"""Sidekiq's web page shows our process and jobs, and its buttons work on them."""

from __future__ import annotations

import json
from typing import Any

import pytest
import redis

from engine.worker.running import Worker
from interop.interop_app import RELEASE
from interop.ledger import PATIENCE_SECONDS, await_ledger, await_one, queued
from interop.ruby import WebPage
from stanchion.app import App
from stanchion.store import keys
from waiting import until

pytestmark = pytest.mark.ruby


def entry(client: redis.Redis, set_key: str) -> str:
    """How the page names the first entry of a set: its score and its jid."""
    found: Any = client.zrange(set_key, 0, 0, withscores=True)
    member, score = found[0]
    return f"{score!r}-{json.loads(member)['jid']}"


def test_pages_show_our_process_and_jobs(
    web: WebPage, app: App, python_worker: Worker, redis_client: redis.Redis
) -> None:
    running = app.enqueue("Hold", [1], queue="mail").jid
    app.enqueue("FailsInPython", ["fly"], queue="mail")
    app.enqueue("FailsInPython", ["swim"], queue="mail", retries=0)
    app.enqueue("Note", ["later ☃"], queue="mail", delay=3600)
    app.enqueue("Note", ["waiting ☃"], queue="other")
    await_one(redis_client, keys.RETRY, retry_count=0)
    await_one(redis_client, keys.DEAD, retry_count=0)
    until(lambda: str(running) in web.get("/busy"), timeout_seconds=PATIENCE_SECONDS)
    shown = {
        "/": "Dashboard",
        "/busy": python_worker.identity,
        "/queues": "other",
        "/queues/other": "waiting ☃",
        "/retries": "Python cannot fly ☃",
        f"/retries/{entry(redis_client, keys.RETRY)}": "ValueError",
        "/scheduled": "later ☃",
        "/morgue": "Python cannot swim ☃",
        f"/morgue/{entry(redis_client, keys.DEAD)}": "ValueError",
    }
    assert {path: words in web.get(path) for path, words in shown.items()} == dict.fromkeys(shown, True)
    redis_client.rpush(RELEASE, 1)


def test_quiet_one_and_stop_all(web: WebPage, python_worker: Worker) -> None:
    identity = python_worker.identity
    web.submit("/busy", "/busy", identity=identity, quiet="1")
    until(lambda: ">quiet<" in web.get("/busy"), timeout_seconds=PATIENCE_SECONDS)
    web.submit("/busy", "/busy", stop="1")
    assert python_worker.process.wait(PATIENCE_SECONDS) == 0
    assert identity not in web.get("/busy")


@pytest.mark.usefixtures("python_worker")
def test_retry_now_kill_and_delete(web: WebPage, app: App, redis_client: redis.Redis) -> None:
    app.enqueue("FailsInPython", ["fly"], queue="mail")
    first = await_one(redis_client, keys.RETRY, retry_count=0)
    web.submit("/retries", f"/retries/{entry(redis_client, keys.RETRY)}", retry="1")
    until(lambda: "retried_at" in await_one(redis_client, keys.RETRY, jid=first["jid"], retry_count=0))
    web.submit("/retries", f"/retries/{entry(redis_client, keys.RETRY)}", kill="1")
    await_one(redis_client, keys.DEAD, jid=first["jid"])
    web.submit("/morgue", f"/morgue/{entry(redis_client, keys.DEAD)}", delete="1")
    assert (redis_client.zcard(keys.DEAD), redis_client.zcard(keys.RETRY)) == (0, 0)


@pytest.mark.usefixtures("python_worker")
def test_the_buttons_for_all(web: WebPage, app: App, redis_client: redis.Redis) -> None:
    app.enqueue_many(app.call("FailsInPython", [word], queue="mail") for word in ("fly", "swim"))

    def failed_again() -> bool:
        members: Any = redis_client.zrange(keys.RETRY, 0, -1)
        return [b'"retried_at"' in member for member in members] == [True, True]

    until(lambda: redis_client.zcard(keys.RETRY) == 2)
    web.submit("/retries", "/retries/all/retry")
    until(failed_again, timeout_seconds=PATIENCE_SECONDS)
    web.submit("/retries", "/retries/all/kill")
    assert (redis_client.zcard(keys.RETRY), redis_client.zcard(keys.DEAD)) == (0, 2)
    web.submit("/morgue", f"/morgue/{entry(redis_client, keys.DEAD)}", retry="1")
    until(lambda: redis_client.zcard(keys.RETRY) == 1, timeout_seconds=PATIENCE_SECONDS)
    web.submit("/morgue", "/morgue/all/retry")
    until(failed_again, timeout_seconds=PATIENCE_SECONDS)
    web.submit("/retries", "/retries/all/delete")
    assert (redis_client.zcard(keys.RETRY), redis_client.zcard(keys.DEAD)) == (0, 0)


@pytest.mark.usefixtures("python_worker")
def test_add_to_queue(web: WebPage, app: App, redis_client: redis.Redis) -> None:
    app.enqueue("Note", [1], queue="mail", delay=3600)
    web.submit("/scheduled", f"/scheduled/{entry(redis_client, keys.SCHEDULE)}", add_to_queue="1")
    assert await_ledger(redis_client, 1) == [["python", 1]]
    assert redis_client.zcard(keys.SCHEDULE) == 0


def test_delete_a_scheduled_job(web: WebPage, app: App, redis_client: redis.Redis) -> None:
    app.enqueue("Note", [1], queue="mail", delay=3600)
    web.submit("/scheduled", f"/scheduled/{entry(redis_client, keys.SCHEDULE)}", delete="1")
    assert redis_client.zcard(keys.SCHEDULE) == 0


def test_delete_a_waiting_job_and_clear_a_queue(web: WebPage, app: App, redis_client: redis.Redis) -> None:
    for number in range(3):
        app.enqueue("Note", [number], queue="mail")
    head: Any = redis_client.lindex(keys.queue("mail"), -1)
    web.submit("/queues/mail", "/queues/mail/delete", key_val=head.decode())
    assert [job["args"] for job in queued(redis_client)] == [[1], [2]]
    web.submit("/queues", "/queues/mail", delete="1")
    assert queued(redis_client) == []
