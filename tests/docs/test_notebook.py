"""Notebooks run, find the effects planted in their data, and have the outputs of a run."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from harness import load_script

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
make_notebooks = load_script("docs/make_notebooks.py")
#: A number of an output.
NUMBER = re.compile(r"-?\d+\.\d+|-?\d+")


def test_all_notebooks_are_run():
    tested = re.findall(r'run\("(.+?)"\)', Path(__file__).read_text(encoding="utf-8"))
    assert sorted(tested) == sorted(path.stem for path in FOLDER.glob("*.ipynb"))


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a notebook, compare its outputs with those that are stored, and return its variables."""
    import nbformat

    def run_cells(name: str) -> dict:
        path = FOLDER / f"{name}.ipynb"
        nbformat.validate(nbformat.read(path, as_version=4))
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        variables, outputs = make_notebooks.run_notebook(cells)
        stored = [cell["outputs"] for cell in make_notebooks.code_of(cells)]
        assert len(outputs) >= 7
        for own, other in zip(outputs, stored, strict=True):
            assert [one["data"].keys() for one in own] == [one["data"].keys() for one in other]
            texts = [[one["data"]["text/plain"] for one in group] for group in (own, other)]
            for text, expected in zip(*texts, strict=True):
                # Sums differ in their last digits between processors.
                assert NUMBER.sub("", text).split() == NUMBER.sub("", expected).split()
                numbers = [[float(one) for one in NUMBER.findall(one)] for one in (text, expected)]
                assert numbers[0] == pytest.approx(numbers[1], rel=0.02, abs=0.002)
        return variables

    monkeypatch.chdir(tmp_path)
    return run_cells


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
