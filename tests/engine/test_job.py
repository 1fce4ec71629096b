"""The wire record: Sidekiq's own bytes read and written, and what is no job refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.errors import MalformedPayload
from stanchion.job import QUEUE_NAME, Job, new_jid

# As Sidekiq 7.3.9 and 8.1.7 wrote them.
SIDEKIQ_7 = (
    b'{"retry":3,"queue":"default","args":[1],"class":"EchoJob","jid":"ffd5e7b8bdac80100bdda85c",'
    b'"created_at":1796072937.424226,"enqueued_at":1796072937.4243827}'
)
SIDEKIQ_7_FAILED = (
    b'{"retry":3,"queue":"default","args":[],"class":"BoomJob","jid":"ffd5e7b8bdac80100bdda85c",'
    b'"created_at":1796072937.424226,"error_message":"boom","error_class":"RuntimeError",'
    b'"failed_at":1796072937.9968536,"retry_count":0,"error_backtrace":"eJyLVtIvyS3QL8421y8="}'
)
SIDEKIQ_8 = (
    b'{"retry":3,"queue":"default","args":[1],"class":"EchoJob","jid":"e11976940832383409068450",'
    b'"created_at":1796064257877,"enqueued_at":1796064257878}'
)
ACTIVE_JOB = (
    b'{"class":"Sidekiq::ActiveJob::Wrapper","wrapped":"MailJob","args":[{}],"jid":"a1","queue":"mail"}'
)


@pytest.mark.parametrize("raw", [SIDEKIQ_7, SIDEKIQ_7_FAILED, SIDEKIQ_8, ACTIVE_JOB])
def test_sidekiqs_bytes_survive_reading_and_writing(raw: bytes) -> None:
    job = Job.parse(raw)
    assert job.raw == raw
    assert job.dump() == raw


def test_a_new_record_has_the_bytes_sidekiq_7_would_write() -> None:
    job = Job.create(
        "EchoJob", [1], queue="default", jid="ffd5e7b8bdac80100bdda85c", retry=3, now=1796072937.424226
    )
    assert job.replace(enqueued_at=1796072937.4243827).dump() == SIDEKIQ_7


def test_a_time_that_falls_on_a_full_second_is_still_written_as_a_float() -> None:
    job = Job.create("EchoJob", [], queue="q", jid="1", retry=True, now=1796072937)
    assert b'"created_at":1796072937.0' in job.dump()


@pytest.mark.parametrize(("raw", "seconds"), [(SIDEKIQ_7, 1796072937.4243827), (SIDEKIQ_8, 1796064257.878)])
def test_both_dialects_of_time_read_as_seconds(raw: bytes, seconds: float) -> None:
    assert Job.parse(raw).enqueued_at_seconds == seconds


def test_an_active_job_is_known_by_what_it_wraps() -> None:
    job = Job.parse(ACTIVE_JOB)
    assert (job.name, job.class_name) == ("MailJob", "Sidekiq::ActiveJob::Wrapper")


def test_a_none_value_removes_a_field_and_others_keep_their_place() -> None:
    job = Job.parse(SIDEKIQ_7).replace(enqueued_at=None, retry_count=0)
    assert list(job.fields) == ["retry", "queue", "args", "class", "jid", "created_at", "retry_count"]
    assert job.raw is None


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        (b"", "no JSON"),
        (b"{", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[]", "no object"),
        (b'"text"', "no object"),
        (b'{"jid":"1","args":[]}', "'class'"),
        (b'{"class":7,"jid":"1"}', "'class'"),
        (b'{"class":"A","args":[]}', "'jid'"),
        (b'{"class":"A","jid":"","args":[]}', "'jid'"),
        (b'{"class":"A","jid":"1","args":{}}', "'args'"),
        (b'{"class":"A","jid":"1","args":[NaN]}', "NaN"),
        (b'{"class":"A","jid":"1","args":[-Infinity]}', "Infinity"),
        (b'{"class":"A","jid":"1","args":[1e400]}', "out of range"),
    ],
)
def test_bytes_that_are_no_job_are_malformed(raw: bytes, complaint: str) -> None:
    with pytest.raises(MalformedPayload, match=complaint):
        Job.parse(raw)


@pytest.mark.parametrize(
    ("fields", "retry", "retry_count"),
    [
        ({}, True, None),
        ({"retry": None}, True, None),
        ({"retry": "yes"}, True, None),
        ({"retry": False}, False, None),
        ({"retry": 0, "retry_count": 0}, 0, 0),
        ({"retry": 5, "retry_count": True}, 5, None),
        ({"retry_count": "3"}, True, None),
    ],
)
def test_retry_fields_of_any_type_are_readable(
    fields: dict[str, Any], retry: bool | int, retry_count: int | None
) -> None:
    job = Job.parse(json.dumps({"class": "A", "jid": "1", **fields}).encode())
    assert job.retry == retry
    assert type(job.retry) is type(retry)
    assert job.retry_count == retry_count
    assert (job.args, job.queue, job.tenant) == ([], "default", None)
    assert (job.created_at_seconds, job.enqueued_at_seconds) == (None, None)


def test_half_a_surrogate_pair_is_written_as_the_escape_it_came_as() -> None:
    raw = b'{"class":"A","jid":"1","args":["\\ud83d"]}'
    assert Job.parse(raw).dump() == raw


def test_text_beyond_ascii_travels_as_utf_8() -> None:
    job = Job.create("A", ["é€😀"], queue="q", jid="1", retry=True, now=1.0)
    assert "é€😀".encode() in job.dump()


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(args=st.lists(values, max_size=3), extra=st.dictionaries(st.text(min_size=1), values, max_size=3))
def test_any_record_survives_a_round_trip(args: list[Any], extra: dict[str, Any]) -> None:
    fields = {**extra, "class": "A", "jid": "1", "args": args}
    assert Job.parse(Job(fields).dump()).fields == fields


def test_job_ids_look_like_sidekiqs_and_differ() -> None:
    ids = {new_jid() for _ in range(100)}
    assert len(ids) == 100
    assert all(len(jid) == 24 and int(jid, 16) >= 0 for jid in ids)


@pytest.mark.parametrize(
    ("name", "is_fit"), [("default", True), ("a:b.c-d_1", True), ("", False), ("a b", False), ("ä", False)]
)
def test_queue_names_are_those_the_web_page_can_show(name: str, is_fit: bool) -> None:
    assert bool(QUEUE_NAME.fullmatch(name)) is is_fit
