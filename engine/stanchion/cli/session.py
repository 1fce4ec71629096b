"""What every verb on Redis shares: its two flags, and a client whose errors a person can act on."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

import redis

from stanchion.dialect import Dialect
from stanchion.settings import Settings
from stanchion.store import connection
from stanchion.store.ruby_processes import RubyProcesses


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Flags of every verb."""
    parser.add_argument("--redis-url", metavar="URL", help="default: STANCHION_REDIS_URL, else localhost")
    parser.add_argument("--json", action="store_true", help="print JSON")


@contextmanager
def opened(args: argparse.Namespace, command: str) -> Iterator[redis.Redis]:
    """A client on the Redis that is meant, named after the command. Raises RedisUnavailable."""
    url = Settings.from_environ().with_redis_url(args.redis_url).redis_url
    with connection.readable_errors(url), connection.connect(url, name=f"stanchion-{command}") as client:
        yield client


def dialect(client: redis.Redis) -> Dialect:
    """How times are written here: as the setting `wire` says, else as the live Ruby processes read them."""
    return RubyProcesses(Settings.from_environ().wire).refresh(client)
