"""YAML of users: what the loader takes."""

from everycell.base.yaml import load_yaml


def test_merged_keys_may_be_overridden():
    assert load_yaml("a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}") == {
        "a": {"x": 1, "y": 2},
        "b": {"x": 3, "y": 2},
    }
