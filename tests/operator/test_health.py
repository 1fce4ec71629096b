from __future__ import annotations

import json
import logging

import aiohttp

from stanchion_operator.health import Health, Probes
from stanchion_operator.logs import JsonLines


async def test_the_probes_answer_what_app_told_them() -> None:
    now = [100.0]
    health = Health(resync_seconds=30.0, clock=lambda: now[0])
    probes = Probes(health, "127.0.0.1", 0)
    port = await probes.start()
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as client:

        async def status(path: str) -> int:
            async with client.get(path) as answer:
                return answer.status

        assert (await status("/healthz"), await status("/readyz")) == (200, 503)
        health.listed()
        assert await status("/readyz") == 200
        now[0] += 151  # five resyncs without a list: the watch may be dead as well
        assert (await status("/healthz"), await status("/readyz")) == (503, 200)
        health.listed()
        assert await status("/healthz") == 200
        assert await status("/metrics") == 200
    await probes.stop()


def test_a_json_line_is_one_object() -> None:
    record = logging.LogRecord("x", logging.WARNING, "f", 1, "lost %s", ("it",), None)
    line = json.loads(JsonLines().format(record))
    assert (line["level"], line["logger"], line["message"]) == ("warning", "x", "lost it")
