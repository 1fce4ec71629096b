from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.scaling.facts import ProcessFacts
from stanchion_operator.decide.drain import DRAINED_COST, Drain, PodFacts, join, live, plan


def process(pod: str, *, busy: int = 0, quiet: bool = False) -> ProcessFacts:
    return ProcessFacts(f"{pod}:1:ab", pod, 1, 10, busy, quiet, ("q",), 0.0)


def pod(
    name: str, *, busy: int = 0, quiet: bool = False, ready: bool = True, age: str = "1", works: bool = True
) -> PodFacts:
    processes = (process(name, busy=busy, quiet=quiet),) if works else ()
    return PodFacts(name, ready, created_at=age, processes=processes)


def step(wanted: int, *pods: PodFacts, rolling: bool = False, ours: bool = True) -> Drain:
    return plan(wanted, len(pods), pods, rolling=rolling, ours=ours)


def test_the_idle_are_quieted_before_anything_is_removed() -> None:
    assert step(1, pod("a", busy=2), pod("b")) == Drain(2, ("b:1:ab",), holding="draining b")


def test_the_drained_go_marked_as_cheap() -> None:
    assert step(1, pod("a", busy=2), pod("b", quiet=True, ready=False)) == Drain(1, costs={"b": DRAINED_COST})


def test_a_quiet_pod_that_is_still_busy_or_ready_is_waited_for() -> None:
    assert step(0, pod("a", busy=1, quiet=True)).replicas == 1
    assert step(0, pod("a", quiet=True, ready=True)).replicas == 1


def test_pods_of_a_strangers_deployment_need_not_report_unready() -> None:
    assert step(0, pod("a", quiet=True, ready=True), ours=False).replicas == 0


def test_nothing_goes_while_another_pod_would_be_removed_unready() -> None:
    drain = step(1, pod("a", busy=3, ready=False), pod("b", quiet=True, ready=False))
    assert drain.replicas == 2
    assert "a" in drain.holding


def test_nothing_goes_during_a_rollout() -> None:
    assert step(0, pod("a", quiet=True, ready=False), rolling=True).replicas == 1


def test_pods_that_never_worked_go_at_once() -> None:
    assert step(0, pod("a", works=False, ready=False)) == Drain(0, costs={"a": DRAINED_COST})


def test_a_ready_pod_without_a_record_is_not_taken_for_idle() -> None:
    assert step(0, pod("a", works=False)).replicas == 1


def test_quiet_pods_are_replaced_when_demand_returns() -> None:
    assert step(2, pod("a"), pod("b", quiet=True, busy=1)) == Drain(3)


@pytest.mark.parametrize(
    ("pods", "victim"),
    [
        ((pod("a", busy=1), pod("b", busy=3)), "a"),
        ((pod("a", age="1"), pod("b", age="2")), "b"),
        ((pod("a", busy=5, quiet=True), pod("b")), None),
    ],
)
def test_victims_are_the_quiet_then_the_least_busy_then_the_newest(
    pods: tuple[PodFacts, ...], victim: str | None
) -> None:
    assert step(1, *pods).quiet == (() if victim is None else (f"{victim}:1:ab",))


def test_processes_are_joined_by_hostname() -> None:
    bare = PodFacts("a", True)
    assert join([bare], [process("a"), process("b")])[0].processes == (process("a"),)


pods = st.lists(
    st.builds(
        pod,
        st.uuids().map(str),
        busy=st.integers(0, 3),
        quiet=st.booleans(),
        ready=st.booleans(),
        works=st.booleans(),
    ),
    max_size=6,
)


@given(pods, st.integers(0, 8), st.booleans())
def test_the_number_never_falls_by_more_than_has_drained(
    these: list[PodFacts], wanted: int, rolling: bool
) -> None:
    drain = step(wanted, *these, rolling=rolling)
    harmless = sum(1 for each in these if each.busy == 0 and not each.ready)
    assert drain.replicas >= len(these) - harmless
    removed = len(these) - drain.replicas
    unready = [each for each in these if not each.ready]
    if removed > 0:  # Kubernetes takes the unready first: none of them may be at work
        assert all(each.busy == 0 for each in unready)
        assert live(these) >= wanted or drain.replicas >= wanted


@given(pods, st.integers(0, 8))
def test_enough_live_pods_are_asked_for(these: list[PodFacts], wanted: int) -> None:
    quiet = len(these) - live(these)
    if wanted > live(these):
        assert step(wanted, *these).replicas == wanted + quiet
