"""Pydantic's errors on a user's file, as one sentence."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from everycell.engine.untrusted import printable

#: JSON schema's words for the limits of a number.
_LIMITS = {
    "minimum": "at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
    "exclusiveMaximum": "below",
}
#: Plain words for pydantic's terms.
_WORDS = {
    "model_type": "a block of `key: value`",
    "dict_type": "a block of `key: value`",
    "invalid_key": "a key that is text",
    "too_short": "{min_length} entries or more",
    "string_too_short": "a text of {min_length} characters or more",
    "string_pattern_mismatch": "a text of the form {pattern}",
}


def describe_fault(model: type[BaseModel], error: ValidationError) -> str:
    """One sentence for the first fault that pydantic found: key, value, and what is allowed.

    Examples
    --------
    >>> from pydantic import Field
    >>> class Study(BaseModel):
    ...     seed: int = Field(ge=0, lt=10)
    >>> try:
    ...     Study.model_validate({"seed": -1})
    ... except ValidationError as error:
    ...     print(describe_fault(Study, error))
    `seed` is -1; allowed is: a number, at least 0, below 10.
    """
    return _describe(model, error.errors()[0])[1]


def describe_faults(model: type[BaseModel], error: ValidationError) -> dict[tuple[Any, ...], str]:
    """Keys that lead to each fault -> a sentence about it."""
    sentences: dict[tuple[Any, ...], str] = {}
    for fault in error.errors():
        keys, sentence = _describe(model, fault)
        sentences.setdefault(keys, sentence)
    # Of a union, pydantic reports each type; the fault within a list says more than "no text".
    longer = {keys[:length] for keys in sentences for length in range(len(keys))}
    return {keys: sentence for keys, sentence in sentences.items() if keys not in longer}


def _describe(model: type[BaseModel], fault: Any) -> tuple[tuple[Any, ...], str]:
    location: list[Any] = []
    was_union = False
    for part in fault["loc"]:
        # For a union, pydantic also names the type it tried, which is not a key of the file.
        was_union = not was_union and "anyOf" in _schema_at(model, location)
        location += [part] * (not was_union)
    keys = tuple(location)
    # A key of the file may be arbitrarily long.
    key = printable(".".join(str(part)[:80] for part in location))
    key = f"`{key}`" if location else "the content"
    value = _short(fault["input"])
    if fault["type"] == "extra_forbidden":
        fields = list(_schema_at(model, location[:-1]).get("properties", {}))
        near = get_close_matches(str(location[-1]), fields, n=1)
        hint = f" (did you mean `{near[0]}`?)" if near else ""
        return keys, f"{key} is not a key{hint}; allowed are: {', '.join(fields)}."
    if fault["type"] == "missing":
        return keys, f"{key} is missing; add it."
    if fault["type"] == "value_error":
        return keys, f"{key} does not hold together: {fault['msg'].removeprefix('Value error, ')}."
    node = _schema_at(model, location)
    limits = [f"{word} {node[bound]}" for bound, word in _LIMITS.items() if bound in node]
    allowed = fault["msg"].removeprefix("Input should be ")
    if fault["type"] in _WORDS:
        allowed = _WORDS[fault["type"]].format(**fault.get("ctx", {}))
    if limits and fault["type"].startswith(("greater_than", "less_than")):
        allowed = "a number"
    return keys, f"{key} is {value}; allowed is: {', '.join([allowed, *limits])}."


def _short(value: Any, limit: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def _schema_at(model: type[BaseModel], location: list[Any]) -> dict[str, Any]:
    """JSON schema of the key at a location; an empty one if there is no such key."""
    definitions = _schema(model).get("$defs", {})

    def alternatives(node: dict[str, Any]) -> list[dict[str, Any]]:
        if "$ref" in node:
            node = definitions[node["$ref"].rsplit("/", 1)[1]]
        options = [one for one in node.get("anyOf", ()) if one.get("type") != "null"]
        return [resolved for one in options for resolved in alternatives(one)] or [node]

    node = _schema(model)
    for part in location:
        for option in alternatives(node):
            if isinstance(part, int):
                child = option.get("items", {})
            else:
                further = option.get("additionalProperties") or {}
                child = option.get("properties", {}).get(part, further)
            if child:
                break
        node = child
    options = alternatives(node)
    return options[0] if len(options) == 1 else node
