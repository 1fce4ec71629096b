"""How a Python call becomes wire arguments, and back.

Positional parameters become the array; keyword-only ones ride in one trailing object, which is always there
if the function has any. Defaults are written out. So `f(7)`, `f(account=7)` and `f(7, limit=10)` with a
default of 10 are the same job, in Python and in Ruby's eyes, and stay so when a default changes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Any

from stanchion.arguments import to_json
from stanchion.errors import InvalidArguments, UnfitPayload

POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Binding:
    """The signature of one job function, made once at declaration."""

    job_name: str
    signature: Signature
    positional: tuple[Parameter, ...]
    keyword_only: frozenset[str]
    is_variadic: bool
    fitting_lengths: range
    """How many bare positional arguments surely fit; none where keyword-only ones belong to every call."""

    @classmethod
    def of(cls, function: Callable[..., Any], job_name: str) -> Binding:
        """Read the signature. Raises InvalidArguments for `**kwargs` (a payload could not be checked
        against the function) and for defaults JSON cannot carry.
        """
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError) as error:
            raise InvalidArguments(f"job {job_name}: its signature cannot be read: {error}") from None
        parameters = tuple(signature.parameters.values())
        for parameter in parameters:
            if parameter.kind is Parameter.VAR_KEYWORD:
                raise InvalidArguments(
                    f"job {job_name}: **{parameter.name} cannot be checked against a payload; "
                    "name the parameters, or take one dict"
                )
            if parameter.default is not Parameter.empty:
                _check_default(job_name, parameter)
        positional = tuple(p for p in parameters if p.kind in POSITIONAL)
        keyword_only = frozenset(p.name for p in parameters if p.kind is Parameter.KEYWORD_ONLY)
        fewest = sum(1 for p in positional if p.default is Parameter.empty)
        return cls(
            job_name=job_name,
            signature=signature,
            positional=positional,
            keyword_only=keyword_only,
            is_variadic=any(p.kind is Parameter.VAR_POSITIONAL for p in parameters),
            fitting_lengths=range(0) if keyword_only else range(fewest, len(positional) + 1),
        )

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """Wire arguments of one call. Raises InvalidArguments if the call does not fit the signature."""
        if not kwargs and len(args) == len(self.positional) and len(args) in self.fitting_lengths:
            return list(args)
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise InvalidArguments(f"{self}: {error}") from None
        bound.apply_defaults()
        wire = list(bound.args)
        if self.keyword_only:
            wire.append(dict(bound.kwargs))
        return wire

    def unbind(self, wire_args: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The call a payload asks for. Raises UnfitPayload if it does not fit the signature.

        Lenient where a rolling update needs it: parameters added with a default may be missing.
        """
        if len(wire_args) in self.fitting_lengths:
            return list(wire_args), {}
        args, kwargs = self._split(list(wire_args))
        try:
            self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise UnfitPayload(
                f"{self}: the payload's {len(wire_args)} argument(s) do not fit: {error}"
            ) from None
        return args, kwargs

    def __str__(self) -> str:
        bare = [p.replace(annotation=Parameter.empty) for p in self.signature.parameters.values()]
        return f"job {self.job_name}{Signature(bare)}"

    def _split(self, wire_args: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Part the trailing object of keyword-only parameters from the array."""
        last = wire_args[-1] if wire_args else None
        if not self.keyword_only or not isinstance(last, dict):
            return wire_args, {}
        rest = wire_args[:-1]
        required = sum(1 for p in self.positional if p.default is Parameter.empty)
        names_fit = self.keyword_only.issuperset(last) and len(rest) >= required
        is_surplus = not self.is_variadic and len(rest) >= len(self.positional)
        # An object that is no keyword object belongs to a positional parameter: an older caller's payload.
        return (rest, last) if names_fit or is_surplus else (wire_args, {})


def _check_default(job_name: str, parameter: Parameter) -> None:
    try:
        to_json([parameter.default])
    except InvalidArguments as error:
        problem = str(error).removeprefix("args[0]")
        raise InvalidArguments(
            f"job {job_name}: the default of {parameter.name} is written into payloads{problem}"
        ) from None
