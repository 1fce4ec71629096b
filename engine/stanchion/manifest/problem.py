"""What is wrong with a manifest: the API server's causes, and the same with their file and line.

Made by every check of this room. The messages are the API server's, to the letter.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from decimal import Decimal

from stanchion.manifest.document import Json

NOWHERE = "<nil>"
"""The API server's name for a field that is no field: the whole object."""

INVALID = "FieldValueInvalid"
REQUIRED = "FieldValueRequired"
FORBIDDEN = "FieldValueForbidden"
DUPLICATE = "FieldValueDuplicate"
NOT_SUPPORTED = "FieldValueNotSupported"
TOO_LONG = "FieldValueTooLong"
TOO_MANY = "FieldValueTooMany"
TYPE_INVALID = "FieldValueTypeInvalid"
UNKNOWN_FIELD = "UnknownField"
DUPLICATE_FIELD = "DuplicateField"

_VALUE_OF_NOTHING = re.compile('Invalid value: (null|""): ')
_BLOCKING = frozenset({NOT_SUPPORTED, REQUIRED, TOO_LONG, TOO_MANY, TYPE_INVALID})


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause in the API server's `Status`: `field` is a path such as `spec.workers.env[0].name`."""

    field: str
    reason: str
    message: str
    about: str = dataclass_field(default="", compare=False)
    """The path the message speaks of where `field` is NOWHERE; the API server does not say."""

    @property
    def blocks_rules(self) -> bool:
        """The API server evaluates no CEL rule on an object that has such a cause."""
        return self.reason in _BLOCKING


RULES_NOT_CHECKED = Cause(
    NOWHERE,
    INVALID,
    "Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation",
)
"""The API server's remark that it stopped at the other causes."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A cause with its place. `line` counts from 1; 0 means the whole file. `hint` is ours, or empty."""

    file: str
    line: int
    field: str
    reason: str
    message: str
    hint: str = ""

    @property
    def is_remark(self) -> bool:
        """It follows from the other problems: nothing to mend, and nothing to show people."""
        return self.message == RULES_NOT_CHECKED.message

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        what = f"{self.field}: {self.message}" if self.field else self.message
        if self.field == NOWHERE:
            what = _VALUE_OF_NOTHING.sub("", self.message, count=1)
        return f"{place}: {what}" + (f" ({self.hint})" if self.hint else "")


def invalid(field: str, detail: str, value: Json) -> Cause:
    """The value is of the right type and not acceptable."""
    return Cause(field or NOWHERE, INVALID, f"Invalid value: {shown(value)}: {detail}")


def type_invalid(field: str, expected: str, found: str) -> Cause:
    """The value is of another JSON type than the schema wants."""
    quoted = json.dumps(found)
    detail = f"{field} in body must be of type {expected}: {quoted}"
    return Cause(field or NOWHERE, TYPE_INVALID, f"Invalid value: {quoted}: {detail}")


def required(field: str) -> Cause:
    """A required field is missing."""
    return Cause(field, REQUIRED, "Required value")


def not_supported(field: str, value: Json, allowed: list[Json]) -> Cause:
    """The value is none of an enum's."""
    names = ", ".join(shown(str(choice)) for choice in allowed)
    return Cause(field, NOT_SUPPORTED, f"Unsupported value: {shown(value)}: supported values: {names}")


def too_long(field: str, maximum: int) -> Cause:
    """A string has more characters than allowed (the API server says bytes and counts characters)."""
    return Cause(field, TOO_LONG, f"Too long: may not be more than {maximum} bytes")


def too_many(field: str, actual: int, maximum: int) -> Cause:
    """A list or map has more entries than allowed."""
    items = "item" if maximum == 1 else "items"
    return Cause(field, TOO_MANY, f"Too many: {actual}: must have at most {maximum} {items}")


def duplicate(field: str, value: Json) -> Cause:
    """A list that is a set or a map has the entry twice."""
    return Cause(field, DUPLICATE, f"Duplicate value: {shown(value)}")


def unknown_field(field: str) -> Cause:
    """Strict decoding met a field that the schema does not have."""
    return Cause(field, UNKNOWN_FIELD, f'unknown field "{field}"')


def duplicate_field(field: str) -> Cause:
    """Strict decoding met a field twice in one object. (kubectl keeps the last one and tells nobody.)"""
    return Cause(field, DUPLICATE_FIELD, f'duplicate field "{field}"')


def shown(value: Json) -> str:
    """A value as the API server prints it in a cause: Go's `%v` for numbers, else compact JSON."""
    if isinstance(value, float):
        return go_float(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def go_float(value: float) -> str:
    """Go's `%v` of a finite float64: the shortest digits, with an exponent below 1e-4 and from 1e6 on."""
    exact = Decimal(repr(value)).normalize()
    power = exact.adjusted()
    if -4 <= power < 6:
        return format(exact, "f")
    mantissa = format(exact.scaleb(-power), "f")
    return f"{mantissa}e{power:+03d}"
