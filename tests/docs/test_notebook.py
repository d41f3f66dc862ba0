"""Notebooks run, find the effects planted in their data, and are stored without outputs."""

import json
from pathlib import Path

import matplotlib
import pandas as pd
import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def cells(name: str) -> list[dict]:
    return json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a notebook, and return its variables."""
    import matplotlib.pyplot as plt

    def run_cells(name: str) -> dict:
        variables: dict[str, object] = {}
        for cell in cells(name):
            if cell["cell_type"] == "code":
                exec(compile("".join(cell["source"]), cell["id"], "exec"), variables)
        return variables

    monkeypatch.chdir(tmp_path)
    matplotlib.use("agg")
    yield run_cells
    plt.close("all")


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_without_outputs(name):
    import nbformat

    nbformat.validate(nbformat.read(FOLDER / f"{name}.ipynb", as_version=4))
    code = [cell for cell in cells(name) if cell["cell_type"] == "code"]
    assert len(code) >= 7
    # Stored outputs would become stale.
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


def test_group_bias_notebook(run):
    names = run("group-bias")
    fair, biased = (names["reports"][name].means.set_index("k") for name in ("fair", "biased"))
    assert (fair["TExFAIR"] > biased["TExFAIR"] + 0.05).all()
    tests = names["tests"]
    assert isinstance(tests, pd.DataFrame) and (tests["high"] < 0).all()
    assert (tests["p_holm"] < 0.05).all()
    (axes,) = names["figure"].axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["fair", "biased"]
    assert len(axes.containers) == 2


def test_compare_runs_notebook(run):
    names = run("compare-runs")
    tests, effects = names["tests"], names["effects"]
    assert tests["significant"].to_dict() == {"AP": True, "nDCG@10": True, "RR": False}
    assert ((effects["low"] > 0) == tests["significant"]).all() and (effects["d"] > 0).all()
    scores = names["comparison"].scores
    assert tests["p"].to_dict() == pytest.approx(scores["p_paired"].to_dict())
    assert names["comparison"].order.loc[10, "rbo"] < 0.5
    assert len(names["figure"].axes[0].collections[0].get_offsets()) == 60


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of shap's colours
def test_explain_a_ranker_notebook(run):
    names = run("explain-a-ranker")
    attributions = names["table"]["attribution"]
    assert attributions.idxmax() == "bm25" and abs(attributions["length"]) < 0.02
    # A copy of a feature shares its attribution, whatever its gain in training.
    assert attributions["title_match"] > 5 * names["table"].loc["title_match", "share of gain"]
    assert len(names["figure"].axes[0].patches) == 4
