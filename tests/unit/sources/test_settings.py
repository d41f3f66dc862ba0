"""Settings of sources: precedence of the mirror."""

from pathlib import Path

import pytest

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
def test_mirror_folder_environment(configured, environment, expected):
    assert FetchSettings(mirror=configured).mirror_folder(environment) == expected
