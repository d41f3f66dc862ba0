"""YAML of users: what the loader takes."""

import pytest
import yaml

from everycell.base.yaml import line_of, load_yaml, yaml_fault


def test_load_yaml_merged_keys():
    assert load_yaml("a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}") == {
        "a": {"x": 1, "y": 2},
        "b": {"x": 3, "y": 2},
    }


def test_yaml_fault_repeated_key():
    with pytest.raises(yaml.YAMLError) as error:
        load_yaml("a: 1\na: 2")
    assert yaml_fault(error.value) == "line 2: the key 'a' occurs twice"


def test_line_of_missing_key():
    assert line_of("a:\n  b:\n  - 1\n  - 2\n", ["a", "b", 1]) == 4
    assert line_of("a:\n  b: 1\n", ["a", "c"]) == 1
