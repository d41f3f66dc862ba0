"""Choice of the passages to annotate: levels, clusters, planted groups, released levels."""

from __future__ import annotations

import pandas as pd
import pytest
from chapter_jobs import FunctionJob

from everycell.sources import fetch
from papers.lajewska2025.answerability_data import FILES
from papers.lajewska2025.ch5_passages import (
    choose_passages,
    level_quotas,
    planted_choice,
    planted_passages,
    released_choice,
)


@pytest.mark.parametrize(
    ("levels", "quotas"),
    [
        # The thesis' example: three highly relevant passages, and ten of the next level.
        ([4] * 3 + [3] * 10, {4: 3, 3: 2}),
        ([4] * 9 + [3], {4: 5}),
        ([4, 2, 2, 1], {4: 1, 2: 2, 1: 1}),
        ([3] * 5, {3: 5}),
        ([], {}),
    ],
)
def test_level_quotas_cases(levels, quotas):
    assert level_quotas(levels, 5) == quotas


def passages(*groups):
    """Passages "GROUP-NUMBER" of (relevance, text, number) groups."""
    rows = [
        (f"{group}-{number}", relevance, text)
        for group, (relevance, text, copies) in enumerate(groups)
        for number in range(copies)
    ]
    return pd.DataFrame(rows, columns=["document", "relevance", "text"])


@pytest.mark.parametrize("seed", range(8))
def test_choose_passages_one_of_each_cluster(seed):
    frame = passages(
        (4, "a bee", 1), (3, "red kite sky", 9), (3, "deep blue sea", 2), (0, "x y", 4)
    )
    selection = choose_passages(frame, size=3, seed=seed)
    assert [name.partition("-")[0] for name in selection[:1]] == ["0"]
    assert sorted(name.partition("-")[0] for name in selection) == ["0", "1", "2"]


def test_choose_passages_random_members():
    """The passage of a cluster is drawn, and the same seed draws the same one."""
    frame = passages((3, "red kite sky", 9), (3, "deep blue sea", 9))
    drawn = {tuple(choose_passages(frame, size=2, seed=seed)) for seed in range(8)}
    assert len(drawn) > 2
    assert len({tuple(choose_passages(frame, size=2, seed=1)) for _ in range(3)}) == 1


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_choose_passages_equal_texts():
    """Fewer clusters than passages to take: more are drawn from the rest."""
    selection = choose_passages(passages((3, "the same words", 6)), size=4, seed=1)
    assert len(set(selection)) == 4


def test_choose_passages_all():
    frame = passages((3, "red kite", 2), (1, "sea", 1))
    assert choose_passages(frame, size=5, seed=1) == ["0-0", "0-1", "1-0"]


def test_planted_passages_sizes():
    frame, group_of = planted_passages(groups=4, largest=10, high=2, seed=1)
    assert pd.Series(group_of).value_counts(sort=False).tolist() == [1, 4, 7, 10, 1, 1]
    assert frame.groupby("relevance").size().to_dict() == {3: 22, 4: 2}


def test_planted_choice_clusters():
    planted = {"groups": 4, "largest": 12, "high": 1}
    job = FunctionJob(params={"size": 5, "questions": 6, "planted": planted, "seed": 1})
    planted_choice(job)
    cells = job.tables[""].set_index(["row", "metric"])["value"]
    assert cells["k-means", "groups of texts"] == 5 > cells["at random", "groups of texts"] + 0.3
    assert cells["k-means", "levels as by the rule"] == cells["at random", "questions"] == 6


@pytest.mark.released
def test_released_choice_levels(mirror, tmp_path):
    files = {
        name: fetch(key, tmp_path, mirror=mirror, network=False)
        for name, key in (
            ("snippets", FILES["snippets"]),
            ("qrels", "cast-reproducibility/qrels/2020.txt"),
        )
    }
    for size, expected in ((5, 207), (4, 0)):
        job = FunctionJob(input=files, params={"size": size})
        released_choice(job)
        assert job.tables[""]["value"].tolist() == [208, expected]
