"""Why a job is where it is: what it waits for, what a person can do. Called by `stanchion why`. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote

from stanchion.admin.selection import error_of
from stanchion.admin.wording import due, moment, span
from stanchion.job import QUEUE_NAME, Job
from stanchion.store.processes import Process
from stanchion.store.queues import QueueLine
from stanchion.store.search import Place, Sighting, identify

SILENT_SECONDS = 15.0
"""Our workers beat every two seconds, Ruby's every five or ten."""
OVERDUE_SECONDS = 5.0
"""A due job is promoted within about a second; Ruby's pollers look every five."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What is around a job: Redis's time, every queue and process, and how often the job came back."""

    now: float
    queues: Sequence[QueueLine] = ()
    processes: Sequence[Process] = ()
    recoveries: int = 0

    @property
    def alive(self) -> list[Process]:
        """The processes that beat."""
        return [process for process in self.processes if process.is_alive]

    def queue(self, name: str) -> QueueLine | None:
        """What is known of a queue."""
        return next((line for line in self.queues if line.queue == name), None)

    def process(self, identity: str) -> Process | None:
        """A process that beats."""
        return next((process for process in self.alive if process.identity == identity), None)


@dataclass(frozen=True, slots=True)
class Reason:
    """Where a job is, why it is there and not done, and the command that changes it."""

    where: str
    because: str
    next: str


def explain(sighting: Sighting, situation: Situation) -> Reason:
    """The reason of one sighting."""
    match sighting.place:
        case Place.READY:
            return _ready(sighting, situation)
        case Place.LEASED | Place.INBOX:
            return _in_hands(sighting, situation)
        case Place.RUNNING:
            return _in_ruby(sighting, situation)
        case Place.SCHEDULE | Place.RETRY:
            return _later(sighting, situation)
        case Place.DEAD:
            return _dead(sighting, situation)


def _ready(sighting: Sighting, situation: Situation) -> Reason:
    name, line = sighting.queue, situation.queue(sighting.queue)
    job = Job.read(sighting.payload)
    since = job.enqueued_at_seconds if job else None
    waiting = max(sighting.position, line.waiting if line else 0)
    where = f"ready in queue {name}, number {sighting.position:,} of {waiting:,}"
    if since is not None:
        where += f", for {span(situation.now - since)}"
    serving = [process for process in situation.alive if name in process.queues]
    working = [process for process in serving if not process.is_quiet]
    if line is not None and line.paused == "runtime":
        return Reason(where, f"queue {name} is paused by hand", f"stanchion queue unpause {quote(name)}")
    if line is not None and line.paused == "policy":
        return Reason(where, f"the policy of queue {name} says paused", "set spec.paused to false there")
    if not serving and not QUEUE_NAME.fullmatch(name):
        return Reason(where, f"only Ruby workers can serve queue {name}, and none does", "start one of those")
    if not serving:
        return Reason(where, f"no live worker serves queue {name}", f"stanchion worker MODULE:APP -q {name}")
    if not working:
        return Reason(
            where, f"every worker of queue {name} is quiet and takes no more jobs", "stanchion process ls"
        )
    slots = sum(process.concurrency for process in working)
    busy = sum(process.busy for process in working)
    return Reason(
        where,
        f"it waits for its turn: {busy:,} of {slots:,} slots are busy",
        f"stanchion queue show {quote(name)}",
    )


def _in_hands(sighting: Sighting, situation: Situation) -> Reason:
    process = situation.process(sighting.holder)
    if sighting.place is Place.INBOX:
        where = f"on its way from queue {sighting.queue} to process {sighting.holder}"
    else:
        where = f"in the hands of process {sighting.holder}, taken from queue {sighting.queue}"
        where += f" {span(situation.now - (sighting.since_seconds or situation.now))} ago"
    if process is not None:
        because = "it runs, or is about to" + _silence(process, situation.now)
        return Reason(where, because, f"stanchion process show {sighting.holder}")
    if any(other.is_ours for other in situation.alive):
        return Reason(
            where, "that process is dead; a live worker gives its jobs back within seconds", "nothing: wait"
        )
    return Reason(
        where,
        "that process is dead, and there is no live worker that would give its jobs back",
        f"stanchion worker MODULE:APP -q {sighting.queue}",
    )


def _silence(process: Process, now: float) -> str:
    """Said of a process that may be dead: its record lives for a minute after its last beat."""
    silent = now - (process.beat_at_seconds or now)
    return f"; but its process has not beaten for {span(silent)}" if silent > SILENT_SECONDS else ""


def _in_ruby(sighting: Sighting, situation: Situation) -> Reason:
    where = f"in the hands of Ruby process {sighting.holder}, taken from queue {sighting.queue}"
    where += f" {span(situation.now - (sighting.since_seconds or situation.now))} ago"
    if situation.process(sighting.holder) is not None:
        return Reason(where, "it runs", f"stanchion process show {sighting.holder}")
    return Reason(where, "that process has died; free Sidekiq loses what it held", "enqueue it again")


def _later(sighting: Sighting, situation: Situation) -> Reason:
    is_retry = sighting.place is Place.RETRY
    job = Job.read(sighting.payload)
    where = f"in {sighting.place}, due {due(sighting.score, situation.now)} ({moment(sighting.score)})"
    if job is not None and is_retry:
        where += f", after {(job.retry_count or 0) + 1} failure(s), the last: {error_of(job)}"
    command = f"stanchion {sighting.place} {'retry' if is_retry else 'run'} {identify(sighting.payload)}"
    if sighting.score > situation.now - OVERDUE_SECONDS:
        return Reason(where, "its time has not come", f"{command} runs it now")
    if not situation.alive:
        return Reason(
            where,
            "its time has come, but no live worker moves due jobs to their queues",
            f"stanchion worker MODULE:APP -q {job.queue if job else 'QUEUE'}",
        )
    return Reason(where, "its time has come, but no worker has moved it to its queue", "stanchion doctor")


def _dead(sighting: Sighting, situation: Situation) -> Reason:
    job = Job.read(sighting.payload)
    error = error_of(job) if job else "the bytes are no job"
    jid = identify(sighting.payload)
    where = f"dead for {span(situation.now - sighting.score)} ({moment(sighting.score)}): {error}"
    return Reason(where, "it was given up", f"stanchion dead show {jid}, then dead retry or dead delete")
