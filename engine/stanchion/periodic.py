"""When a periodic job is due: its cron line, its time zone, and what becomes of ticks that were missed.

Declared by `@jobs.periodic`, acted on by the worker's ticker. Pure: `now` is passed in. A tick is an instant
in epoch seconds, so a change of the clocks neither doubles nor loses one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any, Literal, get_args

from stanchion.errors import InvalidArguments

Missed = Literal["skip", "once", "all"]
MISSED: tuple[str, ...] = get_args(Missed)
CRON_FIELDS = 5
SOME_TIME = datetime(2000, 1, 1, tzinfo=UTC)
ON_TIME_SECONDS = 60.0
"""A tick that is enqueued within this time was not missed: a leader died, or Redis was away for a moment."""
LOOK_BACK_SECONDS = 7 * 86_400.0
"""Older ticks are never made up."""
MOST_MADE_UP = 100
"""With `all`, the newest missed ticks that are made up at once."""
MOST_ON_TIME = 2
"""Ticks are whole minutes, so no more of them are on time at once."""
CLOCK_STEP_SECONDS = 600.0
"""A last tick further in the future than this: the clock was wrong then, and it is no use to wait for it."""


@dataclass(frozen=True, slots=True)
class Periodic:
    """One cron line (minute, hour, day of month, month, day of week) in one time zone.

    Hours that a change of the clocks skips run at its end, repeated ones run once, as Debian's cron has it;
    lines with `*` or `*/n` as minute or hour follow elapsed time. Raises InvalidArguments.
    """

    line: str
    time_zone: str = "UTC"
    missed: Missed = "skip"
    """Ticks nobody enqueued in time: `skip` them, run `once` for all of them, or run `all`, up to 100."""
    args: tuple[Any, ...] = ()
    """Wire arguments of each run."""
    zone: tzinfo = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.line, str) or len(self.line.split()) != CRON_FIELDS:
            raise InvalidArguments(
                f"bad cron line {self.line!r}: it needs five fields, minute hour day-of-month month "
                'day-of-week, such as "0 6 * * MON-FRI"'
            )
        if self.missed not in MISSED:
            raise InvalidArguments(f"missed must be one of {', '.join(MISSED)}, not {self.missed!r}")
        object.__setattr__(self, "line", " ".join(self.line.split()))
        object.__setattr__(self, "zone", _zone(self.time_zone))
        _check_line(self.line)

    def next_tick(self, after: float) -> float:
        """The first tick later than `after`, epoch seconds."""
        return next(self._ticks(after))

    def ticks(self, after: float, until: float) -> list[float]:
        """The ticks later than `after`, up to and with `until`."""
        found: list[float] = []
        for tick in self._ticks(after):
            if tick > until:
                break
            found.append(tick)
        return found

    def newest_ticks(self, count: int, after: float, until: float) -> list[float]:
        """As `ticks`, without old ones if the newest `count` are among the rest.

        It looks back in spans that double: a walk over a week of minutes would hold up the caller's loop.
        """
        span = 2 * ON_TIME_SECONDS
        while True:
            since = max(after, until - span)
            found = self.ticks(since, until)
            if len(found) >= count or since == after:
                return found
            span *= 2

    def _ticks(self, after: float) -> Iterator[float]:
        last = after
        for moment in _moments(self.line, datetime.fromtimestamp(after, self.zone)):
            tick = moment.timestamp()
            if (
                tick > last
            ):  # two lines of a skipped hour are one instant; a repeated hour begins with old ones
                yield tick
                last = tick


@dataclass(frozen=True, slots=True)
class Step:
    """What one look decides: the ticks to enqueue now, and the last one that is then done with."""

    enqueue: tuple[float, ...]
    last: float


def step(periodic: Periodic, last: float | None, now: float) -> Step | None:
    """The step from the last tick that is done with (None: never seen before), or None if none is due.

    A job that is new begins with its next tick.
    """
    if last is None or last > now + CLOCK_STEP_SECONDS:
        return Step((), now)
    count = MOST_MADE_UP + MOST_ON_TIME if periodic.missed == "all" else 1
    ticks = periodic.newest_ticks(count, max(last, now - LOOK_BACK_SECONDS), now)
    if not ticks:
        return None
    on_time = [tick for tick in ticks if now - tick <= ON_TIME_SECONDS]
    missed = ticks[: len(ticks) - len(on_time)]
    if periodic.missed == "all":
        on_time = missed[-MOST_MADE_UP:] + on_time
    elif periodic.missed == "once" and not on_time:
        on_time = missed[-1:]
    return Step(tuple(on_time), ticks[-1])


@dataclass(frozen=True, slots=True)
class Rest:
    """What a look at one job has found: nothing is due before its next tick, unless its last one changes."""

    last: float | None
    seen_at: float
    next_tick: float

    def holds(self, last: float | None, now: float) -> bool:
        """Whether there is no need to look again; a clock that went back proves nothing."""
        return last == self.last and self.seen_at <= now < self.next_tick


def entry_id(name: str, queue: str, periodic: Periodic) -> str:
    """What a periodic job is called in Redis: readable, and another one as soon as any part differs. The
    queue is one: two applications on one Redis may have a job of the same name.
    """
    args = " " + json.dumps(periodic.args, separators=(",", ":"), sort_keys=True) if periodic.args else ""
    return f"{name} {queue} {periodic.line} {periodic.time_zone}{args}"


# cronsim and zoneinfo are imported late: a producer without periodic jobs should not pay for them.


def _moments(line: str, after: datetime) -> Iterator[datetime]:
    from cronsim import CronSim

    return CronSim(line, after)


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError, TypeError):
        raise InvalidArguments(
            f'there is no time zone {name!r} here; use a name such as "Europe/Berlin", and see that tzdata '
            "is installed"
        ) from None


def _check_line(line: str) -> None:
    from cronsim import CronSimError

    try:
        next(_moments(line, SOME_TIME))
    except (CronSimError, AssertionError) as error:
        raise InvalidArguments(
            f"bad cron line {line!r}: {str(error) or 'it cannot be read'}; the fields are minute hour "
            "day-of-month month day-of-week"
        ) from None
    except StopIteration:
        raise InvalidArguments(f"bad cron line {line!r}: no such day ever comes") from None
