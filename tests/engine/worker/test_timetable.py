"""Periodic jobs on their way from a child to its supervisor."""

from __future__ import annotations

import json
from datetime import timedelta

import stanchion
from stanchion.dialect import Dialect
from stanchion.gate.config import ConfigView, view_of
from stanchion.policy.owner import Owner
from stanchion.policy.queue_policy import QueueConfig
from stanchion.settings import Settings
from stanchion.worker.loaded import Loaded
from stanchion.worker.timetable import Entry, digest, entries_of

NOW = 1_796_064_257.875
TICK = 1_796_064_240.0


def app() -> stanchion.App:
    made = stanchion.App(settings=Settings("redis://elsewhere:1", wire="8"))
    jobs = stanchion.JobSet(prefix="shop.", queue="reports")

    @jobs.periodic("0 6 * * *", time_zone="Europe/Berlin", missed="once", kwargs={"full": True})
    @jobs.periodic("0 9 * * SAT")
    @jobs.job(retries=2, expires_in=timedelta(hours=1))
    def report(*, full: bool = False) -> None: ...

    @jobs.job
    def other() -> None: ...

    made.include(jobs)
    return made


def payload(entry: Entry, view: ConfigView, dialect: str = "7") -> dict[str, object]:
    made: dict[str, object] = json.loads(entry.payload(TICK, NOW, view, Dialect.of(dialect)))
    return made


def test_what_an_app_says_survives_the_way() -> None:
    loaded = Loaded.of(app())
    assert Loaded.load(json.loads(json.dumps(loaded.dump()))) == loaded
    assert (loaded.redis_url, loaded.wire, len(loaded.periodic)) == ("redis://elsewhere:1", "8", 2)


def test_a_tick_makes_the_call_that_code_declares() -> None:
    _, entry = entries_of(app())
    made = payload(Entry.load(entry.dump()), view_of([]))
    assert (made["class"], made["args"], made["queue"]) == ("shop.report", [{"full": True}], "reports")
    assert (made["retry"], made["created_at"], made["enqueued_at"]) == (2, NOW, NOW)
    assert (made["periodic_at"], made["expires_at"]) == (TICK, NOW + 3600)


def test_a_tick_has_one_jid_and_another_tick_another() -> None:
    first, second = entries_of(app())
    assert payload(first, view_of([]))["jid"] == payload(first, view_of([]), "8")["jid"]
    assert payload(first, view_of([]))["jid"] != payload(second, view_of([]))["jid"]


def test_a_policy_beats_code() -> None:
    owner = Owner("shop", "reports", "uid", 1)
    view = view_of([QueueConfig(owner, "reports", max_retries=9)])
    assert payload(entries_of(app())[0], view)["retry"] == 9


def test_the_order_of_declaration_does_not_part_workers() -> None:
    entries = entries_of(app())
    assert digest(entries) == digest(entries[::-1])
    assert digest(entries) != digest(entries[:1])
