"""One job as `kubectl describe` would show it, and as JSON. Called by the `show` verbs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stanchion.admin import backtrace
from stanchion.admin.selection import error_of
from stanchion.admin.wording import moment
from stanchion.cli.table import clean
from stanchion.errors import MalformedPayload
from stanchion.job import Job
from stanchion.store.search import identify

SHOWN = {
    *("class", "jid", "queue", "args", "retry", "retry_count", "created_at", "enqueued_at", "failed_at"),
    *("retried_at", "error_class", "error_message", "error_backtrace", "tenant"),
}
WIDTH = 12


def text(payload: bytes, place: Mapping[str, str]) -> str:
    """The job under a heading of its place; fields we do not know come last, as they are."""
    try:
        job = Job.parse(payload)
    except MalformedPayload as error:
        return _lines({"ID": identify(payload), **place, "Problem": str(error), "Bytes": repr(payload)})
    known = {
        "JID": job.jid,
        "Job": _name(job),
        "Queue": job.queue,
        **place,
        "Arguments": _json(job.args),
        "Tenant": job.tenant or "",
        "Retries": _retries(job),
        "Created": moment(job.created_at_seconds),
        "Enqueued": moment(job.enqueued_at_seconds),
        "Failed": "" if job.failed_at_seconds is None else _failures(job),
        "Error": error_of(job),
    }
    other = {name: _json(value) for name, value in job.fields.items() if name not in SHOWN}
    frames = [f"  {clean(frame)}" for frame in backtrace.lines(job.fields.get("error_backtrace"))]
    return "\n".join([_lines(known), *(["Backtrace:", *frames] if frames else []), *_others(other)])


def title(payload: bytes) -> str:
    """The job's id and name, or the stand-in of bytes that are no job."""
    job = Job.read(payload)
    return f"{job.jid} {_name(job)}" if job else f"{identify(payload)} (the bytes are no job)"


def as_json(payload: bytes) -> dict[str, Any]:
    """The payload as it is, or, where it is no job, its bytes as text."""
    if job := Job.read(payload):
        return {"jid": job.jid, "payload": dict(job.fields)}
    return {"jid": identify(payload), "payload": None, "bytes": payload.decode(errors="backslashreplace")}


def _name(job: Job) -> str:
    return job.name if job.name == job.class_name else f"{job.name} (wrapped by {job.class_name})"


def _others(other: Mapping[str, str]) -> list[str]:
    return (
        ["Other fields:", *(f"  {clean(name)}: {clean(value)}" for name, value in other.items())]
        if other
        else []
    )


def _lines(fields: Mapping[str, str]) -> str:
    return "\n".join(f"{name + ':':<{WIDTH}}{clean(value)}" for name, value in fields.items() if value)


def _retries(job: Job) -> str:
    failures = 0 if job.retry_count is None else job.retry_count + 1
    allowed = str(job.retry)
    if isinstance(job.retry, bool):
        allowed = "the default count" if job.retry else "none"
    return f"{failures} used, allowed: {allowed}" if failures else f"allowed: {allowed}"


def _failures(job: Job) -> str:
    first, last = job.failed_at_seconds, job.retried_at_seconds
    return moment(first) if last is None else f"first {moment(first)}, last {moment(last)}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
