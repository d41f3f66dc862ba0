"""Configuration: schema, defaults, precedence of the mirror, and one sentence for each fault."""

from pathlib import Path

import pytest

from everycell.config import SCHEMA, Config, ConfigError, json_schema, parse_config, read_config
from everycell.engine.yaml import load_yaml


def test_schema_file_is_that_of_the_model(repository):
    assert (repository / SCHEMA).read_text(encoding="utf-8") == json_schema(), (
        "run: python -m everycell.config"
    )


def test_config_file_holds_every_key_with_its_default(repository):
    content = load_yaml((repository / "config.yaml").read_text(encoding="utf-8"))
    assert content == Config().model_dump()


def test_empty_file_means_the_defaults(tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text("")
    assert read_config(file) == Config()


FAULTS = {
    "wrong key": (
        {"sead": 1},
        "`sead` is no key (did you mean `seed`?); allowed are: mirror, cache, network, seed, ",
    ),
    "wrong nested key": (
        {"user_studies": {"simulation": {"effect": [0.0]}}},
        "`user_studies.simulation.effect` is no key (did you mean `effects`?); allowed are: ",
    ),
    "key that resembles none": ({"zzz": 1}, "`zzz` is no key; allowed are: mirror, "),
    "key that is a number": ({1: 2}, "`1` is 1; allowed is: a key that is text."),
    "text for a number": (
        {"seed": "one"},
        "`seed` is 'one'; allowed is: a valid integer, at least 0",
    ),
    "fraction for an integer": ({"seed": 0.5}, "`seed` is 0.5; allowed is: a valid integer"),
    "truth value for an integer": ({"seed": True}, "`seed` is True; allowed is: a valid integer"),
    "word for a truth value": (
        {"network": "yes"},
        "`network` is 'yes'; allowed is: a valid boolean",
    ),
    "number for a folder": ({"mirror": 3}, "`mirror` is 3; allowed is: a valid string."),
    "negative": ({"seed": -1}, "`seed` is -1; allowed is: a number, at least 0, below 4294967296."),
    "limit itself, where it is shut out": (
        {"user_studies": {"alpha": 1.0}},
        "`user_studies.alpha` is 1.0; allowed is: a number, above 0, below 1.",
    ),
    "nested value": (
        {"user_studies": {"simulation": {"studies": 3}}},
        "`user_studies.simulation.studies` is 3; allowed is: a number, at least 500, ",
    ),
    "value in a list": (
        {"user_studies": {"simulation": {"effects": [0.1, -1.0]}}},
        "`user_studies.simulation.effects.1` is -1.0; allowed is: a number, at least 0, at most 2.",
    ),
    "list too short": (
        {"user_studies": {"simulation": {"effects": [0.1]}}},
        "`user_studies.simulation.effects` is [0.1]; allowed is: 2 entries or more.",
    ),
    "no block": ({"user_studies": None}, "`user_studies` is None; allowed is: a block of "),
    "empty text": ({"cache": ""}, "`cache` is ''; allowed is: a text of 1 characters or more."),
    "no mapping": (["seed"], "holds a list; it must hold `key: value`."),
    "plain text": ("seed", "holds a str; it must hold `key: value`."),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_sentence_with_key_value_and_what_is_allowed(fault):
    content, sentence = FAULTS[fault]
    with pytest.raises(ConfigError) as caught:
        parse_config(content)
    message = str(caught.value)
    assert message.startswith(f"config.yaml: {sentence}")
    assert message.endswith(".") and "\n" not in message


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("seed: 1\nmirror: [a\n", "is no YAML, line 3: "),
        ("seed: 1\nseed: 2\n", "is no YAML, line 2: the key 'seed' stands twice; mend that line."),
        ("seed: !!python/object:os.system {}\n", "is no YAML, line 1: could not determine a "),
    ],
)
def test_broken_yaml_names_file_and_line(tmp_path, text, sentence):
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_config(file)
    assert str(caught.value).startswith(f"{file}: {sentence}")


def test_file_that_is_not_there_or_is_no_text(tmp_path):
    with pytest.raises(ConfigError, match=r"none.yaml: cannot be read \(No such file"):
        read_config(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"cache: \xe9t\xe9")
    with pytest.raises(ConfigError, match=r"latin.yaml: is no UTF-8 text"):
        read_config(tmp_path / "latin.yaml")


def test_merged_keys_may_be_overridden():
    assert load_yaml("a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}") == {
        "a": {"x": 1, "y": 2},
        "b": {"x": 3, "y": 2},
    }


@pytest.mark.parametrize(
    ("configured", "environment", "expected"),
    [
        ("/a", {"EVERYCELL_MIRROR": "/b"}, Path("/b")),
        ("/a", {"EVERYCELL_MIRROR": ""}, Path("/a")),
        ("/a", {}, Path("/a")),
        (None, {"EVERYCELL_MIRROR": "/b"}, Path("/b")),
        (None, {}, None),
        ("~/a", {}, Path.home() / "a"),
    ],
)
def test_the_environments_mirror_comes_first(configured, environment, expected):
    assert Config(mirror=configured).mirror_folder(environment) == expected
