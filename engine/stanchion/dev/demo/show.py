"""The whole demo in order: a Redis in a temporary folder, both sides, the acts, the receipt.

Called by the command line. Everything it starts has ended when it returns.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import tempfile
import time
from collections import deque
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import redis.asyncio
from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from stanchion.admin.apply import apply
from stanchion.dev import declaration
from stanchion.dev.demo.acts import ACTS
from stanchion.dev.demo.app import GATED, PLAIN
from stanchion.dev.demo.curtain import Curtain, curtain_for
from stanchion.dev.demo.load import Load
from stanchion.dev.demo.receipt import receipt
from stanchion.dev.demo.side import Side
from stanchion.dev.demo.stage import Stage
from stanchion.dev.fleet import Fleet, Log, WorkerCommand
from stanchion.dev.group import Group, groups_of
from stanchion.dev.leash import Leash
from stanchion.dev.redis_server import RedisServer
from stanchion.dev.view import MUTED
from stanchion.errors import StanchionError
from stanchion.policy.contract import Config
from stanchion.store import connection

POLICY = files("stanchion.dev.demo").joinpath("policy.yaml")
PLAIN_WORKERS = 2
LONGEST_SECONDS = 115.0
GRACE_SECONDS = 5.0
"""Nothing of the demo is worth waiting for once it has ended."""
KEPT_LINES = 20
EXPLANATION = (
    "Both queues got the same jobs. The workers of the gated one follow the age of its oldest job, "
    "and its jobs leave Redis only in the script that records their outcome."
)


def run(*, live: bool) -> int:
    """Returns 0 if the gated queue lost nothing, else 1. Raises StanchionError if it could not be shown."""
    began_at = time.monotonic()
    # A plain `kill` cleans up too: the temporary folder would stay behind otherwise.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    leash = Leash(GRACE_SECONDS)
    try:
        with (
            tempfile.TemporaryDirectory(prefix="stanchion-demo-") as folder,
            RedisServer(Path(folder), leash=leash) as server,
            curtain_for(live=live) as curtain,
        ):
            stage = asyncio.run(_perform(server.url, leash, curtain, began_at))
            curtain.close_with(_ending(stage))
    finally:
        leash.close()
    gated, _ = stage.readings
    return 1 if gated.count.missing else 0


def _ending(stage: Stage) -> RenderableType:
    first = stage.first_run_seconds
    speed = "" if first is None else f" The first job had run {first:.1f} s after the start."
    return Stack(Text(), receipt(stage.readings), Text(), Text(EXPLANATION + speed, style=MUTED))


async def _perform(url: str, leash: Leash, curtain: Curtain, began_at: float) -> Stage:
    policies, group = _declared(url)
    output: deque[str] = deque(maxlen=KEPT_LINES)

    def keep(worker: str, line: str) -> None:
        output.append(f"{worker} | {line}")

    async with connection.connect_async(url, name="stanchion-demo") as client:
        await apply(client, policies, now=datetime.now(UTC), managed_by="demo")
        stage = _stage(client, url, group, leash, curtain, keep, began_at)
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                await stage.play(ACTS)
        except TimeoutError:
            said = "\n".join(output)
            raise StanchionError(
                f"the demo did not end within {LONGEST_SECONDS:g} s; its workers' last words:\n{said}"
            ) from None
        finally:
            await asyncio.gather(stage.gated.fleet.kill(), stage.plain.fleet.kill())
    return stage


def _declared(url: str) -> tuple[tuple[Config, ...], Group]:
    """The demo's policy, read and judged like anybody's, and the group of workers it asks for."""
    declared = declaration.read([str(POLICY)], None)
    (group,) = groups_of(declared.queue_policies, app=None, commands={}, redis_url=url)
    return declared.policies, group


def _stage(
    client: redis.asyncio.Redis,
    url: str,
    group: Group,
    leash: Leash,
    curtain: Curtain,
    log: Log,
    began_at: float,
) -> Stage:
    scaling = group.scaling
    slots, target_seconds = scaling.slots_per_replica, scaling.target_seconds
    plain_command = WorkerCommand(
        (sys.executable, "-m", "stanchion.dev.demo.plain_worker", str(slots)), {"STANCHION_REDIS_URL": url}
    )
    if group.command is None:
        raise StanchionError(f"{POLICY} names no app")
    gated = Fleet(GATED, group.command, leash, log)
    plain = Fleet(PLAIN, plain_command, leash, log)
    plain.wanted = PLAIN_WORKERS
    return Stage(
        client,
        Load(client, url),
        curtain,
        gated=Side(
            GATED, f"{scaling.min_replicas}–{scaling.max_replicas} workers", gated, target_seconds, slots
        ),
        plain=Side(PLAIN, f"always {PLAIN_WORKERS} workers", plain, target_seconds, slots),
        group=group,
        began_at=began_at,
    )
