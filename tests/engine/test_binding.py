"""Calls become wire arguments and come back the same; what does not fit is refused with the signature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.binding import Binding
from stanchion.errors import InvalidArguments


def catalog(account: int, limit: int = 10, *, rows: list[int], dry: bool = False) -> Any:
    return account, limit, rows, dry


def positions(first: int, /, second: int = 2, *rest: int) -> Any:
    return first, second, rest


def document(doc: dict[str, Any], *, full: bool = False) -> Any:
    return doc, full


def mixed(*items: Any, full: bool = False) -> Any:
    return items, full


def nothing() -> None: ...


def bind(function: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Any]:
    return Binding.of(function, function.__name__).bind(args, kwargs)


def rerun(function: Callable[..., Any], wire: list[Any]) -> Any:
    args, kwargs = Binding.of(function, function.__name__).unbind(wire)
    return function(*args, **kwargs)


def test_equal_calls_have_equal_wire_arguments() -> None:
    wire = [7, 10, {"rows": [1], "dry": False}]
    assert bind(catalog, 7, rows=[1]) == wire
    assert bind(catalog, account=7, rows=[1]) == wire
    assert bind(catalog, 7, 10, rows=[1], dry=False) == wire
    assert bind(catalog, rows=[1], limit=10, account=7) == wire


def test_the_trailing_object_is_there_whenever_the_function_has_keyword_only_parameters() -> None:
    assert bind(document, {}) == [{}, {"full": False}]
    assert bind(mixed, 1, 2) == [1, 2, {"full": False}]
    assert bind(positions, 1) == [1, 2]
    assert bind(nothing) == []


@pytest.mark.parametrize(
    ("function", "args", "kwargs"),
    [
        (catalog, (7,), {}),
        (catalog, (), {"rows": []}),
        (catalog, (7, 8, 9), {"rows": []}),
        (catalog, (7,), {"rows": [], "typo": 1}),
        (catalog, (7,), {"account": 7, "rows": []}),
        (positions, (), {"first": 1}),
        (nothing, (1,), {}),
    ],
)
def test_a_call_that_does_not_fit_is_refused_with_the_signature(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    with pytest.raises(InvalidArguments, match=rf"job {function.__name__}\("):
        bind(function, *args, **kwargs)


@pytest.mark.parametrize(
    ("function", "wire", "result"),
    [
        (catalog, [7, 10, {"rows": [1], "dry": True}], (7, 10, [1], True)),
        (catalog, [7, {"rows": [1]}], (7, 10, [1], False)),
        (positions, [1], (1, 2, ())),
        (positions, [1, 5, 6, 7], (1, 5, (6, 7))),
        # Enqueued before the keyword-only parameter was added:
        (document, [{"id": 1}], ({"id": 1}, False)),
        (document, [{}], ({}, False)),
        (document, [{"full": 1}], ({"full": 1}, False)),
        (document, [{"id": 1}, {"full": True}], ({"id": 1}, True)),
        (document, [{"id": 1}, {}], ({"id": 1}, False)),
        (mixed, [1, {"id": 1}], ((1, {"id": 1}), False)),
        (mixed, [{"full": True}], ((), True)),
    ],
)
def test_payloads_of_other_callers_find_their_parameters(
    function: Callable[..., Any], wire: list[Any], result: Any
) -> None:
    assert rerun(function, wire) == result


@pytest.mark.parametrize(
    ("function", "wire"),
    [
        (catalog, []),
        (catalog, [7]),
        (catalog, [7, 10, {"rowz": [1]}]),
        (catalog, [7, 10, 11, {"rows": [1]}]),
        (document, [{"id": 1}, {"fool": True}]),
        (positions, []),
        (nothing, [1]),
    ],
)
def test_a_payload_that_does_not_fit_says_how_many_it_carries(
    function: Callable[..., Any], wire: list[Any]
) -> None:
    with pytest.raises(InvalidArguments, match=rf"payload's {len(wire)} argument"):
        rerun(function, wire)


scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(
    account=json_values, limit=json_values, rows=json_values, dry=json_values, positional=st.integers(0, 2)
)
def test_a_call_by_position_or_by_name_comes_back_the_same(
    account: Any, limit: Any, rows: Any, dry: Any, positional: int
) -> None:
    values = [("account", account), ("limit", limit)]
    args = [value for _, value in values[:positional]]
    kwargs = dict(values[positional:]) | {"rows": rows, "dry": dry}
    wire = bind(catalog, *args, **kwargs)
    assert rerun(catalog, wire) == catalog(account, limit, rows=rows, dry=dry)
    assert bind(catalog, account, limit, rows=rows, dry=dry) == wire


@given(first=json_values, rest=st.lists(json_values, max_size=3))
def test_variadic_calls_come_back_the_same(first: Any, rest: list[Any]) -> None:
    assert rerun(positions, bind(positions, first, 2, *rest)) == positions(first, 2, *rest)
    assert rerun(mixed, bind(mixed, first, *rest, full=True)) == mixed(first, *rest, full=True)


def test_functions_whose_payloads_could_not_be_checked_are_refused() -> None:
    def open_ended(**options: int) -> None: ...

    def odd_default(when: bytes = b"") -> None: ...

    with pytest.raises(InvalidArguments, match=r"\*\*options cannot be checked against a payload"):
        Binding.of(open_ended, "open_ended")
    with pytest.raises(InvalidArguments, match=r"the default of when is written into payloads: bytes cannot"):
        Binding.of(odd_default, "odd_default")
    with pytest.raises(InvalidArguments, match="signature cannot be read"):
        Binding.of(max, "max")
