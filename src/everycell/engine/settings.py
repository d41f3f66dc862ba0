"""Base of all settings: a strict model, and the part of ``config.yaml`` that a job needs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from everycell.engine.validation import describe_fault


class ConfigError(Exception):
    """The configuration cannot be used; the message names key, value and allowed values."""


class Settings(BaseModel):
    """A block of ``config.yaml``: no other keys, no conversion of types, immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def plain_path(path: str) -> str:
    """Path without "~", a leading "./" or a slash at its end, so that one folder has one name.

    Examples
    --------
    >>> plain_path("./data/")
    'data'
    """
    return os.path.normpath(os.path.expanduser(path))


PlainPath = Annotated[str, AfterValidator(plain_path)]
Probability = Annotated[float, Field(gt=0, lt=1)]
#: Shared by settings that may use the network.
NetworkUse = Annotated[bool, Field(description="Whether files may be fetched from the network.")]

Block = TypeVar("Block", bound=Settings)


def validated(model: type[Block], content: Any, *, name: str = "config.yaml") -> Block:
    """Validate the content of a configuration file.

    Examples
    --------
    >>> class Study(Settings):
    ...     seed: int = 1
    >>> validated(Study, {"sead": 1})
    Traceback (most recent call last):
        ...
    everycell.engine.settings.ConfigError: config.yaml: `sead` is not a key (did you mean \
`seed`?); allowed are: seed.
    """
    if content is None:
        content = {}
    if not isinstance(content, Mapping):
        raise ConfigError(f"{name}: holds a {type(content).__name__}; it must hold `key: value`.")
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise ConfigError(f"{name}: {describe_fault(model, error)}") from None


def part_of(config: Mapping[str, Any], model: type[Block]) -> Block:
    """Validate the keys of a configuration that a model has, and ignore the others.

    A job that reads only its part does not depend on the settings of any other chapter.
    """
    return validated(model, {key: config[key] for key in model.model_fields if key in config})
