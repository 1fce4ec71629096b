"""What a type checker must make of the public API. Read by mypy, never run: `test_typing` checks it.

Each `type: ignore` is an error mypy must report; an unused one fails the check.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import assert_type

import stanchion

app = stanchion.App()
jobs = stanchion.JobSet(prefix="catalog.", queue="imports")


@jobs.job(retries=5)
async def import_catalog(account: int, *, rows: list[int]) -> str:
    return f"{account}: {len(rows)}"


@app.job
def welcome(user: int, lang: str = "en") -> int:
    return user + len(lang)


def backoff(failures: int, error: BaseException) -> float | stanchion.Discard:
    return 30 * failures if str(error) else stanchion.Discard("nothing to say")


@app.job(backoff=backoff, retry_for=3600, dead=False, timeout_seconds=30, expires_in=300)
def limited() -> None:
    stanchion.current_job().check_stopping()


@app.middleware.client
def sign(job: stanchion.Job) -> stanchion.Job:
    return job.replace(release=1)


@app.middleware.server
async def on_the_loop(job: stanchion.Job, call_next: Callable[[], Awaitable[None]]) -> None:
    await call_next()


@app.middleware.server
def in_the_thread(job: stanchion.Job, call_next: Callable[[], None]) -> None:
    call_next()


async def calls() -> None:
    assert_type(welcome(7), int)
    assert_type(await import_catalog(7, rows=[1]), str)
    assert_type(welcome.enqueue(7, lang="de"), stanchion.Verdict)
    assert_type(await import_catalog.aenqueue(7, rows=[1]), stanchion.Verdict)
    assert_type(welcome.options(delay=30, tenant="acme").enqueue(7), stanchion.Verdict)
    assert_type(welcome.call(7), stanchion.Call)
    assert_type(app.enqueue_many(import_catalog.call(a, rows=[]) for a in range(3)), list[stanchion.Verdict])
    assert_type(app.enqueue("catalog.import_catalog", [7, {"rows": [1]}], queue="imports"), stanchion.Verdict)
    assert_type(stanchion.current_job().stopping, bool)


async def mistakes() -> None:
    welcome("seven")  # type: ignore[arg-type]
    welcome.enqueue()  # type: ignore[call-arg]
    welcome.enqueue("seven")  # type: ignore[arg-type]
    welcome.options(delay=30).enqueue(7, lang=1)  # type: ignore[arg-type]
    welcome.options(delai=30)  # type: ignore[call-arg]
    welcome.options(queue=7)  # type: ignore[arg-type]
    await import_catalog.aenqueue(7)  # type: ignore[call-arg]
    await import_catalog.aenqueue(7, rows=["1"])  # type: ignore[list-item]
    import_catalog.call(7, rows=[], other=1)  # type: ignore[call-arg]
    app.enqueue("a", delai=3)  # type: ignore[call-arg]
    app.enqueue_many([welcome])  # type: ignore[list-item]
    stanchion.App(on_refused="ignore")  # type: ignore[arg-type]
    app.job(retrys=3)  # type: ignore[call-overload]
    app.job(timeout_seconds="30")  # type: ignore[call-overload]
    app.middleware.server(sign)  # type: ignore[type-var]
