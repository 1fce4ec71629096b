"""`stanchion enqueue`: what it sends, what it prints, and how it says no."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import redis

from stanchion.cli.main import main
from stanchion.store import keys

APPLICATION = """
import stanchion
app = stanchion.App("redis://localhost:1/0")
@app.job(queue="mail", retries=3)
def welcome(user: int, *, lang: str = "en") -> None: ...
"""


@pytest.fixture
def application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """MODULE:APP of an application in the working directory, whose own Redis is nowhere."""
    (tmp_path / "mailer_of_this_test.py").write_text(APPLICATION)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return "mailer_of_this_test:app"


@pytest.fixture
def to_redis(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANCHION_REDIS_URL", redis_url)


@pytest.mark.redis
@pytest.mark.usefixtures("to_redis")
def test_arguments_are_json_where_they_read_as_json(
    redis_client: redis.Redis, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["enqueue", "a", "7", "-5", "text", "true", "NaN", '{"rows": [1]}', "-q", "imports"]) == 0
    payload = json.loads(redis_client.lindex("queue:imports", 0) or b"")
    assert payload["args"] == [7, -5, "text", True, "NaN", {"rows": [1]}]
    assert capsys.readouterr().out == f"enqueued {payload['jid']}\n"


@pytest.mark.redis
@pytest.mark.usefixtures("to_redis")
def test_arguments_may_follow_options(redis_client: redis.Redis) -> None:
    assert main(["enqueue", "a", "7", "-q", "imports", "-5", '{"rows": []}']) == 0
    assert json.loads(redis_client.lindex("queue:imports", 0) or b"")["args"] == [7, -5, {"rows": []}]


@pytest.mark.parametrize("words", [["7", "--lang"], ["--", "-x"]])
def test_an_unknown_option_is_no_argument(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["enqueue", "a", "-q", "imports", *words])
    assert ended.value.code == 2
    assert "unrecognized arguments" in capsys.readouterr().err


@pytest.mark.redis
@pytest.mark.usefixtures("to_redis")
def test_a_scheduled_job_prints_its_time(
    redis_client: redis.Redis, capsys: pytest.CaptureFixture[str]
) -> None:
    at = int(time.time()) + 3600
    assert main(["enqueue", "a", "--at", str(at), "--tenant", "acme", "--jid", "order-7", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "status": "scheduled",
        "jid": "order-7",
        "holder": None,
        "until": float(at),
        "reason": None,
        "accepted": True,
    }
    [member] = redis_client.zrange(keys.SCHEDULE, 0, -1)
    assert isinstance(member, bytes)
    assert redis_client.zscore(keys.SCHEDULE, member) == at
    assert json.loads(member)["tenant"] == "acme"
    assert main(["enqueue", "a", "--jid", "order-7"]) == 0
    assert capsys.readouterr().out == "scheduled order-7 (already enqueued)\n"


@pytest.mark.redis
@pytest.mark.usefixtures("to_redis")
def test_an_expiry_counts_from_the_due_time_and_a_trace_travels(redis_client: redis.Redis) -> None:
    at = int(time.time()) + 3600
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    assert main(["enqueue", "a", "--at", str(at), "--expires-in", "60", "--traceparent", trace]) == 0
    [member] = redis_client.zrange(keys.SCHEDULE, 0, -1)
    assert isinstance(member, bytes)
    payload = json.loads(member)
    assert (payload["expires_at"], payload["traceparent"]) == (at + 60, trace)


@pytest.mark.redis
def test_a_known_app_gives_queue_retries_and_signature(
    application: str, redis_url: str, redis_client: redis.Redis, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["enqueue", "welcome", "7", "--app", application, "--redis-url", redis_url]) == 0
    payload = json.loads(redis_client.lindex("queue:mail", 0) or b"")
    assert (payload["args"], payload["retry"]) == ([7, {"lang": "en"}], 3)
    assert main(["enqueue", "welcome", "--app", application, "--redis-url", redis_url]) == 2
    assert "stanchion: error: job welcome(user, *, lang='en'): " in capsys.readouterr().err


def test_a_slip_of_a_name_is_refused_where_the_app_is_known(
    application: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["enqueue", "welcom", "7", "--app", application]) == 2
    assert capsys.readouterr().err == (
        "stanchion: error: the app has no job named 'welcom'; did you mean 'welcome'?\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a", "--queue", "a b"], "stanchion: error: queue 'a b'"),
        (["a b"], "stanchion: error: a job cannot be named 'a b'"),
        (["a", "--delay", "nan"], "stanchion: error: delay must be seconds"),
        (["a", "--expires-in", "0"], "stanchion: error: expires_in must be"),
        (["a", "--traceparent", "é"], "stanchion: error: traceparent must be printable ASCII text"),
        (["a", "--jid", "a|b"], "stanchion: error: jid 'a|b'"),
        (["a", "1e999"], "stanchion: error: job a: args[0]: inf cannot be carried by JSON"),
        (["a", "--redis-url", "http://x"], "stanchion: error: the Redis URL 'http://x' must begin with"),
        (["a", '{"rows": [1'], "stanchion: error: the argument '{\"rows\": [1' is no JSON: "),
        (["a", "[NaN]"], "stanchion: error: the argument '[NaN]' is no JSON: NaN is a word"),
        (["a", "--app", "nowhere:app"], "stanchion: error: there is no module 'nowhere'"),
    ],
)
def test_a_wrong_command_is_one_line_and_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["enqueue", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(message)
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a", "--at", "2026-12-24"], "'2026-12-24' has no time zone; add Z or an offset"),
        (["a", "--at", "tomorrow"], "'tomorrow' is no time"),
        (["a", "--at", "1", "--delay", "1"], "not allowed with argument"),
        ([], "required: JOB"),
    ],
)
def test_a_wrong_flag_is_named_by_the_usage(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["enqueue", *arguments])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_a_redis_that_is_away_is_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STANCHION_CLIENT_TIMEOUT_SECONDS", "0.2")
    assert main(["enqueue", "a", "--redis-url", "redis://localhost:1/0"]) == 1
    assert "Nothing was enqueued" in capsys.readouterr().err
