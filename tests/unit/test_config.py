"""Configuration: schema, defaults, blocks of the papers, and one sentence for each fault."""

import subprocess
import sys

import pytest

import papers
from everycell.base.settings import ConfigError, read_settings, validate_part
from everycell.base.yaml import load_yaml
from everycell.config import (
    SCHEMA,
    Config,
    blocks_of_papers,
    json_schema,
    parse_config,
    read_config,
)
from everycell.language_models.settings import AskSettings


def test_json_schema_file(repository):
    assert (repository / SCHEMA).read_text(encoding="utf-8") == json_schema(), (
        "run: python -m everycell.config"
    )


def test_config_file_has_defaults(repository):
    content = load_yaml((repository / "config.yaml").read_text(encoding="utf-8"))
    assert parse_config(content) == Config()
    written, defaults = content, Config().model_dump()
    # The file has only the main settings of endpoints; docs/ lists the others.
    endpoints = written["language_models"].pop("endpoints")
    assert endpoints.keys() == defaults["language_models"].pop("endpoints").keys()
    assert all({"url", "model", "key", "prices"} <= item.keys() for item in endpoints.values())
    assert written == defaults


def test_read_config_empty_file(tmp_path):
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
def test_read_config_template(tmp_path, content):
    plain, file = tmp_path / "config.yaml", tmp_path / "mine.yaml"
    plain.write_text("")
    file.write_text(content)
    with pytest.raises(ConfigError, match=r"mine\.yaml"):
        read_settings(file)
    with pytest.raises(ConfigError, match=r"mine\.yaml"):
        read_config(plain, file)


def test_read_settings_json(tmp_path):
    file = tmp_path / "mine.json"
    file.write_text('{\n\t"rate": 1e-3\n}')
    assert read_settings(file) == {"rate": 0.001}


SIMULATION = "user_studies.simulation"
#: Content, and the key that the error names.
FAULTS = [
    ({"sead": 1}, "sead"),
    ({"user_studies": {"simulation": {"effect": [0.0]}}}, f"{SIMULATION}.effect"),
    ({"zzz": 1}, "zzz"),
    ({1: 2}, "1"),
    ({"seed": "one"}, "seed"),
    ({"seed": 0.5}, "seed"),
    ({"seed": True}, "seed"),
    ({"seed": -1}, "seed"),
    ({"network": "yes"}, "network"),
    ({"mirror": 3}, "mirror"),
    ({"cache": ""}, "cache"),
    # A limit that is shut out.
    ({"user_studies": {"alpha": 1.0}}, "user_studies.alpha"),
    ({"user_studies": {"simulation": {"studies": 3}}}, f"{SIMULATION}.studies"),
    ({"user_studies": {"simulation": {"effects": [0.1, -1.0]}}}, f"{SIMULATION}.effects.1"),
    ({"user_studies": {"simulation": {"effects": [0.1]}}}, f"{SIMULATION}.effects"),
    ({"user_studies": None}, "user_studies"),
    ({"uncertain_ranking": {"msmarco": {"runs": {"BIAS": {}}}}}, "uncertain_ranking.msmarco"),
    (
        {"uncertain_ranking": {"msmarco": {"runs": {"ADV": {"high": "a.run"}}}}},
        "uncertain_ranking.msmarco",
    ),
    ({"ginger": {"full": {"judges": {"smollm2": "GPT4o", "zephyr": "GPT4o"}}}}, "ginger.full"),
    ({"\x1b[31mseed": 1}, r"\x1b[31mseed"),
]


@pytest.mark.parametrize(("content", "key"), FAULTS, ids=[str(row[0]) for row in FAULTS])
def test_parse_config_invalid_key_or_value(content, key):
    with pytest.raises(ConfigError) as caught:
        parse_config(content)
    message = str(caught.value)
    assert message.startswith(f"config.yaml: `{key}` is ")
    assert message.endswith(".") and "\n" not in message


def test_parse_config_similar_key():
    with pytest.raises(ConfigError, match=r"did you mean `seed`\?"):
        parse_config({"sead": 1})


@pytest.mark.parametrize("content", [["seed"], "seed"])
def test_parse_config_not_mapping(content):
    with pytest.raises(ConfigError, match=r"config\.yaml contains a (list|str), expected"):
        parse_config(content)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("seed: 1\nmirror: [a\n", 2),
        ("seed: 1\nseed: 2\n", 2),
        ("seed: !!python/object:os.system {}\n", 1),
    ],
)
def test_read_config_broken_yaml(tmp_path, text, line):
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=rf"mine\.yaml .*line {line}: "):
        read_config(file)


def test_read_config_missing_or_binary_file(tmp_path):
    with pytest.raises(ConfigError, match=r"none.yaml cannot be read \(No such file"):
        read_config(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"cache: \xe9t\xe9")
    with pytest.raises(ConfigError, match=r"latin.yaml is not UTF-8 text"):
        read_config(tmp_path / "latin.yaml")


@pytest.fixture
def toy_paper(tmp_path, monkeypatch):
    """Write the settings of a chapter into a repository of its own."""

    def write(key):
        chapter = tmp_path / "workflow/papers/toy2026"
        chapter.mkdir(parents=True)
        (chapter / "ch1_settings.py").write_text(
            "from everycell.base.settings import Settings\n"
            "class Toy(Settings):\n"
            "    size: int = 3\n"
            f"BLOCKS = {{{key!r}: Toy}}\n"
        )
        monkeypatch.setattr(papers, "__path__", [str(chapter.parent)])
        monkeypatch.syspath_prepend(tmp_path / "workflow")
        monkeypatch.chdir(tmp_path)

    yield write
    for name in [name for name in sys.modules if "toy2026" in name]:
        del sys.modules[name]


def test_blocks_of_papers(toy_paper):
    toy_paper("toy")
    assert {key: model().size for key, model in blocks_of_papers().items()} == {"toy": 3}


def test_blocks_of_papers_same_name(toy_paper):
    toy_paper("seed")
    with pytest.raises(ValueError, match="settings: the block `seed` is already"):
        blocks_of_papers()


def test_validate_part():
    config = {"network": False, "user_studies": {"alpha": "not looked at"}}
    assert validate_part(config, AskSettings) == AskSettings(network=False)
    with pytest.raises(ConfigError, match=r"config.yaml: `language_models.ask` is 3; expected "):
        validate_part({"language_models": {"ask": 3}}, AskSettings)


#: Run in a repository of one's own: a chapter that it has, and plain settings of its paper.
OWN = """
from everycell.base.settings import ConfigError
from everycell.config import parse_config
from everycell.verdicts.audits import audits_of
settings = parse_config({"toy2026": {"depth": 3}, "toy": {"queries": 2}})
print(settings.toy2026["depth"], settings.toy.queries, list(audits_of("toy2026", "1")))
try:
    parse_config({"other2026": {"depth": 3}})
except ConfigError as error:
    print(error)
"""


def test_parse_config_own_repository(tmp_path):
    chapter = tmp_path / "workflow/papers/toy2026"
    for folder in (chapter, tmp_path / "published/toy2026"):
        folder.mkdir(parents=True)
    (tmp_path / "published/toy2026/paper.yaml").touch()
    (chapter / "ch1_settings.py").write_text(
        "from everycell.base.settings import Settings\n"
        "class Toy(Settings):\n    queries: int = 1\n"
        "BLOCKS = {'toy': Toy}\n"
    )
    (chapter / "ch1_audits.py").write_text("def audit_toy2026_sum(cells): ...\n")
    done = subprocess.run(
        [sys.executable, "-c", OWN], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    first, second = done.stdout.splitlines()
    assert first == "3 2 ['audit_toy2026_sum']" and "`other2026`" in second, done.stderr


def test_read_config_overrides_single_keys(tmp_path):
    (tmp_path / "a.yaml").write_text("seed: 1\nginger: {words: 35}\n")
    (tmp_path / "b.yaml").write_text("ginger: {clusters: 3}\n")
    config = read_config(tmp_path / "a.yaml", tmp_path / "b.yaml")
    assert (config.seed, config.ginger.words, config.ginger.clusters) == (1, 35, 3)
