"""What `everycell verify` says about inputs that are not where the job read them."""

import json

import pytest

from everycell.base.files import sha256
from everycell.cli import project
from everycell.cli.verification import _not_in_data
from everycell.records.registry import forget_registry
from everycell.sources.fetch import OWN_FILE_NOTE


@pytest.mark.parametrize("name", ["a.run", "x/b.run"])
def test_not_in_data(tmp_path, monkeypatch, name):
    """An unpacked deposit has no cache, but its own data are there to check."""
    key = f"toy-data/{name}"
    own, registry = tmp_path / "data" / key, tmp_path / "published/toy/registry.yaml"
    for path in (own, registry):
        path.parent.mkdir(parents=True)
    own.write_text("q1 Q0 d1 1 2 x\n")
    form = {"path": key, "size": own.stat().st_size, "sha256": sha256(own)}
    sets = {"toy-data": {"authors": "Ode", "paper": "Toy", "licence": "MIT"}}
    files = {key: {"mirror": form, "note": OWN_FILE_NOTE}}
    registry.write_text(json.dumps({"sets": sets, "files": files}))
    monkeypatch.setattr(project, "ROOT", tmp_path)
    forget_registry()
    absent = ["resources/toy-data/c.run", "work/a.run"]
    paths = [f"resources/{key}", *absent]
    assert _not_in_data(paths, own=True) == absent
    assert _not_in_data(paths, own=False) == paths
    own.unlink()
    assert _not_in_data(paths, own=True) == paths
    forget_registry()
