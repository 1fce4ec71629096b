"""Where a job is and what it waits for, as a table of situations."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from stanchion.admin.why import Situation, explain
from stanchion.store.processes import Process
from stanchion.store.queues import QueueLine
from stanchion.store.search import Place, Sighting

NOW = 10_000.0
PAYLOAD = json.dumps(
    {"class": "A", "jid": "a", "queue": "mail", "args": [], "enqueued_at": NOW - 240, "retry_count": 1,
     "error_class": "E", "error_message": "boom"}
).encode()  # fmt: skip
LINE = QueueLine("mail", 200, 240.0, 1, 1, "no")
OURS = Process("vm:1:ab", NOW - 1, labels=("stanchion",), queues=("mail",), concurrency=10, busy=4)
RUBY = replace(OURS, identity="vm:2:cd", labels=())
READY = Sighting(Place.READY, PAYLOAD, "mail", position=13)
LEASED = Sighting(Place.LEASED, PAYLOAD, "mail", holder="vm:1:ab", since_seconds=NOW - 30)


def situation(*processes: Process, paused: str = "no") -> Situation:
    return Situation(NOW, [replace(LINE, paused=paused)], processes)


@pytest.mark.parametrize(
    ("sighting", "around", "where", "because", "next_command"),
    [
        (READY, situation(OURS), "ready in queue mail, number 13 of 200, for 4m",
         "it waits for its turn: 4 of 10 slots are busy", "stanchion queue show mail"),
        (READY, situation(OURS, paused="runtime"), "", "queue mail is paused by hand",
         "stanchion queue unpause mail"),
        (READY, situation(OURS, paused="policy"), "", "the policy of queue mail says paused", "spec.paused"),
        (READY, situation(), "", "no live worker serves queue mail", "stanchion worker MODULE:APP -q mail"),
        (READY, situation(Process("vm:1:ab")), "", "no live worker serves queue mail", ""),
        (READY, situation(replace(OURS, queues=("other",))), "", "no live worker serves queue mail", ""),
        (READY, situation(replace(OURS, is_quiet=True)), "", "every worker of queue mail is quiet", ""),
        (LEASED, situation(OURS), "in the hands of process vm:1:ab, taken from queue mail 30s ago",
         "it runs", "stanchion process show vm:1:ab"),
        (LEASED, situation(replace(OURS, beat_at_seconds=NOW - 20)), "",
         "it runs, or is about to; but its process has not beaten for 20s", ""),
        (LEASED, situation(replace(OURS, identity="vm:3:ef")), "",
         "a live worker gives its jobs back", "wait"),
        (LEASED, situation(RUBY), "", "no live worker that would give its jobs back", "stanchion worker"),
        (Sighting(Place.INBOX, PAYLOAD, "mail", holder="vm:1:ab"), situation(OURS),
         "on its way from queue mail to process vm:1:ab", "it runs", ""),
        (Sighting(Place.RUNNING, PAYLOAD, "mail", holder="vm:2:cd", since_seconds=NOW - 5), situation(RUBY),
         "in the hands of Ruby process vm:2:cd", "it runs", "stanchion process show vm:2:cd"),
        (Sighting(Place.RUNNING, PAYLOAD, "mail", holder="vm:2:cd", since_seconds=NOW - 5), situation(),
         "", "free Sidekiq loses what it held", "enqueue it again"),
        (Sighting(Place.SCHEDULE, PAYLOAD, score=NOW + 600), situation(OURS),
         "in schedule, due in 10m (1970-01-01T02:56:40Z)", "its time has not come",
         "stanchion schedule run a runs it now"),
        (Sighting(Place.RETRY, PAYLOAD, score=NOW + 60), situation(OURS),
         "in retry, due in 60s (1970-01-01T02:47:40Z), after 2 failure(s), the last: E: boom",
         "its time has not come", "stanchion retry retry a runs it now"),
        (Sighting(Place.RETRY, PAYLOAD, score=NOW - 60), situation(), "due 60s ago",
         "no live worker moves due jobs", "stanchion worker MODULE:APP -q mail"),
        (Sighting(Place.RETRY, PAYLOAD, score=NOW - 60), situation(OURS), "",
         "no worker has moved it", "stanchion doctor"),
        (Sighting(Place.DEAD, PAYLOAD, score=NOW - 7200), situation(OURS), "dead for 2h", "it was given up",
         "stanchion dead show a"),
        (Sighting(Place.DEAD, b"{", score=NOW - 7200), situation(), "the bytes are no job", "it was given up",
         "stanchion dead show sha1:"),
    ],
)  # fmt: skip
def test_the_reason_and_the_next_command(
    sighting: Sighting, around: Situation, where: str, because: str, next_command: str
) -> None:
    reason = explain(sighting, around)
    assert where in reason.where
    assert because in reason.because
    assert next_command in reason.next
