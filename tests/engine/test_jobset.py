"""Declaring jobs: names, queues, and the mistakes that are found at import."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator

import pytest

from stanchion.app import App
from stanchion.errors import CommandError, InvalidArguments, UnknownJob
from stanchion.jobset import JobSet


def test_a_plain_call_runs_the_function() -> None:
    jobs = JobSet()

    @jobs.job
    def double(number: int) -> int:
        """Twice the number."""
        return 2 * number

    @jobs.job(retries=5)
    async def later(number: int) -> int:
        return number + 1

    assert double(4) == 8
    assert asyncio.run(later(1)) == 2
    assert (double.is_async, later.is_async) == (False, True)
    assert (double.__name__, double.__doc__) == ("double", "Twice the number.")
    assert list(inspect.signature(double).parameters) == ["number"]


def test_names_and_queues_come_from_the_set_unless_stated() -> None:
    jobs = JobSet(prefix="catalog.", queue="imports")

    @jobs.job
    def one() -> None: ...

    @jobs.job(name="Old::Name", queue="slow", retries=False)
    def two() -> None: ...

    assert (one.name, one.queue, one.retries) == ("catalog.one", "imports", None)
    assert (two.name, two.queue, two.retries) == ("Old::Name", "slow", False)
    assert dict(jobs.definitions) == {"catalog.one": one, "Old::Name": two}


def test_a_parameter_may_be_called_self() -> None:
    @JobSet().job
    def odd(self: int) -> int:
        return self

    assert odd(self=1) == 1
    assert odd.call(self=1).args == [1]


def test_attributes_of_the_function_do_not_replace_the_jobs_own() -> None:
    def plain() -> None: ...

    plain.queue = "not this"  # type: ignore[attr-defined]
    assert JobSet(queue="imports").job(plain).queue == "imports"


def test_a_job_outside_any_app_says_what_to_do() -> None:
    @JobSet(prefix="catalog.").job
    def lonely() -> None: ...

    with pytest.raises(UnknownJob, match=r"job catalog\.lonely is in a JobSet that no App includes"):
        lonely.enqueue()


def test_two_jobs_of_one_name_are_refused_with_both_places() -> None:
    jobs = JobSet()

    @jobs.job(name="same")
    def first() -> None: ...

    with pytest.raises(CommandError, match=r"two jobs are named 'same': .*first and .*second"):

        @jobs.job(name="same")
        def second() -> None: ...

    assert jobs.definitions["same"] is first


def test_two_sets_of_one_app_may_not_share_a_name() -> None:
    app = App()

    @app.job(name="same")
    def first() -> None: ...

    other = JobSet()

    @other.job(name="same")
    def second() -> None: ...

    with pytest.raises(CommandError, match="two jobs are named 'same'"):
        app.include(other)
    assert app.registry["same"] is first


def test_a_set_belongs_to_one_app() -> None:
    jobs = JobSet(prefix="catalog.")
    app = App()
    app.include(jobs)
    app.include(jobs)
    with pytest.raises(CommandError, match="included in another App"):
        App().include(jobs)


def test_jobs_declared_after_the_inclusion_are_known_too() -> None:
    app, jobs = App(), JobSet()
    app.include(jobs)

    @jobs.job
    def late() -> None: ...

    assert app.registry["late"] is late


def test_generators_and_bad_settings_are_refused_at_declaration() -> None:
    jobs = JobSet()

    def generator() -> Iterator[int]:
        yield 1

    async def async_generator() -> AsyncIterator[int]:
        yield 1

    for function in (generator, async_generator):
        with pytest.raises(InvalidArguments, match="a generator would never run"):
            jobs.job(function)
    with pytest.raises(InvalidArguments, match="queue 'a b'"):
        JobSet(queue="a b")
    with pytest.raises(InvalidArguments, match="retries must be"):
        jobs.job(name="one", retries=-1)(lambda: None)
    with pytest.raises(InvalidArguments, match="a job cannot be named '<lambda>'; a name is"):
        jobs.job(lambda: None)
    assert not jobs.definitions
