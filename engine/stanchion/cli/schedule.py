"""look at jobs enqueued for later; run or delete them"""

from __future__ import annotations

import argparse

from stanchion.admin.actions import MakeReady, delete
from stanchion.admin.selection import Found
from stanchion.admin.wording import due
from stanchion.cli import entry_verbs, session
from stanchion.cli.entry_set import EntrySet, Verb
from stanchion.store import keys

TITLES = ("JID", "QUEUE", "JOB", "DUE")


def row(found: Found, now: float) -> tuple[str, ...]:
    """One line of `ls`."""
    queue, job = (found.job.queue, found.job.name) if found.job else ("-", "(the bytes are no job)")
    return (found.id, queue, job, due(found.entry.score, now))


SET = EntrySet(
    key=keys.SCHEDULE,
    noun="scheduled job",
    score_means="due_at",
    titles=TITLES,
    row=row,
    verbs=(
        Verb(
            "run",
            "made ready",
            "run jobs now instead of at their time",
            lambda client: MakeReady(session.dialect(client), lowers_retry_count=False),
        ),
        Verb("delete", "deleted", "remove jobs for good", lambda client: delete),
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verbs and their flags."""
    entry_verbs.add_arguments(parser, SET)


def run(args: argparse.Namespace) -> int:
    """As `entry_verbs.run`."""
    return entry_verbs.run(args, SET)
