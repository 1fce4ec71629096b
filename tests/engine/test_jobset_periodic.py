"""Declaring periodic jobs: what reads well works, and what could not run is refused at import."""

from __future__ import annotations

import pytest

import stanchion
from stanchion.errors import CommandError, InvalidArguments
from stanchion.periodic import Periodic


def test_lines_stand_above_the_job() -> None:
    jobs = stanchion.JobSet(prefix="shop.")

    @jobs.periodic(
        "0 6 * * MON-FRI", time_zone="Europe/Berlin", missed="once", args=[7], kwargs={"full": True}
    )
    @jobs.periodic("0 9 * * SAT", args=[8])
    @jobs.job(queue="reports")
    def report(shop: int, *, full: bool = False) -> None: ...

    assert report.periodic == [
        Periodic("0 9 * * SAT", args=(8, {"full": False})),
        Periodic("0 6 * * MON-FRI", "Europe/Berlin", "once", (7, {"full": True})),
    ]
    assert report.name == "shop.report"


def test_an_app_has_it_as_well() -> None:
    app = stanchion.App()

    @app.periodic("*/5 * * * *")
    @app.job
    async def tidy() -> None: ...

    assert app.registry["tidy"].periodic == [Periodic("*/5 * * * *")]


@pytest.mark.parametrize(
    ("line", "more", "message"),
    [
        ("61 * * * *", {}, "periodic job job: bad cron line '61 [*] [*] [*] [*]': Bad minute"),
        ("* * * * *", {"time_zone": "Mars"}, "periodic job job: there is no time zone 'Mars'"),
        ("* * * * *", {"missed": "never"}, "periodic job job: missed must be one of"),
        ("* * * * *", {"args": [1]}, "periodic job job: .*argument"),
        ("* * * * *", {"kwargs": {"a": 1}}, "periodic job job: .*argument"),
    ],
)
def test_what_could_not_run_is_refused_at_import(line: str, more: dict[str, object], message: str) -> None:
    jobs = stanchion.JobSet()

    @jobs.job
    def job() -> None: ...

    with pytest.raises(InvalidArguments, match=message):
        jobs.periodic(line, **more)(job)  # type: ignore[arg-type]


def test_the_wrong_order_is_named() -> None:
    jobs = stanchion.JobSet()
    with pytest.raises(InvalidArguments, match="must stand above @job"):

        @jobs.job
        @jobs.periodic("* * * * *")  # type: ignore[arg-type]
        def job() -> None: ...


def test_the_same_line_twice_is_a_slip() -> None:
    jobs = stanchion.JobSet()

    @jobs.periodic("0 6 * * *")
    @jobs.job
    def job() -> None: ...

    with pytest.raises(CommandError, match=r"job job is periodic at '0 6 [*] [*] [*]' twice"):
        jobs.periodic("0  6 * * *")(job)
