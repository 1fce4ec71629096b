"""`stanchion periodic ls`: what workers have declared."""

from __future__ import annotations

import asyncio
import json
import time

import pytest
import redis

from stanchion.cli.main import main
from stanchion.store import connection, keys, periodic

pytestmark = pytest.mark.redis

Captured = pytest.CaptureFixture[str]
DECLARED = {
    "entry": "report 0 6 * * * Asia/Tokyo",
    "name": "report",
    "queue": "mail",
    "args": [7],
    "line": "0 6 * * *",
    "time_zone": "Asia/Tokyo",
    "missed": "once",
}
TICK = 1796072400.0


def declare(redis_url: str) -> None:
    async def do() -> None:
        async with connection.connect_async(redis_url) as client:
            await periodic.declare(client, [DECLARED], time.time() - 45)

    asyncio.run(do())


def test_ls(
    redis_url: str, redis_client: redis.Redis, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("STANCHION_REDIS_URL", redis_url)
    assert main(["periodic", "ls"]) == 0
    assert capsys.readouterr().err == "no worker has declared a periodic job\n"
    declare(redis_url)
    redis_client.hset(keys.PERIODIC_TICKS, str(DECLARED["entry"]), repr(TICK))
    assert main(["periodic", "ls"]) == 0
    title, line = capsys.readouterr().out.splitlines()
    assert title.split() == ["JOB", "QUEUE", "LINE", "ZONE", "MISSED", "LAST", "NEXT", "DECLARED"]
    assert line.startswith("report  mail   0 6 * * *  Asia/Tokyo  once    2026-11-30T21:00:00Z  in ")
    assert line.endswith("  45s ago")
    assert main(["periodic", "ls", "--json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)
    assert (shown["name"], shown["args"], shown["last_at"]) == ("report", [7], TICK)
    redis_client.hset(keys.PERIODIC_TICKS, str(DECLARED["entry"]), repr(TICK + 7.5))  # when it was first seen
    assert main(["periodic", "ls", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["last_at"] is None
    assert 0 < shown["next_at"] - time.time() <= 86_400
