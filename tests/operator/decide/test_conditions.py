from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stanchion_operator.decide.conditions import Condition, merge, transitions

THEN, NOW = 1_700_000_000.0, 1_700_000_060.0
OK = Condition("Ready", True, "Ready", "fine")
conditions = st.builds(
    Condition,
    st.sampled_from(["Ready", "Conflict", "Effective"]),
    st.sampled_from([True, False, None]),
    st.sampled_from(["A", "B"]),
    st.text(max_size=5),
)


def test_the_transition_time_moves_only_with_the_status() -> None:
    first = merge([], [OK], 1, THEN)
    same = merge(first, [Condition("Ready", True, "StillReady", "other words")], 2, NOW)
    assert same[0]["lastTransitionTime"] == first[0]["lastTransitionTime"] == "2023-11-14T22:13:20Z"
    assert (same[0]["reason"], same[0]["observedGeneration"]) == ("StillReady", 2)
    fallen = merge(same, [Condition("Ready", False, "Gone", "")], 2, NOW)
    assert fallen[0]["lastTransitionTime"] == "2023-11-14T22:14:20Z"


def test_a_transition_is_a_change_of_status_or_reason() -> None:
    before = merge([], [OK], 1, THEN)
    assert transitions(before, merge(before, [Condition("Ready", True, "Ready", "new words")], 1, NOW)) == []
    after = merge(before, [Condition("Ready", True, "Other", "fine")], 1, NOW)
    assert transitions(before, after) == after
    assert transitions([], before) == before


@given(st.lists(conditions, unique_by=lambda condition: condition.type))
def test_writing_the_same_again_changes_nothing(said: list[Condition]) -> None:
    once = merge([], said, 3, THEN)
    assert merge(once, said, 3, NOW) == once
