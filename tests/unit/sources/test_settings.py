"""Settings of sources: precedence of the mirror."""

from pathlib import Path

import pytest

from everycell.base.settings import ConfigError
from everycell.cli import full_machine, project
from everycell.retrieval import published_indexes
from everycell.sources.published_files import cache_home
from everycell.sources.settings import FetchSettings


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
def test_mirror_folder_environment(configured, environment, expected, monkeypatch):
    monkeypatch.delenv("EVERYCELL_MIRROR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert FetchSettings(mirror=configured).mirror_folder() == expected


@pytest.mark.parametrize(
    "address",
    [
        "https://user:hunter2@example.org/data",
        "https://user:hunt/er2@example.org",
        "https:/user:hunter2@example.org",
        "user:hunter2@example.org:/data",
        "ftp://example.org?password=hunter2",
        "s3://hunter2@bucket",
    ],
)
@pytest.mark.parametrize(
    ("variable", "folder_of"),
    [
        ("EVERYCELL_MIRROR", lambda: FetchSettings().mirror_folder()),
        ("XDG_CACHE_HOME", project.cache_home),
        ("HF_HUB_CACHE", full_machine.hub_cache),
        ("HF_HOME", full_machine.hub_cache),
        ("PYSERINI_CACHE", full_machine.index_cache),
        ("PYSERINI_CACHE", published_indexes._cache_folder),
        ("IR_DATASETS_HOME", full_machine.corpus_cache),
        ("IR_DATASETS_HOME", cache_home),
    ],
)
def test_environment_folder_address(address, variable, folder_of, monkeypatch, tmp_path):
    """Messages name folders, and an address may contain a password."""
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    folder = tmp_path / "a@b"
    monkeypatch.setenv(variable, str(folder))
    assert folder_of().is_relative_to(folder)
    monkeypatch.setenv(variable, address)
    with pytest.raises(ConfigError, match=variable) as error:
        folder_of()
    assert "hunt" not in str(error.value) and "example" not in str(error.value)
