"""Dramatiq's side: its actors, and its client."""

from __future__ import annotations

import os

import client
import dramatiq
import marks
from dramatiq.brokers.redis import RedisBroker

dramatiq.set_broker(RedisBroker(url=os.environ["BENCH_REDIS_URL"]))


@dramatiq.actor
def noop(number):
    marks.pass_by(number)


@dramatiq.actor
def stamp(pushed_at):
    marks.late(pushed_at)


if __name__ == "__main__":
    client.drive(noop=noop.send, stamp=stamp.send)
