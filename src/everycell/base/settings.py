"""Base model of settings, and reading and validation of ``config.yaml``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from everycell.base.untrusted import in_quotes, parse_json, text_of
from everycell.base.validation import describe_fault
from everycell.base.yaml import describe_yaml_fault, load_yaml


class ConfigError(Exception):
    """The configuration is invalid; the message states key, value and allowed values."""


class Settings(BaseModel):
    """Immutable base of the blocks of ``config.yaml``, without extra keys or type conversion."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def plain_path(path: str) -> str:
    """Normalise a path: expand "~", and remove a leading "./" and a trailing slash."""
    return os.path.normpath(os.path.expanduser(path))


def environment_folder(name: str) -> str | None:
    """Folder that an environment variable sets; None if it is not set.

    An address is refused, since messages name folders, and an address may contain a password.
    """
    folder = os.environ.get(name) or None
    start, at, _ = (folder or "").partition("@")
    if "://" in start or (at and ":" in start):
        raise ConfigError(
            f"The environment variable {name} is an address (not shown, since it may contain a "
            "password); set it to a folder, or unset it."
        )
    return folder


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


def read_settings(path: Path) -> Any:
    """Read a settings file, in JSON or YAML; refuse expressions that Snakemake would run (yte)."""
    content = _read(path)
    values = [content]
    while values:
        value = values.pop()
        if isinstance(value, Mapping):
            values += [*value, *value.values()]
        elif isinstance(value, list | tuple):
            values += value
        elif isinstance(value, str) and (value == "__use_yte__" or value.startswith("?")):
            raise ConfigError(
                f"{path} contains {in_quotes(value)}, a template that runs code; settings must be "
                "plain values, so remove it."
            )
    return content


def _read(path: Path) -> Any:
    try:
        text = text_of(path)
    except OSError as error:
        reason = error.strerror or error
        raise ConfigError(f"{path} cannot be read ({reason}); restore the file.") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8 text; save it as UTF-8.") from None
    try:
        return parse_json(text, strict=True)
    except ValueError:  # not JSON, in which 1e-3 is a number
        pass
    try:
        return load_yaml(text)
    except yaml.YAMLError as error:
        raise ConfigError(describe_yaml_fault(path, error)) from None
