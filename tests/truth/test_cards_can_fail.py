"""Every conclusion on a card is decided by the printed cells, and could have been otherwise."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from everycell.engine.artefacts import Artefact, all_artefacts, load_papers
from everycell.engine.cards import Conclusion
from everycell.engine.conclusions import evaluate
from everycell.engine.printed_cells import is_number

ARTEFACTS = list(all_artefacts(load_papers(Path(__file__).parents[2] / "published")))
CLAIMS = [
    pytest.param(artefact, conclusion, id=f"{artefact.id} {conclusion.id}")
    for artefact in ARTEFACTS
    for conclusion in artefact.card.conclusions
]
PERMUTATIONS = 300
#: Claims that the printed table contradicts. Each needs an erratum on the card.
CONTRADICTED = {
    "abolghasemi2024/table_1 correlation_is_not_strong",
    "abolghasemi2026/table_2_1 tildev2_bert_beats_tilde_bert",
    "abolghasemi2026/table_3_6 fine_tuned_models_win_on_main",
    "abolghasemi2026/table_4_1 correlation_is_not_strong",
    "lajewska2025/table_3_3 feedback_helps_ndcg",
    "lajewska2025/table_4_8 no_effect_in_answerability",
    "lajewska2025/table_4_8 factual_errors_go_unnoticed",
    "lajewska2025/table_4_9 source_by_query_in_answerability",
    "lajewska2025/table_6_7 order_of_the_organisers",
    "lajewska2025/table_7_5 mode_matters_for_limitations_only",
    "lajewska2025/text_3_3_3 closer_to_waterlooclarke",
}


def metrics(cells: pd.DataFrame) -> pd.Series:
    return cells["metric"] if "metric" in cells else pd.Series("all", cells.index)


def permuted(cells: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Tables with the values of each metric dealt out to its cells anew."""
    dice = np.random.default_rng(20261121)
    groups = cells.groupby(metrics(cells))["value"]
    for _ in range(PERMUTATIONS):
        yield cells.assign(value=groups.transform(lambda part: dice.permutation(part.to_numpy())))


def turned(cells: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """The table with each metric's order, then its signs, turned round.

    Where the cells of a claim are alike, no permutation among them changes anything.
    """
    numbers = cells["value"].map(lambda value: float(value) if is_number(value) else np.nan)
    ends = numbers.groupby(metrics(cells)).agg(["min", "max"]).sum(axis=1)
    for mirrored in (metrics(cells).map(ends) - numbers, -numbers):
        yield cells.assign(value=mirrored.where(numbers.notna(), cells["value"]))


@pytest.mark.parametrize(("artefact", "conclusion"), CLAIMS)
def test_a_claim_can_fail(artefact: Artefact, conclusion: Conclusion) -> None:
    tables = (make(artefact.unlabelled(artefact.cells)) for make in (permuted, turned))
    assert any(
        evaluate(conclusion, table).outcome == "fails" for kind in tables for table in kind
    ), "no permutation contradicts this claim: name the cells and the direction more narrowly"


@pytest.mark.parametrize(("artefact", "conclusion"), CLAIMS)
def test_a_claim_holds_on_the_print_or_is_known_not_to(
    artefact: Artefact, conclusion: Conclusion
) -> None:
    contradicted = f"{artefact.id} {conclusion.id}" in CONTRADICTED
    found = evaluate(conclusion, artefact.unlabelled(artefact.cells))
    assert found.outcome == ("fails" if contradicted else "holds"), found.detail


def test_a_claim_that_the_print_contradicts_has_an_erratum() -> None:
    by_id = {artefact.id: artefact for artefact in ARTEFACTS}
    for name in CONTRADICTED:
        assert by_id[name.split()[0]].card.errata, name
