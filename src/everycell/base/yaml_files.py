"""Reading of a paper's YAML files as models; each fault is a sentence with file and line."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from everycell.base.untrusted import text_of
from everycell.base.validation import describe_faults
from everycell.base.yaml import line_of, load_yaml, yaml_fault

_Content = TypeVar("_Content", bound=BaseModel)


def read_model(path: Path, model: type[_Content], error: type[Exception]) -> _Content:
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
        raise error(f"{path} is not valid YAML, {yaml_fault(fault)}; correct that line.") from None
    except ValidationError as fault:
        raise error(
            "\n".join(
                f"{path}{f', line {line_of(text, keys)}' if keys else ''}: {sentence}"
                for keys, sentence in describe_faults(model, fault).items()
            )
        ) from None
