"""Configuration: schema, defaults, blocks of the studies, and one sentence for each fault."""

import sys

import pytest

from everycell import studies
from everycell.config import (
    SCHEMA,
    Config,
    blocks_of_studies,
    json_schema,
    parse_config,
    read_config,
    refuse_templates,
)
from everycell.engine.settings import ConfigError, part_of
from everycell.engine.yaml import load_yaml
from everycell.language_models.settings import AskSettings
from snakemake_logger_plugin_everycell import config_files


def test_schema_file_is_that_of_the_model(repository):
    assert (repository / SCHEMA).read_text(encoding="utf-8") == json_schema(), (
        "run: python -m everycell.config"
    )


def test_config_file_holds_every_key_with_its_default(repository):
    content = load_yaml((repository / "config.yaml").read_text(encoding="utf-8"))
    assert parse_config(content) == Config()
    written, defaults = content, Config().model_dump()
    # Of an endpoint, of which most settings suit most servers, the page of docs/ has the keys.
    endpoints = written["language_models"].pop("endpoints")
    assert endpoints.keys() == defaults["language_models"].pop("endpoints").keys()
    assert all({"url", "model", "key", "prices"} <= each.keys() for each in endpoints.values())
    assert written == defaults


def test_empty_file_means_the_defaults(tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text("")
    assert read_config(file) == Config()


@pytest.mark.fault("configuration")
@pytest.mark.parametrize(
    "content",
    [
        "__use_yte__: true\nseed: ?print(1)",
        '{"__use_yte__": 1}',
        "<<: {__use_yte__: yes}",
        "cache: ?open('x', 'w')",
        "user_studies: [{'?if True': 1}]",
    ],
)
def test_a_template_is_refused_and_not_run(tmp_path, content):
    plain, file = tmp_path / "config.yaml", tmp_path / "mine.yaml"
    plain.write_text("")
    file.write_text(content)
    with pytest.raises(ConfigError, match=r"mine\.yaml"):
        refuse_templates(file)
    with pytest.raises(ConfigError, match=r"mine\.yaml"):
        read_config(plain, file)


@pytest.mark.parametrize(
    "arguments",
    [["--configfile", "a"], ["--configfiles=a"], ["-n", "--configfile", "a", "--", "b"]],
)
def test_config_files_are_found_in_all_spellings(arguments):
    assert list(map(str, config_files(arguments))) == ["a"]


FAULTS = {
    "wrong key": (
        {"sead": 1},
        "`sead` is not a key (did you mean `seed`?); allowed are: mirror, cache, network, seed, ",
    ),
    "wrong nested key": (
        {"user_studies": {"simulation": {"effect": [0.0]}}},
        "`user_studies.simulation.effect` is not a key (did you mean `effects`?); allowed are: ",
    ),
    "key that resembles none": ({"zzz": 1}, "`zzz` is not a key; allowed are: mirror, "),
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
    "escape in a key": (
        {"\x1b[31mseed": 1},
        "`\\x1b[31mseed` is not a key (did you mean `seed`?); allowed are: ",
    ),
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
        ("seed: 1\nmirror: [a\n", "is not YAML, line 3: "),
        (
            "seed: 1\nseed: 2\n",
            "is not YAML, line 2: the key 'seed' occurs twice; correct that line.",
        ),
        ("seed: !!python/object:os.system {}\n", "is not YAML, line 1: could not determine a "),
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
    with pytest.raises(ConfigError, match=r"latin.yaml: is not UTF-8 text"):
        read_config(tmp_path / "latin.yaml")


@pytest.fixture
def toy_study(tmp_path, monkeypatch):
    """Write the settings of a study's chapter, found beside those of the others."""

    def write(key):
        folder = tmp_path / "studies" / "toy2026" / "ch1"
        folder.mkdir(parents=True)
        (folder / "settings.py").write_text(
            "from everycell.engine.settings import Settings\n"
            "class Toy(Settings):\n"
            "    size: int = 3\n"
            f"BLOCKS = {{{key!r}: Toy}}\n"
        )
        monkeypatch.setattr(studies, "__file__", str(tmp_path / "studies" / "__init__.py"))
        monkeypatch.setattr(studies, "__path__", [str(tmp_path / "studies")])

    yield write
    for name in [name for name in sys.modules if "toy2026" in name]:
        del sys.modules[name]


def test_settings_of_a_chapter_are_found(toy_study):
    toy_study("toy")
    assert {key: model().size for key, model in blocks_of_studies().items()} == {"toy": 3}


def test_two_blocks_of_one_name_are_refused(toy_study):
    toy_study("seed")
    with pytest.raises(ValueError, match="settings: another study has the block `seed`"):
        blocks_of_studies()


def test_a_job_reads_only_its_part():
    config = {"network": False, "user_studies": {"alpha": "not looked at"}}
    assert part_of(config, AskSettings) == AskSettings(network=False)
    with pytest.raises(ConfigError, match=r"config.yaml: `language_models.ask` is 3; allowed is: "):
        part_of({"language_models": {"ask": 3}}, AskSettings)
