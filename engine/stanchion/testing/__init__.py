"""What an application's own tests use: with no Redis and no worker, or with Redis and no worker."""

from stanchion.testing.idle import arun_until_idle, run_until_idle
from stanchion.testing.inline import Ran, inline
from stanchion.testing.record import record
from stanchion.testing.running import running

__all__ = ["Ran", "arun_until_idle", "inline", "record", "run_until_idle", "running"]
