"""Draws a run as a small table that fits 80 columns: pure rendering, no loop, no I/O.

Called by `screen`; the same renderables serve the live view and the tests. Sentences wrap: a reason or a
refusal that is cut helps nobody.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from stanchion.admin.wording import waiting_elsewhere
from stanchion.dev.status import Happening, QueueStatus, RunStatus

MUTED = "bright_black"
CALM = "cyan"
GOOD = "green"
ALARM = "red"
NOTICE = "yellow"
UNKNOWN = "–"
NEAR_SHARE = 0.5
"""From this share of the target on, the age is shown as a notice: the law aims to stay below it."""
COLUMNS = ("queue", "oldest / target", "waiting", "busy", "workers", "done/s")


def run_view(status: RunStatus, happenings: Iterable[Happening]) -> RenderableType:
    """The whole screen: where Redis is, a row per queue, and the last happenings."""
    hint = "draining, Ctrl-C again to stop now" if status.draining else "Ctrl-C drains and stops"
    head = Text.assemble(("stanchion dev", "bold"), (f"  {status.redis_url}  {hint}", MUTED))
    rows = (*status.queues, *status.strays)
    unserved = [Text(unserved_line(queue), ALARM) for queue in rows if queue.unserved]
    if status.further_strays:
        unserved.append(
            Text(f"{status.further_strays} more queues hold jobs and are not declared here", ALARM)
        )
    if footer := sets_line(status):
        unserved.append(Text(footer, NOTICE))
    # The last line stays empty: a terminal echoes ^C there, and a full line would wrap and leave a copy.
    return Stack(head, queue_table(rows), *unserved, happening_table(happenings), Text())


def sets_line(status: RunStatus) -> str:
    """The jobs that are in no queue; empty when there are none."""
    return waiting_elsewhere(*astuple(status.set_sizes))


def queue_table(queues: Iterable[QueueStatus]) -> Table:
    """A row per queue."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=MUTED, expand=False)
    table.add_column(COLUMNS[0], no_wrap=True, overflow="ellipsis", max_width=24)
    for name in COLUMNS[1:]:
        table.add_column(name, justify="right", no_wrap=True)
    for queue in queues:
        table.add_row(
            Text(queue.queue, style=NOTICE if queue.paused else CALM),
            age(queue),
            figure(queue.waiting),
            figure(queue.busy),
            workers(queue),
            UNKNOWN if queue.rate_per_second is None else f"{queue.rate_per_second:,.1f}",
        )
    return table


def age(queue: QueueStatus) -> Text:
    """`7.2 s / 10 s`, colored by how near the promise is."""
    if queue.paused:
        return Text("paused", style=NOTICE)
    if queue.age_seconds is None:
        return Text("no Redis", style=ALARM)
    if queue.target_seconds is None:
        return Text(f"{queue.age_seconds:.1f} s", style=ALARM)
    near = queue.age_seconds > NEAR_SHARE * queue.target_seconds
    style = ALARM if queue.late else NOTICE if near else GOOD
    return Text(f"{queue.age_seconds:.1f} s / {queue.target_seconds:g} s", style=style)


def workers(queue: QueueStatus) -> Text:
    """`3/4` running of wanted, and how many still drain; else who serves the queue, if anybody does."""
    if queue.unserved:
        return Text("nobody", style=ALARM)
    if queue.rides_on:
        return Text(f"with {queue.rides_on}", style=MUTED)
    if not queue.runs_here:
        return Text("elsewhere" if queue.elsewhere else UNKNOWN, style=MUTED)
    text = f"{queue.running}/{queue.wanted}" + (f" −{queue.draining}" if queue.draining else "")
    return Text(text, style="" if queue.running == queue.wanted else NOTICE)


def figure(value: int | None) -> str:
    """A count with thousands apart."""
    return UNKNOWN if value is None else f"{value:,}"


def unserved_line(queue: QueueStatus) -> str:
    """What to do about jobs that nobody will take."""
    jobs = "1 job waits" if queue.waiting == 1 else f"{figure(queue.waiting)} jobs wait"
    if queue.target_seconds is None:
        mend = "declare a QueuePolicy for it, or mend the queue's name where they are enqueued"
    else:
        mend = f"add --app MODULE:APP, or --exec {queue.queue}='…', or start a worker of your own"
    return f"{queue.queue}: {jobs} and nobody serves this queue: {mend}"


def happening_table(happenings: Iterable[Happening]) -> Table:
    """A row per happening; its sentence wraps beside its time and source."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis", max_width=24)
    table.add_column(overflow="fold")
    for happening in happenings:
        table.add_row(
            Text(f"{happening.at:%H:%M:%S}", style=MUTED),
            Text(happening.source, style=CALM),
            Text(happening.text, style=ALARM if happening.alarming else ""),
        )
    return table


def happening_line(happening: Happening) -> str:
    """`12:01:07 imports  2 → 4 workers  tail: …`, for logs and pipes."""
    return f"{happening.at:%H:%M:%S} {happening.source}  {happening.text}"


def queue_line(queue: QueueStatus) -> str:
    """One queue as a plain line, for logs and pipes."""
    if queue.unserved:
        return unserved_line(queue)  # without the age, which alone would change: it is said once
    rate = UNKNOWN if queue.rate_per_second is None else f"{queue.rate_per_second:.1f}"
    return (
        f"{queue.queue}: oldest {age(queue).plain}, waiting {figure(queue.waiting)}, "
        f"busy {figure(queue.busy)}, workers {workers(queue).plain}, {rate} done/s"
    )
