"""huey's side: its tasks, and its client."""

from __future__ import annotations

import os
import sys

import client
import marks
from huey import RedisHuey

huey = RedisHuey("bench", url=os.environ["BENCH_REDIS_URL"], results=False)


@huey.task()
def noop(number):
    marks.pass_by(number)


@huey.task()
def stamp(pushed_at):
    marks.late(pushed_at)


if __name__ == "__main__":
    # Tasks are stored under their module's name: the worker must find them in huey_app, not in __main__.
    import huey_app

    sys.modules["__main__"] = huey_app
    client.drive(noop=huey_app.noop, stamp=huey_app.stamp)
