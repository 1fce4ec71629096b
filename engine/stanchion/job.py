"""The wire record of one job: Sidekiq's JSON, read and written without losing a field.

Client, gate and worker share it. It must never talk to Redis, look at a policy or read a clock: times are
passed in. Timestamps are read in both dialects (a JSON float is seconds, a JSON integer milliseconds) and
written as the given dialect has them.
"""

from __future__ import annotations

import json
import math
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from stanchion.dialect import SIDEKIQ_7, Dialect
from stanchion.errors import MalformedPayload

DEFAULT_QUEUE = "default"
QUEUE_NAME = re.compile(r"[A-Za-z0-9_:.-]{1,128}")
"""What a queue may be called (full match): the names Sidekiq's web page can show."""
JID_BYTES = 12
MILLISECONDS = 1000.0


def new_jid() -> str:
    """A fresh job id: 24 hexadecimal digits, as Sidekiq makes them. Safe after a fork."""
    return secrets.token_hex(JID_BYTES)


def new_record(
    name: str,
    args_json: bytes,
    *,
    queue: str,
    jid: str,
    retry: bool | int,
    created_at: float | int,
    enqueued_at: float | int | None,
    more: Mapping[str, Any],
) -> bytes:
    """A new job as it lies in Redis, with the fields in Sidekiq's own order; times as the dialect has them.

    Written as text, since the arguments are JSON already and encoding them again is what a bulk call would
    spend most of its time on. `name`, `queue` and `jid` must be checked ones: nothing in them needs escaping.
    """
    retry_json = ("false", "true")[retry] if isinstance(retry, bool) else retry
    head = f'{{"retry":{retry_json},"queue":"{queue}","args":'
    stamps = "" if enqueued_at is None else f',"enqueued_at":{enqueued_at!r}'
    tail = f',"class":"{name}","jid":"{jid}","created_at":{created_at!r}{stamps}'
    rest = b"," + Job(dict(more)).dump()[1:] if more else b"}"
    return head.encode() + args_json + tail.encode() + rest


@dataclass(frozen=True, slots=True)
class Job:
    """One job as it lies in Redis. `fields` is the whole JSON object; `raw` the exact bytes, if parsed.

    Fields this class does not know (another client's metadata) are kept and written again.
    """

    fields: dict[str, Any]
    """To be read only."""
    raw: bytes | None = field(default=None, compare=False, repr=False)

    @classmethod
    def create(
        cls,
        name: str,
        args: Sequence[Any],
        *,
        queue: str,
        jid: str,
        retry: bool | int,
        now: float,
        tenant: str | None = None,
        dialect: Dialect = SIDEKIQ_7,
    ) -> Self:
        """A new record, created at `now` (epoch seconds), with the fields in Sidekiq's own order."""
        fields = {
            "retry": retry,
            "queue": queue,
            "args": list(args),
            "class": name,
            "jid": jid,
            "created_at": dialect.timestamp(now),
        }
        if tenant is not None:
            fields["tenant"] = tenant
        return cls(fields)

    @classmethod
    def parse(cls, raw: bytes) -> Self:
        """Read a payload. Raises MalformedPayload if it is not JSON (NaN and Infinity are not), no object,
        or has no usable `class`, `jid` or `args`; missing `args` mean none.
        """
        try:
            fields = _decoder.decode(raw.decode("utf-8", "surrogatepass"))
        except (ValueError, RecursionError) as error:
            raise MalformedPayload(f"the payload is no JSON: {error}") from None
        if not isinstance(fields, dict):
            raise MalformedPayload("the payload is JSON, but no object")
        for key in ("class", "jid"):
            if not isinstance(fields.get(key), str) or not fields[key]:
                raise MalformedPayload(f"the payload has no {key!r}")
        if not isinstance(fields.setdefault("args", []), list):
            raise MalformedPayload("the payload's 'args' are no array")
        return cls(fields, raw)

    @classmethod
    def read(cls, raw: bytes) -> Self | None:
        """As `parse`, for a look at a stranger's bytes: None if they are no job."""
        try:
            return cls.parse(raw)
        except MalformedPayload:
            return None

    def dump(self) -> bytes:
        """The record as compact UTF-8 JSON. Raises ValueError for NaN and Infinity."""
        try:
            return _encoder.encode(self.fields).encode()
        except UnicodeEncodeError:
            # Half of a surrogate pair, legal as an escape in JSON but not in UTF-8: escape it again.
            return _ascii_encoder.encode(self.fields).encode()

    def replace(self, **fields: Any) -> Job:
        """A copy with these fields set; a None value removes the field."""
        merged = {**self.fields, **fields}
        for name, value in fields.items():
            if value is None:
                del merged[name]
        return Job(merged)

    @property
    def class_name(self) -> str:
        """The wire's `class`: for ActiveJob the adapter's wrapper."""
        return str(self.fields["class"])

    @property
    def name(self) -> str:
        """The job's own name: what ActiveJob wrapped, else the class."""
        wrapped = self.fields.get("wrapped")
        return wrapped if isinstance(wrapped, str) and wrapped else self.class_name

    @property
    def jid(self) -> str:
        """The job id, the same through schedule, retry and recovery."""
        return str(self.fields["jid"])

    @property
    def queue(self) -> str:
        """The queue the payload names."""
        queue = self.fields.get("queue")
        return queue if isinstance(queue, str) and queue else DEFAULT_QUEUE

    @property
    def args(self) -> list[Any]:
        """The wire arguments."""
        args: list[Any] = self.fields["args"]
        return args

    @property
    def retry(self) -> bool | int:
        """Retry for ever-so-long (True: the default count), never (False), or this many times.

        Absent or of another type counts as True: a job is rather retried than lost.
        """
        retry = self.fields.get("retry", True)
        return retry if isinstance(retry, int) else True

    @property
    def retry_count(self) -> int | None:
        """Failures so far less one: absent before the first failure, then from 0."""
        count = self.fields.get("retry_count")
        return count if isinstance(count, int) and not isinstance(count, bool) else None

    @property
    def created_at_seconds(self) -> float | None:
        """When the client made the record, epoch seconds."""
        return _seconds(self.fields.get("created_at"))

    @property
    def enqueued_at_seconds(self) -> float | None:
        """When the job last entered a ready list, epoch seconds; absent while it is scheduled."""
        return _seconds(self.fields.get("enqueued_at"))

    @property
    def failed_at_seconds(self) -> float | None:
        """When the job first failed, epoch seconds; absent before."""
        return _seconds(self.fields.get("failed_at"))

    @property
    def retried_at_seconds(self) -> float | None:
        """When the job failed last, epoch seconds; absent before its second failure."""
        return _seconds(self.fields.get("retried_at"))

    @property
    def tenant(self) -> str | None:
        """The tenant the caller stated, if any."""
        tenant = self.fields.get("tenant")
        return tenant if isinstance(tenant, str) else None

    @property
    def traceparent(self) -> str | None:
        """The trace the caller stated, if any."""
        trace = self.fields.get("traceparent")
        return trace if isinstance(trace, str) else None

    @property
    def snooze_count(self) -> int:
        """How often the job has put itself off."""
        count = self.fields.get("snooze_count")
        return count if isinstance(count, int) and not isinstance(count, bool) else 0

    @property
    def expires_at_seconds(self) -> float | None:
        """When it is too late to begin, epoch seconds; absent for a job that may begin at any time."""
        return _seconds(self.fields.get("expires_at"))


def _seconds(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value / MILLISECONDS if abs(value) < 2**63 else None
    return value if isinstance(value, float) else None


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not allowed")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:24]} is out of range")
    return number


_encoder = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)
_ascii_encoder = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_decoder = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)
"""Made once: `json.dumps` and `json.loads` make one for every call that has such arguments."""
