"""Frames, settings and records that break their schema."""

import pandas as pd
import pytest
import yaml
from pydantic import BaseModel, Field, ValidationError

from everycell.base.frames import Schema, check_columns
from everycell.base.settings import ConfigError, Settings, plain_path, validate_settings
from everycell.base.text_files import read_json_lines
from everycell.base.validation import Strict, describe_fault


def test_check_columns_missing():
    with pytest.raises(ValueError, match="counts.parquet .*'length'.*'f', 'm'"):
        check_columns("counts.parquet", ["f", "m"], ["length", "f", "m"])


def test_schema_number_out_of_range():
    schema = Schema("weights", ids=("term",), ranges={"weight": (0, 1)}, key=("term",))
    with pytest.raises(ValueError, match="Row 1 of the weights: weight is 1.5, .* 0 to 1"):
        schema.check(pd.DataFrame({"term": ["a", "b"], "weight": [0.5, 1.5]}))


def test_read_json_lines_missing_field(tmp_path):
    class Word(BaseModel):
        word: str

    path = tmp_path / "words.jsonl"
    path.write_text('{"word": "she"}\n{"wort": "er"}\n')
    lines = read_json_lines(path, Word, "docs/fairness.md")
    assert next(lines) == (1, Word(word="she"))
    with pytest.raises(ValueError, match="words.jsonl, line 2: word.* docs/fairness.md"):
        next(lines)


def test_plain_path_dot_and_slash():
    assert plain_path("./data/") == "data"


def test_validate_settings_unknown_key():
    class Study(Settings):
        seed: int = 1

    with pytest.raises(ConfigError, match=r"config.yaml: `sead` .*`seed`"):
        validate_settings(Study, {"sead": 1})


def test_describe_fault_bounds():
    class Study(BaseModel):
        seed: int = Field(ge=0, lt=10)

    with pytest.raises(ValidationError) as error:
        Study.model_validate({"seed": -1})
    sentence = describe_fault(Study, error.value)
    assert sentence == "`seed` is -1; expected a number, at least 0, below 10."


@pytest.mark.parametrize("base", [Strict, Settings])
@pytest.mark.parametrize("text", ["1.0e+999", "-1.0e+999", ".inf", ".nan"])
def test_numbers_of_files_are_finite(base, text):
    class Content(base):
        share: float

    with pytest.raises(ValidationError) as caught:
        Content.model_validate({"share": yaml.safe_load(text)})
    assert "`share` is " in describe_fault(Content, caught.value)
