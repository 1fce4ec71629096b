"""What Kubernetes takes as a name: of an object, namespace, label or annotation. Pure; for `metadata`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_PART = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_WORD = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_EDGES = "and must start and end with an alphanumeric character"


@dataclass(frozen=True, slots=True)
class _Form:
    """A regular expression with the words the API server has for a string that does not match."""

    pattern: str
    max_bytes: int
    words: str
    examples: str

    def faults(self, text: str, what: str = "") -> Iterator[str]:
        if len(text.encode()) > self.max_bytes:
            yield f"{what}must be no more than {self.max_bytes} bytes"
        if not re.fullmatch(self.pattern, text):
            yield f"{what}{self.complaint}"

    @property
    def complaint(self) -> str:
        return f"{self.words} (e.g. {self.examples}, regex used for validation is '{self.pattern}')"


_OBJECT = _Form(
    rf"{_PART}(\.{_PART})*",
    253,
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    + _EDGES,
    "'example.com'",
)
_NAMESPACE = _Form(
    _PART,
    63,
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', " + _EDGES,
    "'my-name',  or '123-abc'",
)
_KEY = _Form(
    _WORD,
    63,
    "must consist of alphanumeric characters, '-', '_' or '.', " + _EDGES,
    "'MyName',  or 'my.name',  or '123-abc'",
)
_VALUE = _Form(
    f"({_WORD})?",
    63,
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', " + _EDGES,
    "'MyValue',  or 'my_value',  or '12345'",
)


def object_faults(name: str) -> Iterator[str]:
    """Why a string cannot be an object's name. Here alone the API server counts characters by name."""
    return (fault.replace("bytes", "characters") for fault in _OBJECT.faults(name))


def namespace_faults(name: str) -> Iterator[str]:
    """Why a string cannot be a namespace's name."""
    for fault in _NAMESPACE.faults(name):
        dotted = fault == _NAMESPACE.complaint and re.fullmatch(_OBJECT.pattern, name)
        yield "must not contain dots" if dotted else fault


def label_value_faults(value: str) -> Iterator[str]:
    """Why a string cannot be a label's value."""
    return _VALUE.faults(value)


def key_faults(key: str) -> Iterator[str]:
    """Why a string cannot be the key of a label: `name` or `prefix/name`."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        optional = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        yield f"a valid label key {_KEY.complaint} {optional}"
        return
    if slash and not prefix:
        yield "prefix part must be non-empty"
    elif slash:
        yield from _OBJECT.faults(prefix, "prefix part ")
    if not name:
        yield "name part must be non-empty"
    yield from _KEY.faults(name, "name part ")
