"""Real processes that come and go: started, drained idle first, replaced after a crash, never orphaned."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from stanchion.dev.fleet import Fleet, WorkerCommand
from stanchion.dev.leash import Leash
from waiting import auntil, is_running, until

SLEEPER = (sys.executable, "-S", "-c", "import time; print('up', flush=True); time.sleep(600)")
STUBBORN = (
    *(sys.executable, "-S", "-c"),
    "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(600)",
)
CRASHER = (sys.executable, "-S", "-c", "raise SystemExit('no such app')")


class Lines(list[tuple[str, str]]):
    """Collects what workers print."""

    def __call__(self, name: str, line: str) -> None:
        self.append((name, line))


@pytest.fixture
def leash() -> Iterator[Leash]:
    held = Leash(grace_seconds=0.5)
    yield held
    held.close()


async def started(fleet: Fleet, wanted: int, lines: Lines) -> list[int]:
    fleet.wanted = wanted
    await fleet.adjust({})
    await auntil(lambda: len(lines) >= wanted)
    return fleet.pids


async def until_restarted(fleet: Fleet) -> None:
    """Tick, as the runner would, until the pause after the crash is over."""
    async with asyncio.timeout(10):
        while not fleet.running:
            await asyncio.sleep(0.02)  # the tick of a runner
            await fleet.adjust({})


async def test_as_many_as_wanted_and_idle_ones_go_first(leash: Leash) -> None:
    lines = Lines()
    fleet = Fleet("mail", WorkerCommand(SLEEPER), leash, lines)
    first, second, third = await started(fleet, 3, lines)
    fleet.wanted = 2
    await fleet.adjust({first: 2, second: 0, third: 1})
    assert fleet.pids == [first, third]
    await auntil(lambda: fleet.draining == 0)
    fleet.wanted = 1
    await fleet.adjust({first: 1, third: 1})
    assert fleet.pids == [first]
    await fleet.drain()
    assert not any(is_running(pid) for pid in (first, second, third))
    assert ("mail-1", "up") in lines


async def test_who_overstays_its_drain_time_is_killed(leash: Leash, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stanchion.dev.fleet.KILL_AFTER_SECONDS", 0.1)
    lines = Lines()
    fleet = Fleet("mail", WorkerCommand(STUBBORN, drain_timeout_seconds=0.1), leash, lines)
    (pid,) = await started(fleet, 1, lines)
    await fleet.drain()
    assert not is_running(pid)


async def test_a_program_that_cannot_start_is_told_and_tried_again_later(leash: Leash) -> None:
    lines = Lines()
    fleet = Fleet("mail", WorkerCommand(("/no/such/program",)), leash, lines)
    fleet.wanted = 2
    await fleet.adjust({})
    ((name, line),) = lines
    assert name == "mail-1"
    assert line.startswith("did not start: ")
    assert line.endswith("'/no/such/program'; the next starts in 1 s")


async def test_a_crash_is_told_and_the_next_start_waits_longer_each_time(leash: Leash) -> None:
    lines = Lines()
    fleet = Fleet("mail", WorkerCommand(CRASHER), leash, lines)
    fleet.wanted = 1
    await fleet.adjust({})
    await auntil(lambda: fleet.running == 0)
    await fleet.adjust({})
    assert fleet.running == 0
    assert ("mail-1", "no such app") in lines
    assert lines[-1] == ("mail-1", "ended with exit code 1; the next starts in 1 s")
    await until_restarted(fleet)
    await auntil(lambda: fleet.running == 0)
    assert lines[-1] == ("mail-2", "ended with exit code 1; the next starts in 2 s")


async def test_a_killed_worker_is_replaced(leash: Leash) -> None:
    lines = Lines()
    fleet = Fleet("mail", WorkerCommand(SLEEPER), leash, lines)
    (pid,) = await started(fleet, 1, lines)
    os.kill(pid, signal.SIGKILL)
    await auntil(lambda: fleet.running == 0)
    assert lines[-1] == ("mail-1", "ended with signal SIGKILL; the next starts in 1 s")
    await until_restarted(fleet)
    assert fleet.pids != [pid]
    await fleet.kill()


async def test_another_command_replaces_the_workers(leash: Leash) -> None:
    lines = Lines()
    fleet = Fleet("mail", WorkerCommand(SLEEPER), leash, lines)
    (old,) = await started(fleet, 1, lines)
    await fleet.replace(WorkerCommand((*SLEEPER, "new")))
    await fleet.adjust({})
    assert fleet.running == 1
    assert fleet.pids != [old]
    await fleet.drain()


def test_the_leash_ends_what_it_holds_even_if_we_are_killed() -> None:
    script = (
        "import subprocess, sys, time; from stanchion.dev.leash import Leash; leash = Leash(0.5);"
        f"child = subprocess.Popen({list(STUBBORN)!r}, start_new_session=True, stdout=subprocess.DEVNULL);"
        "leash.hold(child.pid, 1); print(child.pid, flush=True); time.sleep(600)"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=environ) as owner:
        assert owner.stdout is not None
        child = int(owner.stdout.readline())
        owner.kill()
    until(lambda: not is_running(child))


def test_the_leash_lets_go_of_what_was_released() -> None:
    leash = Leash(grace_seconds=0.5)
    with subprocess.Popen(SLEEPER, start_new_session=True, stdout=subprocess.PIPE) as child:
        leash.hold(child.pid, 1)
        leash.release(child.pid)
        leash.close()
        assert child.poll() is None
        child.kill()
