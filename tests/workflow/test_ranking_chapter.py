"""Chapter 2 of abolghasemi2026 on a few queries: all stages, and what a change makes again."""

import pandas as pd
import pytest

from papers.abolghasemi2026.ch2_planted import CHECKED, CONTROLS, UNNAMED_SHORT, UNNAMED_WORDS

CHAPTER = "results/embedded/abolghasemi2026"
ARTEFACTS = ("table_2_1", "table_2_2", "table_2_3", "table_2_4", "figure_2_3")
TUNED = "work/concepts/runs/tildev2.untrained.all.run"
MODEL = "work/concepts/models/tildev2.untrained.all/model.safetensors"


@pytest.mark.parametrize("name", ARTEFACTS)
def test_verdicts_are_of_surrogate_data(built, name):
    report = built.verdicts(f"abolghasemi2026/{name}")
    assert report["state"] == "surrogate" and report["cells"] == []
    # Models trained for a few steps may decide no claim.
    claims = report["claims"]
    assert claims and all(
        claim["detail"] for claim in claims if claim["on_reproduced"] == "inconclusive"
    )


def test_table_2_1_rows(built):
    table = pd.read_csv(built.folder / f"{CHAPTER}/table_2_1.csv", dtype={"marker": "str"})
    assert table["row"].drop_duplicates().tolist() == list("aehijklpqr")
    assert set(table["task"]) == set(CHECKED)
    output = (built.folder / f"{CHAPTER}/table_2_1.md").read_text()
    assert output.startswith("Surrogate data, not the paper's")


def test_runs_score_every_candidate(built):
    folder = built.folder / "work/concepts"
    lists = pd.read_parquet(folder / "candidates.parquet")
    scored = {path.name: len(path.read_text().splitlines()) for path in folder.glob("runs/*.run")}
    listed = lists[lists["split"] != "train"]
    assert scored == dict.fromkeys(scored, len(listed))
    assert len(scored) == 11


def test_table_2_1_checks(built):
    checks = pd.read_csv(built.folder / f"{CHAPTER}/table_2_1.checks.csv")
    assert checks["value"].notna().all()
    # Each check is made where the effect is, and where it is not.
    assert (checks.groupby("check")["task"].nunique() > 1).all()
    # Models that hardly learned anything show no effect, and so no control may either.
    low, high = (
        checks[checks["metric"] == end].set_index(["task", "check"])["value"]
        for end in ("low", "high")
    )
    assert (low[CONTROLS["weights"]] < 0).all() and (high[CONTROLS["weights"]] > 0).all()
    added = low[UNNAMED_WORDS]
    assert (added[~added.index.str.endswith("BM25")] <= 0).all()
    assert (low[UNNAMED_SHORT] <= 0).all()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("noise_seeds: 2", "noise_seeds: 3", {"oracle", "curves"}),
        ("scaling: query", "scaling: run", {"quality", "interpolation", "oracle", "curves"}),
    ],
)
def test_planned_after_evaluation_setting(rebuilt, old, new, expected):
    rebuilt.edit("config.yaml", old, new)
    jobs = rebuilt.planned()
    rules = {f"abolghasemi2026_ch2_{rule}" for rule in expected}
    assert jobs.keys() == rules | {"verdicts", "page", "embedded"}


@pytest.mark.slow
def test_build_from_cache(built, tree, tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir()
    # Another core count than that of the project that was built before, and no cache there.
    options = ["--cores", "1", "--cache", "train", "encode", "--", TUNED]
    for name, result in (("first", 2), ("second", 0)):
        clone = tree.copy_to(tmp_path / name)
        done = clone.snakemake(*options, env={"SNAKEMAKE_OUTPUT_CACHE": str(cache)})
        assert done.returncode == 0, done.stdout
        assert done.stdout.count("to cache") == result, done.stdout
        linked = [line for line in done.stdout.splitlines() if line.endswith("from cache.")]
        assert any("/models/tildev2" in line for line in linked), done.stdout
        assert any("/encoded/tildev2" in line for line in linked), done.stdout
    clones = (built.folder, tmp_path / "first", tmp_path / "second")
    for result in (TUNED, MODEL):
        first, *further = [(clone / result).read_bytes() for clone in clones]
        assert further == [first] * 2, result
