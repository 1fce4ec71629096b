"""look at jobs that wait for a retry; run them now, kill or delete them"""

from __future__ import annotations

import argparse

import redis

from stanchion.admin.actions import Kill, MakeReady, delete
from stanchion.admin.selection import Found, error_of
from stanchion.admin.wording import due
from stanchion.cli import entry_verbs, session
from stanchion.cli.entry_set import EntrySet, Verb
from stanchion.gate.config import ConfigCache
from stanchion.store import entries, keys

TITLES = ("JID", "QUEUE", "JOB", "FAILURES", "DUE", "ERROR")


def row(found: Found, now: float) -> tuple[str, ...]:
    """One line of `ls`."""
    when = due(found.entry.score, now)
    if found.job is None:
        return (found.id, "-", "-", "-", when, "the bytes are no job")
    failures = "-" if found.job.retry_count is None else str(found.job.retry_count + 1)
    return (found.id, found.job.queue, found.job.name, failures, when, error_of(found.job))


def kill(client: redis.Redis) -> Kill:
    """The limits of the dead set are those that the workers keep to."""
    return Kill(ConfigCache().refresh(client).dead_limits())


def room_in_dead(client: redis.Redis, count: int) -> str:
    """What a kill of `count` jobs would push out of the dead set; empty if nothing."""
    most = kill(client).limits.max_jobs
    over = entries.count(client, keys.DEAD) + count - most
    return f"The dead set keeps {most:,} jobs: its oldest {over:,} would be dropped." if over > 0 else ""


SET = EntrySet(
    key=keys.RETRY,
    noun="failed job",
    score_means="due_at",
    titles=TITLES,
    row=row,
    verbs=(
        Verb(
            "retry",
            "retried",
            "run jobs now instead of at their time",
            lambda client: MakeReady(session.dialect(client), lowers_retry_count=True),
        ),
        Verb("kill", "killed", "give jobs up: move them to the dead set", kill, room_in_dead),
        Verb("delete", "deleted", "remove jobs for good", lambda client: delete),
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verbs and their flags."""
    entry_verbs.add_arguments(parser, SET)


def run(args: argparse.Namespace) -> int:
    """As `entry_verbs.run`."""
    return entry_verbs.run(args, SET)
