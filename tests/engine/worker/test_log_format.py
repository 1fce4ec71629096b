"""A worker's log lines: the job on every line logged inside one, in both forms."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.worker.running import Worker
from stanchion.app import App
from stanchion.current import running
from stanchion.errors import TimeLimitExceeded, UnfitPayload, UnknownJob
from stanchion.job import Job
from stanchion.outcomes import Kill, Snooze
from stanchion.store.trip import Kind
from stanchion.worker import job_log
from stanchion.worker.failure import MAX_ERROR_CHARACTERS
from stanchion.worker.log_format import JsonLines, TextLines
from stanchion.worker.outcome import DONE, EXPIRED, Outcome
from waiting import until

JOB = Job({"class": "mail.welcome", "jid": "a1", "queue": "mail", "args": [], "tenant": "acme"})
NOW = 1_796_064_278.25
APP_WITH_ITS_OWN_LOGGING = """
import logging
import stanchion
logging.basicConfig(level=logging.INFO, format="OURS %(message)s")
app = stanchion.App()
"""


def record_of(log: Callable[[], None], caplog: pytest.LogCaptureFixture) -> logging.LogRecord:
    with caplog.at_level(logging.INFO):
        log()
    return caplog.records[-1]


def as_json(record: logging.LogRecord) -> dict[str, Any]:
    text = JsonLines("child 0").format(record)
    assert "\n" not in text
    line: dict[str, Any] = json.loads(text)
    return line


def test_a_line_outside_of_jobs_has_no_job(caplog: pytest.LogCaptureFixture) -> None:
    record = record_of(lambda: logging.getLogger("shop").info("hello %s", "you"), caplog)
    line = as_json(record)
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "info",
        "logger": "shop",
        "process": record.process,
        "part": "child 0",
        "message": "hello you",
    }
    assert TextLines("child 0").format(record).endswith("child 0 INFO shop: hello you")


def test_every_line_inside_a_job_says_which(caplog: pytest.LogCaptureFixture) -> None:
    with running(JOB, lambda: None):
        record = record_of(lambda: logging.getLogger("shop").info("hello"), caplog)
        line = as_json(record)
        assert (line["jid"], line["job"], line["queue"], line["tenant"]) == (
            "a1",
            "mail.welcome",
            "mail",
            "acme",
        )
        text = TextLines("child 0").format(record)
    assert text.endswith("shop: hello jid=a1 job=mail.welcome queue=mail tenant=acme")
    with running(JOB.replace(tenant=None), lambda: None):
        assert "tenant" not in as_json(record)


def test_a_name_from_a_payload_cannot_start_a_line(caplog: pytest.LogCaptureFixture) -> None:
    record = record_of(lambda: logging.getLogger("shop").info("hello"), caplog)
    with running(JOB.replace(**{"class": "a\nb"}), lambda: None):
        assert "job='a\\nb' queue=mail" in TextLines("child 0").format(record)


def test_the_last_line_has_elapsed_and_outcome_and_the_stack_is_a_field(
    caplog: pytest.LogCaptureFixture,
) -> None:
    try:
        raise ValueError("no luck\nat all")
    except ValueError as error:
        boom = error
    outcome = Outcome(Kind.RETRY, b"", NOW + 17.25, failed=True)
    record = record_of(lambda: job_log.ended(outcome, boom, milliseconds=12, now=NOW), caplog)
    line = as_json(record)
    assert (line["level"], line["elapsed_ms"], line["outcome"]) == ("warning", 12, "retry")
    assert line["message"] == "failed, next attempt in 17.2 s: ValueError: no luck\nat all"
    assert line["error"] == "ValueError: no luck\nat all"
    assert line["stack"].startswith("Traceback")
    assert "test_log_format.py" in line["stack"]
    text = TextLines("child 0").format(record)
    assert " elapsed_ms=12 outcome=retry\nTraceback" in text


def test_an_endless_message_does_not_make_an_endless_line(caplog: pytest.LogCaptureFixture) -> None:
    outcome = Outcome(Kind.RETRY, b"", NOW, failed=True)
    boom = ValueError("x" * 3_000_000)
    record = record_of(lambda: job_log.ended(outcome, boom, milliseconds=1, now=NOW), caplog)
    record.exc_text = None  # pytest's own formatter has left its stack there
    length = len(TextLines("child 0").format(record))
    assert length < 2 * MAX_ERROR_CHARACTERS + 1000
    line = as_json(record)
    assert len(line["stack"]) < MAX_ERROR_CHARACTERS + 100
    assert "characters left out" in line["stack"]


@pytest.mark.parametrize("error", [UnknownJob(), UnfitPayload(), TimeLimitExceeded()])
def test_an_error_of_the_worker_shows_no_stack(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    outcome = Outcome(Kind.RETRY, b"", NOW, failed=True)
    record = record_of(lambda: job_log.ended(outcome, error, milliseconds=1, now=NOW), caplog)
    assert "stack" not in as_json(record)


@pytest.mark.parametrize(
    ("outcome", "error", "level", "message"),
    [
        (DONE, None, "info", "done"),
        (EXPIRED, None, "warning", "not run: it is past its expiry"),
        (
            Outcome(Kind.SNOOZE, b"", NOW + 5),
            Snooze(5, "no token"),
            "info",
            "comes back in 5.0 s: stanchion.outcomes.Snooze: no token",
        ),
        (
            Outcome(Kind.DEAD, b"", NOW, failed=True),
            Kill("closed"),
            "error",
            "failed, now in the dead set: stanchion.outcomes.Kill: closed",
        ),
        (Outcome(Kind.DISCARD), None, "info", "discarded"),
        (Outcome(Kind.DISCARD, failed=True), ValueError("x"), "error", "failed and dropped: ValueError: x"),
    ],
)
def test_each_end_has_its_words_and_level(
    outcome: Outcome, error: Exception | None, level: str, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    record = record_of(lambda: job_log.ended(outcome, error, milliseconds=1, now=NOW), caplog)
    assert (record.levelname.lower(), record.getMessage()) == (level, message)


def test_an_outcome_raised_on_purpose_shows_no_stack_but_its_causes(caplog: pytest.LogCaptureFixture) -> None:
    dead = Outcome(Kind.DEAD, b"", NOW, failed=True)
    purely = record_of(lambda: job_log.ended(dead, Kill("x"), milliseconds=1, now=NOW), caplog)
    assert "stack" not in as_json(purely)
    kill = Kill("x")
    kill.__cause__ = ValueError("why")
    caused = record_of(lambda: job_log.ended(dead, kill, milliseconds=1, now=NOW), caplog)
    assert as_json(caused)["error"] == "ValueError: why"


@pytest.mark.redis
def test_an_application_that_sets_up_logging_itself_is_left_alone(redis_url: str, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(APP_WITH_ITS_OWN_LOGGING)
    with Worker(redis_url, tmp_path, app="own:app", home=tmp_path) as worker:
        App(redis_url).enqueue("unknown", queue="mail")
        until(lambda: "OURS failed" in worker.log.read_text())
