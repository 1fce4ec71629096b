"""Turn a composed YAML node into JSON, as kubectl does, and remember where each field stood.

Called by `load`. Of duplicate keys the last one wins, as for kubectl, and `check` refuses them. Merge keys
(`<<`) act in the order they stand in. Aliases are copied, within a bound, so that a few lines cannot become
gigabytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from stanchion.manifest import scalars
from stanchion.manifest.document import Json, child

MAX_NODES = 200_000
"""Most values one document may hold once its aliases are copied."""

_BARE = "?"
_MERGE = "tag:yaml.org,2002:merge"


class BadNode(ValueError):
    """The document is YAML and cannot become JSON. `path` and `line` say where."""

    def __init__(self, message: str, path: str, node: yaml.Node) -> None:
        super().__init__(message)
        self.path = path
        self.line = node.start_mark.line + 1


@dataclass(slots=True)
class Built:
    """A document as JSON, the line of each field by path, and the bare text of what became no string.
    `duplicates` maps the path of a key that stands twice in its object to the line of an earlier one."""

    value: Json = None
    lines: dict[str, int] = field(default_factory=dict)
    bare: dict[str, str] = field(default_factory=dict)
    duplicates: dict[str, int] = field(default_factory=dict)
    nodes: int = 0


class _Loader(yaml.SafeLoader):
    """Composes nodes and leaves bare scalars unresolved: PyYAML's own rules are not kubectl's."""

    def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> Any:
        if kind is yaml.ScalarNode and implicit[0]:
            return _BARE
        return super().resolve(kind, value, implicit)  # type: ignore[no-untyped-call]


def compose(text: str) -> Iterator[yaml.Node]:
    """The root node of each document. Raises yaml.YAMLError."""
    return yaml.compose_all(text, Loader=_Loader)


def construct(node: yaml.Node) -> Built:
    """The document below `node`. Raises BadNode."""
    built = Built()
    built.value = _value(node, "", built, ())
    return built


def _value(node: yaml.Node, path: str, built: Built, around: tuple[int, ...]) -> Json:
    built.nodes += 1
    if built.nodes > MAX_NODES or id(node) in around:
        raise BadNode("the document contains excessive aliasing", path, node)
    built.lines.setdefault(path, node.start_mark.line + 1)
    inside = (*around, id(node))
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node, path, built)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, f"{path}[{index}]", built, inside) for index, item in enumerate(node.value)]
    return _mapping(node, path, built, inside)


def _mapping(node: yaml.Node, path: str, built: Built, around: tuple[int, ...]) -> dict[str, Json]:
    result: dict[str, Json] = {}
    stated: set[str] = set()
    for key_node, value_node in node.value:
        if key_node.value == "<<" and key_node.tag in (_BARE, _MERGE):
            result.update(_merged(value_node, path, built, around))
            continue
        key = _key(key_node, path)
        place = child(path, key)
        if key in stated:
            built.duplicates.setdefault(place, built.lines[place])
        stated.add(key)
        built.lines[place] = key_node.start_mark.line + 1
        result[key] = _value(value_node, place, built, around)
    return result


def _merged(node: yaml.Node, path: str, built: Built, around: tuple[int, ...]) -> dict[str, Json]:
    if isinstance(node, yaml.MappingNode):
        return dict(_value(node, path, built, around))
    if isinstance(node, yaml.SequenceNode) and all(isinstance(item, yaml.MappingNode) for item in node.value):
        result: dict[str, Json] = {}
        for item in reversed(node.value):
            result.update(_value(item, path, built, around))
        return result
    raise BadNode("<< needs an object or a list of objects", path, node)


def _key(node: yaml.Node, path: str) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise BadNode("a key must be a string, a number or a boolean", path, node)
    try:
        return scalars.key(scalars.resolve(node.value, _tag(node)))
    except scalars.BadScalar as error:
        raise BadNode(str(error), path, node) from error


def _scalar(node: yaml.ScalarNode, path: str, built: Built) -> Json:
    try:
        value = scalars.resolve(node.value, _tag(node))
    except scalars.BadScalar as error:
        raise BadNode(str(error), path, node) from error
    if not isinstance(value, str) and node.tag == _BARE:
        built.bare[path] = node.value
    return value


def _tag(node: yaml.ScalarNode) -> str | None:
    return None if node.tag == _BARE else node.tag
