"""Training examples: draws, errors, and memory mapping."""

from __future__ import annotations

import pandas as pd
import pytest
from datasets import Dataset

from everycell.base.errors import DataError
from everycell.learning.examples import ranking_examples

DOCUMENTS = [f"d{number}" for number in range(8)]
FRAMES = {
    "queries": pd.DataFrame(
        {"query": ["q", "r", "s"], "text": ["one", "two", "three"]}
        | {"split": ["train", "train", "test"]}
    ),
    "documents": pd.DataFrame(
        {"document_id": DOCUMENTS, "text": [f"text of {name}" for name in DOCUMENTS]}
    ),
    "candidates": pd.DataFrame(
        [
            (task, "test" if query == "s" else "train", query, document, int(number < 2))
            for task in ("cite", "co-cite")
            for query in "qrs"
            for number, document in enumerate(DOCUMENTS)
        ],
        columns=["task", "split", "query", "document_id", "relevance"],
    ),
}


def draw(folder, name="examples.arrow", **changed):
    options = {"pairs": 99, "negatives": 3, "seed": 0} | changed
    return ranking_examples(**FRAMES, file=folder / name, **options)


def test_ranking_examples_training_pairs(tmp_path):
    result = draw(tmp_path).to_pandas()
    pairs = sorted(zip(result["query"], result["positive"], strict=True))
    assert pairs == [(query, f"text of d{n}") for query in ("one", "two") for n in (0, 1)]
    for negatives in result["negatives"]:
        assert len(set(negatives)) == 3
        assert not {"text of d0", "text of d1"} & set(negatives)


def test_ranking_examples_seed(tmp_path):
    rows = [list(draw(tmp_path, f"{n}.arrow", seed=seed)) for n, seed in enumerate((1, 1, 2))]
    assert rows[0] == rows[1] != rows[2]


def test_ranking_examples_memory_mapped(tmp_path):
    (tmp_path / "examples.arrow").write_bytes(b"left half written by a kill")
    result = draw(tmp_path)
    assert [file["filename"] for file in result.cache_files] == [str(tmp_path / "examples.arrow")]
    assert list(result) == list(Dataset.from_list(list(result)))
    assert len(draw(tmp_path, pairs=2)) == 2


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"negatives": 7}, "has 6 non-relevant"),
        ({"tasks": ["no-task"]}, "no relevant pair"),
    ],
)
def test_ranking_examples_too_few(tmp_path, changed, fault):
    with pytest.raises(DataError) as error:
        draw(tmp_path, **changed)
    assert fault in error.value.fault


def test_ranking_examples_do_not_depend_on_the_order_of_candidates(tmp_path, monkeypatch):
    expected = list(draw(tmp_path, "a.arrow"))
    shuffled = FRAMES["candidates"].sample(frac=1, random_state=1)
    monkeypatch.setitem(FRAMES, "candidates", shuffled)
    assert list(draw(tmp_path, "b.arrow")) == expected
