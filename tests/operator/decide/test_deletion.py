from __future__ import annotations

import pytest

from stanchion_operator.decide.annotations import Orders
from stanchion_operator.decide.deletion import GIVE_UP_SECONDS, Move, Remains, decide
from stanchion_operator.errors import NotReady, Unreachable

AWAY = Unreachable("RedisUnreachable", "no answer")
NOTHING = Remains(waiting=0, delayed=False, running=0)


@pytest.mark.parametrize(
    ("remains", "force", "waited_seconds", "move"),
    [
        (NOTHING, False, 0, Move.DELETE),
        (Remains(1, False, 0), False, 10_000, Move.WAIT),
        (Remains(0, True, 0), False, 0, Move.WAIT),
        (Remains(0, False, 1), False, 0, Move.WAIT),
        (Remains(9, True, 1), True, 0, Move.DELETE),
        (AWAY, False, 0, Move.WAIT),
        (AWAY, False, GIVE_UP_SECONDS, Move.GIVE_UP),
        (AWAY, True, 0, Move.GIVE_UP),
        (None, False, 0, Move.GIVE_UP),
        (None, True, 0, Move.GIVE_UP),
    ],
)
def test_nothing_is_lost_and_nobody_is_held(
    remains: Remains | NotReady | None, force: bool, waited_seconds: float, move: Move
) -> None:
    assert decide(remains, Orders(force_delete=force), waited_seconds).move is move


def test_a_wait_names_the_way_out() -> None:
    for remains in (Remains(2, True, 1), AWAY):
        assert "stanchion.dev/force-delete" in decide(remains, Orders(), 0).message
