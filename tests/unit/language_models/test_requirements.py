"""Requirements of language models."""

import re

import pytest

from everycell.language_models.requirements import FACTS, requirements
from everycell.language_models.settings import EndpointSettings, LanguageModels, LocalSettings


def test_requirements_memory():
    # By hand: (8,030,261,248 + 1000 * 65,536) * 2 bytes = 16.19 GB, and 1.5 for all else.
    assert requirements("llama-3-8b-instruct", LanguageModels(), tokens=1000).gpu_gb == 17.7
    one = LanguageModels(
        local={"one": LocalSettings(source="meta-llama/Meta-Llama-3-8B-Instruct", dtype="float32")}
    )
    # (8,030,261,248 + 1000 * 65,536) * 4 bytes = 32.38 GB.
    assert requirements("one", one, tokens=1000).gpu_gb == 33.9


def test_facts_of_configured_models():
    settings = LanguageModels()
    assert {local.source for local in settings.local.values()} == set(FACTS)
    for name in settings.local:
        result = requirements(name, settings)
        assert result.kind == "local" and result.key is None and result.licence
        # Weights of 16 bits fit into memory with the prompt.
        assert 0 < result.disk_gb < result.gpu_gb


def test_requirements_equal_docs(repository):
    page = (repository / "docs/language-models.md").read_text(encoding="utf-8")
    settings = LanguageModels()
    rows = {
        cells[1].strip("`"): cells[2:]
        for line in page.splitlines()
        if (cells := [cell.strip() for cell in line.split("|")])[1:2] and len(cells) == 9
    }
    for name in [*settings.local, *settings.endpoints]:
        result = requirements(name, settings)
        if name in ("smollm2", "qwen-coder"):
            # Not models of a paper.
            assert name not in rows
        elif result.kind == "endpoint":
            model = settings.endpoints[name].model
            assert (rows[name][0], rows[name][5]) == (model, f"key `{result.key}`")
        else:
            login = ", login" if result.gated else ""
            expected = [
                f"{result.context:,}",
                f"{result.disk_gb} GB",
                f"{result.gpu_gb} GB",
                result.licence + login,
            ]
            assert [rows[name][0], *rows[name][2:6]] == [result.source, *expected]


def test_requirements_unknown_model(tmp_path):
    (tmp_path / "model-1.safetensors").write_bytes(b"")
    with (tmp_path / "model-2.safetensors").open("wb") as file:
        file.truncate(2_000_000_000)
    models = {"mine": str(tmp_path), "far": "somebody/else"}
    settings = LanguageModels(
        local={name: LocalSettings(source=source) for name, source in models.items()}
    )
    mine, far = (requirements(name, settings) for name in models)
    assert (mine.disk_gb, mine.gpu_gb, mine.licence) == (2.0, 3.5, "")
    assert (far.disk_gb, far.gpu_gb, far.context) == (None, None, None)
    with pytest.raises(KeyError, match="no language model 'none'"):
        requirements("none", settings)


def test_requirements_endpoint():
    result = requirements("claude-haiku", LanguageModels())
    assert (result.kind, result.key) == ("endpoint", "ANTHROPIC_API_KEY")
    assert (result.gpu_gb, result.disk_gb) == (0.0, 0.0)


def test_language_models_no_retired_preset(repository):
    """Shut down by November 2026 (docs/language-models.md); the name is that of the snapshot."""
    gone = {"gpt-4-turbo-2024-04-09", "claude-3-5-haiku-20241022", "gemini-1.5-flash"}
    page = (repository / "docs/language-models.md").read_text(encoding="utf-8")
    assert all(f"\n| {model} |" in page for model in gone)
    for name, endpoint in LanguageModels().endpoints.items():
        assert endpoint.model not in gone, name
        # A local server has a file with a hash, a provider a dated snapshot.
        pinned = r"sha256:[0-9a-f]{16}" if endpoint.on_this_machine else r"20\d\d-?\d\d-?\d\d"
        assert re.search(pinned, endpoint.model + endpoint.version), name


def test_language_models_fields_of_newer_models():
    extra = {name: item.extra for name, item in LanguageModels().endpoints.items()}
    assert extra["claude-haiku"] == {"top_p": None}
    assert extra["gpt-5-5"].keys() >= {"temperature", "top_p", "reasoning_effort"}
    assert LanguageModels().endpoints["gpt-5-5"].length_parameter == "max_completion_tokens"


def test_requirements_tokens_beyond_context():
    """The keys and values of a prompt fill at most the context: 65,536 numbers per token."""
    source = "meta-llama/Meta-Llama-3-8B-Instruct"
    settings = LanguageModels(local={"llama": LocalSettings(source=source)})
    memory = [requirements("llama", settings, tokens=tokens).gpu_gb for tokens in (1, 8192, 10**6)]
    # 8.03 billion parameters and 8,192 tokens of four bytes per number, and 1.5 GB.
    assert memory == [33.6, 35.8, 35.8]


def test_answer_settings_what_answers_depend_on():
    mine = EndpointSettings(url="http://localhost:8000/v1", model="llama", workers=16)
    settings = LanguageModels(endpoints={"mine": mine})
    expected = {"url": "http://localhost:8000/v1", "model": "llama", "version": "", "extra": {}}
    assert settings.answer_settings("mine") == expected
    assert sorted(settings.answer_settings("smollm2")) == ["dtype", "revision", "source"]
    assert settings.answer_settings("nobody") == {}
