"""The records Sidekiq's web page reads, field by field."""

from __future__ import annotations

import json
import os

import pytest

from stanchion.dialect import SIDEKIQ_7, Dialect
from stanchion.worker.handle import Work
from stanchion.worker.heartbeat import process_record, rss_kb, work_record
from stanchion.worker.options import QueueWeight, WorkerOptions

IDENTITY = "vm:19231:58c267ad6189"
OPTIONS = WorkerOptions(
    "shop:app", (QueueWeight("mail", 5), QueueWeight("imports")), concurrency=10, processes=2, tag="shop"
)


def record(
    options: WorkerOptions = OPTIONS, *, is_quiet: bool = False, dialect: Dialect = SIDEKIQ_7
) -> dict[str, str]:
    return process_record(
        options,
        IDENTITY,
        started_at=1796072937.5,
        now=1796072939.25,
        busy=3,
        is_quiet=is_quiet,
        rtt_us=1684,
        rss_kb=27884,
        dialect=dialect,
    )


def test_process_hash_has_every_field() -> None:
    fields = record()
    fields.pop("info")
    assert fields == {
        "concurrency": "20",
        "busy": "3",
        "beat": "1796072939.25",
        "rtt_us": "1684",
        "quiet": "false",
        "rss": "27884",
    }
    assert record(is_quiet=True)["quiet"] == "true"


def test_info_serves_web_6_to_8() -> None:
    assert json.loads(record()["info"]) == {
        "hostname": "vm",
        "started_at": 1796072937.5,
        "pid": 19231,
        "tag": "shop",
        "concurrency": 20,
        "capsules": {"default": {"concurrency": 20, "mode": "strict", "weights": {"mail": 0, "imports": 0}}},
        "queues": ["mail", "imports"],
        "weights": [{"mail": 0, "imports": 0}],
        "labels": ["stanchion"],
        "identity": IDENTITY,
        "version": "7.3.9",
        "embedded": False,
    }


@pytest.mark.parametrize(("wire", "version"), [("6", "6.4.1"), ("7", "7.3.9"), ("8", "8.1.7")])
def test_info_states_the_version_of_the_dialect(wire: str, version: str) -> None:
    assert json.loads(record(dialect=Dialect.of(wire))["info"])["version"] == version


def test_weights_are_shown_where_they_count() -> None:
    options = WorkerOptions("shop:app", OPTIONS.queues, queue_order="weighted")
    assert json.loads(record(options)["info"])["weights"] == [{"mail": 5, "imports": 1}]


def test_work_holds_the_payload_as_text_and_whole_seconds() -> None:
    work = work_record([Work("3.1", "mail", 1796072937.9, '{"jid":"é"}')])
    assert {slot: json.loads(entry) for slot, entry in work.items()} == {
        "0": {"queue": "mail", "payload": '{"jid":"é"}', "run_at": 1796072937}
    }


def test_rss_of_a_process_that_has_gone_is_nothing() -> None:
    assert rss_kb(2**22 + 1) == 0
    assert rss_kb(os.getpid()) > 1000 or not os.path.exists("/proc/self/statm")
