"""Reading process records of every Sidekiq, and garbage."""

from __future__ import annotations

import json

import pytest
import redis

from stanchion.store import keys, processes
from stanchion.store.processes import Process
from stanchion.store.work_record import Running

INFO = {
    "hostname": "vm", "started_at": 100.5, "pid": 12889, "tag": "shop", "concurrency": 2,
    "queues": ["default", "mail"], "labels": [], "identity": "vm:12889:f4", "version": "7.3.9",
    "embedded": False,
}  # fmt: skip
RECORD = {"busy": "1", "beat": "200.5", "quiet": "true", "rss": "27884", "rtt_us": "1684"}
WORK = json.dumps({"queue": "mail", "payload": "{}", "run_at": 150})


def read(info: object, work: str = WORK, **fields: str) -> Process:
    record = {**RECORD, "info": json.dumps(info), **fields}
    return processes.read(
        "vm:12889:f4", {key.encode(): value.encode() for key, value in record.items()}, [work.encode()]
    )


def test_a_record_of_sidekiq_7() -> None:
    assert read(INFO) == Process(
        "vm:12889:f4", 200.5, "vm", 12889, "shop", "7.3.9", (), ("default", "mail"), 2, 1, True, False, 27884,
        100.5, (Running("mail", b"{}", 150.0),),
    )  # fmt: skip


def test_sidekiq_8_has_its_slots_in_the_hash() -> None:
    assert read({**INFO, "concurrency": None}, concurrency="5").concurrency == 5


@pytest.mark.parametrize(
    "info",
    [None, [], "x", {"queues": 7, "pid": 1e400, "labels": {}, "version": None}, {"started_at": 10**400}],
)
def test_garbage_leaves_fields_empty(info: object) -> None:
    process = read(info, work="garbage", busy="many")
    assert process.is_alive
    assert (process.queues, process.version, process.busy, process.running) == ((), "", 0, ())


@pytest.mark.redis
def test_all_processes_the_dead_too(redis_client: redis.Redis) -> None:
    redis_client.sadd(keys.PROCESSES, "vm:1:ab", "vm:2:cd")
    redis_client.hset(keys.process("vm:1:ab"), mapping={"info": json.dumps(INFO), "beat": 200.5})
    redis_client.hset(keys.work_of_sidekiq_6("vm:1:ab"), "t", WORK)
    alive, dead = processes.read_all_processes(redis_client)
    assert (alive.is_alive, len(alive.running), alive.is_ours) == (True, 1, False)
    assert dead == Process("vm:2:cd")
