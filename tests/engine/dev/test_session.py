"""`stanchion dev` as its users run it: a process in a folder with manifests and an application."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion.app import App
from stanchion.store import connection, keys
from waiting import is_running, until

APP = """
import time
import stanchion
from stanchion.store import connection
app = stanchion.App()

@app.job(queue="mail")
def welcome(user: int) -> None:
    connection.connect(app.settings.redis_url).sadd("welcomed", user)

@app.job(queue="mail")
def endless() -> None:
    connection.connect(app.settings.redis_url).sadd("welcomed", "endless")
    time.sleep(600)

@app.job(queue="mail", retries=0)
def broken() -> None:
    raise RuntimeError("on purpose")
"""
MANIFEST = """
apiVersion: stanchion.dev/v1alpha1
kind: QueuePolicy
metadata: {name: mail}
spec:
  latencyTargetSeconds: 5
  workers: {image: "shop:1", app: "shopjobs:app", concurrency: 4}
"""
PATIENCE_SECONDS = 60.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shopjobs.py").write_text(APP)
    (tmp_path / "mail.yaml").write_text(MANIFEST)
    return tmp_path


class Dev:
    """One running `stanchion dev`, its standard output read line by line."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("STANCHION_")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "stanchion", "dev", "--no-live", *arguments],
            cwd=folder,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=(folder / "stderr.txt").open("w"),
            text=True,
        )
        self.errors = folder / "stderr.txt"

    def line_with(self, text: str) -> str:
        """The next line that holds `text`."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if text in line:
                return line
        raise AssertionError(f"it ended without {text!r}: {self.errors.read_text()}")

    def url(self) -> str:
        return self.line_with("STANCHION_REDIS_URL=").split("=", 1)[1].strip()

    def end(self) -> int:
        """The exit code, once it has ended by itself."""
        self.process.communicate(timeout=PATIENCE_SECONDS)
        return self.process.returncode


@pytest.fixture
def devs() -> Iterator[list[Dev]]:
    started: list[Dev] = []
    yield started
    for dev in started:
        if dev.process.poll() is None:
            dev.process.kill()
        dev.process.communicate()


def run(folder: Path, *arguments: str) -> tuple[int, str, str]:
    dev = Dev(folder, *arguments)
    out, _ = dev.process.communicate(timeout=PATIENCE_SECONDS)
    return dev.process.returncode, out, dev.errors.read_text()


def test_a_command_that_names_nothing_is_refused(folder: Path) -> None:
    code, _, errors = run(folder)
    assert code == 2
    assert "--app MODULE:APP" in errors


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            MANIFEST.replace("latencyTargetSeconds", "latencyTarget"),
            'mail.yaml:6: spec.latencyTarget: unknown field "spec.latencyTarget"',
        ),
        (MANIFEST.replace("concurrency: 4", "concurrency: 0"), "mail.yaml:7: spec.workers.concurrency: "),
        ("a: [", "mail.yaml:"),
    ],
)
def test_a_bad_manifest_is_refused_with_its_line(folder: Path, text: str, problem: str) -> None:
    (folder / "mail.yaml").write_text(text)
    code, _, errors = run(folder, "mail.yaml")
    assert code == 2
    assert problem in errors
    assert "Traceback" not in errors


@pytest.mark.redis
def test_once_runs_what_waits_and_ends(folder: Path, redis_url: str) -> None:
    App(redis_url).enqueue_many(App(redis_url).call("welcome", [user], queue="mail") for user in range(50))
    App(redis_url).enqueue_many([App(redis_url).call("welcome", [50], queue="mial")])
    code, out, _ = run(folder, "mail.yaml", "--once", "--redis-url", redis_url)
    assert "left  mial: 1 job waits and nobody serves this queue: declare a QueuePolicy" in out
    with connection.connect(redis_url) as client:
        assert client.scard("welcomed") == 50
        assert client.hget(keys.config("queue", "mail"), "latencyTargetSeconds") == b"5"
    assert "0 → 1 workers" in out
    assert code == 0


@pytest.mark.redis
def test_once_with_the_app_alone_says_so_when_jobs_died(folder: Path, redis_url: str) -> None:
    App(redis_url).enqueue("broken", queue="mail", retries=0)
    code, out, _ = run(folder, "--app", "shopjobs:app", "--once", "--redis-url", redis_url)
    assert code == 1
    assert "1 are dead" in out


@pytest.mark.redis
def test_a_redis_that_is_away_is_one_line(folder: Path) -> None:
    code, _, errors = run(folder, "mail.yaml", "--redis-url", "redis://127.0.0.1:1/0")
    assert code == 1
    assert "cannot be reached" in errors
    assert "Traceback" not in errors


@pytest.mark.redis
def test_killed_it_leaves_no_orphan_and_its_data_is_there_the_next_time(
    folder: Path, devs: list[Dev]
) -> None:
    dev = Dev(folder, "mail.yaml")
    devs.append(dev)
    url = dev.url()
    pids = [redis_pid(url), worker_pid(url)]

    code, _, errors = run(folder, "mail.yaml")
    assert code == 2
    assert f"in use by another instance (pid {dev.process.pid})" in errors

    with connection.connect(url) as client:
        client.sadd(keys.PAUSED, "mail")
    App(url).enqueue("welcome", [7], queue="mail")
    dev.process.kill()
    dev.process.wait()

    again = Dev(folder, "mail.yaml")  # at once: it waits for what the killed one left
    devs.append(again)
    with connection.connect(again.url()) as client:
        assert not any(map(is_running, pids))
        client.srem(keys.PAUSED, "mail")
        until(lambda: client.sismember("welcomed", "7"), timeout_seconds=PATIENCE_SECONDS)
    again.process.send_signal(signal.SIGINT)
    assert again.end() == 0


@pytest.mark.redis
def test_a_change_is_obeyed_and_a_bad_one_leaves_the_last_good_set(
    folder: Path, redis_url: str, devs: list[Dev]
) -> None:
    dev = Dev(folder, "mail.yaml", "--redis-url", redis_url)
    devs.append(dev)
    dev.line_with("0 → 1 workers")
    (folder / "mail.yaml").write_text(MANIFEST.replace("latencyTargetSeconds: 5", "latencyTargetSeconds: no"))
    assert "the last good set stays" in dev.line_with("last good")
    (folder / "mail.yaml").write_text(MANIFEST.replace("latencyTargetSeconds: 5", "latencyTargetSeconds: 8"))
    dev.line_with("are obeyed")
    with connection.connect(redis_url) as client:
        assert client.hget(keys.config("queue", "mail"), "latencyTargetSeconds") == b"8"
    dev.process.send_signal(signal.SIGTERM)
    assert dev.end() == 0


@pytest.mark.redis
def test_changed_code_replaces_the_workers_and_serves_its_new_queues(
    folder: Path, redis_url: str, devs: list[Dev]
) -> None:
    dev = Dev(folder, "mail.yaml", "--app", "shopjobs:app", "--redis-url", redis_url)
    devs.append(dev)
    old = worker_pid(redis_url)
    (folder / "shopjobs.py").write_text(f"{APP}\nthis is no Python")
    dev.line_with("the last good set stays")
    assert is_running(old)
    changed = APP.replace('"welcomed", user', '"welcomed", f"new {user}"')
    (folder / "shopjobs.py").write_text(
        f"print('hello')\n{changed}\napp.job(name='late', queue='fresh')(len)\n"
    )
    dev.line_with("code changed")
    dev.line_with("fresh  0 → 1 workers")
    until(lambda: not is_running(old), timeout_seconds=PATIENCE_SECONDS)
    App(redis_url).enqueue("welcome", [7], queue="mail")
    with connection.connect(redis_url) as client:
        until(lambda: client.sismember("welcomed", "new 7"), timeout_seconds=PATIENCE_SECONDS)
    dev.process.send_signal(signal.SIGTERM)
    assert dev.end() == 0


@pytest.mark.redis
def test_a_second_ctrl_c_stops_at_once_and_says_so(folder: Path, redis_url: str, devs: list[Dev]) -> None:
    dev = Dev(folder, "mail.yaml", "--redis-url", redis_url)
    devs.append(dev)
    worker = worker_pid(redis_url)
    App(redis_url).enqueue("endless", queue="mail")
    with connection.connect(redis_url) as client:
        until(lambda: client.sismember("welcomed", "endless"), timeout_seconds=PATIENCE_SECONDS)
    dev.process.send_signal(signal.SIGINT)
    until(lambda: "told to stop" in dev.errors.read_text())
    assert dev.process.poll() is None
    dev.process.send_signal(signal.SIGINT)
    assert dev.end() == 1
    assert not is_running(worker)


@pytest.mark.redis
def test_somebody_elses_worker_runs_with_the_redis_in_its_environment(
    folder: Path, redis_url: str, devs: list[Dev]
) -> None:
    command = "sh -c 'echo stranger on $REDIS_URL; exec sleep 600'"
    dev = Dev(folder, "mail.yaml", "--redis-url", redis_url, "--exec", f"mail={command}")
    devs.append(dev)
    until(
        lambda: f"mail-1 | stranger on {redis_url}" in dev.errors.read_text(),
        timeout_seconds=PATIENCE_SECONDS,
    )
    dev.process.send_signal(signal.SIGTERM)
    assert dev.end() == 0


def test_a_reader_who_goes_ends_the_run_in_good_order(folder: Path, redis_url: str, devs: list[Dev]) -> None:
    dev = Dev(folder, "mail.yaml", "--redis-url", redis_url)
    devs.append(dev)
    dev.line_with("0 → 1 workers")
    assert dev.process.stdout is not None
    dev.process.stdout.close()
    dev.process.stdout = None
    assert dev.process.wait(timeout=PATIENCE_SECONDS) == 0
    with connection.connect(redis_url) as client:
        assert not client.exists(keys.PROCESSES)
    assert not [word for word in ("Traceback", "asyncio", "BrokenPipe") if word in dev.errors.read_text()]


def redis_pid(url: str) -> int:
    with connection.connect(url) as client:
        return int(client.info("server")["process_id"])


def worker_pid(url: str) -> int:
    """The supervisor's pid, once it has registered."""
    found: list[bytes] = []

    def registered() -> bool:
        found[:] = client.smembers(keys.PROCESSES)
        return bool(found)

    with connection.connect(url) as client:
        until(registered, timeout_seconds=PATIENCE_SECONDS)
    return int(found[0].split(b":")[1])
