"""Safe reading of users' YAML files, as values or as models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from everycell.base.errors import FaultsError
from everycell.base.untrusted import text_of
from everycell.base.validation import describe_faults

#: Maximum nesting depth of a YAML text, and maximum number of values after aliases are expanded.
#: Both far exceed those of records and the registry.
_LEVELS = 50
_VALUES = 100_000
#: Maximum size of a whole number.
_BITS = 10_000
#: libyaml's parser, if available, is eight times as fast as the parser in Python.
_Parser = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Parser):
    """A safe loader that refuses duplicate keys, of which PyYAML would keep only the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys: set[Any] = set()
        for key, _ in node.value:
            # Merge keys may be repeated, and the keys that they merge may be overridden.
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                # `yes` and `true` are one key, too.
                value = self.construct_object(key)
                if value in keys:
                    raise yaml.constructor.ConstructorError(
                        problem=f"the key {key.value!r} occurs twice", problem_mark=key.start_mark
                    )
                keys.add(value)
        return super().construct_mapping(node, deep)

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        """Refuse numbers with bases, which may have more digits than Python can print."""
        self._check_length(node)
        value = super().construct_yaml_int(node)
        if value.bit_length() > _BITS:
            raise yaml.constructor.ConstructorError(
                problem=f"a number has more than {_BITS:,} bits, the limit",
                problem_mark=node.start_mark,
            )
        return value

    def construct_yaml_float(self, node: yaml.ScalarNode) -> float:
        """Refuse numbers of more digits than any needs."""
        self._check_length(node)
        return super().construct_yaml_float(node)

    def _check_length(self, node: yaml.ScalarNode) -> None:
        # A number of base 60 takes quadratic time.
        if isinstance(node, yaml.ScalarNode) and len(node.value) > _BITS:
            raise yaml.constructor.ConstructorError(
                problem=f"a number has more than {_BITS:,} bits or digits, the limit",
                problem_mark=node.start_mark,
            )


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_yaml_float)


def load_yaml(text: str) -> Any:
    """Parse YAML safely; refuse duplicate keys."""
    try:
        _check_size(text)
        return yaml.load(text, Loader=_Loader)  # noqa: S506 (a safe loader)
    # For example: a date with month 99, !!int or !!map before a word, a number of 5,000 digits.
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        raise yaml.constructor.ConstructorError(
            problem=f"a value cannot be read ({error})"
        ) from None


def _check_size(text: str) -> None:
    """Refuse deep nesting, on which libyaml crashes, and huge values from nested aliases."""
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
            if event.anchor in anchors:
                raise yaml.constructor.ConstructorError(
                    problem=f"the value {event.anchor!r} contains itself",
                    problem_mark=event.start_mark,
                )
            open_nodes[-1] += sizes.get(event.anchor, 1)
        elif isinstance(event, yaml.ScalarEvent):
            open_nodes[-1] += 1
        for unit, number, limit in (
            ("levels", len(open_nodes) - 1, _LEVELS),
            ("values (aliases expanded)", open_nodes[-1], _VALUES),
        ):
            if number > limit:
                raise yaml.constructor.ConstructorError(
                    problem=f"the file has more than {limit:,} {unit}, the limit",
                    problem_mark=event.start_mark,
                )


def describe_yaml_fault(path: Path, error: yaml.YAMLError) -> str:
    """Describe why a file is not valid YAML, with the line."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    # The parser notices only on a later line that a bracket, quote or key before has no end.
    if re.search("flow|quoted|simple key", getattr(error, "context", None) or ""):
        mark = getattr(error, "context_mark", None) or mark
    line = f"line {mark.line + 1}: " if mark else ""
    return f"{path} is not valid YAML, {line}{problem}; correct that line."


@lru_cache(maxsize=1)
def _nodes(text: str) -> yaml.Node | None:
    return yaml.compose(text, Loader=_Parser)


def named_scalars(text: str) -> Iterator[tuple[str, yaml.ScalarNode]]:
    """Scalars of mappings at any depth of a YAML text, with the names of their fields."""
    pending = [_nodes(text)]
    while pending:
        node = pending.pop()
        if isinstance(node, yaml.MappingNode):
            for name, value in node.value:
                if isinstance(value, yaml.ScalarNode):
                    yield str(name.value), value
                pending.append(value)
        elif isinstance(node, yaml.SequenceNode):
            pending += node.value


def line_of(text: str, keys: Iterable[str | int]) -> int:
    """Line of a value in a YAML text, or of its nearest parent if missing."""
    node = _nodes(text)
    line = node.start_mark.line if node else 0
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            pairs = (pair for pair in node.value if str(pair[0].value) == str(key))
            name, node = next(pairs, (None, node))
            if name is None:
                break
            line = name.start_mark.line
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int):
            if key >= len(node.value):
                break
            node = node.value[key]
            line = node.start_mark.line
        else:
            break
    return line + 1


_Content = TypeVar("_Content", bound=BaseModel)


def read_model(path: Path, model: type[_Content], error: type[FaultsError]) -> _Content:
    """Read a YAML file as a model; an error has one line per fault."""
    try:
        text = text_of(path)
    except OSError as fault:
        raise error(f"{path} cannot be read ({fault.strerror or fault}); restore it.") from None
    except UnicodeDecodeError:
        raise error(f"{path} is not UTF-8 text; save it as UTF-8.") from None
    try:
        content = load_yaml(text)
        return model.model_validate({} if content is None else content)
    except yaml.YAMLError as fault:
        raise error(describe_yaml_fault(path, fault)) from None
    except ValidationError as fault:
        faults = describe_faults(model, fault)
        raise error(
            *(
                f"{path}{f', line {line_of(text, keys)}' if keys else ''}: {sentence}"
                for keys, sentence in faults.items()
            )
        ) from None
