"""The requirement that installs the running package again."""

import json
from types import SimpleNamespace

import pytest
from packaging.requirements import Requirement

from everycell import __version__
from everycell.base import installation
from everycell.base.installation import DISTRIBUTION, requirement

WHEEL = "everycell_repro-0.3.0-py3-none-any.whl"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("origin", "address"),
    [
        (None, None),
        ({"url": "file:///a/clone", "dir_info": {"editable": True}}, None),
        (
            {"url": "https://host/code.git", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
            f"git+https://host/code.git@{COMMIT}",
        ),
        (
            {
                "url": "ssh://git@host/code",
                "vcs_info": {"vcs": "git", "commit_id": COMMIT, "requested_revision": "main"},
                "subdirectory": "python",
            },
            f"git+ssh://git@host/code@{COMMIT}#subdirectory=python",
        ),
        (
            {
                "url": f"https://host/{WHEEL}",
                "archive_info": {"hash": "sha256=ab", "hashes": {"sha256": "ab"}},
            },
            f"https://host/{WHEEL}#sha256=ab",
        ),
        # uv records no hash.
        ({"url": f"file:///a/{WHEEL}", "archive_info": {}}, f"file:///a/{WHEEL}"),
    ],
)
def test_requirement_origin(monkeypatch, origin, address):
    text = origin and json.dumps(origin)
    installed = SimpleNamespace(read_text=lambda name: text)
    monkeypatch.setattr(installation, "distribution", lambda name: installed)
    parsed = Requirement(requirement("workflow"))
    assert parsed.name == DISTRIBUTION and parsed.extras == {"workflow"}
    assert parsed.url == address
    assert str(parsed.specifier) == ("" if address else f"=={__version__}")


def test_requirement_not_installed(monkeypatch):
    """Code that runs from a folder on the path has no metadata."""
    monkeypatch.setattr(installation, "DISTRIBUTION", "everycell-of-nobody")
    assert requirement("methods") == f"everycell-of-nobody[methods]=={__version__}"
