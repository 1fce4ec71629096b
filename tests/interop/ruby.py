"""The Ruby side of the tests, as processes: a console, a Sidekiq worker, and Sidekiq's web page."""

from __future__ import annotations

import html
import http.cookiejar
import json
import os
import re
import signal
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import redis

from waiting import until

FOLDER = Path(__file__).parent / "sidekiq"
START_SECONDS = 30.0
STOP_SECONDS = 15.0


class RubyError(AssertionError):
    """What Ruby raised."""


class RubyProcess:
    """One Ruby process on the tests' Redis, never left behind. What it says is in `log`.

    `answers`: its stdout is read line by line; else it goes to the log as well.
    """

    def __init__(self, redis_url: str, log: Path, *argv: str, answers: bool = True) -> None:
        self.log = log
        with log.open("w") as stderr:
            self.process = subprocess.Popen(
                argv,
                cwd=FOLDER,
                env={**os.environ, "REDIS_URL": redis_url, "LANG": "C.UTF-8"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE if answers else stderr,
                stderr=stderr,
                text=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            print(self.log.read_text())
        self.process.kill()
        self.process.communicate()

    def read_line(self) -> str:
        """Its next line. Raises RubyError when it has ended."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RubyError(f"Ruby has ended; its last words: {self.log.read_text()[-2000:]}")
        return line


class Console(RubyProcess):
    """Evaluates Ruby with Sidekiq and its API at hand."""

    def __init__(self, redis_url: str, folder: Path) -> None:
        super().__init__(redis_url, folder / "console.log", "ruby", "console.rb")

    def run(self, ruby: str) -> Any:
        """The value of an expression, by way of JSON. Raises RubyError for what it raised."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(ruby) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.read_line())
        if "error" in answer:
            raise RubyError(answer["error"])
        return answer["value"]


class RubyWorker(RubyProcess):
    """`sidekiq` with two threads on the queue `mail`."""

    def __init__(self, redis_url: str, folder: Path) -> None:
        log = folder / f"sidekiq-{len(list(folder.glob('sidekiq-*')))}.log"
        argv = ("sidekiq", "--require", "./jobs.rb", "--queue", "mail", "--concurrency", "2")
        super().__init__(redis_url, log, *argv, answers=False)
        self._client: Any = redis.Redis.from_url(redis_url)

    def __enter__(self) -> Self:
        until(lambda: self.identity, timeout_seconds=START_SECONDS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        self._client.close()

    @property
    def identity(self) -> str:
        """Its name in Redis, once it has one."""
        names = [name.decode() for name in self._client.smembers("processes")]
        return next((name for name in names if f":{self.process.pid}:" in name), "")

    def stop(self) -> int:
        """Let it finish and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP_SECONDS)


class WebPage(RubyProcess):
    """Sidekiq's web page over HTTP, with a browser's cookies and forms."""

    def __init__(self, redis_url: str, folder: Path) -> None:
        super().__init__(redis_url, folder / "web.log", "ruby", "web.rb")
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._browser = urllib.request.build_opener(cookies)
        self._root = ""

    def __enter__(self) -> Self:
        self._root = f"http://127.0.0.1:{int(self.read_line())}"
        return self

    def get(self, path: str) -> str:
        """A page, with its entities resolved."""
        with self._browser.open(self._root + path, timeout=STOP_SECONDS) as answer:
            return html.unescape(answer.read().decode())

    def submit(self, page: str, path: str, **fields: str) -> str:
        """Press a button on `page` whose form goes to `path`; returns the page it leads to."""
        token = re.search(r"""name=["']authenticity_token["'] value=["']([^"']+)""", self.get(page))
        assert token is not None, f"{page} has no form"
        form = urllib.parse.urlencode({**fields, "authenticity_token": token[1]}).encode()
        with self._browser.open(self._root + path, form, timeout=STOP_SECONDS) as answer:
            return html.unescape(answer.read().decode())
