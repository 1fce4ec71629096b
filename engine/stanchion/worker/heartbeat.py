"""The beat of a supervisor: its counter, the record Sidekiq's web page reads, and the leases it renews.

Called by the supervisor. It must stay a process of its own beside the jobs: a thread among them would be
stopped by one regular expression.
"""

from __future__ import annotations

import asyncio
import json
import logging
import resource
import time
from collections.abc import Callable, Iterable, Mapping

from redis.exceptions import RedisError

from stanchion import metrics
from stanchion.dialect import Dialect
from stanchion.store import membership, sidekiq_metrics
from stanchion.store.membership import News
from stanchion.store.ruby_processes import OUR_LABEL
from stanchion.worker.backoff import Outage
from stanchion.worker.crew import Crew
from stanchion.worker.handle import Handle, Work
from stanchion.worker.life import Life
from stanchion.worker.options import WorkerOptions

SIGNALS = ("TSTP", "TERM", "TTIN")
"""What Sidekiq's web page and API send: be quiet, stop, show the stacks."""
FLUSH_SECONDS = 10.0
"""How often Sidekiq's metrics page gets its figures, as Ruby's processes do it."""
STUCK_SECONDS = 1.0
"""A child that has not reported for so long (four reports) hogs its loop: its inboxes are given back."""
PAGE_KB = resource.getpagesize() // 1024

log = logging.getLogger("stanchion.worker")


class Heartbeat:
    """Beats for one life. `on_signal` gets the names the web page sent."""

    def __init__(self, life: Life, crew: Crew, on_signal: Callable[[str], None]) -> None:
        self._life = life
        self._crew = crew
        self._on_signal = on_signal
        self._news: News | None = None
        self._rtt_us = 0
        self._flush_at = time.monotonic() + FLUSH_SECONDS

    async def run(self) -> None:
        """Beat until cancelled. Raises LeaseLost when this process was declared dead."""
        try:
            await self._beat_on()
        finally:
            await self._flush()

    async def _beat_on(self) -> None:
        outage = Outage(log, "the heartbeat", self._life.rng)
        while True:
            started = time.monotonic()
            try:
                await self._beat()
            except (RedisError, OSError) as error:
                self._life.tally.add(metrics.REDIS_ERRORS, "heartbeat")
                await outage.wait(error)
                continue
            outage.over()
            await asyncio.sleep(max(0.0, started + self._life.options.beat_seconds - time.monotonic()))

    async def _beat(self) -> None:
        life, children = self._life, tuple(self._crew)
        work = [item for child in children for item in child.work]
        started = time.monotonic()
        process = process_record(
            life.options,
            life.identity,
            started_at=life.started_at,
            now=time.time(),
            busy=len(work),
            is_quiet=life.is_quiet,
            rtt_us=self._rtt_us,
            rss_kb=sum(rss_kb(child.process.pid) for child in children),
            dialect=life.ruby.dialect,
        )
        news = await membership.beat(
            life.client,
            life.identity,
            process,
            work_record(work),
            has_old_work=life.ruby.dialect.has_old_work,
        )
        self._rtt_us = round((time.monotonic() - started) * 1_000_000)
        await life.ruby.arefresh(life.client)
        for child in children:
            child.order("speak", majors=sorted(life.ruby.dialect.majors))
            await self._renew(child)
        await self._crew.bury_strangers()
        await self._crew.probation()
        self._count(children, len(work))
        self._heed(news)
        if time.monotonic() >= self._flush_at:
            self._flush_at = time.monotonic() + FLUSH_SECONDS
            await self._flush()

    async def _renew(self, child: Handle) -> None:
        client, queues = self._life.client, self._life.options.queue_names
        if child.silent_seconds > STUCK_SECONDS:
            await membership.return_inboxes(client, child.incarnation, queues)
        returned = await membership.renew(
            client, child.incarnation, queues, answered=child.answered, held=child.held
        )
        if returned:
            log.warning("%d lease(s) that no child knows of went back to their queues", returned)

    async def _flush(self) -> None:
        """Write what Sidekiq's metrics page shows. Figures that cannot be written are not written twice."""
        executions = self._life.tally.take_executions()
        if not executions:
            return
        try:
            await sidekiq_metrics.flush(self._life.client, executions, self._life.ruby.dialect, time.time())
        except (RedisError, OSError) as error:
            self._life.tally.add(metrics.REDIS_ERRORS, "sidekiq_metrics")
            log.warning("Sidekiq's metrics page lacks up to %g s of runs: %s", FLUSH_SECONDS, error)

    def _heed(self, news: News) -> None:
        if news.signal in SIGNALS:
            self._on_signal(news.signal)
        elif news.signal:
            log.warning("a signal nobody knows was sent to this process: %r", news.signal)
        before, self._news = self._news, news
        if before is not None and (before.paused, before.epoch) != (news.paused, news.epoch):
            self._crew.look()

    def _count(self, children: tuple[Handle, ...], busy: int) -> None:
        tally = self._life.tally
        tally.set(metrics.CHILDREN, to=len(children))
        tally.set(metrics.SLOTS, to=sum(child.slots for child in children))
        tally.set(metrics.LEASES, to=busy)
        tally.set(metrics.LOOP_LAG, to=max((child.silent_seconds for child in children), default=0.0))
        tally.set(metrics.BEAT_SECONDS, to=self._rtt_us / 1_000_000)
        tally.set(metrics.QUIET, to=float(self._life.is_quiet))


def process_record(
    options: WorkerOptions,
    identity: str,
    *,
    started_at: float,
    now: float,
    busy: int,
    is_quiet: bool,
    rtt_us: int,
    rss_kb: int,
    dialect: Dialect,
) -> dict[str, str]:
    """The process hash with the fields of every version. Web 8.1 takes the concurrency from the hash and
    ignores the one in `info`, 6 and 7 the reverse, and 8.0.9 falls over without `capsules`: all are written.
    """
    hostname, pid, _ = identity.rsplit(":", 2)
    mode = options.queue_order
    shown = {queue.name: 0 if mode == "strict" else queue.weight for queue in options.queues}
    threads = options.concurrency * options.processes
    info = {
        "hostname": hostname,
        "started_at": started_at,
        "pid": int(pid),
        "tag": options.tag,
        "concurrency": threads,
        "capsules": {"default": {"concurrency": threads, "mode": mode, "weights": shown}},
        "queues": list(options.queue_names),
        "weights": [shown],
        "labels": [OUR_LABEL],
        "identity": identity,
        "version": dialect.version,
        "embedded": False,
    }
    return {
        "info": json.dumps(info, separators=(",", ":")),
        "concurrency": str(threads),
        "busy": str(busy),
        "beat": repr(now),
        "rtt_us": str(rtt_us),
        "quiet": "true" if is_quiet else "false",
        "rss": str(rss_kb),
    }


def work_record(work: Iterable[Work]) -> Mapping[str, str]:
    """The running jobs: a name per slot, and `payload` as the JSON text it has in Redis."""
    return {
        f"{index:x}": json.dumps(
            {"queue": item.queue, "payload": item.payload, "run_at": int(item.started_at)},
            separators=(",", ":"),
            ensure_ascii=False,
        )
        for index, item in enumerate(work)
    }


def rss_kb(pid: int) -> int:
    """Resident memory of a process in KiB; 0 where the system does not tell (only Linux is asked)."""
    try:
        with open(f"/proc/{pid}/statm") as statm:
            pages = int(statm.read().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * PAGE_KB
