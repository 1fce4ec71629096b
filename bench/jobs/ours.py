"""Stanchion's side of the benchmark: its jobs, and its client."""

from __future__ import annotations

import client
import marks

from stanchion import App

app = App()


@app.job(name="noop", queue="bench")
async def noop(number: int) -> None:
    marks.pass_by(number)


@app.job(name="noop_in_thread", queue="bench")
def noop_in_thread(number: int) -> None:
    marks.pass_by(number)


@app.job(name="stamp", queue="bench")
async def stamp(pushed_at: float) -> None:
    marks.late(pushed_at)


if __name__ == "__main__":
    client.drive(
        noop=noop.enqueue,
        stamp=stamp.enqueue,
        bulk=lambda numbers: app.enqueue_many(map(noop.call, numbers)),
        in_thread=lambda numbers: app.enqueue_many(map(noop_in_thread.call, numbers)),
    )
