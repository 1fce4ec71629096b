"""What is wrong with the queues, the processes and the sets. Called by `admin.diagnosis`. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from stanchion.admin.finding import Finding, Rank
from stanchion.admin.wording import counted, span
from stanchion.policy.queue_policy import DeadLimits
from stanchion.store import keys
from stanchion.store.survey import Work

NEARLY_FULL = 0.9
OLD_SECONDS = 3600.0


def of_queues(work: Work) -> Iterator[Finding]:
    """Queues that nobody serves, that are paused, that are late."""
    quiet_only = _only_quiet(work)
    for line in work.queues:
        name, waiting = line.queue, f"{counted(line.waiting, 'job')} waiting"
        if not line.waiting:
            continue
        if line.oldest_age_seconds is not None:
            waiting += f", the oldest for {span(line.oldest_age_seconds)}"
        if line.paused != "no":
            by = "by hand" if line.paused == "runtime" else "by its policy"
            yield Finding(
                Rank.NOTE,
                f"queue {name} is paused {by}: {waiting}",
                "free Ruby Sidekiq does not obey a pause, Stanchion's workers do",
                f"stanchion queue unpause {name}" if by == "by hand" else "spec.paused: false in its policy",
            )
        elif not line.workers:
            yield Finding(
                Rank.CRITICAL,
                f"nobody serves queue {name}: {waiting}",
                "no live process lists it among its queues",
                f"stanchion worker MODULE:APP -q {name}, or add it to a Ruby worker",
            )
        elif name in quiet_only:
            yield Finding(
                Rank.WARNING,
                f"every worker of queue {name} is quiet: {waiting}",
                "a quiet process ends its jobs and takes no more",
                "stanchion process ls; start new workers",
            )
        elif (line.oldest_age_seconds or 0) > OLD_SECONDS:
            yield Finding(
                Rank.WARNING,
                f"queue {name} is late: {waiting}",
                "its workers are too few, or stuck in their jobs",
                f"stanchion queue show {name}",
            )


def _only_quiet(work: Work) -> frozenset[str]:
    alive = [process for process in work.processes if process.is_alive]
    served = {queue for process in alive for queue in process.queues}
    working = {queue for process in alive if not process.is_quiet for queue in process.queues}
    return frozenset(served - working)


def of_processes(work: Work) -> Iterator[Finding]:
    """Dead ones, and the jobs they still hold."""
    can_recover = any(process.is_alive and process.is_ours for process in work.processes)
    for stuck in work.stuck:
        if stuck.jobs:
            yield Finding(
                Rank.NOTE if can_recover else Rank.CRITICAL,
                f"{counted(stuck.jobs, 'job')} in the hands of the dead process {stuck.identity}",
                "a live Stanchion worker gives them back within seconds"
                if can_recover
                else "no live Stanchion worker is there to give them back",
                "wait" if can_recover else "start any: stanchion worker MODULE:APP -q QUEUE",
            )
    dead = [process.identity for process in work.processes if not process.is_alive]
    if dead:
        yield Finding(
            Rank.NOTE,
            f"{counted(len(dead), 'process')} listed and dead: {', '.join(dead[:5])}",
            "they ended without a word: killed, or their machine went; free Sidekiq lost the jobs they held",
            "the next worker to start strikes them from the list",
        )


def of_sets(work: Work, limits: DeadLimits) -> Iterator[Finding]:
    """Overdue jobs, a full dead set, bytes that are no jobs."""
    is_anybody_there = any(process.is_alive for process in work.processes)
    for set_key, count in work.overdue.items():
        yield Finding(
            Rank.WARNING if is_anybody_there else Rank.CRITICAL,
            f"{counted(count, 'job')} in {set_key} overdue by more than a minute",
            "due jobs are moved to their queues by workers, Ruby's or Stanchion's"
            + ("" if is_anybody_there else "; none is alive"),
            "stanchion process ls" if is_anybody_there else "start a worker",
        )
    dead = work.sizes.get(keys.DEAD, 0)
    if dead >= NEARLY_FULL * limits.max_jobs:
        yield Finding(
            Rank.WARNING,
            f"the dead set holds {dead:,} of {limits.max_jobs:,} jobs",
            "beyond that the oldest are dropped, unseen",
            "stanchion dead ls, then dead retry or dead delete",
        )
    if work.malformed:
        yield Finding(
            Rank.WARNING,
            f"{work.malformed} of {work.sampled} entries looked at are no jobs",
            "bytes that are not Sidekiq's JSON: workers bury them in the dead set",
            "stanchion job ls QUEUE shows them under ids that begin with sha1:",
        )
