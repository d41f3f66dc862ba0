"""Measures of estimators: scikit-learn, published values, invariants."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, precision_recall_fscore_support

from everycell.base.errors import DataError
from everycell.metrics.satisfaction import (
    Confusion,
    confusion,
    dissatisfaction_steps,
    fitting_confusions,
    jaccard,
    scores,
)
from everycell.records.cells import read_cells

answers = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40)
sizes = st.integers(0, 60)


@pytest.mark.compares("scores", "confusion")
@given(answers)
def test_scores_equal_scikit_learn(drawn):
    truth, predicted = zip(*drawn, strict=True)
    macro = precision_recall_fscore_support(
        truth, predicted, labels=[True, False], average="macro", zero_division=0
    )[:3]
    expected = [accuracy_score(truth, predicted), *macro]
    assert scores(confusion(truth, predicted)) == pytest.approx([100 * share for share in expected])


@pytest.mark.compares("fitting_confusions")
@given(sizes, sizes, st.data())
def test_fitting_confusions_of_rounded_scores(satisfied, dissatisfied, data):
    assume(satisfied + dissatisfied)
    right = data.draw(st.integers(0, satisfied)), data.draw(st.integers(0, dissatisfied))
    counts = Confusion(right[0], satisfied - right[0], right[1], dissatisfied - right[1])
    published = {name: round(value, 2) for name, value in scores(counts)._asdict().items()}
    result = fitting_confusions(published, satisfied, dissatisfied)
    assert counts in result
    for other in result:
        assert sum(other[:2]) == satisfied and sum(other[2:]) == dissatisfied
        assert scores(other) == pytest.approx(scores(counts), abs=0.02)


def test_fitting_confusions_accuracy_alone():
    assert len(fitting_confusions({"accuracy": 50.0}, 2, 2)) == 3
    assert fitting_confusions({"accuracy": 51.0}, 2, 2) == []


ids = st.sets(st.integers(0, 9).map(str), max_size=8)


@pytest.mark.compares("jaccard")
@given(ids, ids)
def test_jaccard(main, other):
    counterfactual = [f"{name}-cf" for name in other]
    result = jaccard(list(main), counterfactual)
    if not main | other:
        assert np.isnan(result)
        return
    assert result == len(main & other) / len(main | other)
    assert jaccard(list(other), [f"{name}-cf" for name in main]) == result
    assert (result == 1) == (main == other) and (result == 0) == (not main & other)


@pytest.mark.parametrize("ids", [(["1", "1"], ["2-cf"]), (["1"], ["2-cf", "2-cf"])])
def test_jaccard_repeated_id(ids):
    with pytest.raises(DataError, match="same id twice"):
        jaccard(*ids)


@pytest.mark.parametrize(
    ("model", "setup", "dataset"),
    [
        ("BERT", "up-sampling x10", "MultiWOZ"),
        ("BERT", "up-sampling x10", "SGD"),
        ("Zephyr", "Few-shot", "MultiWOZ"),
        ("Zephyr", "Few-shot", "SGD"),
        ("MistralIF", "Few-shot", "SGD"),
    ],
)
def test_jaccard_table_3_7(repository, model, setup, dataset):
    """Five values of Table 3.7, from the right answers that Table 3.6 implies."""
    folder = repository / "published" / "abolghasemi2026"
    sets = read_cells(folder / "table_3_5.csv").query("row == 'Total' and dataset == @dataset")
    rows = read_cells(folder / "table_3_6.csv").query(
        "model == @model and setup == @setup and dataset == @dataset and metric == 'Acc'"
    )
    main, cf = (
        round(
            float(rows.query("test_data == @part")["value"].item())
            * int(sets.query("collection == @part")["value"].item())
            / 100
        )
        for part in ("Main", "CF")
    )
    published = read_cells(folder / "table_3_7.csv").query("row == @model and dataset == @dataset")
    solved = [str(name) for name in range(main)]
    possible = {
        f"{jaccard(solved, [f'{name}-cf' for name in range(main - both, main - both + cf)]):.4f}"
        for both in range(min(main, cf) + 1)
    }
    assert published["value"].item() in possible


@pytest.mark.compares("dissatisfaction_steps")
@given(sizes, sizes, sizes, st.integers(1, 50))
def test_dissatisfaction_steps(satisfied, unhappy, available, step):
    assume(satisfied + unhappy)
    first, *further = dissatisfaction_steps(satisfied, unhappy, available, step=step)
    total = satisfied + unhappy
    assert first == (100 * unhappy / total, 0)
    for percent, added in further:
        assert percent % step == 0 and 0 < added <= available
        assert 100 * (unhappy + added) >= percent * (total + added)
        assert 100 * (unhappy + added - 1) < percent * (total + added - 1)
    percents = [percent for percent, _ in (first, *further)]
    assert percents == sorted(set(percents))
    # The next multiple would take more than there are.
    beyond = (percents[-1] // step + 1) * step
    if beyond < 100:
        assert 100 * (unhappy + available) < beyond * (total + available)
