"""The stage and the receipt as text, at several widths."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console, RenderableType

from stanchion.dev.demo.curtain import LiveCurtain, PlainCurtain, curtain_for
from stanchion.dev.demo.ledger import Count
from stanchion.dev.demo.picture import color, picture
from stanchion.dev.demo.receipt import receipt, rows
from stanchion.dev.demo.scene import Scene
from stanchion.dev.demo.side import Reading

GATED = Reading("gated", "2–6 workers", 15, 7.2, 830, 6, 10, Count(950, 950, 1), 0.0, (0.0, 7.5, 14.9))
PLAIN = Reading(
    "plain", "always 2 workers", 15, 1700.25, 123_456, 2, 10, Count(1950, 940, 0), 52.41, (99.0,) * 34
)
SCENE = Scene(
    "A burst", ("First words.", "More words."), (GATED, PLAIN), "gated: 2 → 6 workers " + "why " * 40
)


def drawn(renderable: RenderableType, width: int = 80) -> list[str]:
    console = Console(width=width, file=StringIO())
    with console.capture() as captured:
        console.print(renderable)
    return captured.get().splitlines()


def test_both_sides_stand_side_by_side_within_80_columns() -> None:
    lines = drawn(picture(SCENE))
    assert max(map(len, lines)) <= 80
    assert any("gated" in line and "plain" in line for line in lines)
    assert any("830" in line and "123,456" in line for line in lines)
    assert any("■■■■■■ 6 × 10" in line and "■■ 2 × 10" in line for line in lines)
    assert any("▁▄▆" in line and "█" * 34 in line for line in lines)


def test_a_wider_terminal_is_used_and_shows_a_longer_past() -> None:
    (border,) = (line for line in drawn(picture(SCENE), width=120) if "gated  2" in line)
    assert border.count("╮") == 2
    assert 115 <= len(border.rstrip()) <= 120
    past = Scene("A burst", (), (GATED, replace(PLAIN, trace=(99.0,) * 240)))
    (bars,) = (line for line in drawn(picture(past), width=120) if "█" in line)
    assert bars.count("█") > 50


def test_a_narrow_terminal_stacks_the_panels() -> None:
    lines = drawn(picture(SCENE), width=60)
    assert max(map(len, lines)) <= 60
    assert not any("830" in line and "123,456" in line for line in lines)


def test_the_reason_of_a_decision_wraps() -> None:
    assert " ".join(drawn(picture(SCENE))).count("why") == 40


@pytest.mark.parametrize(("seconds", "expected"), [(0, "green"), (7.6, "yellow"), (15.1, "red")])
def test_colors_follow_the_promise(seconds: float, expected: str) -> None:
    assert color(seconds, 15) == expected


def test_the_receipt_adds_up() -> None:
    assert dict(rows((GATED, PLAIN))) == {
        "jobs pushed": ["950", "1,950"],
        "jobs run": ["950", "940"],
        "runs too many": ["1", "0"],
        "jobs lost": ["0", "1,010"],
        "seconds over target": ["0.0", "52.4"],
    }
    assert drawn(receipt((GATED, PLAIN)))[0].split() == ["receipt", "gated", "plain"]


def test_plain_lines_tell_each_thing_once(capsys: pytest.CaptureFixture[str]) -> None:
    with PlainCurtain() as curtain:
        curtain.show(Scene("A burst", ("First words.",)))
        curtain.show(SCENE)
        curtain.show(SCENE)
        curtain.close_with(receipt((GATED, PLAIN)))
    out = capsys.readouterr().out
    assert [out.count(words) for words in ("A burst", "First words.", "More words.", "2 → 6")] == [1, 1, 1, 1]
    assert out.count("ran 950 of 950") == 1
    assert "jobs lost" in out


def test_the_live_picture_ends_with_the_receipt() -> None:
    file = StringIO()
    with LiveCurtain(Console(width=80, file=file, force_terminal=True)) as curtain:
        curtain.show(SCENE)
        curtain.close_with(receipt((GATED, PLAIN)))
    assert file.getvalue().rindex("A burst") < file.getvalue().index("jobs lost")


def test_without_a_terminal_lines_are_plain() -> None:
    assert isinstance(curtain_for(live=True), PlainCurtain)
