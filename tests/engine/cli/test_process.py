"""`stanchion process`: what it lists, and the signals it leaves."""

from __future__ import annotations

import json
import time

import pytest
import redis

from stanchion.cli.main import main
from stanchion.store import keys

pytestmark = pytest.mark.redis

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def fleet(redis_url: str, redis_client: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker of ours, a Ruby one, an embedded one, a dead one."""
    monkeypatch.setenv("STANCHION_REDIS_URL", redis_url)
    redis_client.sadd(keys.PROCESSES, "vm:1:ab", "vm:2:cd", "vm:3:ef", "vm:4:gh")
    for identity, info in {
        "vm:1:ab": {"labels": ["stanchion"], "queues": ["mail", "imports"], "concurrency": 10},
        "vm:2:cd": {"version": "8.1.7", "queues": ["mail"], "concurrency": 5},
        "vm:3:ef": {"version": "7.3.9", "queues": ["mail"], "concurrency": 5, "embedded": True},
    }.items():
        fields = {
            "info": json.dumps(info),
            "beat": time.time() - 4,
            "busy": 1,
            "quiet": "false",
            "rss": 20480,
        }
        redis_client.hset(keys.process(identity), mapping=fields)  # type: ignore[arg-type]
    work = {"queue": "mail", "payload": '{"class":"A","jid":"a"}', "run_at": time.time() - 300}
    redis_client.hset(keys.work("vm:1:ab"), "0", json.dumps(work))


def signals(client: redis.Redis, identity: str) -> list[bytes | str]:
    return client.lrange(keys.signals(identity), 0, -1)


def test_ls_lists_the_dead_too(capsys: Captured) -> None:
    assert main(["process", "ls"]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["PROCESS", "QUEUES", "SLOTS", "BUSY", "STATE", "BEAT", "RSS", "VERSION"],
        ["vm:1:ab", "mail,imports", "10", "1", "running", "4s", "20Mi", "stanchion"],
        ["vm:2:cd", "mail", "5", "1", "running", "4s", "20Mi", "sidekiq", "8.1.7"],
        ["vm:3:ef", "mail", "5", "1", "running", "4s", "20Mi", "sidekiq", "7.3.9"],
        ["vm:4:gh", "-", "-", "-", "dead", "-", "-", "-"],
    ]


def test_show_names_the_running_jobs(capsys: Captured) -> None:
    assert main(["process", "show", "vm:1"]) == 0
    assert "  a A of queue mail, running for 5m\n" in capsys.readouterr().out
    assert main(["process", "show", "vm:1:ab", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["running"][0]["jid"] == "a"


def test_a_signal_is_left_as_sidekiq_web_leaves_it(redis_client: redis.Redis, capsys: Captured) -> None:
    assert main(["process", "quiet", "vm:1:ab", "vm:2", "--dry-run"]) == 0
    assert signals(redis_client, "vm:1:ab") == []
    assert main(["process", "quiet", "vm:1:ab", "vm:2"]) == 0
    assert signals(redis_client, "vm:1:ab") == signals(redis_client, "vm:2:cd") == [b"TSTP"]
    assert 0 < redis_client.ttl(keys.signals("vm:1:ab")) <= 60
    assert main(["process", "stop", "--all", "--yes", "--json"]) == 1
    assert '"asked": ["vm:1:ab", "vm:2:cd"]' in capsys.readouterr().out
    assert signals(redis_client, "vm:1:ab") == [b"TERM", b"TSTP"]
    assert signals(redis_client, "vm:3:ef") == signals(redis_client, "vm:4:gh") == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["quiet"], "name the processes to quiet, or give --all"),
        (["quiet", "vm:1", "--all"], "name the processes to quiet, or give --all"),
        (["show", "vm"], "'vm' begins the names of several processes: vm:1:ab, vm:2:cd, vm:3:ef, vm:4:gh"),
        (["stop", "--all"], "There is no terminal to ask on"),
    ],
)
def test_wrong_commands(arguments: list[str], message: str, capsys: Captured) -> None:
    assert main(["process", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_nobody_to_stop_is_said(redis_client: redis.Redis, capsys: Captured) -> None:
    redis_client.flushdb()
    assert main(["process", "stop", "--all", "--yes"]) == 0
    assert capsys.readouterr() == ("", "no live process is listed: nobody was asked\n")


@pytest.mark.parametrize("verb", ["show", "stop"])
def test_a_process_that_is_not_there_is_work_that_failed(verb: str, capsys: Captured) -> None:
    assert main(["process", verb, "x"]) == 1
    assert "no process is named 'x'" in capsys.readouterr().err
