"""Records as Sidekiq 7.3.9 and 8.1.7 left them in Redis, through every move that our worker makes of a job.

The Ruby tier runs against the version Debian has; these samples, taken from real runs, stand for the newer.
What we write in their place has the same fields, of the same types, under the dialect of that version.
"""

from __future__ import annotations

import json

import pytest

from stanchion.call import Call, Options
from stanchion.dialect import SIDEKIQ_7, Dialect
from stanchion.gate.push import Intent
from stanchion.job import Job
from stanchion.worker.outcome import Attempt, Outcome, outcome_of
from stanchion.worker.scheduler import promotion

NOW = 1_796_080_000.5
BOOM = ValueError("boom")
READY = {
    "7.3.9": (
        b'{"retry":3,"queue":"default","args":[1],"class":"EchoJob","jid":"ffd5e7b8bdac80100bdda85c",'
        b'"created_at":1796072937.424226,"enqueued_at":1796072937.4243827}'
    ),
    "8.1.7": (
        b'{"retry":3,"queue":"default","args":[1],"class":"EchoJob","jid":"e11976940832383409068450",'
        b'"created_at":1796064257877,"enqueued_at":1796064257878}'
    ),
}
SCHEDULED = (
    b'{"retry":3,"queue":"default","class":"EchoJob","args":[2],"jid":"3d2a40a1d131168c1be16679",'
    b'"created_at":1796072937.428738}'
)
FAILED_FIELDS = {
    "7.3.9": {"error_message": "boom", "failed_at": 1796072937.9968536, "retry_count": 0},
    "8.1.7": {"error_message": "boom", "failed_at": 1796064278214, "retry_count": 0},
}
FAILED_AT_SECONDS = {"7.3.9": 1796072937.9968536, "8.1.7": 1796064278.214}
FOREIGN = {"tags": ["a"], "bid": "b1", "cattr": {"user": 7}, "expiry": None, "big": 2**70, "locale": "de"}

versions = pytest.mark.parametrize("version", ["7.3.9", "8.1.7"])


def failed(version: str) -> Job:
    """A job that has failed once in Ruby."""
    return Job.parse(json.dumps({**json.loads(READY[version]), **FAILED_FIELDS[version], **FOREIGN}).encode())


def fail(job: Job, retries: bool | int, dialect: Dialect = SIDEKIQ_7) -> Outcome:
    """An attempt of it that fails here."""
    return outcome_of(Attempt(job, "default", retries, lambda count: 15.0, NOW, dialect), BOOM)


@versions
def test_the_first_failure_is_read_in_its_own_unit(version: str) -> None:
    assert failed(version).failed_at_seconds == FAILED_AT_SECONDS[version]


@versions
def test_a_second_failure_here_goes_on_counting_and_leaves_the_rest(version: str) -> None:
    before = failed(version)
    outcome = fail(before, 3)
    after = json.loads(outcome.payload)
    assert (after.pop("retry_count"), after.pop("retried_at")) == (1, NOW)
    assert (after.pop("error_class"), after.pop("error_message")) == ("ValueError", "boom")
    assert after == {
        name: value for name, value in before.fields.items() if name not in ("retry_count", "error_message")
    }


@versions
def test_a_retry_that_falls_due_changes_only_when_it_was_enqueued(version: str) -> None:
    before = failed(version)
    moved = promotion(before.dump(), NOW)
    assert (moved.member, moved.queue) == (before.dump(), "default")
    assert json.loads(moved.payload) == {**before.fields, "enqueued_at": NOW}


def test_a_scheduled_job_that_falls_due_is_itself_with_a_time() -> None:
    assert promotion(SCHEDULED, NOW).payload == SCHEDULED[:-1] + b',"enqueued_at":1796080000.5}'


@versions
def test_a_first_failure_here_has_the_fields_and_types_of_rubys(version: str) -> None:
    dialect = Dialect.of(version[0])
    job = Job.parse(READY[version])
    outcome = fail(job, 3, dialect)
    after = json.loads(outcome.payload)
    wanted = {**FAILED_FIELDS[version], "error_class": "ValueError", "failed_at": dialect.timestamp(NOW)}
    assert after == {**json.loads(READY[version]), **wanted}
    assert type(after["failed_at"]) is type(FAILED_FIELDS[version]["failed_at"])


@versions
def test_what_we_push_differs_from_rubys_only_in_its_values(version: str) -> None:
    dialect = Dialect.of(version[0])
    call = Call.of("EchoJob", [1], options=Options.of(retries=3))
    ours = json.loads(Intent.of(call, NOW, dialect).job.replace(retry=3).dump())
    rubys = json.loads(READY[version])
    assert {name: type(value) for name, value in ours.items()} == {
        name: type(value) for name, value in rubys.items()
    }
    scheduled = Intent.of(Call.of("EchoJob", [2], options=Options.of(delay=60)), NOW, dialect)
    assert scheduled.due_at == NOW + 60
    assert not {"at", "enqueued_at"} & scheduled.job.fields.keys()


@versions
def test_a_promotion_stamps_in_the_dialect_it_is_given(version: str) -> None:
    moved = promotion(SCHEDULED, NOW, Dialect.of(version[0]))
    stamp = json.loads(moved.payload)["enqueued_at"]
    assert type(stamp) is type(json.loads(READY[version])["enqueued_at"])


ACTIVE_JOB = (
    b'{"retry":true,"queue":"default","wrapped":"MailJob","args":[{"job_class":"MailJob","job_id":"u-1",'
    b'"queue_name":"default","arguments":[7,{"_aj_symbol_keys":[]}],"executions":0}],'
    b'"class":"Sidekiq::ActiveJob::Wrapper","jid":"aa","created_at":1796064257877,"enqueued_at":1796064257878}'
)


def test_an_active_job_has_its_own_name_and_travels_untouched() -> None:
    job = Job.parse(ACTIVE_JOB)
    assert (job.name, job.class_name) == ("MailJob", "Sidekiq::ActiveJob::Wrapper")
    assert job.dump() == ACTIVE_JOB
    failed = fail(job, True)
    again = json.loads(promotion(failed.payload, NOW).payload)
    assert {name: again[name] for name in ("class", "wrapped", "args", "jid")} == {
        name: job.fields[name] for name in ("class", "wrapped", "args", "jid")
    }


@versions
@pytest.mark.parametrize(("seconds", "kind"), [(10**6, "retry"), (60, "dead")])
def test_retry_for_counts_from_either_clock(version: str, seconds: int, kind: str) -> None:
    job = failed(version).replace(retry_for=seconds)
    assert fail(job, True).kind == kind
