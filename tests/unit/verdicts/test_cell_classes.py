"""Kind, origin and flag of published cells."""

import pytest
from unit.toy_papers import write_paper

from everycell.records.papers import all_artefacts, load_papers
from everycell.verdicts.cell_classes import classify_cells


@pytest.mark.parametrize(
    ("metric", "flag"),
    [
        *((name, "effectiveness") for name in ("MAP", "AP@5", "nDCG@10", "RR", "MRR@10", "P@5")),
        *((name, "effectiveness") for name in ("R(rel=2)@1000", "Recall", "Success@1")),
        *((name, "saturated") for name in ("p", "p_value", "ANOVA p-value")),
        *((name, None) for name in ("P", "R", "F1", "P(u|pi)@10", "TExFAIR")),
    ],
)
def test_the_flag_of_a_metric(tmp_path, metric, flag):
    published = write_paper(tmp_path, cells=f"row,metric,value\na,{metric},1.0\n")
    (artefact,) = all_artefacts(load_papers(published))
    assert {row.flag for row in classify_cells(artefact, None)} == {flag}
