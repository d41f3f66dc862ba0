"""lajewska2025, chapter 3: stages of a system from the name of its run."""

import pytest

from everycell.base.errors import DataError
from papers.lajewska2025.ch3_design import stages_of


def test_stages_of_parameters_and_feedback():
    stages = stages_of("prf-17-26_t5-qrecc_ance_bm25-b-45-k-95_mono-duo-t5")
    assert list(stages.values()) == [
        "T5 fine-tuned on QReCC",
        "BM25 with PRF + ANCE",
        "mono/duoT5",
    ]
    assert stages_of("t5-canard_ance_bm25_mono-t5")["first_pass"] == "BM25 + ANCE"


@pytest.mark.parametrize("run", ["t5-canard_splade_mono-t5", "t5-canard_bm25"])
def test_stages_of_unknown_or_missing(run):
    with pytest.raises(DataError, match=run):
        stages_of(run)
