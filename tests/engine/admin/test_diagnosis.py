"""What the doctor concludes, as tables: one thing wrong at a time, against a healthy Redis."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stanchion.admin.diagnosis import diagnose
from stanchion.admin.finding import Rank
from stanchion.admin.interoperation import Verdict
from stanchion.policy.queue_policy import DeadLimits
from stanchion.store import server_info
from stanchion.store.processes import Process
from stanchion.store.queues import QueueLine
from stanchion.store.server_info import Pulse
from stanchion.store.survey import Keyspace, Stuck, Survey, Work

NOW = 10_000.0
INFO = {
    "redis_version": "7.0.15", "redis_mode": "standalone", "role": "master", "uptime_in_seconds": 100,
    "used_memory": 50, "maxmemory": 0, "maxmemory_policy": "noeviction", "aof_enabled": 1,
    "rdb_last_save_time": 9_000, "rdb_last_bgsave_status": "ok", "aof_last_write_status": "ok",
    "connected_clients": 3, "maxclients": 100,
}  # fmt: skip
OURS = Process("vm:1:ab", NOW, labels=("stanchion",), queues=("mail",), concurrency=10)
RUBY = Process("vm:2:cd", NOW, version="7.3.9", queues=("mail",), concurrency=5)
DEAD = Process("vm:3:ef")
LINE = QueueLine("mail", 3, 60.0, 0, 1, "no")
WORK = Work((LINE,), (OURS,), {"schedule": 0, "retry": 0, "dead": 0}, {}, (), {}, 20, 0)
HEALTHY = Survey(
    server_info.parse(INFO, NOW), Pulse((0.0002, 0.0003), 0.01), Keyspace(9, 9, 0, 0, ()), {}, WORK
)  # fmt: skip


def with_info(**info: Any) -> Survey:
    return replace(HEALTHY, server=server_info.parse({**INFO, **info}, NOW))


def with_work(**work: Any) -> Survey:
    return replace(HEALTHY, work=replace(WORK, **work))


def test_nothing_is_wrong_with_a_healthy_one() -> None:
    diagnosis = diagnose(HEALTHY, DeadLimits())
    assert diagnosis.findings == ()
    assert diagnosis.fits == ()
    assert diagnosis.is_healthy


@pytest.mark.parametrize(
    ("survey", "rank", "what"),
    [
        (replace(HEALTHY, server=None), Rank.NOTE, "INFO is denied"),
        (with_info(redis_version="6.0.16"), Rank.CRITICAL, "Redis 6.0.16 is too old"),
        (with_info(redis_mode="cluster"), Rank.CRITICAL, "this is a Redis Cluster"),
        (with_info(redis_mode="sentinel"), Rank.CRITICAL, "this is a Sentinel"),
        (with_info(role="slave"), Rank.CRITICAL, "this is a replica"),
        (with_info(maxmemory_policy="allkeys-lru", maxmemory=100, evicted_keys=7), Rank.CRITICAL,
         "maxmemory-policy is allkeys-lru; it has evicted 7 keys"),
        (with_info(maxmemory_policy="volatile-lru"), Rank.WARNING, "maxmemory-policy is volatile-lru"),
        (with_info(maxmemory=60), Rank.WARNING, "memory is 83% full"),
        (with_info(maxmemory=51), Rank.CRITICAL, "memory is 98% full"),
        (with_info(rdb_last_bgsave_status="err"), Rank.CRITICAL, "Redis cannot save to disk"),
        (with_info(aof_enabled=0), Rank.WARNING, "no append-only file"),
        (with_info(connected_clients=81), Rank.WARNING, "81 of 100 connections"),
        (replace(HEALTHY, pulse=Pulse((0.02,), 0.0)), Rank.NOTE, "takes 20 ms"),
        (replace(HEALTHY, pulse=Pulse((0.2,), 0.0)), Rank.WARNING, "takes 200 ms"),
        (replace(HEALTHY, pulse=Pulse((0.0,), -3.0)), Rank.WARNING, "3.0 s behind this machine's"),
        (replace(HEALTHY, wrong_types={"retry": "list"}, work=None), Rank.CRITICAL, "'retry' is a list"),
        (replace(HEALTHY, keyspace=Keyspace(9, 9, 0, 0, ("shop",))), Rank.WARNING, "under the prefix shop:"),
        (with_work(queues=(replace(LINE, workers=0),)), Rank.CRITICAL, "queue mail: 3 jobs waiting"),
        (with_work(queues=(replace(LINE, paused="policy"),)), Rank.NOTE, "paused by its policy"),
        (with_work(queues=(replace(LINE, oldest_age_seconds=8000.0),)), Rank.WARNING, "queue mail is late"),
        (with_work(processes=(replace(OURS, is_quiet=True),)), Rank.WARNING, "every worker of queue mail"),
        (with_work(stuck=(Stuck("vm:9:x", 4),)), Rank.NOTE, "4 jobs in the hands of the dead process vm:9:x"),
        (with_work(processes=(RUBY,), stuck=(Stuck("vm:9:x", 4),)), Rank.CRITICAL, "4 jobs in the hands"),
        (with_work(processes=(OURS, DEAD)), Rank.NOTE, "1 process listed and dead: vm:3:ef"),
        (with_work(overdue={"retry": 5}), Rank.WARNING, "5 jobs in retry overdue"),
        (with_work(sizes={"dead": 9_000}), Rank.WARNING, "the dead set holds 9,000 of 10,000"),
        (with_work(malformed=2), Rank.WARNING, "2 of 20 entries looked at are no jobs"),
    ],
)  # fmt: skip
def test_each_thing_that_is_wrong_is_found(survey: Survey, rank: Rank, what: str) -> None:
    diagnosis = diagnose(survey, DeadLimits())
    [finding] = [finding for finding in diagnosis.findings if what in finding.what]
    assert finding.rank is rank
    assert len(diagnosis.findings) == 1
    assert finding.cause
    assert finding.next
    assert diagnosis.is_healthy is (rank is Rank.NOTE)


def test_an_empty_queue_needs_nobody() -> None:
    idle = with_work(queues=(replace(LINE, waiting=0, workers=0, paused="runtime"),))
    assert diagnose(idle, DeadLimits()).findings == ()


def test_the_worst_comes_first() -> None:
    bad = replace(with_info(aof_enabled=0, role="slave"), pulse=Pulse((0.02,), 0.0))
    ranks = [finding.rank for finding in diagnose(bad, DeadLimits()).findings]
    assert ranks == [Rank.CRITICAL, Rank.WARNING, Rank.NOTE]


@pytest.mark.parametrize(
    ("survey", "verdict", "what"),
    [
        (with_work(processes=(RUBY,)), Verdict.WORKS, "Sidekiq 7.3.9"),
        (with_work(processes=(RUBY,)), Verdict.LIMITED, "1 Ruby process"),
        (with_work(processes=(replace(RUBY, version="5.2.1"),)), Verdict.FAILS, "Sidekiq 5.2.1"),
        (
            with_work(processes=(RUBY, replace(RUBY, version="8.1.7"))),
            Verdict.WORKS,
            "several major versions",
        ),
        (with_work(samples={"ActiveJob": 4}), Verdict.WORKS, "ActiveJob (4 of 20 jobs looked at)"),
        (with_work(samples={"batches": 1}), Verdict.LIMITED, "batches"),
        (with_work(samples={"encryption": 1}), Verdict.FAILS, "encryption"),
        (replace(HEALTHY, keyspace=Keyspace(9, 9, 1200, 4, ())), Verdict.LIMITED, "it holds 1,200 locks"),
    ],
)
def test_what_fits_is_said_of_what_was_seen(survey: Survey, verdict: Verdict, what: str) -> None:
    [fit] = [fit for fit in diagnose(survey, DeadLimits()).fits if what in fit.what]
    assert fit.verdict is verdict


def test_valkey_is_known_by_its_own_version() -> None:
    server = server_info.parse({**INFO, "redis_version": "7.2.4", "valkey_version": "8.0.1"}, NOW)
    assert (server.name, server.version) == ("valkey", "8.0.1")


def test_an_old_server_that_says_little_is_read() -> None:
    assert server_info.parse({"redis_version": "2.8"}, NOW).seconds_since_snapshot == 0.0
