"""ListNet: normalised by list, and learns from relevance."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from everycell.learning.listnet import ListNet, ListNorm, _members, score, train_and_score

LISTS = [np.random.default_rng(number).normal(size=(12, 4)) for number in range(40)]
RELEVANCE = [(part[:, 1] > np.median(part[:, 1])).astype(int) for part in LISTS]


def test_norm_of_several_lists_is_that_of_torch_one_by_one():
    values = torch.randn(9, 3, generator=torch.Generator().manual_seed(1)).double()
    found = ListNorm(3).double()(values, _members([4, 5]))
    peer = torch.nn.BatchNorm1d(3, eps=2e-5).double().train()
    expected = torch.cat([peer(values[:4]), peer(values[4:])])
    torch.testing.assert_close(found, expected, atol=1e-12, rtol=1e-12)


def test_a_training_is_the_same_on_processors_with_other_instructions(tmp_path):
    """In single precision these trainings end up with other networks altogether."""
    program = tmp_path / "train.py"
    program.write_text(
        "import sys\n"
        "import numpy as np\n"
        "import torch\n"
        "from everycell.learning.listnet import train_and_score\n"
        "torch.set_num_threads(1)\n"
        "rng = np.random.default_rng(0)\n"
        "lists = [rng.normal(size=(int(n), 12)) for n in rng.integers(5, 30, 60)]\n"
        "noise = [rng.normal(size=len(part)) for part in lists]\n"
        "grades = [part[:, 0] + more for part, more in zip(lists, noise)]\n"
        "grades = [(each >= np.quantile(each, 0.8)).astype(float) for each in grades]\n"
        "found = train_and_score(lists, grades, lists[:20], epochs=[30], seed=3)\n"
        "np.save(sys.argv[1], np.concatenate(found[30]))\n"
    )
    found = []
    for capability, library in (("default", "COMPATIBLE"), ("avx2", "AVX2")):
        path = tmp_path / f"{capability}.npy"
        chosen = {"ATEN_CPU_CAPABILITY": capability, "MKL_CBWR": library}
        subprocess.run([sys.executable, program, path], check=True, env=os.environ | chosen)
        found.append(np.load(path))
    assert np.abs(found[0]).max() > 1
    np.testing.assert_allclose(found[0], found[1], atol=1e-4)


def test_scores_do_not_depend_on_the_scale_of_features_in_a_list_nor_on_other_lists():
    torch.manual_seed(3)
    model = ListNet(4)
    alone = score(model, LISTS[:1])[0]
    together = score(model, [LISTS[1], 1000 * LISTS[0] + 7])[1]
    np.testing.assert_allclose(together, alone, atol=1e-3)


def test_training_finds_the_feature_that_makes_items_relevant():
    found = train_and_score(LISTS[:30], RELEVANCE[:30], LISTS[30:], epochs=[1, 12], seed=1)
    hits = [
        np.mean(grades[np.argsort(-scores)[:6]])
        for scores, grades in zip(found[12], RELEVANCE[30:], strict=True)
    ]
    assert np.mean(hits) > 0.85


def test_scores_after_fewer_epochs_are_those_of_a_shorter_training():
    long = train_and_score(LISTS[:9], RELEVANCE[:9], LISTS[9:11], epochs=[2, 5], seed=4)
    short = train_and_score(LISTS[:9], RELEVANCE[:9], LISTS[9:11], epochs=[2], seed=4)
    np.testing.assert_array_equal(long[2], short[2])
    assert not np.array_equal(long[5], long[2])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epochs": []}, "The epochs are"),
        ({"epochs": [0]}, "The epochs are"),
        ({"relevance": [[0] * 12]}, "List 0 of 12 items has the relevance"),
        ({"relevance": []}, "1 lists of features and 0 of relevance"),
        ({"others": [np.ones((3, 5))]}, "List 1 has features of the shape"),
    ],
)
def test_what_cannot_be_trained_on(change, message):
    given = {"features": LISTS[:1], "relevance": RELEVANCE[:1], "others": LISTS[:1]}
    with pytest.raises(ValueError, match=message):
        train_and_score(**given | {"epochs": [1], "seed": 1} | change)
