"""Registering middleware: as decorators, in order, and refused where it could not work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from stanchion.app import App
from stanchion.errors import InvalidArguments
from stanchion.job import Job
from stanchion.middleware import ServerChain, around

app = App("redis://127.0.0.1:1/0")
JOB = Job({"class": "a", "jid": "a1", "queue": "q", "args": []})


@app.middleware.server
async def on_the_loop(job: Job, call_next: Callable[[], Awaitable[None]]) -> None:
    await call_next()


@app.middleware.server
def in_the_thread(job: Job, call_next: Callable[[], None]) -> None:
    call_next()


class AnObject:
    """An object may be a middleware."""

    async def __call__(self, job: Job, call_next: Callable[[], Awaitable[None]]) -> None:
        await call_next()


def test_a_decorator_returns_the_function_and_keeps_the_kinds_apart() -> None:
    chain = ServerChain.of([*app.middleware.server_chain, AnObject()])
    assert chain.on_loop[0] is on_the_loop
    assert chain.in_thread == (in_the_thread,)
    assert len(chain.on_loop) == 2


@pytest.mark.parametrize("broken", [None, 7])
def test_parentheses_are_a_clear_error(broken: Any) -> None:
    with pytest.raises(InvalidArguments, match="without parentheses"):
        app.middleware.server(broken)


def test_an_async_client_middleware_is_refused() -> None:
    async def add(job: Job) -> Job:
        return job

    with pytest.raises(InvalidArguments, match="must be a plain function, not async"):
        app.middleware.client(add)  # type: ignore[type-var]
    assert app.middleware.client_chain == []


def test_the_first_registered_stands_outermost() -> None:
    order: list[str] = []

    def named(name: str) -> Callable[[Job, Callable[[], None]], None]:
        def middleware(job: Job, call_next: Callable[[], None]) -> None:
            order.append(f"{name} before {job.jid}")
            call_next()
            order.append(f"{name} after")

        return middleware

    around([named("outer"), named("inner")], JOB, lambda: order.append("job"))()
    assert order == ["outer before a1", "inner before a1", "job", "inner after", "outer after"]
