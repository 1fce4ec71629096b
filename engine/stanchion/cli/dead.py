"""look at dead jobs; retry or delete them"""

from __future__ import annotations

import argparse

from stanchion.admin.actions import MakeReady, delete
from stanchion.admin.selection import Found, error_of
from stanchion.admin.wording import span
from stanchion.cli import entry_verbs, session
from stanchion.cli.entry_set import EntrySet, Verb
from stanchion.store import keys

TITLES = ("JID", "QUEUE", "JOB", "DIED", "ERROR")


def row(found: Found, now: float) -> tuple[str, ...]:
    """One line of `ls`."""
    died = span(now - found.entry.score)
    if found.job is None:
        return (found.id, "-", "-", died, "the bytes are no job")
    return (found.id, found.job.queue, found.job.name, died, error_of(found.job))


SET = EntrySet(
    key=keys.DEAD,
    noun="dead job",
    score_means="died_at",
    titles=TITLES,
    row=row,
    newest_first=True,
    verbs=(
        Verb(
            "retry",
            "retried",
            "make jobs ready again, with one more attempt",
            lambda client: MakeReady(session.dialect(client), lowers_retry_count=True),
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
