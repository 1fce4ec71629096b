"""Every effective setting of a job, with its source."""

from __future__ import annotations

import pytest

from stanchion import App
from stanchion.admin.explain import Explanation, explain
from stanchion.errors import InvalidArguments
from stanchion.gate.config import ConfigView, view_of
from stanchion.policy.lock_policy import LockKey, LockPolicy
from stanchion.policy.match import Match
from stanchion.policy.owner import Owner
from stanchion.policy.queue_policy import DeadLimits, QueueConfig, TenantSource
from stanchion.policy.tenant_budget import Limits, TenantBudget


@pytest.fixture(scope="module")
def app() -> App:
    made = App("redis://localhost:6379/0")

    @made.job(name="mail.send", queue="mail", retries=5)
    def send(user: int) -> None: ...

    @made.job(name="mail.plain")
    def plain() -> None: ...

    return made


QUEUE = QueueConfig(
    owner=Owner("shop", "mail"),
    queue="mail",
    latency_target_seconds=10,
    tenant_from=(TenantSource("args[0]"),),
    max_retries=3,
)
LOCK = LockPolicy(
    Owner("shop", "once"),
    Match(("mail",), ("mail.*",)),
    "UntilExecuted",
    limit=2,
    key=LockKey(include=("args[0]",)),
    on_conflict_enqueue="Raise",
)


def settings(explanation: Explanation) -> dict[str, tuple[object, str]]:
    return {each.name: (each.value, each.source) for each in explanation.settings}


def test_without_policies_code_and_the_built_in_defaults_hold(app: App) -> None:
    assert settings(explain("mail.send", ConfigView(), app=app)) == {
        "queue": ("mail", "code"),
        "retries": (5, "code"),
        "paused": (False, "built-in default"),
        "dead.maxJobs": (10_000, "built-in default"),
        "dead.retentionSeconds": (15_552_000, "built-in default"),
        "lock": (None, "built-in default"),
        "budget": (None, "built-in default"),
    }
    plain = settings(explain("mail.plain", ConfigView(), app=app))
    assert plain["queue"] == ("default", "built-in default")
    assert plain["retries"] == (True, "built-in default")


def test_a_policy_beats_code_and_a_call_beats_the_policy(app: App) -> None:
    found = settings(explain("mail.send", view_of([QUEUE]), app=app))
    assert found["retries"] == (3, "QueuePolicy shop/mail")
    assert found["latencyTargetSeconds"] == (10, "QueuePolicy shop/mail")
    assert found["tenantFrom"] == (["args[0]"], "QueuePolicy shop/mail")
    other = settings(explain("mail.send", view_of([QUEUE]), app=app, queue="bulk"))
    assert other["queue"] == ("bulk", "call")
    assert other["retries"] == (5, "code")


def test_a_lock_is_explained_field_by_field(app: App) -> None:
    found = settings(explain("mail.send", view_of([QUEUE, LOCK]), app=app))
    assert found["lock"] == ("UntilExecuted", "LockPolicy shop/once")
    assert found["lock.limit"] == (2, "LockPolicy shop/once")
    assert found["lock.key.include"] == (("args[0]",), "LockPolicy shop/once")
    assert found["lock.key.perTenant"] == (False, "built-in default")
    assert found["lock.onConflict.enqueue"] == ("Raise", "LockPolicy shop/once")
    assert found["lock.onConflict.execute"] == ("Park", "built-in default")


def test_what_matches_and_loses_is_named(app: App) -> None:
    wider = LockPolicy(Owner("shop", "wide"), Match(), "UntilExecuting")
    foreign = LockPolicy(Owner("other", "once"), Match(), "UntilExecuting")
    budget = TenantBudget(Owner("shop", "fair"), Match(), Limits(burst=4))
    explanation = explain("mail.send", view_of([QUEUE, LOCK, wider, foreign, budget]), app=app)
    assert explanation.shadowed == ("LockPolicy shop/wide",)
    assert settings(explanation)["budget.default"] == ({"burst": 4}, "TenantBudget shop/fair")


def test_a_pause_at_run_time_beats_the_policy(app: App) -> None:
    found = settings(explain("mail.send", view_of([QUEUE]), app=app, paused_queues={"mail"}))
    assert found["paused"] == (True, "stanchion queue pause")


def test_the_largest_dead_set_of_all_queues_binds(app: App) -> None:
    other = QueueConfig(owner=Owner("shop", "bulk"), queue="bulk", dead=DeadLimits(max_jobs=50_000))
    found = settings(explain("mail.send", view_of([QUEUE, other]), app=app))
    assert found["dead.maxJobs"] == (50_000, "QueuePolicy shop/bulk")


def test_a_job_is_explained_without_its_code() -> None:
    found = settings(explain("Ruby::Worker", view_of([QUEUE]), queue="mail"))
    assert found["retries"] == (3, "QueuePolicy shop/mail")


def test_a_name_that_nothing_can_have_is_refused() -> None:
    with pytest.raises(InvalidArguments, match="named ''"):
        explain("", ConfigView())
    with pytest.raises(InvalidArguments, match="queue 'a b'"):
        explain("mail.send", ConfigView(), queue="a b")
