"""Configuration: one typed model behind ``config.yaml``, its JSON schema and its errors."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

#: Where ``python -m everycell.config`` writes the schema, below the project folder.
SCHEMA = Path("workflow/schemas/config.schema.json")


class ConfigError(Exception):
    """The configuration cannot be used; the message names the key, the value and what may be."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


Probability = Annotated[float, Field(gt=0, lt=1)]


class Simulation(_Model):
    """Sizes of the simulated user studies."""

    studies: int = Field(
        1000, ge=500, le=100_000, description="Simulated studies a planted effect."
    )
    effects: list[Annotated[float, Field(ge=0, le=2)]] = Field(
        [0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4],
        min_length=2,
        description="Planted shifts of the latent rating, in standard deviations of its noise.",
    )
    planted: float = Field(
        0.5, ge=0, le=2, description="Planted shift of the one study that is shown as a table."
    )


class UserStudies(_Model):
    """Chapters 4 and 7 of lajewska2025."""

    alpha: Probability = Field(0.05, description="Significance level of the tests.")
    power: Probability = Field(0.8, description="Power that the sample sizes are planned for.")
    simulation: Simulation = Simulation()


class Figures(_Model):
    """What all figures share."""

    png_dpi: int = Field(150, ge=50, le=600, description="Resolution of the PNG files.")


class Config(_Model):
    """All that ``config.yaml`` may hold.

    Examples
    --------
    >>> Config().seed
    20261121
    """

    mirror: str | None = Field(
        None,
        description="Folder with a copy of the released data; EVERYCELL_MIRROR overrides it.",
    )
    cache: str = Field("resources", min_length=1, description="Folder of the fetched files.")
    network: bool = Field(True, description="Whether a fetch may use the network.")
    seed: int = Field(20261121, ge=0, lt=2**32, description="Seed of all random numbers.")
    figures: Figures = Figures()
    user_studies: UserStudies = UserStudies()

    def mirror_folder(self, environment: Mapping[str, str] | None = None) -> Path | None:
        """Mirror to use: the environment's, else the configured one, else none.

        Examples
        --------
        >>> Config(mirror="/a").mirror_folder({"EVERYCELL_MIRROR": "/b"}).as_posix()
        '/b'
        """
        environment = os.environ if environment is None else environment
        chosen = environment.get("EVERYCELL_MIRROR") or self.mirror
        return Path(chosen).expanduser() if chosen else None


def parse_config(content: Any, *, name: str = "config.yaml") -> Config:
    """Validate a configuration.

    Raises
    ------
    ConfigError
        One sentence for the first fault: the key, the value found and what is allowed.

    Examples
    --------
    >>> parse_config({"sead": 1})
    Traceback (most recent call last):
        ...
    everycell.config.ConfigError: config.yaml: `sead` is no key; did you mean `seed`? Allowed \
are: mirror, cache, network, seed, figures, user_studies.
    >>> parse_config({"figures": {"png_dpi": "high"}})
    Traceback (most recent call last):
        ...
    everycell.config.ConfigError: config.yaml: `figures.png_dpi` is 'high'; allowed is: a valid \
integer (50 to 600).
    """
    if content is None:
        content = {}
    if not isinstance(content, Mapping):
        raise ConfigError(f"{name}: holds a {type(content).__name__}; it must hold `key: value`.")
    try:
        return Config.model_validate(content)
    except ValidationError as error:
        raise ConfigError(f"{name}: {_sentence(error.errors()[0])}") from None


def read_config(path: Path) -> Config:
    """Read and validate a configuration file."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}).") from None
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f", line {where.line + 1}" if where else ""
        raise ConfigError(f"{path}{line}: is no YAML ({getattr(error, 'problem', error)}).") from None
    return parse_config(content, name=path.name)


def _sentence(fault: Mapping[str, Any]) -> str:
    place = [part for part in fault["loc"]]
    key = ".".join(str(part) for part in place)
    fields = _fields_at(place[:-1])
    if fault["type"] == "extra_forbidden":
        near = get_close_matches(str(place[-1]), fields, n=1)
        hint = f" did you mean `{near[0]}`?" if near else ""
        return f"`{key}` is no key;{hint} Allowed are: {', '.join(fields)}."
    allowed = fault["msg"].removeprefix("Input should be ").rstrip(".")
    limits = _limits(place)
    return f"`{key}` is {fault['input']!r}; allowed is: {allowed}{limits}."


def _schema_at(place: list[Any]) -> dict[str, Any]:
    """JSON schema of the key at `place`; an empty one where there is no such key."""
    schema = Config.model_json_schema()
    definitions, node = schema.get("$defs", {}), schema
    for part in place:
        if isinstance(part, int):
            node = node.get("items", {})
        else:
            node = node.get("properties", {}).get(part, {})
        if "$ref" in node:
            node = definitions[node["$ref"].rsplit("/", 1)[1]]
    return node


def _fields_at(place: list[Any]) -> list[str]:
    return list(_schema_at(place).get("properties", {}))


def _limits(place: list[Any]) -> str:
    node = _schema_at(place)
    low = node.get("minimum", node.get("exclusiveMinimum"))
    high = node.get("maximum", node.get("exclusiveMaximum"))
    return f" ({low} to {high})" if low is not None and high is not None else ""


def json_schema() -> str:
    """JSON schema of the configuration, as text of the committed file."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps(schema | Config.model_json_schema(), indent=2) + "\n"


if __name__ == "__main__":
    SCHEMA.parent.mkdir(parents=True, exist_ok=True)
    SCHEMA.write_text(json_schema(), encoding="utf-8")
