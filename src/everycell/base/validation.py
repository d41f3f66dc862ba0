"""Base of models without unknown keys, and messages for pydantic's validation errors."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import InitErrorDetails

from everycell.base.untrusted import escape_controls, looks_secret, on_one_line, parse_json

Model = TypeVar("Model", bound=BaseModel)

#: Largest number of faults of a file that are described.
_FAULTS = 100
#: Plain words for the numeric bounds of JSON schemas.
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
    "too_short": "at least {min_length} entries",
    "string_too_short": "text of at least {min_length} characters",
    "string_pattern_mismatch": "text that matches {pattern}",
}


class Strict(BaseModel):
    """Base of the models of files: unknown keys are an error; instances are immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def validate_json(model: type[Model], text: str | bytes) -> Model:
    """Validate JSON; refuse duplicate keys, of which pydantic would use the last."""
    content = model.model_validate_json(text)
    try:
        parse_json(text)
    except ValueError as error:
        fault = InitErrorDetails(type="json_invalid", input=text, ctx={"error": str(error)})
        raise ValidationError.from_exception_data(model.__name__, [fault]) from None
    return content


def describe_fault(model: type[BaseModel], error: ValidationError) -> str:
    """Describe the first error in one sentence: key, value and allowed values."""
    return _describe(model, error.errors()[0])[1]


def describe_faults(model: type[BaseModel], error: ValidationError) -> dict[tuple[Any, ...], str]:
    """Describe the first `_FAULTS` errors, by the keys that lead to them."""
    sentences: dict[tuple[Any, ...], str] = {}
    for fault in error.errors()[:_FAULTS]:
        keys, sentence = _describe(model, fault)
        sentences.setdefault(keys, sentence)
    # For a union, pydantic reports an error per type; keep the one deepest in the file.
    parents = {keys[:length] for keys in sentences for length in range(len(keys))}
    return {keys: sentence for keys, sentence in sentences.items() if keys not in parents}


def _describe(model: type[BaseModel], fault: Any) -> tuple[tuple[Any, ...], str]:
    location: list[Any] = []
    was_union = False
    for part in fault["loc"]:
        # For a union, pydantic adds the type that it tried, which is not a key of the file.
        was_union = not was_union and "anyOf" in _schema_at(model, location)
        location += [part] * (not was_union)
    keys = tuple(location)
    # A key of the file may be arbitrarily long.
    key = on_one_line(escape_controls(".".join(str(part)[:80] for part in location)))
    key = f"`{key}`" if location else "the content"
    value = _shorten(fault["input"])
    if isinstance(fault["input"], dict | list) and looks_secret(repr(fault["input"]), ""):
        value = f"a {type(fault['input']).__name__}, not shown since it may contain a secret"
    if fault["type"] == "extra_forbidden":
        fields = list(_schema_at(model, location[:-1]).get("properties", {}))
        matches = get_close_matches(str(location[-1]), fields, n=1)
        hint = f" (did you mean `{matches[0]}`?)" if matches else ""
        return keys, f"{key} is not a valid key{hint}; valid keys: {', '.join(fields)}."
    if fault["type"] == "missing":
        return keys, f"{key} is missing; add it."
    if fault["type"] == "value_error":
        return keys, f"{key} is invalid: {fault['msg'].removeprefix('Value error, ')}."
    node = _schema_at(model, location)
    limits = [f"{word} {node[bound]}" for bound, word in _LIMITS.items() if bound in node]
    expected = fault["msg"].removeprefix("Input should be ")
    if fault["type"] in _WORDS:
        expected = _WORDS[fault["type"]].format(**fault.get("ctx", {}))
    if limits and fault["type"].startswith(("greater_than", "less_than")):
        expected = "a number"
    return keys, f"{key} is {value}; expected {', '.join([expected, *limits])}."


def _shorten(value: Any, limit: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def _schema_at(model: type[BaseModel], location: list[Any]) -> dict[str, Any]:
    """JSON schema of the key at a location; empty if it does not exist."""
    definitions = _schema(model).get("$defs", {})

    def alternatives(node: dict[str, Any]) -> list[dict[str, Any]]:
        if "$ref" in node:
            node = definitions[node["$ref"].rsplit("/", 1)[1]]
        options = [option for option in node.get("anyOf", ()) if option.get("type") != "null"]
        return [resolved for option in options for resolved in alternatives(option)] or [node]

    node = _schema(model)
    for part in location:
        for option in alternatives(node):
            if isinstance(part, int):
                child = option.get("items", {})
            else:
                default = option.get("additionalProperties") or {}
                child = option.get("properties", {}).get(part, default)
            if child:
                break
        node = child
    options = alternatives(node)
    return options[0] if len(options) == 1 else node
