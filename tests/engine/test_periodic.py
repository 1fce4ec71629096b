"""Cron lines and their ticks: across changes of the clocks, steps of the clock, and times when nobody ran."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.errors import InvalidArguments
from stanchion.periodic import (
    CLOCK_STEP_SECONDS,
    LOOK_BACK_SECONDS,
    MISSED,
    MOST_MADE_UP,
    ON_TIME_SECONDS,
    Missed,
    Periodic,
    Rest,
    Step,
    entry_id,
    step,
)

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC).timestamp()


def ticks(line: str, zone: str, since: str, until: str) -> list[str]:
    """Ticks between two instants, as UTC."""
    first, last = (datetime.fromisoformat(f"{text}+00:00").timestamp() for text in (since, until))
    found = Periodic(line, zone).ticks(first, last)
    return [datetime.fromtimestamp(tick, UTC).strftime("%d %H:%M") for tick in found]


def test_a_fixed_hour_runs_once_on_the_day_that_skips_it_and_on_the_day_that_has_it_twice() -> None:
    line = ("30 2 * * *", "Europe/Berlin")
    assert ticks(*line, "2026-03-28", "2026-03-31") == ["28 01:30", "29 01:00", "30 00:30"]
    assert ticks(*line, "2026-10-24", "2026-10-27") == ["24 00:30", "25 00:30", "26 01:30"]
    assert ticks(*line, "2026-10-25 01:10", "2026-10-27") == ["26 01:30"]
    assert ticks("30,45 2 * * *", "Europe/Berlin", "2026-03-28 20:00", "2026-03-29 23:00") == ["29 01:00"]


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
def test_a_line_of_steps_follows_elapsed_time(day: str) -> None:
    found = ticks("*/30 * * * *", "Europe/Berlin", f"{day} 00:00", f"{day} 03:00")
    assert [tick[3:] for tick in found] == ["00:30", "01:00", "01:30", "02:00", "02:30", "03:00"]


def test_the_time_zone_counts() -> None:
    assert ticks("0 6 * * *", "UTC", "2026-01-01", "2026-01-02") == ["01 06:00"]
    assert ticks("0 6 * * *", "Asia/Tokyo", "2026-01-01", "2026-01-02") == ["01 21:00"]
    assert ticks("0 6 * * MON", "Asia/Tokyo", "2026-01-01", "2026-01-06") == ["04 21:00"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("* * * *", "needs five fields"),
        ("* * * * * *", "needs five fields"),
        ("", "needs five fields"),
        ("61 * * * *", "Bad minute"),
        ("* 24 * * *", "Bad hour"),
        ("* * * * MON#9", "Bad day-of-week"),
        ("* * */0 * *", "Bad day-of-month"),
        ("0 0 30 2 *", "Bad day-of-month"),
        ("0 0 29 2 MON#5", ""),
        ("@daily", "needs five fields"),
    ],
)
def test_a_line_that_cannot_run_is_refused(line: str, message: str) -> None:
    if message:
        with pytest.raises(InvalidArguments, match=f"bad cron line .*{message}"):
            Periodic(line)
    else:
        assert Periodic(line).next_tick(NOON) > NOON


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "Europe"])
def test_an_unknown_time_zone_is_refused(zone: str) -> None:
    with pytest.raises(InvalidArguments, match="no time zone"):
        Periodic("* * * * *", zone)


def test_an_unknown_word_for_missed_ticks_is_refused() -> None:
    with pytest.raises(InvalidArguments, match="missed must be one of skip, once, all, not 'none'"):
        Periodic("* * * * *", missed="none")  # type: ignore[arg-type]


@pytest.mark.parametrize("missed", MISSED)
def test_a_tick_in_time_is_enqueued_and_none_before_it(missed: Missed) -> None:
    hourly = Periodic("0 * * * *", missed=missed)
    assert step(hourly, NOON - HOUR, NOON - 1) is None
    assert step(hourly, NOON - HOUR, NOON) == Step((NOON,), NOON)
    assert step(hourly, NOON - HOUR, NOON + 45) == Step((NOON,), NOON)
    assert step(hourly, NOON, NOON + 45) is None


@pytest.mark.parametrize(
    ("missed", "made_up"),
    [("skip", ()), ("once", (NOON,)), ("all", (NOON - 2 * HOUR, NOON - HOUR, NOON))],
)
def test_missed_ticks_are_treated_as_declared(missed: Missed, made_up: tuple[float, ...]) -> None:
    hourly = Periodic("0 * * * *", missed=missed)
    assert step(hourly, NOON - 3 * HOUR, NOON + 5 * MINUTE) == Step(made_up, NOON)


@pytest.mark.parametrize(("missed", "count"), [("skip", 1), ("once", 1), ("all", 4)])
def test_a_tick_in_time_stands_for_the_missed_ones_too(missed: Missed, count: int) -> None:
    done = step(Periodic("0 * * * *", missed=missed), NOON - 4 * HOUR, NOON)
    assert done is not None
    assert len(done.enqueue) == count


def test_what_is_made_up_is_bounded() -> None:
    done = step(Periodic("* * * * *", missed="all"), NOON - 365 * DAY, NOON + 30)
    assert done is not None
    assert len(done.enqueue) == MOST_MADE_UP + 1
    weekly = Periodic("0 12 * * *", missed="all")
    done = step(weekly, NOON - 30 * DAY, NOON + HOUR)
    assert done is not None
    assert len(done.enqueue) == LOOK_BACK_SECONDS / DAY + 1 - 1


def test_a_new_job_begins_with_its_next_tick() -> None:
    assert step(Periodic("* * * * *", missed="all"), None, NOON) == Step((), NOON)


def test_a_clock_that_was_far_ahead_does_not_silence_a_job() -> None:
    minutely = Periodic("* * * * *")
    assert step(minutely, NOON + CLOCK_STEP_SECONDS, NOON) is None
    assert step(minutely, NOON + CLOCK_STEP_SECONDS + 1, NOON) == Step((), NOON)


@given(
    st.sampled_from(["* * * * *", "*/7 * * * *", "30 2 * * *", "15,45 1-3 * * *"]),
    st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]),
    st.sampled_from([(2026, 3, 29), (2026, 10, 25), (2026, 11, 1), (2026, 4, 5), (2026, 6, 1)]),
    st.lists(st.floats(-CLOCK_STEP_SECONDS / 2, HOUR), min_size=1, max_size=40),
)
def test_every_tick_is_enqueued_exactly_once(
    line: str, zone: str, day: tuple[int, int, int], moves: list[float]
) -> None:
    """Whenever somebody looks, also while the clock is set back a little: with `all`, none is lost."""
    periodic = Periodic(line, zone, missed="all")
    first = now = latest = mark = datetime(*day, tzinfo=UTC).timestamp() - 3 * HOUR
    enqueued: list[float] = []
    for move in moves:
        now = max(now + move, latest - CLOCK_STEP_SECONDS)
        latest = max(now, latest)
        done = step(periodic, mark, now)
        if done is not None:
            enqueued += done.enqueue
            mark = done.last
    assert enqueued == periodic.ticks(first, latest)


@given(
    st.sampled_from(["* * * * *", "*/7 * * * *", "30 2 * * *", "15,45 1-3 * * *", "0 0 1 1 *"]),
    st.sampled_from(["UTC", "Europe/Berlin", "Australia/Lord_Howe"]),
    st.sampled_from([(2026, 3, 29), (2026, 10, 25), (2026, 4, 5), (2026, 6, 1)]),
    st.sampled_from(MISSED),
    st.floats(0, 2 * DAY) | st.integers(0, 2000).map(lambda minutes: minutes * MINUTE),
)
def test_a_step_finds_what_a_walk_over_every_tick_finds(
    line: str, zone: str, day: tuple[int, int, int], missed: Missed, away: float
) -> None:
    last = datetime(*day, tzinfo=UTC).timestamp() - 3 * HOUR
    now = last + away
    periodic = Periodic(line, zone, missed=missed)
    ticks = periodic.ticks(last, now)
    late = [tick for tick in ticks if now - tick > ON_TIME_SECONDS]
    on_time = ticks[len(late) :]
    made_up = {"skip": [], "once": [] if on_time else late[-1:], "all": late[-MOST_MADE_UP:]}[missed]
    expected = Step((*made_up, *on_time), ticks[-1]) if ticks else None
    assert step(periodic, last, now) == expected


def test_a_rest_ends_with_the_next_tick_another_mark_or_a_clock_that_went_back() -> None:
    rest = Rest(NOON, NOON + 10, NOON + MINUTE)
    assert rest.holds(NOON, NOON + 10)
    assert rest.holds(NOON, NOON + 59)
    assert not rest.holds(NOON, NOON + MINUTE)
    assert not rest.holds(NOON - MINUTE, NOON + 30)
    assert not rest.holds(NOON, NOON + 9)


def test_an_entry_is_another_as_soon_as_any_part_differs() -> None:
    one = Periodic("0  6 * * *", "Europe/Berlin", args=(7,))
    assert entry_id("report", "mail", one) == "report mail 0 6 * * * Europe/Berlin [7]"
    others = [Periodic("0 6 * * *"), Periodic("0 6 * * *", "Europe/Berlin"), Periodic("0 6 * * *", args=(8,))]
    entries = {entry_id("report", "mail", other) for other in [one, *others]}
    assert len(entries | {entry_id("report", "slow", one), entry_id("other", "mail", one)}) == 6
