"""The registry says where each released file is, and is what the generator makes of a mirror."""

import gzip
import hashlib
import os
import re
from collections import Counter
from pathlib import Path

import generate_registry
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from everycell.records.registry import (
    SHARED,
    Entry,
    Registry,
    RegistryError,
    RelativePath,
    SourceError,
    key_of,
    load_registry,
    merge_parts,
    read_part,
    set_of,
)

HASH = "0" * 64
STATES = ("mirror", "network", "wheel", "unavailable")
ORIGIN = {"repository": "a/b", "path": "data.csv", "size": 3, "sha256": HASH}
COPY = {"path": "toy/data.csv", "size": 3, "sha256": "1" * 64}
WHEEL = {"distribution": "d", "version": "1", "path": "d/data.csv", "size": 3, "sha256": HASH}


def registry_of(key: str, entry: dict) -> dict:
    return {
        "repositories": {"a/b": {"commit": "0" * 40, "licence": "MIT"}},
        "sets": {"toy": {"authors": "A", "paper": "P", "licence": "MIT"}},
        "files": {key: entry},
    }


def test_load_registry_sets_and_repositories():
    registry = load_registry()
    assert {set_of(key) for key in registry.files} == set(registry.sets)
    used = {entry.origin.repository for entry in registry.files.values() if entry.origin}
    assert used == set(registry.repositories)
    assert all(repository.licence for repository in registry.repositories.values())


def test_load_registry_both_forms():
    registry = load_registry()
    for set_name, count in (("cis-response-limitations", 15), ("transparent-cis", 6)):
        keys = registry.keys(set_name)
        assert len(keys) == count
        assert {registry.entry(key).state for key in keys} == {"both"}


def test_entry_contents_of_a_changed_copy():
    entry = load_registry().entry("transparent-cis/user_study.csv")
    assert len(entry.contents) == 2
    assert "worker_ids" in entry.note


def test_load_registry_sets_of_maintainers(repository):
    described = {
        name: facts
        for content in generate_registry.set_descriptions(repository).values()
        for name, facts in content["sets"].items()
    }
    for name, data_set in load_registry().sets.items():
        for field, value in data_set.model_dump().items():
            assert value == described[name][field], (name, field)


def test_read_part_feeds_its_paper(repository):
    assert not any(data_set.feeds for data_set in read_part(SHARED).sets.values())
    parts = sorted((repository / "published").glob("*/registry.yaml"))
    assert len(parts) > 2
    for path in parts:
        for data_set in read_part(path).sets.values():
            for artefact in data_set.feeds:
                assert re.fullmatch(
                    rf"{path.parent.name}/(table|figure|text)(_[A-Z0-9]+)+", artefact
                )


def write_part(project: Path, paper: str, content: dict) -> Path:
    folder = project / "published" / paper
    folder.mkdir(parents=True)
    (folder / "registry.yaml").write_text(yaml.safe_dump(content))
    return folder / "registry.yaml"


def test_load_registry_outside_a_project(tmp_path):
    assert load_registry(tmp_path) == read_part(SHARED)


def test_load_registry_part_of_a_paper(tmp_path):
    write_part(tmp_path, "toy2026", registry_of("toy/data.csv", {"origin": ORIGIN}))
    registry = load_registry(tmp_path)
    assert registry.keys("toy") == ["toy/data.csv"] and "minilm" in registry.sets


def test_load_registry_set_in_two_parts(tmp_path):
    content = registry_of("toy/data.csv", {"origin": ORIGIN})
    first, second = (write_part(tmp_path, paper, content) for paper in ("toy2025", "toy2026"))
    with pytest.raises(RegistryError) as caught:
        load_registry(tmp_path)
    assert str(caught.value) == (
        f"{second}: `sets` has toy, which {first} also has; remove one of them."
    )


def test_merge_parts_same_repository(tmp_path):
    other = registry_of("other/data.csv", {"origin": ORIGIN})
    other["sets"] = {"other": other["sets"]["toy"]}
    toy = registry_of("toy/data.csv", {"origin": ORIGIN})
    parts = [
        (Path(name), Registry.model_validate(part)) for name, part in (("a", toy), ("b", other))
    ]
    assert set(merge_parts(parts).files) == {"toy/data.csv", "other/data.csv"}
    other["repositories"]["a/b"]["commit"] = "1" * 40
    with pytest.raises(RegistryError, match="b: the repository a/b differs from its entry"):
        merge_parts([parts[0], (Path("b"), Registry.model_validate(other))])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("sets: [toy\n", "is not valid YAML, line 1: "),
        ("sets: {toy: {authors: A}}\n", "`sets.toy.paper` is missing; add it."),
        ("fils: {}\n", "`fils` is not a valid key (did you mean `files`?); valid keys: "),
        ("files: {toy/data.csv: {note: lost}}\n", "toy/data.csv does not belong to any data set"),
        (
            "sets: {toy: {authors: A, paper: P, licence: L}}\n"
            "files: {toy/a.run: {origin: {url: 'https://h/a?token=s3cr3t', path: a.run, size: 1, "
            f"sha256: {'a' * 64}}}}}}}\n",
            "the URL of toy/a.run",
        ),
        (
            "repositories: {a/b: {commit: %s, licence: MIT, host: 'https://me:s3cr3t@h'}}\n"
            % ("a" * 40),
            "the URL of a/b",
        ),
    ],
)
def test_load_registry_invalid_part(tmp_path, text, sentence):
    path = write_part(tmp_path, "toy2026", {})
    path.write_text(text)
    with pytest.raises(RegistryError) as caught:
        load_registry(tmp_path)
    message = str(caught.value)
    assert message.startswith(str(path)) and sentence in message
    assert "s3cr3t" not in message


def test_url_pinned_and_quoted():
    registry = load_registry()
    url = registry.url("gender-bias-ir/grepbiasir/queries-documents_Sex_and_Relationship.csv")
    assert url.endswith("/queries-documents_Sex%20%26%20Relationship.csv")
    for key, entry in registry.files.items():
        if entry.origin:
            commit = registry.repositories[entry.origin.repository].commit
            assert f"/{entry.origin.repository}/{commit}/" in registry.url(key)
        else:
            assert registry.url(key) is None


def test_entry_unknown_key():
    with pytest.raises(SourceError, match="did you mean .*cis-response-limitations/viewpoints.csv"):
        load_registry().entry("cis-response-limitation/viewpoint.csv")


def test_keys_unknown_set():
    with pytest.raises(SourceError, match="no set 'toy'; the sets are cast-answerability, "):
        load_registry().keys("toy")


@pytest.mark.parametrize(
    ("key", "entry", "message"),
    [
        ("toy/data.csv", {"mirror": COPY}, "requires a `note`"),
        ("toy/data.csv", {"origin": ORIGIN, "mirror": COPY}, "requires a `note`"),
        ("toy/data.csv", {"origin": ORIGIN | {"packed": "tar"}}, "requires a `note`"),
        ("toy/data.csv", {"origin": ORIGIN | {"packed": "gzip"}}, "requires a content_sha256"),
        ("toy/data.csv", {"origin": ORIGIN | {"content_sha256": HASH}}, "not packed"),
        ("toy/data.csv", {"origin": ORIGIN | {"repository": "a/c"}}, "unknown repository a/c"),
        ("toy/data.csv", {"origin": ORIGIN, "wheel": WHEEL}, "cannot be combined with"),
        ("toy/data.csv", {"wheel": WHEEL, "mirror": COPY, "note": "n"}, "cannot be combined with"),
        ("toy/data.csv", {"wheel": WHEEL | {"path": "d/../data.csv"}}, "string_pattern_mismatch"),
        ("toy/other.csv", {"mirror": COPY, "note": "n"}, "does not match its mirror path"),
        ("tay/data.csv", {"origin": ORIGIN}, "does not belong to any"),
        ("toy/../data.csv", {"origin": ORIGIN}, "string_pattern_mismatch"),
        ("toy/{x}.csv", {"origin": ORIGIN}, "contains '{'"),
        ("toy/}.csv", {"origin": ORIGIN}, "contains '}'"),
        ("toy/a\u202eb.csv", {"origin": ORIGIN}, r"contains '\\u202e'"),
        ("toy/a\u2066b.csv", {"origin": ORIGIN}, r"contains '\\u2066'"),
        ("toy/a\x85b.csv", {"origin": ORIGIN}, r"contains '\\x85'"),
        ("toy/data.csv", {"origin": ORIGIN | {"sha256": "12"}}, "string_pattern_mismatch"),
        ("toy/data.csv", {"origin": ORIGIN | {"size": 0}}, "greater_than"),
        ("toy/data.csv", {"origin": ORIGIN, "sha1": "12"}, "extra_forbidden"),
    ],
)
def test_registry_invalid_entry(key, entry, message):
    with pytest.raises(ValidationError, match=message):
        Registry.model_validate(registry_of(key, entry))


def test_entry_contents_of_equal_forms():
    entry = Entry.model_validate({"origin": ORIGIN, "mirror": COPY | {"sha256": HASH}})
    assert entry.contents == (HASH,)


@given(st.text(alphabet="ab./\\ \n", min_size=1, max_size=12))
def test_relative_path_stays_in_the_cache(key):
    try:
        TypeAdapter(RelativePath).validate_python(key)
    except ValidationError:
        return
    cache = Path("/cache")
    assert Path(os.path.normpath(cache / key)) == cache / key


def write_mirror(folder: Path, files: dict[str, bytes], origins: list[str]) -> Path:
    lines = []
    for path, raw in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(raw)
        lines.append(f"{hashlib.sha256(raw).hexdigest()}  ./{path}\n")
    (folder / "MANIFEST.sha256").write_text("".join(lines))
    header = "set\trepository\tcommit\tpath\tbytes\tsha256\n"
    (folder / "ORIGINS.tsv").write_text(header + "".join(origins))
    return folder


def origin_row(path: str, content: bytes | None) -> str:
    size, digest = (
        (">=4MiB", "unknown")
        if content is None
        else (str(len(content)), hashlib.sha256(content).hexdigest())
    )
    row = ("trec-cast", "daltonj/treccastweb", "0" * 40, path, size, digest)
    return "\t".join(row) + "\n"


def test_build_compressed_copy(tmp_path):
    content = b"1 qid:1\n"
    mirror = write_mirror(
        tmp_path,
        {"trec-cast/rank.test.gz": gzip.compress(content, mtime=0)},
        [origin_row("examples/rank.test", content), origin_row("examples/rank.big", None)],
    )
    registry = Registry.model_validate(generate_registry.build(mirror)[SHARED])
    entry = registry.entry("trec-cast/rank.test")
    assert entry.origin.path == "examples/rank.test"
    assert entry.contents == (hashlib.sha256(content).hexdigest(),)
    assert registry.entry("trec-cast/examples/rank.big").state == "unavailable"


def test_build_unexplained_file(tmp_path):
    mirror = write_mirror(tmp_path, {"trec-cast/rank.test": b"2"}, [origin_row("rank.test", b"1")])
    with pytest.raises(SourceError, match="No file in ORIGINS.tsv has the content of"):
        generate_registry.build(mirror)


def test_build_file_that_differs_from_the_manifest(tmp_path):
    mirror = write_mirror(tmp_path, {"trec-cast/rank.test": b"1"}, [])
    (mirror / "trec-cast/rank.test").write_bytes(b"2")
    with pytest.raises(SourceError, match="MANIFEST.sha256 has"):
        generate_registry.build(mirror)


def test_build_undescribed_set(tmp_path):
    with pytest.raises(SourceError, match="No sets.yaml describes toy"):
        generate_registry.build(write_mirror(tmp_path, {"toy/data.csv": b"1"}, []))


def test_build_equals_committed_registry(mirror, repository):
    result = generate_registry.build(mirror, repository)
    assert set(result) == {SHARED, *(repository / "published").glob("*/registry.yaml")}
    for path, data in result.items():
        assert generate_registry.render(data) == path.read_text(encoding="utf-8"), path


def test_load_registry_files_of_unknown_hash(mirror):
    unknown = (mirror / "ORIGINS.tsv").read_text(encoding="utf-8").count("\tunknown\n")
    unavailable = [e for e in load_registry().files.values() if e.state == "unavailable"]
    assert sum("4 MiB" in entry.note for entry in unavailable) == unknown == 54


def test_registry_numbers_and_licences_in_the_documentation(repository):
    text = (repository / "docs" / "data.md").read_text(encoding="utf-8")
    registry = load_registry()
    for name, data_set in registry.sets.items():
        assert f"| `{name}` | {data_set.authors} | {data_set.licence} |" in text
    entries = registry.files.values()
    changed = sum(entry.state == "both" and entry.note is not None for entry in entries)
    states = Counter(entry.state for entry in entries)
    counts = (states["both"] - changed, changed, *(states[s] for s in STATES))
    assert re.findall(r"^\| (\d+) \|", text, flags=re.MULTILINE) == [str(n) for n in counts]


def test_key_in_any_cache():
    registry = load_registry()
    key = registry.key_in("/shared/cache/transparent-cis/pilot/qs3.csv")
    assert key == "transparent-cis/pilot/qs3.csv"
    assert registry.key_in("work/transparent-cis/qs3.csv") is None


def test_key_of_packed_file_and_archive():
    paths = ["a/b.csv.gz", "a/b.csv", "a/b.tar.gz"]
    assert [key_of(path) for path in paths] == ["a/b.csv", "a/b.csv", "a/b.tar.gz"]
