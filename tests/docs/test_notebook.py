"""The notebook on group bias runs, finds the bias that it plants, and is kept without outputs."""

import json
from pathlib import Path

import matplotlib
import pandas as pd
import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebooks" / "group-bias.ipynb"


@pytest.fixture
def cells() -> list[dict]:
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]


def test_it_is_a_notebook_without_outputs(cells):
    import nbformat

    nbformat.validate(nbformat.read(NOTEBOOK, as_version=4))
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) >= 8
    # Outputs would go stale: who opens it runs it.
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


def test_it_runs_and_finds_the_planted_bias(cells, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    matplotlib.use("agg")
    names: dict[str, object] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
    fair, biased = (names["reports"][name].means.set_index("k") for name in ("fair", "biased"))
    assert (fair["TExFAIR"] > biased["TExFAIR"] + 0.05).all()
    tests = names["tests"]
    assert isinstance(tests, pd.DataFrame) and (tests["high"] < 0).all()
    assert (tests["p_holm"] < 0.05).all()
    (axes,) = names["figure"].axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["fair", "biased"]
    assert len(axes.containers) == 2
    import matplotlib.pyplot as plt

    plt.close("all")
