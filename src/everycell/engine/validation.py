"""Pydantic's errors on a user's file, as one sentence."""

from __future__ import annotations

from difflib import get_close_matches
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
    fault = error.errors()[0]
    location = list(fault["loc"])
    # For a union, pydantic also names the type it tried, which is not a key of the file.
    if location and "anyOf" in _schema_at(model, location[:-1]):
        location.pop()
    # A key of the file may be arbitrarily long.
    key = printable(".".join(str(part)[:80] for part in location))
    key = f"`{key}`" if location else "the content"
    value = _short(fault["input"])
    if fault["type"] == "extra_forbidden":
        fields = list(_schema_at(model, location[:-1]).get("properties", {}))
        near = get_close_matches(str(location[-1]), fields, n=1)
        hint = f" (did you mean `{near[0]}`?)" if near else ""
        return f"{key} is not a key{hint}; allowed are: {', '.join(fields)}."
    if fault["type"] == "missing":
        return f"{key} is missing; add it."
    if fault["type"] == "value_error":
        return f"{key} does not hold together: {fault['msg'].removeprefix('Value error, ')}."
    node = _schema_at(model, location)
    limits = [f"{word} {node[bound]}" for bound, word in _LIMITS.items() if bound in node]
    allowed = fault["msg"].removeprefix("Input should be ")
    if fault["type"] in _WORDS:
        allowed = _WORDS[fault["type"]].format(**fault.get("ctx", {}))
    if limits and fault["type"].startswith(("greater_than", "less_than")):
        allowed = "a number"
    return f"{key} is {value}; allowed is: {', '.join([allowed, *limits])}."


def _short(value: Any, limit: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def _schema_at(model: type[BaseModel], location: list[Any]) -> dict[str, Any]:
    """JSON schema of the key at `place`; an empty one if there is no such key."""
    schema = model.model_json_schema()
    definitions, node = schema.get("$defs", {}), schema
    for part in location:
        if isinstance(part, int):
            node = node.get("items", {})
        else:
            further = node.get("additionalProperties") or {}
            node = node.get("properties", {}).get(part, further)
        if "$ref" in node:
            node = definitions[node["$ref"].rsplit("/", 1)[1]]
    return node
