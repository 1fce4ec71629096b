"""A worker is killed in the middle of its jobs, on both sides, by SIGKILL: no handler gets to run."""

from __future__ import annotations

from stanchion.dev.demo.stage import Stage

JOBS = 30
JOB_SECONDS = 2.0
START_TIMEOUT_SECONDS = 5.0
GATED_QUIET_SECONDS = 18.0
"""Longer than a dead worker's leases need to come back (10 s of silence prove it dead) and run."""
PLAIN_QUIET_SECONDS = 6.0
"""Longer than its jobs take and its next worker to start: what has not run by then never will."""
SETTLE_TIMEOUT_SECONDS = 40.0


async def play(stage: Stage) -> None:
    """Push, wait until the jobs are in the workers' hands, kill, and see who comes back."""
    stage.narrate("Kill −9", f"{JOBS} jobs of {JOB_SECONDS:g} s on either side, and they begin to run.")
    await stage.load.push(JOBS, JOB_SECONDS)
    await stage.until(lambda gated, plain: gated.waiting < JOBS > plain.waiting, START_TIMEOUT_SECONDS)
    stage.kill_worker(stage.gated)
    stage.kill_worker(stage.plain)
    stage.add(
        "One worker of each side was just killed, with up to 10 jobs in its hands.",
        "A gated job leaves Redis only when it is done: another worker takes it over.",
    )
    await stage.settled(
        stage.gated, quiet_seconds=GATED_QUIET_SECONDS, timeout_seconds=SETTLE_TIMEOUT_SECONDS
    )
    await stage.settled(
        stage.plain, quiet_seconds=PLAIN_QUIET_SECONDS, timeout_seconds=SETTLE_TIMEOUT_SECONDS
    )
    gated, plain = (side.count for side in stage.readings)
    stage.add(
        f"Gated: {gated.ran:,} of {gated.pushed:,} jobs have run. Plain: {plain.ran:,} of {plain.pushed:,}."
    )
