"""What an unquoted YAML scalar means to kubectl, which differs from PyYAML and from YAML 1.2.

kubectl turns YAML into JSON with sigs.k8s.io/yaml over go-yaml v2: `y`, `no` and `off` are booleans, `0o17`
and `017` are 15, `1_000` is 1000, while `2020-01-01` and `1:30` stay strings; the JSON in between makes
`30.0` and `1e2` whole numbers. Pure; called by `load` for every scalar.
"""

from __future__ import annotations

import base64
import binascii
import math
import re

from stanchion.manifest.document import Json

_WORDS: dict[str, Json] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_INTEGER = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_BETWEEN_DIGITS = re.compile("(?<=[0-9])_(?=[0-9])")
_TAG = "tag:yaml.org,2002:"
_TAG_TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "float": (int, float),
    "null": (type(None),),
}


class BadScalar(ValueError):
    """The scalar cannot become JSON; the message says why."""


def resolve(text: str, tag: str | None) -> Json:
    """The JSON value of a scalar. `tag` is None for a bare one (not quoted, not tagged). Raises BadScalar."""
    if tag is None:
        return _json(_plain(text))
    name = tag.removeprefix(_TAG)
    if name == "binary":
        return _binary(text)
    if name in _TAG_TYPES:
        value = _plain(text)
        if not isinstance(value, _TAG_TYPES[name]) or (isinstance(value, bool) and name != "bool"):
            raise BadScalar(f"cannot decode `{text}` as !!{name}")
        return _json(value)
    return text


def key(value: Json) -> str:
    """The JSON key that a YAML key becomes: `on:` is the key "true", `1:` is "1". Raises BadScalar."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if not isinstance(value, str):
        raise BadScalar("a key must be a string, a number or a boolean")
    return value


def _plain(text: str) -> Json:
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    digits = re.sub(_BETWEEN_DIGITS, "", text) if text[0] == "." else text.replace("_", "")
    if _INTEGER.fullmatch(digits):
        return _integer(digits)
    if _FLOAT.fullmatch(digits) and math.isfinite(float(digits)):
        return float(digits)
    return text


def _integer(digits: str) -> int | float:
    sign = -1 if digits[0] == "-" else 1
    body = digits.lstrip("+-").lower()
    if len(body) > 1 and body[0] == "0" and body[1].isdigit():
        body = "0o" + body[1:]
    value = sign * int(body, 0)
    return value if -(2**63) <= value < 2**64 else float(value)


def _json(value: Json) -> Json:
    """Through JSON and back: whole floats below 1e21 are written without a point and read as integers."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise BadScalar("JSON has no NaN and no infinity")
        if value.is_integer() and abs(value) < 2**63:
            return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 2**63:
        return float(value)
    return value


def _binary(text: str) -> str:
    try:
        return base64.b64decode(text, validate=False).decode("utf-8", "replace")
    except binascii.Error as error:
        raise BadScalar("!!binary value contains invalid base64 data") from error
