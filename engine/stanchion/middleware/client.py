"""The client's chain: functions that see each job record before it is pushed and may add fields to it.

A middleware is a plain function, the same for blocking and asyncio callers, so it must not wait for
anything. It runs once per call, however often the call is sent; many calls may go in one sending, which is
why it cannot stand around it. To stop a call it raises: the caller gets the error, and nothing is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stanchion.errors import StanchionError
from stanchion.job import Job

ClientMiddleware = Callable[[Job], Job]
"""Takes the record, returns it or a changed copy: `lambda job: job.replace(traceparent=…)`."""

FIXED_FIELDS = ("class", "jid", "queue")
"""What the caller has been told or the gate has looked at already."""


def apply(chain: Sequence[ClientMiddleware], job: Job) -> Job:
    """Run the chain in order. Raises StanchionError for a middleware that returns no job, or changes the
    class, jid or queue.
    """
    for middleware in chain:
        changed = middleware(job)
        name = getattr(middleware, "__name__", repr(middleware))
        if not isinstance(changed, Job):
            raise StanchionError(
                f"the client middleware {name} returned {changed!r}: return the job, or a changed copy"
            )
        for field in FIXED_FIELDS:
            if changed.fields.get(field) != job.fields[field]:
                raise StanchionError(f"the client middleware {name} changed {field!r} of job {job.name}")
        job = changed
    return job
