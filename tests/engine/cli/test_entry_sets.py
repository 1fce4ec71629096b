"""`stanchion dead|retry|schedule`: what they print, and what they do to Sidekiq's sets."""

from __future__ import annotations

import io
import json
import sys
import time
from collections.abc import Mapping
from typing import Any

import pytest
import redis

from engine.ready import jids
from stanchion.admin import bulk
from stanchion.admin.actions import Fate, MakeReady, delete
from stanchion.admin.selection import Found, Selection
from stanchion.cli.main import main
from stanchion.dialect import SIDEKIQ_7
from stanchion.store import entries, keys

pytestmark = pytest.mark.redis

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def to_redis(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANCHION_REDIS_URL", redis_url)


def failed(jid: str, **fields: Any) -> str:
    """A record of Sidekiq 8 with a field of a stranger."""
    record: dict[str, Any] = {
        "retry": True, "queue": "mail", "args": [7, []], "class": "Billing::Invoice", "jid": jid,
        "created_at": 1796064257877, "enqueued_at": 1796064257878, "error_message": "boom",
        "error_class": "RuntimeError", "failed_at": 1796064278214, "retry_count": 2, "cattr": {"id": []},
    }  # fmt: skip
    return json.dumps({**record, **fields}, separators=(",", ":"))


def add(client: redis.Redis, set_key: str, score: float, *payloads: str) -> None:
    client.zadd(set_key, dict.fromkeys(payloads, score))


def out(captured: Captured) -> list[str]:
    return captured.readouterr().out.splitlines()


def test_ls_is_a_table_that_a_payload_cannot_break(redis_client: redis.Redis, capsys: Captured) -> None:
    now = time.time()
    add(redis_client, keys.DEAD, now - 7200, failed("a", error_message="two\nlines \x1b[2J"))
    add(redis_client, keys.DEAD, now - 60, "{")
    assert main(["dead", "ls"]) == 0
    lines = out(capsys)
    assert [line.split() for line in lines] == [
        ["JID", "QUEUE", "JOB", "DIED", "ERROR"],
        ["sha1:60ba4b2daa4e", "-", "-", "60s", "the", "bytes", "are", "no", "job"],
        ["a", "mail", "Billing::Invoice", "2h", "RuntimeError:", "two", "lines", "[2J"],
    ]
    add(redis_client, keys.RETRY, now + 400, failed("r"))
    assert main(["retry", "ls"]) == 0
    assert out(capsys)[1].split()[:6] == ["r", "mail", "Billing::Invoice", "3", "in", "7m"]
    add(redis_client, keys.SCHEDULE, now - 1, failed("s"))
    assert main(["schedule", "ls"]) == 0
    assert out(capsys)[1].split() == ["s", "mail", "Billing::Invoice", "now"]


def test_ls_filters_limits_and_says_what_is_left_out(redis_client: redis.Redis, capsys: Captured) -> None:
    assert main(["dead", "ls"]) == 0
    assert capsys.readouterr().err == "no dead job\n"
    for at in range(5):
        add(redis_client, keys.DEAD, 100.0 + at, failed(f"d{at}", queue="even" if at % 2 == 0 else "odd"))
    assert main(["dead", "ls", "--queue", "even", "--limit", "2", "--json"]) == 0
    printed = capsys.readouterr()
    assert [(each["jid"], each["died_at"]) for each in json.loads(printed.out)] == [
        ("d4", 104.0),
        ("d2", 102.0),
    ]
    assert json.loads(printed.out)[0]["payload"] == json.loads(failed("d4", queue="even"))
    assert printed.err == "only the first 2 are shown of a set of 5; --limit 0 shows all\n"
    assert main(["dead", "ls", "--error", "nowhere"]) == 0
    assert capsys.readouterr().err == "no dead job matches\n"


@pytest.mark.parametrize("key", [keys.DEAD, keys.RETRY, keys.SCHEDULE])
def test_a_set_of_a_wrong_type_is_named(key: str, redis_client: redis.Redis, capsys: Captured) -> None:
    redis_client.set(key, "oops")
    assert main([key, "ls"]) == 1
    assert f"the key '{key}' is a string, no sorted set of jobs" in capsys.readouterr().err


def test_a_long_id_is_cut_in_the_table_only(redis_client: redis.Redis, capsys: Captured) -> None:
    add(redis_client, keys.DEAD, 200.0, failed("x" * 5000), failed("a"))
    assert main(["dead", "ls"]) == 0
    table = out(capsys)
    assert f"{'x' * 39}…  mail" in "\n".join(table)
    assert max(map(len, table)) < 120
    assert main(["dead", "ls", "--json"]) == 0
    assert {len(entry["jid"]) for entry in json.loads(capsys.readouterr().out)} == {1, 5000}


def test_a_negative_age_is_told_what_an_age_looks_like(capsys: Captured) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["dead", "ls", "--older-than", "-5m"])
    assert "'-5m' is no age; write 90s, 5m, 2h, 3d or 1w" in capsys.readouterr().err


def test_show_tells_everything(redis_client: redis.Redis, capsys: Captured) -> None:
    add(redis_client, keys.RETRY, 1796064300.5, failed("a", error_backtrace=["a.rb:1", "b.rb:2"]))
    assert main(["retry", "show", "a"]) == 0
    assert out(capsys) == [
        "JID:        a",
        "Job:        Billing::Invoice",
        "Queue:      mail",
        "Due at:     2026-11-30T18:45:00Z",
        "Arguments:  [7, []]",
        "Retries:    3 used, allowed: the default count",
        "Created:    2026-11-30T18:44:17Z",
        "Enqueued:   2026-11-30T18:44:17Z",
        "Failed:     2026-11-30T18:44:38Z",
        "Error:      RuntimeError: boom",
        "Backtrace:",
        "  a.rb:1",
        "  b.rb:2",
        "Other fields:",
        '  cattr: {"id": []}',
    ]
    assert main(["retry", "show", "b"]) == 1
    assert capsys.readouterr().err == ("b: no such failed job; `stanchion why b` looks everywhere\n")


def test_retry_forgives_a_failure_and_keeps_every_field(redis_client: redis.Redis, capsys: Captured) -> None:
    add(redis_client, keys.DEAD, 100.0, failed("a"), failed("b"))
    before = time.time()
    assert main(["dead", "retry", "a", "nope"]) == 1
    assert capsys.readouterr().out == "1 dead job retried\n"
    [payload] = redis_client.lrange(keys.queue("mail"), 0, -1)
    ready = json.loads(payload)
    assert ready.pop("enqueued_at") >= before
    assert ready == {**_without(json.loads(failed("a")), "enqueued_at"), "retry_count": 1}
    assert redis_client.zrange(keys.DEAD, 0, -1) == [failed("b").encode()]
    assert redis_client.hget(keys.counters("mail"), "eligible_enq") == b"1"


def _without(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != name}


def test_schedule_run_counts_no_attempt(redis_client: redis.Redis) -> None:
    add(redis_client, keys.SCHEDULE, time.time() + 500, failed("a"))
    assert main(["schedule", "run", "a"]) == 0
    [payload] = redis_client.lrange(keys.queue("mail"), 0, -1)
    assert json.loads(payload)["retry_count"] == 2


def test_a_filter_chooses_and_a_dry_run_changes_nothing(redis_client: redis.Redis, capsys: Captured) -> None:
    for at in range(450):
        add(redis_client, keys.DEAD, 100.0, failed(f"d{at}", queue="odd" if at % 2 else "even"))
    assert main(["dead", "retry", "--queue", "odd", "--dry-run"]) == 0
    assert out(capsys) == ["225 dead jobs would be retried"]
    assert redis_client.zcard(keys.DEAD) == 450
    assert main(["dead", "retry", "--queue", "odd", "--limit", "210", "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "chosen": 210, "done": 210, "gone": 0, "refused": 0, "unreadable": 0, "dry_run": False,
    }  # fmt: skip
    assert main(["dead", "retry", "--job", "Bill*", "--queue", "odd", "--yes"]) == 0
    assert len(jids(redis_client, "odd")) == len(set(jids(redis_client, "odd"))) == 225
    assert redis_client.zcard(keys.DEAD) == 225
    assert main(["dead", "delete", "--all", "--yes"]) == 0
    assert redis_client.zcard(keys.DEAD) == 0


def test_kill_warns_what_the_dead_set_would_drop(redis_client: redis.Redis, capsys: Captured) -> None:
    add(redis_client, keys.RETRY, time.time() + 60, failed("a"))
    redis_client.zadd(keys.DEAD, {f"m{at}": time.time() for at in range(10_000)})
    assert main(["retry", "kill", "a"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "1 failed job killed\n"
    assert "its oldest 1 would be dropped" in printed.err
    assert redis_client.zscore(keys.DEAD, failed("a")) == pytest.approx(time.time(), abs=30)
    assert redis_client.zcard(keys.RETRY) == 0


def test_bytes_that_are_no_job_can_only_be_deleted(redis_client: redis.Redis, capsys: Captured) -> None:
    add(redis_client, keys.DEAD, 100.0, "{", failed("a"))
    assert main(["dead", "retry", "--all", "--yes"]) == 1
    printed = capsys.readouterr()
    assert printed.out == "1 dead job retried\n"
    assert printed.err == "1 are no jobs and stay where they are; delete is all that fits them\n"
    assert main(["dead", "delete", "sha1:60ba4b2daa4e"]) == 0
    assert redis_client.exists(keys.DEAD) == 0


class Terminal(io.StringIO):
    """A standard input that a person sits at."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "code", "left"), [("y\n", 0, 0), ("n\n", 1, 1), ("", 1, 1)])
def test_clear_asks_first(
    answer: str, code: int, left: int, redis_client: redis.Redis, capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    add(redis_client, keys.DEAD, 100.0, "{")
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    assert main(["dead", "clear"]) == code
    assert "Delete 1 dead job for good? [y/N]" in capsys.readouterr().err
    assert redis_client.zcard(keys.DEAD) == left


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["retry"], "name the jobs to retry, or choose with filters, or give --all"),
        (["retry", "a", "--all"], "name jobs, or give filters or --all, not both"),
        (["retry", "--all"], "Retry 1 dead job? There is no terminal to ask on: add --yes"),
        (["clear"], "Delete 1 dead job for good? There is no terminal to ask on"),
    ],
)
def test_a_wrong_command_changes_nothing(
    command: list[str], message: str, redis_client: redis.Redis, capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    add(redis_client, keys.DEAD, 100.0, failed("a"))
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert main(["dead", *command]) == 2
    assert message in capsys.readouterr().err
    assert redis_client.zcard(keys.DEAD) == 1


def test_an_entry_that_changes_between_look_and_move_is_left_alone(redis_client: redis.Redis) -> None:
    changed = failed("a", retry_count=9)
    add(redis_client, keys.RETRY, 100.0, failed("a"), failed("b"), failed("c"))

    def meddle(client: redis.Redis, set_key: str, chosen: Any) -> list[Fate]:
        """Between the look and the move a poller takes b, and a fails again."""
        client.zrem(set_key, failed("a"), failed("b"))
        client.zadd(set_key, {changed: 900.0})
        return MakeReady(SIDEKIQ_7, lowers_retry_count=True)(client, set_key, chosen)

    chosen = {found.fingerprint for found in bulk.matching(redis_client, keys.RETRY, Selection())}
    tally = bulk.act(redis_client, keys.RETRY, meddle, chosen)
    assert (tally.done, tally.gone) == (1, 2)
    assert jids(redis_client, "mail") == ["c"]
    assert redis_client.zrange(keys.RETRY, 0, -1) == [changed.encode()]


def test_a_job_that_fails_again_is_not_retried_for_ever(redis_client: redis.Redis) -> None:
    for at in range(5):
        add(redis_client, keys.RETRY, 100.0 + at, failed(f"j{at}"))

    def fails_at_once(client: redis.Redis, set_key: str, chosen: list[Found]) -> list[Fate]:
        fates = MakeReady(SIDEKIQ_7, lowers_retry_count=True)(client, set_key, chosen)
        for found in chosen:
            client.zadd(set_key, {failed(found.id, retried_at=time.time()): 1e9})
        return fates

    chosen = {found.fingerprint for found in bulk.matching(redis_client, keys.RETRY, Selection())}
    tally = bulk.act(redis_client, keys.RETRY, fails_at_once, chosen)  # type: ignore[arg-type]
    assert tally.done == 5
    assert redis_client.zcard(keys.RETRY) == 5


def test_entries_pushed_past_the_walk_by_others_are_met_in_another_walk(redis_client: redis.Redis) -> None:
    count = 3 * entries.PER_CALL
    add(redis_client, keys.DEAD, 100.0, *(failed(f"{at:04}") for at in range(count)))
    chosen = {
        found.fingerprint
        for found in bulk.matching(redis_client, keys.DEAD, Selection())
        if int(found.id) >= entries.PER_CALL
    }
    is_first = True

    def others_delete_in_front(client: redis.Redis, set_key: str, picked: Any) -> list[Fate]:
        nonlocal is_first
        if is_first:
            is_first = False
            client.zrem(set_key, *(failed(f"{at:04}") for at in range(entries.PER_CALL)))
        return delete(client, set_key, picked)

    tally = bulk.act(redis_client, keys.DEAD, others_delete_in_front, chosen)
    assert (tally.done, tally.gone) == (2 * entries.PER_CALL, 0)
    assert redis_client.zcard(keys.DEAD) == 0
