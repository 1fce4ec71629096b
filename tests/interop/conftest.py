"""Both sides on one empty Redis. Ruby is slow to start, so a module shares its console and its page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from engine.worker.running import Worker
from interop.ruby import Console, RubyWorker, WebPage
from stanchion.app import App
from stanchion.dev.redis_server import RedisServer

APP = "interop_app:app"


@pytest.fixture(scope="module")
def console(redis_server: RedisServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    """Ruby's client and API."""
    with Console(redis_server.url, tmp_path_factory.mktemp("ruby")) as opened:
        yield opened


@pytest.fixture(scope="module")
def web(redis_server: RedisServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebPage]:
    """Sidekiq's web page."""
    with WebPage(redis_server.url, tmp_path_factory.mktemp("web")) as opened:
        yield opened


@pytest.fixture
def app(redis_url: str) -> App:
    """Python's client."""
    return App(redis_url)


@pytest.fixture
def start_python(redis_url: str, tmp_path: Path) -> Iterator[Callable[[], Worker]]:
    """Starts `stanchion worker` on the queue `mail`."""
    with ExitStack() as stack:

        def start() -> Worker:
            worker = Worker(redis_url, tmp_path, "-c", "4", app=APP, home=Path(__file__).parent)
            return stack.enter_context(worker)

        yield start


@pytest.fixture
def start_ruby(redis_url: str, tmp_path: Path) -> Iterator[Callable[[], RubyWorker]]:
    """Starts `sidekiq` on the queue `mail`."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(RubyWorker(redis_url, tmp_path))


@pytest.fixture
def python_worker(start_python: Callable[[], Worker]) -> Worker:
    """One `stanchion worker`."""
    return start_python()


@pytest.fixture
def ruby_worker(start_ruby: Callable[[], RubyWorker]) -> RubyWorker:
    """One `sidekiq`."""
    return start_ruby()
