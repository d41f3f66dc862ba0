"""Texts, URLs and files that others wrote."""

import gzip
import os
import tarfile

import pytest
from pydantic import ValidationError

from everycell.base.csv_files import read_table
from everycell.base.settings import ConfigError, validate_settings
from everycell.base.text_files import MARK, detect_other_format, read_text_file, text_lines
from everycell.base.untrusted import (
    UNPACKED,
    escape_controls,
    has_secret,
    in_quotes,
    looks_secret,
    max_unpacked_size,
    parse_json,
    parse_literal,
    text_of,
    unpack,
    without_user,
)
from everycell.config import General
from everycell.language_models.settings import EndpointSettings
from everycell.records.cells import RecordError, read_cells
from everycell.records.papers import Publication, Repository
from everycell.trec.runs import read_qrels


def test_in_quotes_line_break_and_long_text():
    assert in_quotes("a\nb") == r"'a\nb'"
    assert in_quotes("x" * 1000 + "end", limit=20) == "'xxxxxxx ... xxxend'"


def test_escape_controls_of_a_terminal():
    assert escape_controls("a\x1b[2Jb\n") == "a\\x1b[2Jb\n"


@pytest.mark.parametrize("mark", "\x9b\u061c\u200e\u200f\u202e\u2066\ud800")
def test_escape_controls_of_text_direction(mark):
    """All characters with the property Bidi_Control, besides those of terminals."""
    assert escape_controls(f"a{mark}0.1") == f"a{ascii(mark)[1:-1]}0.1"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [("x-token", "1", True), ("max_tokens", "1", False), ("a", "sk-12", True)],
)
def test_looks_secret_by_name_or_value(name, value, expected):
    assert looks_secret(name, value) is expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://me:1@host/a", True),
        ("https://me%3A1%40host/a", True),
        ("ftp://me:1@host/a", True),
        ("//me:1@host/a", True),
        ("https://host/a?sig=1", True),
        ("https://host/a#access_token=1", True),
        ("https://host/hf_abc/a", True),
        ("https://host/a?download=1", False),
    ],
)
def test_has_secret_in_url(url, expected):
    assert has_secret(url) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://me:s3cr3t@host:9/a", "http://host:9/a"),
        (
            "no host for url: https://s3cr3t@host (http://me:s3@cr3t@b)",
            "no host for url: https://host (http://b)",
        ),
        ("https://host/a@b", "https://host/a@b"),
        ("me@host", "me@host"),
    ],
)
def test_without_user(text, expected):
    assert without_user(text) == expected


def test_text_of_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError):
        text_of(tmp_path / "pipe")


def test_parse_json_deep_or_repeated_key():
    assert parse_json('{"a": [1]}') == {"a": [1]}
    with pytest.raises(ValueError, match="nested"):
        parse_json("[" * 100_000)
    for text in ('{"a": 1, "a": 2}', '[{"b": {"a": 1, "b": 2, "a": 1}}]', r'{"a": 1, "\u0061": 2}'):
        with pytest.raises(ValueError, match="'a' occurs twice"):
            parse_json(text)


def test_parse_literal_runs_no_code():
    assert parse_literal("{'a': (1, None)}") == {"a": (1, None)}
    with pytest.raises(ValueError):
        parse_literal("open('x')")


def test_unpack_too_large(tmp_path):
    path = tmp_path / "zeros.gz"
    path.write_bytes(gzip.compress(bytes(20_000_000)))
    with pytest.raises(ValueError, match="19,465 .* 16,777,216"):
        unpack(gzip.open(path), path)


def test_max_unpacked_size_empty_file(tmp_path):
    (tmp_path / "empty").touch()
    assert max_unpacked_size(tmp_path / "empty") == UNPACKED


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (b"PK\x03\x04", "zip archive"),
        (b"a.run" + bytes(252) + b"ustar  ", "tar archive"),
        (b"\x7fELF\x02\x00", "binary"),
        (b"q1 Q0 d1 1 0.5 t\n", None),
        (b"a" * 257 + b" ustar", None),
    ],
)
def test_detect_other_format(start, words):
    assert words is None is detect_other_format(start) or words in detect_other_format(start)


@pytest.mark.parametrize("read", [read_cells, read_table, read_text_file, read_qrels])
@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz"])
def test_readers_tar_archive(tmp_path, read, name):
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 0.5 t\n")
    with tarfile.open(tmp_path / name, f"w:{name[6:]}") as archive:
        archive.add(tmp_path / "a.run", "a.run")
    with pytest.raises((ValueError, RecordError), match=f"{name} is (a tar|compressed)"):
        read(tmp_path / name)


def test_text_lines_byte_order_marks(tmp_path):
    path = tmp_path / "words.txt"
    path.write_bytes(MARK + b"she,f\r\n" + MARK + b"he,m\n")
    lines = text_lines(path)
    assert next(lines) == (1, "she,f")
    with pytest.raises(ValueError, match="words.txt, line 2"):
        next(lines)


@pytest.mark.parametrize(
    "url",
    [
        "https://me:1@host/a",
        "https://ghp_1@host/a",
        "https://host/sk-12/v1",
        "https://host/a\x1b[2J",
        "https://host/\u202ea",
    ],
)
@pytest.mark.parametrize(
    "model",
    [
        lambda url: General(repository=url),
        lambda url: Repository(url=url, holds="code"),
        lambda url: Publication(url=url),
        lambda url: EndpointSettings(url=url, model="m", version="1"),
    ],
    ids=["config", "code", "paper", "endpoint"],
)
def test_displayed_url_without_secret(model, url):
    model("https://host/a")
    with pytest.raises(ValidationError):
        model(url)


@pytest.mark.parametrize("extra", [{"a": {"api_key": "c0ffee"}}, {"a": ["token", "c0ffee"]}])
def test_fault_of_a_structure_with_secret(extra):
    content = {"url": "https://h/v1", "model": "m", "version": "1", "extra": extra}
    with pytest.raises(ConfigError) as error:
        validate_settings(EndpointSettings, content)
    assert "c0ffee" not in str(error.value) and "not shown" in str(error.value)
