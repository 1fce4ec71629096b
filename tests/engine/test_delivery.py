"""One call on its way: which errors are worth a repeat, how long to wait, and what the caller is told."""

from __future__ import annotations

import pytest
from redis import exceptions

from stanchion.call import Call
from stanchion.delivery import LONGEST_PAUSE_SECONDS, Delivery
from stanchion.errors import RedisUnavailable, StanchionError
from stanchion.gate.config import ConfigView
from stanchion.gate.push import Intent
from stanchion.lane import Lane
from stanchion.store.enqueue import LaneTaken, Reconfig, Recorded
from stanchion.verdict import Verdict

NOW = 100.0
URL = "redis://user:secret@redis.example:6379/0"


@pytest.fixture
def delivery() -> Delivery:
    lane = Lane()
    lane.advance()
    intents = [Intent.of(Call.of("a", []), NOW)]
    return Delivery(intents, lane, url=URL, deadline=NOW + 5, jid_memory_seconds=60)


def caused_by(error: exceptions.RedisError, cause: BaseException) -> exceptions.RedisError:
    """As redis-py raises it: inside the handler of the system's error."""
    error.__context__ = cause
    return error


def test_a_repeat_asks_the_same_question(delivery: Delivery) -> None:
    first = delivery.request(ConfigView())
    assert delivery.read(Reconfig()) is None
    again = delivery.request(ConfigView(epoch="2-x"))
    assert (again.lane, again.number, again.items) == (first.lane, first.number, first.items)
    assert again.epoch == "2-x"


def test_a_taken_lane_is_left_for_a_new_one(delivery: Delivery) -> None:
    first = delivery.request(ConfigView())
    assert delivery.read(LaneTaken()) is None
    again = delivery.request(ConfigView())
    assert again.lane != first.lane
    assert (again.number, again.items) == (1, first.items)


def test_an_answer_is_read_for_each_job(delivery: Delivery) -> None:
    jid = delivery.intents[0].job.jid
    assert delivery.read(Recorded(("enqueued",))) == [Verdict("enqueued", jid)]


def test_the_first_repeat_after_a_reply_is_at_once_and_later_ones_wait(delivery: Delivery) -> None:
    pauses = [delivery.pause_after_reply(NOW) for _ in range(20)]
    assert pauses[0] == 0
    assert all(0 < pause <= LONGEST_PAUSE_SECONDS for pause in pauses[1:])


@pytest.mark.parametrize(
    "error",
    [
        exceptions.ConnectionError("reset"),
        exceptions.TimeoutError("slow"),
        exceptions.BusyLoadingError("loading"),
        exceptions.ReadOnlyError("replica"),
    ],
)
def test_what_may_pass_is_waited_for_until_the_deadline(
    delivery: Delivery, error: exceptions.RedisError
) -> None:
    pauses = [delivery.pause_after_error(error, NOW) for _ in range(20)]
    assert all(0 < pause <= LONGEST_PAUSE_SECONDS for pause in pauses)
    with pytest.raises(RedisUnavailable, match="gave no answer in time"):
        delivery.pause_after_error(error, NOW + 5)


@pytest.mark.parametrize(
    ("error", "raised", "message"),
    [
        (exceptions.OutOfMemoryError("OOM"), RedisUnavailable, "is full and refuses new jobs"),
        (exceptions.AuthenticationError("WRONGPASS"), RedisUnavailable, "refused the credentials"),
        (exceptions.NoPermissionError("NOPERM"), RedisUnavailable, "denies this user a command: NOPERM"),
        (exceptions.ResponseError("WRONGTYPE"), StanchionError, "refused the call: WRONGTYPE"),
    ],
)
def test_what_cannot_pass_is_told_at_once_and_without_the_password(
    delivery: Delivery, error: exceptions.RedisError, raised: type[StanchionError], message: str
) -> None:
    with pytest.raises(raised, match=message) as caught:
        delivery.pause_after_error(error, NOW)
    assert "user:***@redis.example" in str(caught.value)


def test_a_call_that_never_left_is_told_from_one_of_unknown_fate(delivery: Delivery) -> None:
    refused = caused_by(exceptions.ConnectionError("no"), ConnectionRefusedError())
    with pytest.raises(RedisUnavailable, match=r"cannot be reached \(no\).*Nothing was enqueued"):
        delivery.pause_after_error(refused, NOW + 5)
    delivery.pause_after_error(caused_by(exceptions.ConnectionError("reset"), ConnectionResetError()), NOW)
    with pytest.raises(RedisUnavailable, match=r"gave no answer in time .*Whether the call was recorded"):
        delivery.pause_after_error(refused, NOW + 5)
