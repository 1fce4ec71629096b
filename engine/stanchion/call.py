"""One call of a job, bound and checked but not sent, and the options a caller may add to it.

Job definitions and the App make calls; the gate turns them into payloads. Nothing here reads a clock: a
delay stays a delay until the call is sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Literal, TypedDict, Unpack

from stanchion.arguments import to_json
from stanchion.durations import is_number, to_seconds
from stanchion.errors import InvalidArguments
from stanchion.job import DEFAULT_QUEUE, QUEUE_NAME
from stanchion.tracing import check_traceparent, traceparent

OnRefused = Literal["raise", "return"]

JOB_NAME = re.compile(r"[A-Za-z0-9_:.-]{1,256}")
"""What a job may be called (full match): Python's dotted names and Ruby's constants."""
JID = re.compile(r"[A-Za-z0-9_:.-]{1,128}")
MAX_TENANT_BYTES = 256
MAX_RETRIES = 10_000
MAX_AT_SECONDS = 253_402_300_799.0
"""The end of the year 9999: a later time cannot be shown, and is mostly one in milliseconds."""


class OptionFields(TypedDict, total=False):
    """What `options(…)` and the by-name calls accept; None means not stated."""

    queue: str | None
    delay: float | timedelta | None
    at: float | datetime | None
    expires_in: float | timedelta | None
    tenant: str | None
    jid: str | None
    retries: bool | int | None
    traceparent: str | None
    on_refused: OnRefused | None


@dataclass(frozen=True, slots=True)
class Options:
    """Checked options of one call; None where the caller said nothing."""

    queue: str | None = None
    delay_seconds: float | None = None
    at_seconds: float | None = None
    expires_in_seconds: float | None = None
    tenant: str | None = None
    jid: str | None = None
    retries: bool | int | None = None
    traceparent: str | None = None
    on_refused: OnRefused | None = None

    @classmethod
    def of(cls, **fields: Unpack[OptionFields]) -> Options:
        """Raises InvalidArguments, naming the option, for an unknown, unfit or contradicting one."""
        unknown = sorted(fields.keys() - OptionFields.__annotations__.keys())
        if unknown:
            known = ", ".join(OptionFields.__annotations__)
            raise InvalidArguments(f"unknown option {', '.join(unknown)}; there are {known}")
        if fields.get("delay") is not None and fields.get("at") is not None:
            raise InvalidArguments("delay and at exclude each other: one counts from now, one is a time")
        return cls(
            queue=_queue(fields.get("queue")),
            delay_seconds=to_seconds("delay", fields.get("delay")),
            at_seconds=_at(fields.get("at")),
            expires_in_seconds=to_seconds("expires_in", fields.get("expires_in"), above_zero=True),
            tenant=_tenant(fields.get("tenant")),
            jid=_jid(fields.get("jid")),
            retries=check_retries(fields.get("retries")),
            traceparent=check_traceparent(fields.get("traceparent")),
            on_refused=_on_refused(fields.get("on_refused")),
        )

    def due_at(self, now: float) -> float | None:
        """When the job may start, epoch seconds; None if that is now or past."""
        due = now + self.delay_seconds if self.delay_seconds is not None else self.at_seconds
        return due if due is not None and due > now else None


NO_OPTIONS = Options()
NO_FIELDS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Call:
    """A job's name and wire arguments, what code declared for it, and the options."""

    name: str
    args_json: bytes
    """The arguments as they go into the payload: what the caller changes later does not travel."""
    queue: str
    retries: bool | int | None
    """As the decorator states; None if it does not."""
    options: Options
    wire_fields: Mapping[str, Any] = field(default_factory=dict)
    """More fields of the payload, as code declares them."""
    expires_in_seconds: float | None = None
    """How long after it is due the job may still begin."""
    traceparent: str | None = None
    """The trace this call belongs to: the option, else the context's."""

    @classmethod
    def of(
        cls,
        name: str,
        args: Sequence[Any],
        *,
        queue: str = DEFAULT_QUEUE,
        retries: bool | int | None = None,
        wire_fields: Mapping[str, Any] = NO_FIELDS,
        expires_in_seconds: float | None = None,
        options: Options = NO_OPTIONS,
    ) -> Call:
        """The options beat what code declares. Raises InvalidArguments for what JSON cannot carry."""
        try:
            encoded = to_json(list(args))
        except InvalidArguments as error:
            raise InvalidArguments(f"job {name}: {error}") from None
        return cls(
            name,
            encoded,
            options.queue or queue,
            retries,
            options,
            wire_fields,
            options.expires_in_seconds or expires_in_seconds,
            options.traceparent or check_traceparent(traceparent.get()),
        )

    @property
    def args(self) -> list[Any]:
        """The arguments as a worker will read them."""
        args: list[Any] = json.loads(self.args_json)
        return args

    @property
    def size_bytes(self) -> int:
        """Of the encoded arguments."""
        return len(self.args_json)


def check_name(name: str) -> str:
    """Raises InvalidArguments unless `name` is fit for a job."""
    if not isinstance(name, str) or not JOB_NAME.fullmatch(name):
        raise InvalidArguments(
            f"a job cannot be named {name!r}; a name is 1 to 256 of the characters A-Z a-z 0-9 _ : . -"
        )
    return name


def check_queue(name: str) -> str:
    """Raises InvalidArguments unless `name` is fit for a queue."""
    if not isinstance(name, str) or not QUEUE_NAME.fullmatch(name):
        raise InvalidArguments(f"queue {name!r}: a name is 1 to 128 of the characters A-Z a-z 0-9 _ : . -")
    return name


def check_retries(retries: bool | int | None) -> bool | int | None:
    """Raises InvalidArguments unless `retries` is True (the default count), False, or a count."""
    if retries is None or isinstance(retries, bool):
        return retries
    if not isinstance(retries, int) or not 0 <= retries <= MAX_RETRIES:
        raise InvalidArguments(f"retries must be True, False or 0 to {MAX_RETRIES}, not {retries!r}")
    return retries


def _queue(name: str | None) -> str | None:
    return None if name is None else check_queue(name)


def _at(at: float | datetime | None) -> float | None:
    if isinstance(at, datetime):
        if at.tzinfo is None:
            raise InvalidArguments(f"at={at.isoformat()} has no time zone; use an aware datetime")
        return at.timestamp()
    if at is None:
        return None
    if not is_number(at, most=MAX_AT_SECONDS):
        raise InvalidArguments(
            f"at must be epoch seconds (before the year 10000) or an aware datetime, not {at!r}"
        )
    return float(at)


def _tenant(tenant: str | None) -> str | None:
    if tenant is None:
        return None
    if not isinstance(tenant, str) or not tenant or not tenant.isprintable():
        raise InvalidArguments(f"tenant must be printable text, not {tenant!r}; send str(value)")
    if len(tenant.encode()) > MAX_TENANT_BYTES:
        raise InvalidArguments(f"tenant is longer than {MAX_TENANT_BYTES} bytes")
    return tenant


def _jid(jid: str | None) -> str | None:
    if jid is not None and not (isinstance(jid, str) and JID.fullmatch(jid)):
        raise InvalidArguments(f"jid {jid!r}: an id is 1 to 128 of the characters A-Z a-z 0-9 _ : . -")
    return jid


def _on_refused(on_refused: OnRefused | None) -> OnRefused | None:
    if on_refused not in (None, "raise", "return"):
        raise InvalidArguments(f"on_refused must be 'raise' or 'return', not {on_refused!r}")
    return on_refused
