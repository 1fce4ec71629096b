"""Records as Sidekiq 7.3.9 and 8.1.7 left them in Redis, through every move that our worker makes of a job.

The Ruby tier runs against the version Debian has; these samples, taken from real runs, stand for the newer.
"""

from __future__ import annotations

import json
from random import Random

import pytest

from stanchion.job import Job
from stanchion.worker.outcome import Failure, after_failure
from stanchion.worker.scheduler import promotion

NOW = 1_796_080_000.5
BOOM = Failure("ValueError", "boom")
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


@versions
def test_the_first_failure_is_read_in_its_own_unit(version: str) -> None:
    assert failed(version).failed_at_seconds == FAILED_AT_SECONDS[version]


@versions
def test_a_second_failure_here_goes_on_counting_and_leaves_the_rest(version: str) -> None:
    before = failed(version)
    outcome = after_failure(before, "default", BOOM, retries=3, now=NOW, rng=Random(1))
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
@pytest.mark.parametrize(("seconds", "kind"), [(10**6, "retry"), (60, "dead")])
def test_retry_for_counts_from_either_clock(version: str, seconds: int, kind: str) -> None:
    job = failed(version).replace(retry_for=seconds)
    assert after_failure(job, "default", BOOM, retries=True, now=NOW, rng=Random(1)).kind == kind
