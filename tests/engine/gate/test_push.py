"""What a call becomes at push, and what the script's answers mean."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

import pytest

from stanchion.call import Call, Options
from stanchion.gate.push import Intent, plan, retries, verdict
from stanchion.verdict import Verdict

NOW = 1_796_072_937.25


@dataclass(frozen=True)
class Limits:
    max_retries: int | None = None


@dataclass(frozen=True)
class View:
    epoch: str = ""
    queues: dict[str, Limits] = field(default_factory=dict)

    def queue(self, name: str, /) -> Limits | None:
        return self.queues.get(name)


def test_a_call_for_now_is_stamped_and_goes_to_its_list() -> None:
    call = Call.of("mail.welcome", [7], queue="mail", options=Options.of(tenant="acme", jid="a1"))
    [item] = plan([Intent.of(call, NOW)], View())
    assert (item.jid, item.queue, item.due_at, item.is_remembered) == ("a1", "mail", None, True)
    assert json.loads(item.payload) == {
        "retry": True,
        "queue": "mail",
        "args": [7],
        "class": "mail.welcome",
        "jid": "a1",
        "created_at": NOW,
        "enqueued_at": NOW,
        "tenant": "acme",
    }


def test_a_call_for_later_has_no_enqueued_at() -> None:
    call = Call.of("mail.welcome", [], options=Options.of(delay=30))
    [item] = plan([Intent.of(call, NOW)], View())
    assert item.due_at == NOW + 30
    assert "enqueued_at" not in json.loads(item.payload)


@pytest.mark.parametrize(("delay", "due_at"), [(None, NOW), (30, NOW + 30)])
def test_what_is_declared_the_expiry_and_the_trace_travel(delay: float | None, due_at: float) -> None:
    """A scheduled job's time to begin counts from when it is due."""
    options = Options.of(delay=delay, expires_in=60, traceparent="00-1")
    call = Call.of("a", [], wire_fields={"dead": False}, options=options)
    [item] = plan([Intent.of(call, NOW)], View())
    payload = json.loads(item.payload)
    assert (payload["dead"], payload["expires_at"], payload["traceparent"]) == (False, due_at + 60, "00-1")


def test_declared_text_that_is_no_unicode_and_arguments_of_every_kind_arrive_as_they_were() -> None:
    args = [1, 2.5, None, True, "é€😀", {"a": [2**70]}]
    call = Call.of("a", args, wire_fields={"odd": "\ud800"}, options=Options.of(tenant="é"))
    [item] = plan([Intent.of(call, NOW)], View())
    payload = json.loads(item.payload)
    assert (payload["args"], payload["odd"], payload["tenant"]) == (args, "\ud800", "é")


def test_the_record_that_middleware_changed_is_the_one_that_goes() -> None:
    intent = Intent.of(Call.of("a", [1], queue="q"), NOW)
    changed = replace(intent, changed=intent.job.replace(args=[2], seen=True))
    [item] = plan([changed], View(queues={"q": Limits(3)}))
    payload = json.loads(item.payload)
    assert (payload["args"], payload["seen"], payload["retry"], payload["jid"]) == ([2], True, 3, intent.jid)


def test_a_callers_jid_is_remembered_and_another_is_made_up() -> None:
    stated = Intent.of(Call.of("a", [], options=Options.of(jid="order-7")), NOW)
    assert stated.job.jid == "order-7"
    assert plan([stated], View())[0].is_remembered
    made_up = [Intent.of(Call.of("a", []), NOW) for _ in range(2)]
    assert made_up[0].job.jid != made_up[1].job.jid
    assert not plan(made_up, View())[0].is_remembered


def test_a_repeat_under_another_configuration_keeps_all_but_the_retries() -> None:
    intent = Intent.of(Call.of("a", [], queue="q"), NOW)
    [first] = plan([intent], View())
    [again] = plan([intent], View(queues={"q": Limits(3)}))
    assert again.payload == first.payload.replace(b'"retry":true', b'"retry":3')


@pytest.mark.parametrize(
    ("by_call", "by_policy", "by_code", "effective"),
    [
        (None, None, None, True),
        (None, None, False, False),
        (None, None, 3, 3),
        (None, 5, 3, 5),
        (None, 0, True, 0),
        (None, 5, False, 5),
        (2, 5, 3, 2),
        (False, 5, 3, False),
        (0, 5, 3, 0),
    ],
)
def test_the_call_beats_the_policy_and_that_the_code(
    by_call: bool | int | None, by_policy: int | None, by_code: bool | int | None, effective: bool | int
) -> None:
    call = Call.of("a", [], queue="q", retries=by_code, options=Options.of(retries=by_call))
    chosen = retries(call, View(queues={"q": Limits(by_policy)}))
    assert chosen == effective
    assert type(chosen) is type(effective)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("enqueued", Verdict("enqueued", "a1")),
        ("scheduled", Verdict("scheduled", "a1", until=NOW + 30)),
        ("known:enqueued", Verdict("enqueued", "a1", reason="already enqueued")),
        ("known:scheduled", Verdict("scheduled", "a1", reason="already enqueued")),
        (
            "failed:WRONGTYPE no list",
            Verdict("refused", "a1", reason="Redis answered: WRONGTYPE no list"),
        ),
    ],
)
def test_each_answer_has_its_verdict(answer: str, expected: Verdict) -> None:
    intent = Intent.of(Call.of("a", [], options=Options.of(delay=30, jid="a1")), NOW)
    assert verdict(intent, answer) == expected
    assert expected.accepted is (expected.status != "refused")
