"""Base model of settings, and validation of ``config.yaml``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from everycell.base.validation import describe_fault


class ConfigError(Exception):
    """The configuration is invalid; the message states key, value and allowed values."""


class Settings(BaseModel):
    """Immutable base of the blocks of ``config.yaml``, without extra keys or type conversion."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def plain_path(path: str) -> str:
    """Normalise a path: expand "~", and remove a leading "./" and a trailing slash."""
    return os.path.normpath(os.path.expanduser(path))


PlainPath = Annotated[str, AfterValidator(plain_path)]
Probability = Annotated[float, Field(gt=0, lt=1)]
#: Shared by settings that may use the network.
NetworkUse = Annotated[bool, Field(description="Whether files may be fetched from the network.")]

Block = TypeVar("Block", bound=Settings)


def validate_settings(model: type[Block], content: Any, *, name: str = "config.yaml") -> Block:
    """Validate the content of a configuration file."""
    if content is None:
        content = {}
    if not isinstance(content, Mapping):
        raise ConfigError(
            f"{name} contains a {type(content).__name__}, expected lines `key: value`."
        )
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise ConfigError(f"{name}: {describe_fault(model, error)}") from None


def validate_part(config: Mapping[str, Any], model: type[Block]) -> Block:
    """Validate only the keys of a configuration that a model has.

    A job then does not depend on the settings of other chapters.
    """
    return validate_settings(
        model, {key: config[key] for key in model.model_fields if key in config}
    )
