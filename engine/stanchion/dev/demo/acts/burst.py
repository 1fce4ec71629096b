"""A burst against the latency target: one side gets more workers, the other keeps what it has."""

from __future__ import annotations

import asyncio

from stanchion.dev.demo.stage import Stage

CALM_JOBS, CALM_ROUNDS = 10, 4
BURST_JOBS = 900
JOB_SECONDS = 0.5
START_TIMEOUT_SECONDS = 20.0
DRAIN_TIMEOUT_SECONDS = 40.0
SCALE_IN_TIMEOUT_SECONDS = 15.0


async def play(stage: Stage) -> None:
    """Some calm, so that the run time is known; then everything at once; then back to the floor."""
    target = stage.readings[0].target_seconds
    stage.narrate(
        "A burst",
        f"Both sides are to start every job within {target:g} s. Both begin with 2 workers.",
        "First a calm load, so that the autoscaler learns how long a job takes.",
    )
    await stage.load.push(CALM_JOBS, JOB_SECONDS)
    await stage.until(lambda gated, plain: gated.count.ran > 0 < plain.count.ran, START_TIMEOUT_SECONDS)
    for _ in range(CALM_ROUNDS):
        await stage.load.push(CALM_JOBS, JOB_SECONDS)
        await asyncio.sleep(1.0)
    stage.add(f"Now {BURST_JOBS} jobs of {JOB_SECONDS:g} s at once, on either side.")
    await stage.load.push(BURST_JOBS, JOB_SECONDS)
    await stage.until(
        lambda gated, plain: gated.count.missing == plain.count.missing == 0, DRAIN_TIMEOUT_SECONDS
    )
    stage.add("Done. The workers that are no longer needed drain and go.")
    await stage.until(lambda gated, plain: gated.workers == plain.workers, SCALE_IN_TIMEOUT_SECONDS)
