"""YAML of users: what the loader takes."""

import time
from pathlib import Path

import pytest
import yaml

from everycell.base.yaml import describe_yaml_fault, line_of, load_yaml


def test_load_yaml_merged_keys():
    assert load_yaml("a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}") == {
        "a": {"x": 1, "y": 2},
        "b": {"x": 3, "y": 2},
    }


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\na: 2\n", 2),
        ("a: 1\nb: {c\nd: 1\n", 2),
        ("a: 1\nb: [c\n\n# d\ne: 1\n", 2),
        ("a: 1\nb: 'c\nd: 1\n", 2),
        ("a: 1\nb\nc: 1\n", 2),
        ("a: 1\n  b: 2\n", 2),
        ("a: 1\n\tb: 2\n", 2),
        ("a: [1]\nb: c: d\n", 2),
        ("a: 1\n b: 2\n", 2),
    ],
)
def test_describe_yaml_fault_line(text, line):
    """The line with the fault, even if the parser only notices it on the next."""
    with pytest.raises(yaml.YAMLError) as error:
        load_yaml(text)
    assert f"a.yaml is not valid YAML, line {line}: " in describe_yaml_fault(
        Path("a.yaml"), error.value
    )


def test_line_of_missing_key():
    assert line_of("a:\n  b:\n  - 1\n  - 2\n", ["a", "b", 1]) == 4
    assert line_of("a:\n  b: 1\n", ["a", "c"]) == 1


@pytest.mark.parametrize(
    "text",
    ["a: &a [*a]", "&a {x: *a}", "&a {<<: *a}", "a: &a [*a, *a]", "&a {b: &b [*a]}"],
)
def test_load_yaml_value_within_itself(text):
    with pytest.raises(yaml.YAMLError, match="contains itself"):
        load_yaml(text)


@pytest.mark.parametrize(
    "text",
    [
        f"a: 0x{'f' * 9000}",
        f"a: 59{':59' * 9000}",
        f"0b1{'0' * 20000}",
        f"a: 1{':00' * 1_000_000}",
        f"a: 1{':00' * 1_000_000}.5",
        f"a: 1.{'0' * 1_000_000}",
    ],
    ids=["hex", "base_60", "binary", "base_60_long", "base_60_float", "float"],
)
def test_load_yaml_number_that_cannot_be_printed(text):
    with pytest.raises(yaml.YAMLError, match="bits"):
        load_yaml(text)


@pytest.mark.parametrize(
    "text",
    [
        '!!int ""',
        '!!float "a"',
        "!!bool a",
        "!!timestamp a",
        "!!map a",
        "!!map [a]",
        "!!seq {a: b}",
        "!!set [a]",
        pytest.param(f"1{':00' * 300}.5", id="base_60_float"),
        "{!!timestamp a: b}",
    ],
)
def test_load_yaml_tag_of_another_type(text):
    with pytest.raises(yaml.YAMLError):
        load_yaml(f"a: {text}")


@pytest.mark.parametrize(
    "text", ["yes: 1\ntrue: 2", "1: 1\n0x1: 2", "1.0: 1\n1: 2", "~: 1\nnull: 2"]
)
def test_load_yaml_equal_keys(text):
    with pytest.raises(yaml.YAMLError, match="occurs twice"):
        load_yaml(text)


def test_line_of_many_keys():
    text = "".join(f"k{number}: 1\n" for number in range(40_000))
    start = time.process_time()
    lines = [line_of(text, [f"k{number}"]) for number in range(100)]
    assert lines == [*range(1, 101)] and time.process_time() - start < 5
