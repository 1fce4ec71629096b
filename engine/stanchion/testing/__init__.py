"""What an application's own tests use: no Redis, no worker."""

from stanchion.testing.record import record
from stanchion.testing.running import running

__all__ = ["record", "running"]
