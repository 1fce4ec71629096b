"""What the table and the plain lines show, at 80 columns."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from io import StringIO

import pytest
from rich.console import Console

from stanchion.dev.screen import LiveScreen, PlainScreen, screen_for
from stanchion.dev.status import Happening, QueueStatus, RunStatus
from stanchion.dev.view import age, queue_line, run_view, workers
from stanchion.store.queues import SetSizes

BUSY = QueueStatus(
    *("imports", 10.0, 3, 4), draining=1, age_seconds=7.2, waiting=1234, busy=40, rate_per_second=95.21
)
LATE = QueueStatus("mail", 5.0, 1, 1, age_seconds=12.0, waiting=1, busy=0, rate_per_second=0.0)
BLIND = QueueStatus("gone", 30.0, 2, 2)
PAUSED = QueueStatus("held", 30.0, 1, 1, age_seconds=0.0, waiting=0, busy=0, paused=True)
RIDER = QueueStatus("rider", 30.0, 3, 4, age_seconds=0.0, waiting=0, busy=0, rides_on="imports")
STRAY = QueueStatus("typo", None, 0, 0, age_seconds=4.0, waiting=1200, busy=0, runs_here=False)
URL = "redis://127.0.0.1:6379/0"


def drawn(status: RunStatus, *happenings: Happening) -> list[str]:
    console = Console(width=80, file=StringIO(), force_terminal=False)
    with console.capture() as captured:
        console.print(run_view(status, happenings))
    return captured.get().splitlines()


def test_the_table_fits_80_columns_and_shows_every_figure() -> None:
    long = Happening(datetime(2026, 1, 2, 3, 4, 5), "imports", "2 → 4 workers  " + "why " * 40)
    lines = drawn(RunStatus(URL, (BUSY, LATE, BLIND, PAUSED, RIDER)), long)
    assert max(map(len, lines)) <= 80
    assert lines[1].split() == ["queue", "oldest", "/", "target", "waiting", "busy", "workers", "done/s"]
    assert lines[2].split() == ["imports", "7.2", "s", "/", "10", "s", "1,234", "40", "3/4", "−1", "95.2"]
    assert lines[7].startswith("03:04:05  imports  2 → 4 workers  why")
    assert " ".join(lines[7:]).count("why") == 40, "a reason wraps, it is never cut"
    assert lines[-1] == "", "room for the ^C that a terminal echoes"


def test_jobs_that_nobody_will_take_are_named_with_what_to_do() -> None:
    gate_only = replace(STRAY, queue="mail", target_seconds=30.0, waiting=1)
    lines = drawn(RunStatus(URL, (gate_only,), strays=(STRAY,), further_strays=2))
    assert lines[2].split() == ["mail", "4.0", "s", "/", "30", "s", "1", "0", "nobody", "–"]
    assert lines[3].split() == ["typo", "4.0", "s", "1,200", "0", "nobody", "–"]
    said = " ".join(" ".join(lines[4:]).split())
    assert "mail: 1 job waits and nobody serves this queue: add --app MODULE:APP, or --exec mail='…'" in said
    assert "typo: 1,200 jobs wait and nobody serves this queue: declare a QueuePolicy for it" in said
    assert "2 more queues hold jobs and are not declared here" in said


def test_a_queue_that_another_process_serves_is_no_cause_for_alarm() -> None:
    assert workers(replace(STRAY, elsewhere=1)).plain == "elsewhere"
    assert "nobody" not in queue_line(replace(STRAY, elsewhere=1))
    assert workers(replace(STRAY, waiting=0)).plain == "–"


@pytest.mark.parametrize(
    ("queue", "text", "style"),
    [
        (BUSY, "7.2 s / 10 s", "yellow"),
        (LATE, "12.0 s / 5 s", "red"),
        (BLIND, "no Redis", "red"),
        (PAUSED, "paused", "yellow"),
        (RIDER, "0.0 s / 30 s", "green"),
    ],
)
def test_the_age_is_colored_by_the_promise(queue: QueueStatus, text: str, style: str) -> None:
    assert (age(queue).plain, age(queue).style) == (text, style)


def test_a_rider_names_whose_workers_serve_it() -> None:
    assert workers(RIDER).plain == "with imports"


def test_the_plain_line_says_the_same() -> None:
    expected = "imports: oldest 7.2 s / 10 s, waiting 1,234, busy 40, workers 3/4 −1, 95.2 done/s"
    assert queue_line(BUSY) == expected


def test_plain_lines_repeat_nothing_unchanged(capsys: pytest.CaptureFixture[str]) -> None:
    with PlainScreen() as screen:
        screen.show(RunStatus(URL, (BUSY, LATE)))
        screen.show(RunStatus(URL, (BUSY, LATE)))
        screen.tell("imports", "2 → 4 workers")
        screen.tell_output("imports-1", "hello")
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 3
    assert err == "imports-1 | hello\n"


def test_jobs_outside_the_queues_have_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    status = RunStatus(URL, (BUSY,), set_sizes=SetSizes(retrying=12, scheduled=3, dead=1))
    line = "12 retrying, 3 scheduled, 1 dead: stanchion dead ls"
    assert line in drawn(status)
    screen = PlainScreen()
    screen.show(status)
    screen.show(status)
    assert capsys.readouterr().out.count(line) == 1
    assert "retrying" not in "".join(drawn(RunStatus(URL, (BUSY,))))


def test_the_live_screen_scrolls_what_workers_print_and_keeps_the_table_below() -> None:
    console = Console(width=80, file=StringIO(), force_terminal=True)
    with LiveScreen(console) as screen:
        screen.show(RunStatus(URL, (BUSY,)))
        screen.tell_output("imports-1", "hello")
        screen.tell("imports", "2 → 4 workers")
        screen.show(RunStatus(URL, (BUSY,), draining=True))
    assert isinstance(console.file, StringIO)
    written = console.file.getvalue()
    assert written.index("hello") < written.rindex("imports")
    assert "Ctrl-C again" in written


def test_a_flood_of_output_does_not_draw_the_table_for_each_line() -> None:
    console = Console(width=80, file=StringIO(), force_terminal=True)
    with LiveScreen(console) as screen:
        screen.show(RunStatus(URL, (BUSY,)))
        for number in range(100):
            screen.tell_output("imports-1", f"line {number}")
        screen.show(RunStatus(URL, (BUSY,)))
        screen.tell_output("imports-1", "the last words")
    assert isinstance(console.file, StringIO)
    written = console.file.getvalue()
    assert written.count("\n") < 150
    assert "line 99" in written
    assert "the last words" in written


def test_the_live_screen_ends_with_what_was_told_last() -> None:
    console = Console(width=80, file=StringIO(), force_terminal=True)
    with LiveScreen(console) as screen:
        screen.show(RunStatus(URL, (BUSY,)))
        screen.tell("stopped", "workers were killed", alarming=True)
    assert isinstance(console.file, StringIO)
    assert "workers were killed" in console.file.getvalue()


def test_a_list_of_refusals_scrolls_above_the_table_whole() -> None:
    console = Console(width=80, height=10, file=StringIO(), force_terminal=True)
    problems = "\n".join(f"  queues.yaml:{line}: this and that is wrong there" for line in range(20))
    with LiveScreen(console) as screen:
        screen.tell("reload", f"the last good set stays: refused:\n{problems}", alarming=True)
        screen.show(RunStatus(URL, (BUSY,)))
    assert isinstance(console.file, StringIO)
    written = console.file.getvalue()
    assert written.count("queues.yaml:") == 20
    assert "(listed above)" in written


def test_without_a_terminal_lines_are_plain() -> None:
    assert isinstance(screen_for(live=True), PlainScreen)
