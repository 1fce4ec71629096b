"""Gathers where a job is and what is around it. Called by `stanchion why` and `stanchion job`. Reads only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import redis

from stanchion.admin.why import Situation
from stanchion.store import entries, keys, processes, queues, search
from stanchion.store.search import LIMIT, Search


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """What was found, what is around it, and, for an explicit `jid=`, the verdict Redis remembers."""

    search: Search
    situation: Situation
    remembered: str = ""


def locate(client: redis.Redis, jid: str, *, limit: int = LIMIT) -> Whereabouts:
    """Look everywhere, up to `limit` jobs in each place."""
    everyone = processes.read_all_processes(client)
    lines = queues.overview(client, everyone)
    found = search.find(client, jid, [line.queue for line in lines], limit=limit)
    recoveries: Any = client.hget(keys.RECOVERIES, jid)
    remembered: Any = client.get(keys.remembered_jid(jid))
    situation = Situation(entries.clock(client), lines, everyone, int(recoveries or 0))
    return Whereabouts(found, situation, (remembered or b"").decode(errors="replace"))
