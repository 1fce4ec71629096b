"""Call, then policy, then code, then the built-in default."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.policy.precedence import Effective, effective


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ({"call": 1, "policy": 2, "code": 3}, Effective(1, "call")),
        ({"policy": 2, "code": 3}, Effective(2, "policy")),
        ({"code": 3}, Effective(3, "code")),
        ({}, Effective(4, "built-in default")),
        ({"call": False, "code": True}, Effective(False, "call")),
        ({"policy": 0}, Effective(0, "policy")),
        ({"policy": 2, "policy_source": "QueuePolicy shop/a"}, Effective(2, "QueuePolicy shop/a")),
    ],
)
def test_the_first_that_states_a_value_wins(stated: dict[str, Any], expected: Effective) -> None:
    assert effective(built_in=4, **stated) == expected
