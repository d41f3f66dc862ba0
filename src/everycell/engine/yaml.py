"""YAML that users write, read safely."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import yaml

#: Most levels of a YAML text, and most values once each alias stands for what it names: many times
#: what a card or the registry has.
_LEVELS = 50
_VALUES = 1_000_000
#: libyaml's parser is eight times faster than the one in Python, which stands in where it is
#: not compiled in.
_Parser = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Parser):
    """A safe loader that refuses a key that stands twice, of which YAML would drop the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys: set[str] = set()
        for key, _ in node.value:
            # A merge key may be repeated, and a key that it brings may be overridden.
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in keys:
                    raise yaml.constructor.ConstructorError(
                        problem=f"the key {key.value!r} occurs twice", problem_mark=key.start_mark
                    )
                keys.add(key.value)
        return super().construct_mapping(node, deep)


def load_yaml(text: str) -> Any:
    r"""Parse YAML safely; a key that stands twice in a mapping is a fault."""
    try:
        _check_size(text)
        return yaml.load(text, Loader=_Loader)  # noqa: S506 (a safe loader)
    # Of a date with a month 99, a tag !!int before a word, a number of 5,000 digits.
    except ValueError as error:
        raise yaml.constructor.ConstructorError(
            problem=f"a value cannot be read ({error})"
        ) from None


def _check_size(text: str) -> None:
    """Refuse what libyaml crashes on, or what a few lines make huge through aliases of aliases."""
    open_nodes = [0]
    anchors: list[str | None] = [None]
    sizes: dict[str, int] = {}
    for event in yaml.parse(text, Loader=_Parser):
        if isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append(0)
            anchors.append(event.anchor)
        elif isinstance(event, yaml.CollectionEndEvent):
            size, anchor = open_nodes.pop() + 1, anchors.pop()
            open_nodes[-1] += size
            if anchor:
                sizes[anchor] = size
        elif isinstance(event, yaml.AliasEvent):
            open_nodes[-1] += sizes.get(event.anchor, 1)
        elif isinstance(event, yaml.ScalarEvent):
            open_nodes[-1] += 1
        for what, number, limit in (
            ("levels", len(open_nodes) - 1, _LEVELS),
            ("values, aliases written out,", open_nodes[-1], _VALUES),
        ):
            if number > limit:
                raise yaml.constructor.ConstructorError(
                    problem=f"has more than {limit:,} {what} where a file has far fewer",
                    problem_mark=event.start_mark,
                )


def yaml_fault(error: yaml.YAMLError) -> str:
    r"""Where and what is wrong with a YAML text.

    Examples
    --------
    >>> try:
    ...     load_yaml("a: 1\na: 2")
    ... except yaml.YAMLError as error:
    ...     print(yaml_fault(error))
    line 2: the key 'a' occurs twice
    """
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    return f"line {mark.line + 1}: {problem}" if mark else problem


@lru_cache(maxsize=1)
def _nodes(text: str) -> yaml.Node | None:
    return yaml.compose(text, Loader=_Parser)


def line_of(text: str, keys: Iterable[str | int]) -> int:
    r"""Line of a value in a YAML text, by the keys that lead to it, or of its last known parent.

    Examples
    --------
    >>> line_of("a:\n  b:\n  - 1\n  - 2\n", ["a", "b", 1])
    4
    >>> line_of("a:\n  b: 1\n", ["a", "c"])
    1
    """
    node = _nodes(text)
    line = node.start_mark.line if node else 0
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            pairs = {str(name.value): (name, value) for name, value in node.value}
            if str(key) not in pairs:
                break
            name, node = pairs[str(key)]
            line = name.start_mark.line
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int):
            if key >= len(node.value):
                break
            node = node.value[key]
            line = node.start_mark.line
        else:
            break
    return line + 1
