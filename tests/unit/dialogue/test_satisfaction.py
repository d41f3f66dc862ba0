"""Measures of estimators: scikit-learn, published values, invariants."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, precision_recall_fscore_support

from everycell.dialogue.satisfaction import (
    Confusion,
    confusion,
    dissatisfaction_steps,
    fitting_confusions,
    jaccard,
    scores,
)
from everycell.records.published_cells import read_cells

answers = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40)
sizes = st.integers(0, 60)


@given(answers)
def test_scores_are_those_of_scikit_learn(drawn):
    truth, predicted = zip(*drawn, strict=True)
    macro = precision_recall_fscore_support(
        truth, predicted, labels=[True, False], average="macro", zero_division=0
    )[:3]
    expected = [accuracy_score(truth, predicted), *macro]
    assert scores(confusion(truth, predicted)) == pytest.approx([100 * share for share in expected])


@given(sizes, sizes, st.data())
def test_printed_scores_lead_back_to_their_counts(satisfied, dissatisfied, data):
    assume(satisfied + dissatisfied)
    right = data.draw(st.integers(0, satisfied)), data.draw(st.integers(0, dissatisfied))
    counts = Confusion(right[0], satisfied - right[0], right[1], dissatisfied - right[1])
    published = {name: round(value, 2) for name, value in scores(counts)._asdict().items()}
    result = fitting_confusions(published, satisfied, dissatisfied)
    assert counts in result
    for other in result:
        assert sum(other[:2]) == satisfied and sum(other[2:]) == dissatisfied
        assert scores(other) == pytest.approx(scores(counts), abs=0.02)


def test_accuracy_alone_leaves_many_counts():
    assert len(fitting_confusions({"accuracy": 50.0}, 2, 2)) == 3
    assert fitting_confusions({"accuracy": 51.0}, 2, 2) == []


@pytest.mark.parametrize(
    ("published", "size", "message"),
    [
        ({"f1": 50.0}, (2, 2), r"are \['f1'\]; give accuracy and any of precision, recall, f1"),
        ({"accuracy": 50.0, "auc": 1.0}, (2, 2), "give accuracy and any of"),
        ({"accuracy": 50.0}, (0, 0), "There are 0 satisfied and 0 dissatisfied"),
        ({"accuracy": 50.0}, (-1, 3), "There are -1 satisfied"),
    ],
)
def test_measures_that_cannot_be_led_back(published, size, message):
    with pytest.raises(ValueError, match=message):
        fitting_confusions(published, *size)


@pytest.mark.parametrize(
    ("truth", "predicted", "message"),
    [
        ([], [], "labels of shape"),
        ([True], [True, False], r"labels of shape \(1,\) and predictions of shape \(2,\)"),
        ([1, 0], [True, False], "A label is int64 .* give true for satisfied"),
        ([True, False], [1, 0], "A prediction is int64"),
    ],
)
def test_answers_that_cannot_be_counted(truth, predicted, message):
    with pytest.raises(ValueError, match=message):
        confusion(truth, predicted)


def test_no_answers_have_no_scores():
    for counts in (Confusion(0, 0, 0, 0), Confusion(1, -1, 1, 1)):
        with pytest.raises(ValueError, match="give counts of 0 or more"):
            scores(counts)


ids = st.sets(st.integers(0, 9).map(str), max_size=8)


@given(ids, ids)
def test_overlap_of_what_is_solved(main, other):
    counterfactual = [f"{name}-cf" for name in other]
    result = jaccard(list(main), counterfactual)
    if not main | other:
        assert np.isnan(result)
        return
    assert result == len(main & other) / len(main | other)
    assert jaccard(list(other), [f"{name}-cf" for name in main]) == result
    assert (result == 1) == (main == other) and (result == 0) == (not main & other)


def test_a_sample_is_solved_once():
    with pytest.raises(ValueError, match="An id occurs twice"):
        jaccard(["1", "1"], ["2-cf"])
    with pytest.raises(ValueError, match="An id occurs twice"):
        jaccard(["1"], ["2-cf", "2-cf"])


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
def test_printed_overlaps_with_all_of_main(repository, model, setup, dataset):
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


@given(sizes, sizes, sizes, st.integers(1, 50))
def test_each_step_is_the_first_that_reaches_its_share(satisfied, unhappy, available, step):
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"satisfied": -1}, "There are -1 satisfied"),
        ({"satisfied": 0, "dissatisfied": 0}, "a test set with at least one sample"),
        ({"step": 0}, "The step is 0 percentage points"),
        ({"step": 51}, "The step is 51 percentage points"),
    ],
)
def test_steps_that_cannot_be_made(arguments, message):
    with pytest.raises(ValueError, match=message):
        dissatisfaction_steps(**{"satisfied": 5, "dissatisfied": 1, "available": 3} | arguments)
