"""Configuration: the typed model of ``config.yaml``, and its JSON schema.

Papers and chapters declare their own settings: in ``workflow/papers/KEY/settings.py`` and
``chN_settings.py``, the constant `BLOCKS` maps keys of the file to models. This module collects
them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field, create_model

from everycell.base.settings import Settings, read_settings, validate_settings
from everycell.base.untrusted import without_secret
from everycell.language_models.settings import LanguageModels
from everycell.records.folders import import_papers, papers_modules
from everycell.sources.settings import CorpusSettings, FetchSettings

#: Where ``python -m everycell.config`` writes the schema, below the project folder.
SCHEMA = Path("workflow/schemas/config.schema.json")


class General(FetchSettings):
    """Settings that belong to no chapter."""

    seed: int = Field(20261121, ge=0, lt=2**32, description="Seed of all random numbers.")
    container: str | None = Field(
        None,
        description="Container image with the environments of all rules (docs/clusters.md): a file "
        "or a URL.",
    )
    repository: (
        Annotated[str, Field(pattern="^https://[^ ?#]+$"), AfterValidator(without_secret)] | None
    ) = Field(
        None,
        description="Address of this repository on the web: the page then links to the code of "
        "each result, as ADDRESS/blob/COMMIT/PATH.",
    )
    gpu_precision: Literal["bfloat16", "float32"] = Field(
        "bfloat16",
        description="Number format on GPUs, for encoders, cross-encoders and training in the full "
        "tier; CPUs always use float32.",
    )
    corpora: CorpusSettings = CorpusSettings()
    language_models: LanguageModels = LanguageModels()


def blocks_of_papers() -> dict[str, type[Settings]]:
    """Models of the blocks of ``config.yaml`` that papers declare, by key."""
    models: dict[str, type[Settings]] = {}
    import_papers()
    for name in papers_modules("*settings.py"):
        module = import_module(name)
        for key, model in module.BLOCKS.items():
            if key in models or key in General.model_fields:
                raise ValueError(
                    f"{module.__name__}: the block `{key}` is already declared elsewhere; rename "
                    "it."
                )
            models[key] = model
    return models


if TYPE_CHECKING:

    class Config(General):
        """Configuration with the blocks of all papers, which are collected at run time."""

        def __getattr__(self, key: str) -> Any:  # noqa: D105
            ...

else:
    Config = create_model(
        "Config",
        __base__=General,
        __module__=__name__,
        __doc__="All settings of ``config.yaml``.",
        **{key: (model, model()) for key, model in blocks_of_papers().items()},
    )


def parse_config(content: Any, *, name: str = "config.yaml") -> Config:
    """Validate a configuration."""
    return validate_settings(_with_blocks_of_papers(content), content, name=name)


def _with_blocks_of_papers(content: Any) -> type[Config]:
    """Model that also accepts arbitrary values under keys of papers without declared settings."""
    papers = {path.parent.name for path in Path("published").glob("*/paper.yaml")}
    keys = papers & set(content) - Config.model_fields.keys() if isinstance(content, dict) else ()
    blocks = {key: (dict[str, Any], ...) for key in sorted(keys)}
    return create_model("Config", __base__=Config, **blocks) if blocks else Config  # type: ignore[call-overload]


def read_config(path: Path, overrides: Path | None = None) -> Config:
    """Read and validate a configuration file; an empty file gives the defaults.

    Settings in the second file, `overrides`, take precedence, as with ``snakemake --configfile``.
    """
    content = read_settings(path)
    if overrides is None:
        return parse_config(content, name=path.name)
    parse_config(content, name=path.name)
    merged = _merge(content or {}, read_settings(overrides) or {})
    return parse_config(merged, name=overrides.name)


def repository_of(project: Path) -> str | None:
    """Address of a project's repository on the web, if its configuration has one."""
    path = project / "config.yaml"
    return read_config(path).repository if path.is_file() else None


def _merge(content: Any, overrides: Any) -> Any:
    """Merge mappings key by key, recursively; other values are replaced by `overrides`."""
    if not (isinstance(content, Mapping) and isinstance(overrides, Mapping)):
        return overrides
    return dict(content) | {
        key: _merge(content[key], value) if key in content else value
        for key, value in overrides.items()
    }


def json_schema() -> str:
    """JSON schema of the configuration, in the format of the committed file."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps(schema | Config.model_json_schema(), indent=2) + "\n"


if __name__ == "__main__":
    from everycell.records.checks import write_schemas

    SCHEMA.parent.mkdir(parents=True, exist_ok=True)
    SCHEMA.write_text(json_schema(), encoding="utf-8")
    write_schemas(SCHEMA.parent)
