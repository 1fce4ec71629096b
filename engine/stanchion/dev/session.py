"""One call of `stanchion dev`, in order: read what is declared, have a Redis, run, say how it ended.

Called by the command line. It must leave nothing running, whichever way it ends.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import redis.asyncio

from stanchion.dev import declaration
from stanchion.dev.declaration import Declaration
from stanchion.dev.leash import Leash
from stanchion.dev.redis_server import HOST, RedisServer
from stanchion.dev.run_options import RunOptions
from stanchion.dev.runner import Runner
from stanchion.dev.screen import Screen, screen_for
from stanchion.store import connection, keys

FOLDER = Path(".stanchion")
"""Beside the application: the embedded Redis's data, which survives a restart."""
USUAL_PORT = 6379
"""Taken if free: then an application without settings finds the queues at once."""


@dataclass(frozen=True, slots=True)
class Leftovers:
    """Jobs that did not make it: they wait for a retry, or are dead."""

    retry: int
    dead: int


def run(options: RunOptions, *, live: bool) -> int:
    """The exit code: 1 if jobs were cut short, or failed with `options.once`. Raises StanchionError."""
    declared = declaration.read(options.paths, options.app)
    options.groups(declared)  # whatever does not fit is refused before anything starts
    leash = Leash()
    try:
        with _redis(options.redis_url, leash) as (url, check_redis), screen_for(live=live) as screen:
            given_url, options = options.redis_url, replace(options, redis_url=url)
            # A given URL may hold a password, and whoever gave it has it already.
            given = f"uses {connection.redact(url)}"
            screen.tell("redis", given if given_url else f"export STANCHION_REDIS_URL={url}")
            with connection.readable_errors(url):
                return asyncio.run(_run(options, declared, leash, screen, check_redis))
    finally:
        leash.close()


async def _run(
    options: RunOptions,
    declared: Declaration,
    leash: Leash,
    screen: Screen,
    check_redis: Callable[[], None],
) -> int:
    async with connection.connect_async(options.redis_url, name="stanchion-dev") as client:
        before = await _leftovers(client)
        drained = await Runner(options, client, leash, screen, check_redis).run(declared)
        if not drained:
            screen.tell(
                "stopped", "workers were killed; their jobs come back at the next start", alarming=True
            )
            return 1
        if not options.once:
            return 0
        after = await _leftovers(client)
        failed = max(0, after.retry - before.retry) + max(0, after.dead - before.dead)
        if failed:
            screen.tell("idle", f"{after.retry} wait for a retry, {after.dead} are dead", alarming=True)
        return 1 if failed else 0


async def _leftovers(client: redis.asyncio.Redis) -> Leftovers:
    return Leftovers(await client.zcard(keys.RETRY), await client.zcard(keys.DEAD))


@contextmanager
def _redis(given_url: str, leash: Leash) -> Iterator[tuple[str, Callable[[], None]]]:
    """The Redis to use, and a check that raises StanchionError once our own has ended."""
    if given_url:
        connection.check_url(given_url)
        yield given_url, lambda: None
        return
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / ".gitignore").write_text("*\n")
    with RedisServer(
        (FOLDER / "redis").resolve(), USUAL_PORT if _is_free(USUAL_PORT) else 0, leash, tell=_tell_wait
    ) as server:
        yield server.url, server.check


def _tell_wait(text: str) -> None:
    print(f"stanchion: {text}", file=sys.stderr, flush=True)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
