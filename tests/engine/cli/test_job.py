"""`stanchion job` and `stanchion why`: a job is found, shown and deleted wherever it waits."""

from __future__ import annotations

import json
import time

import pytest
import redis

from engine.ready import jids
from stanchion.cli.main import main
from stanchion.store import keys

pytestmark = pytest.mark.redis

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def to_redis(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANCHION_REDIS_URL", redis_url)


def payload(jid: str, **fields: object) -> str:
    record = {"class": "A", "jid": jid, "queue": "mail", "args": [1], "enqueued_at": time.time() - 240}
    return json.dumps({**record, **fields})


def push(client: redis.Redis, *payloads: str) -> None:
    client.sadd(keys.QUEUES, "mail")
    client.lpush(keys.queue("mail"), *payloads)


def test_ls_shows_the_next_to_run_first(redis_client: redis.Redis, capsys: Captured) -> None:
    assert main(["job", "ls", "mail"]) == 0
    assert capsys.readouterr().err == "no job waits in queue mail\n"
    push(redis_client, payload("a"), "{", payload("b", tenant="acme"), payload("c", **{"class": "B"}))
    assert main(["job", "ls", "mail"]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["JID", "JOB", "AGE", "TENANT", "ARGUMENTS"],
        ["a", "A", "4m", "-", "[1]"],
        ["sha1:60ba4b2daa4e", "-", "-", "-", "the", "bytes", "are", "no", "job"],
        ["b", "A", "4m", "acme", "[1]"],
        ["c", "B", "4m", "-", "[1]"],
    ]
    assert main(["job", "ls", "mail", "--job", "B", "--older-than", "3m", "--json"]) == 0
    assert [each["jid"] for each in json.loads(capsys.readouterr().out)] == ["c"]
    assert main(["job", "ls", "mail", "--limit", "2"]) == 0
    assert capsys.readouterr().err == "only 2 are shown, 4 wait; --limit 0 shows all\n"
    assert main(["job", "ls", "mail", "--search-limit", "1", "--job", "B"]) == 0
    assert capsys.readouterr().err == "only the first 1 of 4 were looked at; see --search-limit\n"


def test_ls_reads_a_long_queue_in_order(redis_client: redis.Redis, capsys: Captured) -> None:
    push(redis_client, *(payload(f"{at:04}") for at in range(2500)))
    assert main(["job", "ls", "mail", "--limit", "0", "--json"]) == 0
    shown = [each["jid"] for each in json.loads(capsys.readouterr().out)]
    assert shown == [f"{at:04}" for at in range(2500)]


def test_why_says_what_a_ready_job_waits_for(redis_client: redis.Redis, capsys: Captured) -> None:
    push(redis_client, payload("x"), payload("a"))
    redis_client.hset(keys.RECOVERIES, "a", 2)
    assert main(["why", "a"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "job    a A",
        "is     ready in queue mail, number 2 of 2, for 4m",
        "why    no live worker serves queue mail",
        "note   it came back from a dead worker 2 times; after 3 it is taken for the cause and put into the "
        "dead set",
        "next   stanchion worker MODULE:APP -q mail",
    ]


def test_why_nowhere(redis_client: redis.Redis, capsys: Captured) -> None:
    assert main(["why", "a"]) == 1
    assert "never was enqueued here" in capsys.readouterr().out
    redis_client.set(keys.remembered_jid("a"), "enqueued")
    assert main(["why", "a"]) == 1
    assert "a was enqueued here (verdict: enqueued) and is nowhere in Redis now:" in capsys.readouterr().out
    push(redis_client, *(payload(f"j{at}") for at in range(3)))
    assert main(["why", "a", "--search-limit", "0"]) == 1
    assert "queue:mail hold more" in capsys.readouterr().out


def test_why_json(redis_client: redis.Redis, capsys: Captured) -> None:
    redis_client.zadd(keys.RETRY, {payload("a", retry_count=0): time.time() + 500})
    assert main(["why", "a", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [(each["place"], each["next"]) for each in answer["found"]] == [
        ("retry", "stanchion retry retry a runs it now")
    ]
    assert answer["looked_at_in_part"] == []


def test_why_skips_a_key_of_a_wrong_type(redis_client: redis.Redis, capsys: Captured) -> None:
    push(redis_client, payload("a"))
    redis_client.sadd(keys.QUEUES, "imports")
    redis_client.set(keys.queue("imports"), "oops")
    redis_client.set(keys.DEAD, "oops")
    for command in (["why", "a"], ["job", "show", "a"]):
        assert main(command) == 0
        assert capsys.readouterr().err.splitlines() == [
            f"skipped: key {key} is of the wrong type; `stanchion doctor` says what to do"
            for key in ("queue:imports", "dead")
        ]
    assert main(["why", "b"]) == 1
    assert "not all keys could be read: queue:imports, dead." in capsys.readouterr().out


def test_show_wherever_it_is(redis_client: redis.Redis, capsys: Captured) -> None:
    push(redis_client, payload("a"))
    assert main(["job", "show", "a"]) == 0
    assert "Place:      ready in queue mail, number 1 of 1, for 4m" in capsys.readouterr().out
    assert main(["job", "show", "a", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["place"] == "ready"
    assert main(["job", "show", "b"]) == 1


def test_delete_takes_what_waits_and_not_what_runs(redis_client: redis.Redis, capsys: Captured) -> None:
    push(redis_client, payload("a"), payload("b"))
    redis_client.zadd(keys.SCHEDULE, {payload("c"): 1.0})
    redis_client.hset(keys.BEATS, "vm:1:ab", 3)
    redis_client.hset(keys.members("vm:1:ab"), "i1", '["mail"]')
    redis_client.hset(keys.lease("i1"), "1.1", "mail|5000|" + payload("d"))
    assert main(["job", "delete", "a", "--dry-run"]) == 0
    assert jids(redis_client, "mail") == ["a", "b"]
    assert main(["job", "delete", "a", "c", "d", "e"]) == 1
    printed = capsys.readouterr()
    assert printed.out.splitlines() == ["a would be deleted", "a deleted", "c deleted"]
    assert "d: vm:1:ab runs it" in printed.err
    assert "e is nowhere in Redis" in printed.err
    assert jids(redis_client, "mail") == ["b"]
    assert redis_client.exists(keys.SCHEDULE) == 0
    assert redis_client.hlen(keys.lease("i1")) == 1


def test_odd_text_is_shown_and_no_error(redis_client: redis.Redis, capsys: Captured) -> None:
    """Half a surrogate pair in a payload, and an id on the command line that is no UTF-8."""
    push(redis_client, '{"class":"A","jid":"a","args":["\\ud800"]}')
    for command in (
        ["job", "ls", "mail"],
        ["job", "ls", "mail", "--json"],
        ["job", "show", "a"],
        ["why", "a"],
    ):
        assert main(command) == 0
        capsys.readouterr().out.encode()
    with pytest.raises(SystemExit) as ended:
        main(["why", "\udcff"])
    assert ended.value.code == 2
