"""ListNet: normalised by list, and learns from relevance."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from papers.heuss2025.ch2_listnet import ListNet, ListNorm, _members, score, train_and_score

#: Path of a process that imports the package `papers`.
PATH = {"PYTHONPATH": os.pathsep.join(sys.path)}
LISTS = [np.random.default_rng(number).normal(size=(12, 4)) for number in range(40)]
RELEVANCE = [(part[:, 1] > np.median(part[:, 1])).astype(int) for part in LISTS]


def test_norm_of_several_lists_is_that_of_torch_one_by_one():
    values = torch.randn(9, 3, generator=torch.Generator().manual_seed(1)).double()
    result = ListNorm(3).double()(values, _members([4, 5]))
    peer = torch.nn.BatchNorm1d(3, eps=2e-5).double().train()
    expected = torch.cat([peer(values[:4]), peer(values[4:])])
    torch.testing.assert_close(result, expected, atol=1e-12, rtol=1e-12)


@pytest.mark.slow
def test_train_and_score_same_bits_as_other_processors(tmp_path):
    """The numbers come from a processor with AVX-512 and from emulated Haswell and EPYC ones."""
    program = tmp_path / "train.py"
    program.write_text(
        "import numpy as np\n"
        "from papers.heuss2025.ch2_listnet import train_and_score\n"
        "from papers.heuss2025.ch2_listnet import use_portable_arithmetic\n"
        "use_portable_arithmetic()\n"
        "rng = np.random.default_rng(0)\n"
        "lists = [rng.normal(size=(int(n), 12)) for n in rng.integers(5, 30, 60)]\n"
        "noise = [rng.normal(size=len(part)) for part in lists]\n"
        "grades = [part[:, 0] + more for part, more in zip(lists, noise)]\n"
        "grades = [(each >= np.quantile(each, 0.8)).astype(float) for each in grades]\n"
        "scores = train_and_score(lists, grades, lists[:20], epochs=[10], seed=3)\n"
        "print(*(float(score).hex() for score in scores[10][0][:3]))\n"
    )
    # Users' settings for other programs have no effect.
    selection = {"ATEN_CPU_CAPABILITY": "avx2", "MKL_CBWR": "AVX2"}
    run = subprocess.run(
        [sys.executable, program],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | PATH | selection,
    )
    expected = ["-0x1.fa8f1ae468784p+0", "0x1.338050a2330fdp+1", "-0x1.602a0bc4b1f46p+0"]
    assert run.stdout.split() == expected


def test_use_portable_arithmetic_too_late():
    program = (
        "import torch;"
        "torch.ones(3).sum();"
        "print(torch.backends.cpu.get_cpu_capability());"
        "from papers.heuss2025.ch2_listnet import use_portable_arithmetic;"
        "use_portable_arithmetic()"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=os.environ | PATH
    )
    if run.stdout.strip() == "DEFAULT":
        pytest.skip("This processor has no instructions of its own to choose.")
    assert run.returncode
    assert f"Torch already uses {run.stdout.strip()}" in run.stderr


def test_score_independent_of_scale_and_other_lists():
    torch.manual_seed(3)
    model = ListNet(4)
    alone = score(model, LISTS[:1])[0]
    together = score(model, [LISTS[1], 1000 * LISTS[0] + 7])[1]
    np.testing.assert_allclose(together, alone, atol=1e-3)


def test_train_and_score_finds_relevant_feature():
    result = train_and_score(LISTS[:30], RELEVANCE[:30], LISTS[30:], epochs=[1, 12], seed=1)
    hits = [
        np.mean(grades[np.argsort(-scores)[:6]])
        for scores, grades in zip(result[12], RELEVANCE[30:], strict=True)
    ]
    assert np.mean(hits) > 0.85


def test_train_and_score_fewer_epochs():
    long = train_and_score(LISTS[:9], RELEVANCE[:9], LISTS[9:11], epochs=[2, 5], seed=4)
    short = train_and_score(LISTS[:9], RELEVANCE[:9], LISTS[9:11], epochs=[2], seed=4)
    np.testing.assert_array_equal(long[2], short[2])
    assert not np.array_equal(long[5], long[2])


def test_train_and_score_early_stopping():
    # The other items are relevant: what is learnt soon makes the loss on these lists grow.
    features, relevance = LISTS[30:], [1 - np.asarray(grades) for grades in RELEVANCE[30:]]
    held_out, epochs = (features, relevance), range(1, 8)
    result = train_and_score(
        LISTS[:30], RELEVANCE[:30], features, epochs=epochs, seed=1, validation=held_out
    )
    losses = [
        sum(
            grades @ (np.logaddexp.reduce(scores) - scores) / np.linalg.norm(grades)
            for scores, grades in zip(result[epoch], relevance, strict=True)
        )
        for epoch in epochs
    ]
    best = epochs[int(np.argmin(losses))]
    assert epochs[0] < best < epochs[-1]
    np.testing.assert_array_equal(result[None], result[best])
    # With a limit before the best epoch, as of 5 epochs of early stopping beside 10 of the code.
    short = train_and_score(
        LISTS[:30],
        RELEVANCE[:30],
        features,
        epochs=epochs,
        seed=1,
        validation=held_out,
        stop_by=best - 1,
    )
    np.testing.assert_array_equal(short[7], result[7])
    earlier = epochs[int(np.argmin(losses[: best - 1]))]
    np.testing.assert_array_equal(short[None], result[earlier])
