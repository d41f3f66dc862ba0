"""Labels of annotators: the pool, the checks of the file, agreement, Tables 3.3 to 3.5, by hand."""

from __future__ import annotations

import pandas as pd
import pytest
from chapter_jobs import FunctionJob
from data_errors import refused
from statsmodels.stats.inter_rater import cohens_kappa as peer_kappa

from everycell.collections.satisfaction_samples import SYSTEM, USER, Sample
from papers.abolghasemi2026.ch3_annotation import (
    ANNOTATORS,
    expected_agreement,
    plant_truth,
    planted_agreement,
    planted_annotations,
    recovered_agreement,
)
from papers.abolghasemi2026.ch3_counterfactuals import Rewriting
from papers.abolghasemi2026.ch3_labels import (
    UNDEFINED,
    agreements,
    agreements_by_kind,
    final_labels,
    flips,
    initial_annotators,
    make_pool,
    read_labels,
    sizes_from_flips,
)


def sample(number, satisfied, benchmark="toy"):
    turns = ((USER, f"A taxi at {number}?"), (SYSTEM, "It is booked."))
    return Sample(f"{benchmark}/{number}", benchmark, turns, satisfied)


SAMPLES = [sample(number, number < 4) for number in range(6)] + [
    sample(number, True, "other") for number in range(3)
]
REWRITINGS = [Rewriting(item, "No taxi today.", "", "") for item in SAMPLES]


def pool(actual=0, seed=1):
    return make_pool(REWRITINGS, SAMPLES, actual=actual, seed=seed)


def write(path, rows):
    lines = ["dialogue,annotator,satisfied,coherent", *(",".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def labelled(answers, third=()):
    """Rows of two annotators, "ab" for the answers of both to a dialogue, and of a third one."""
    words = {"y": "yes", "n": "no"}
    rows = [
        (name, annotator, words[pair[index]], "yes")
        for name, pair in answers.items()
        for index, annotator in enumerate(("anna", "bert"))
    ]
    return rows + [(name, "carl", words[answer], "yes") for name, answer in third]


def test_make_pool_mixed():
    table = pool(actual=2)
    assert table["counterfactual"].sum() == len(REWRITINGS)
    assert (~table["counterfactual"]).groupby(table["benchmark"]).sum().tolist() == [2, 2]
    assert table["dialogue"].is_unique and table["dialogue"].is_monotonic_increasing
    assert not any(item.id in row for row in table["dialogue"] for item in SAMPLES)
    rewritten = table[table["counterfactual"]]
    assert rewritten["text"].str.endswith("SYSTEM: No taxi today.").all()
    assert rewritten.groupby("benchmark")["satisfied"].sum().to_dict() == {"other": 3, "toy": 4}


def test_make_pool_more_than_there_are():
    assert (~pool(actual=99)["counterfactual"]).sum() == len(SAMPLES)


def test_make_pool_seed():
    assert pool(actual=2).equals(pool(actual=2))
    assert set(pool(seed=1)["dialogue"]).isdisjoint(pool(seed=2)["dialogue"])


def test_read_labels_valid(tmp_path):
    rows = labelled({"d1": "yy", "d2": "yn"}, [("d2", "n")])
    labels = read_labels(write(tmp_path / "labels.csv", rows), ["d1", "d2"])
    assert labels["satisfied"].tolist() == [True, True, True, False, False]
    assert initial_annotators(labels, ["d1", "d2"]) == ["anna", "bert"]
    assert final_labels(labels).to_dict() == {"d1": True, "d2": False}


@pytest.mark.parametrize(
    ("rows", "column", "value"),
    [
        ([("d1", "anna", "maybe", "yes")], "satisfied", "maybe"),
        ([("d1", "anna", "yes", "")], "coherent", ""),
        ([("d1", " ", "yes", "yes")], "annotator", " "),
        ([("d1", "anna ", "yes", "yes")], "annotator", "anna "),
        ([("d9", "anna", "yes", "yes")], "dialogue", "d9"),
        ([("d1", "anna", "yes", "yes")] * 2, "annotator", "anna"),
    ],
)
def test_read_labels_invalid_row(tmp_path, rows, column, value):
    with refused(column, value):
        read_labels(write(tmp_path / "labels.csv", rows), ["d1"])


def test_read_labels_row_number(tmp_path):
    rows = [*labelled({"d1": "yy"}), ("d1", "carl", "perhaps", "yes")]
    with pytest.raises(ValueError, match=r"labels\.csv, row 4: satisfied is 'perhaps'"):
        read_labels(write(tmp_path / "labels.csv", rows), ["d1"])


def test_read_labels_missing_dialogue(tmp_path):
    path = write(tmp_path / "labels.csv", labelled({"d1": "yy"}))
    with pytest.raises(ValueError, match="has 0 of the required two annotators who labelled all 2"):
        read_labels(path, ["d1", "d2"])


def test_read_labels_one_annotator(tmp_path):
    path = write(tmp_path / "labels.csv", [("d1", "anna", "yes", "yes")])
    with pytest.raises(ValueError, match="has 1 of the required two annotators"):
        read_labels(path, ["d1"])


def test_read_labels_no_third(tmp_path):
    path = write(tmp_path / "labels.csv", labelled({"d1": "yy", "d2": "yn"}))
    with pytest.raises(ValueError, match="dialogue d2: satisfied has as many labels yes as no"):
        read_labels(path, ["d1", "d2"])


def test_read_labels_missing_column(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("dialogue,annotator,satisfied\nd1,anna,yes\n")
    with pytest.raises(ValueError, match="coherent"):
        read_labels(path, ["d1"])


#: Labels by two annotators of the toy dialogues in the order of `SAMPLES`: all but two agree. Of
#: four satisfied originals three are flipped, of two dissatisfied ones one.
PAIRS = ["nn", "nn", "yn", "yy", "yy", "yn", "nn", "nn", "yy"]
THIRD = {2: "n", 5: "n"}


@pytest.fixture
def labels(tmp_path):
    table = pool()
    text = {row.text: row.dialogue for row in table.itertuples() if row.benchmark == "toy"}
    toy = [text[f"USER: A taxi at {number}?\nSYSTEM: No taxi today."] for number in range(6)]
    names = [*toy, *table.loc[table["benchmark"] == "other", "dialogue"]]
    answers = dict(zip(names, PAIRS, strict=True))
    third = [(names[number], answer) for number, answer in THIRD.items()]
    return read_labels(write(tmp_path / "labels.csv", labelled(answers, third)), names)


def test_agreements_toy(labels):
    table = agreements(labels, pool()).set_index(["row", "dataset", "metric"])["value"]
    assert table["Dialogue Coherence", "toy", "percent agreement"] == 100
    # Of six dialogues, both say yes to two and no to two; anna alone says yes to two.
    assert table["Satisfaction Label", "toy", "Cohen kappa"] == pytest.approx(
        peer_kappa([[2, 2], [0, 2]]).kappa
    )
    assert table["Satisfaction Label", "other", "Cohen kappa"] == 1


def test_agreements_real_dialogues_apart(tmp_path):
    """Disagreement on real dialogues moves the table of kinds, not Table 3.3."""
    table = pool(actual=2)
    rewritten = dict(zip(table["dialogue"], table["counterfactual"], strict=True))
    answers = {name: "yy" if kind else "yn" for name, kind in rewritten.items()}
    answers[next(name for name, kind in rewritten.items() if kind)] = "nn"
    third = [(name, "y") for name, kind in rewritten.items() if not kind]
    labels = read_labels(write(tmp_path / "labels.csv", labelled(answers, third)), list(rewritten))
    kinds = agreements_by_kind(labels, table).set_index(["dialogues", "row", "metric"])["value"]
    assert (kinds["real", "Satisfaction Label", "percent agreement"] == 0).all()
    assert (kinds["rewritten", "Satisfaction Label", "percent agreement"] == 100).all()
    cells = agreements(labels, table)
    assert cells["value"].isin([1, 100, UNDEFINED]).all()
    # Annotators who say yes to everything agree no more than by chance.
    one_label = agreements(labels.assign(satisfied=True), table).set_index("row")["value"]
    assert set(one_label["Satisfaction Label"]) == {UNDEFINED}


def test_flips_toy(labels):
    assert flips(labels, pool()) == {
        ("Satisfaction", "other"): (2, 3),
        ("Satisfaction", "toy"): (3, 4),
        ("Dissatisfaction", "toy"): (1, 2),
        ("Overall", "other"): (2, 3),
        ("Overall", "toy"): (4, 6),
    }


def test_sizes_from_flips_toy(labels):
    main = pd.DataFrame({"benchmark": ["toy"] * 6, "satisfied": [True] * 4 + [False] * 2})
    table = sizes_from_flips(main, flips(labels, pool()))
    cells = table.set_index(["collection", "row"])["value"]
    assert cells["Main"].to_dict() == {"Satisfaction": 4, "Dissatisfaction": 2, "Total": 6}
    # A flipped dialogue has the other label.
    assert cells["CF"].to_dict() == {"Satisfaction": 1, "Dissatisfaction": 3, "Total": 4}


def test_sizes_from_flips_published():
    """Shares of Table 3.4 and sizes of Table 3.5 as published belong together."""
    counts = {("Satisfaction", "SGD"): (731, 848), ("Dissatisfaction", "SGD"): (11, 76)}
    main = pd.DataFrame({"benchmark": "SGD", "satisfied": [True] * 848 + [False] * 76})
    cells = sizes_from_flips(main, counts).set_index(["collection", "row"])["value"]
    assert cells["CF"].to_dict() == {"Satisfaction": 11, "Dissatisfaction": 731, "Total": 742}


@pytest.mark.parametrize(
    ("truth", "error", "expected"),
    [
        ([True, False], 0.0, (100, 1)),
        ([True, False], 0.5, (50, 0)),
        # Agreement .82; half of the labels are positive, so by chance .5.
        ([True, False], 0.1, (82, 0.64)),
        # All are positive: labels agree by chance only.
        ([True], 0.1, (82, 0)),
    ],
)
def test_expected_agreement_by_hand(truth, error, expected):
    assert expected_agreement(truth, error) == pytest.approx(expected, abs=1e-12)


def planted(seed, errors):
    rows = [(f"d{number:04}", "planted", number % 5 > 0, number % 3 > 0) for number in range(900)]
    table = pd.DataFrame(rows, columns=["dialogue", "benchmark", "counterfactual", "satisfied"])
    shares = {"satisfied": 0.75, "dissatisfied": 0.3}
    truth = plant_truth(table, flipped=shares, incoherent=0.1, seed=seed)
    return table.merge(truth, on="dialogue"), planted_annotations(truth, errors=errors, seed=seed)


def as_read(tmp_path, dialogues, annotations):
    path = tmp_path / "labels.csv"
    annotations.to_csv(path, index=False)
    return read_labels(path, dialogues["dialogue"].tolist())


def test_recovered_agreement_unbiased(tmp_path):
    """Over seeds the measured agreement is the planted one, within standard errors."""
    errors = {"satisfied": 0.05, "coherent": 0.1}
    tables = []
    for seed in range(12):
        dialogues, annotations = planted(seed, errors)
        labels = as_read(tmp_path, dialogues, annotations)
        tables.append(recovered_agreement(labels, dialogues, errors))
    means = pd.concat(tables).groupby(["row", "measure", "metric"])["value"].mean().unstack()
    deviations = (means["measured"] - means["planted"]) / (means["standard error"] / 12**0.5)
    assert deviations.abs().max() < 3
    wrong = {"satisfied": 0.08, "coherent": 0.1}
    other = recovered_agreement(labels, dialogues, wrong).set_index(["row", "measure", "metric"])
    assert (
        other["value"]["Satisfaction Label", "Cohen kappa", "planted"]
        < means.loc[("Satisfaction Label", "Cohen kappa"), "measured"]
    )


def test_plant_truth_real_dialogues():
    dialogues, _ = planted(1, {"satisfied": 0, "coherent": 0})
    real = dialogues[~dialogues["counterfactual"]]
    assert real["true_coherent"].all()
    assert (real["true_satisfied"] == real["satisfied"]).all()


def test_planted_annotations_without_errors(tmp_path):
    """Without errors there is no third annotator, and all labels are true."""
    dialogues, annotations = planted(1, {"satisfied": 0, "coherent": 0})
    assert set(annotations["annotator"]) == set(ANNOTATORS[:2])
    final = final_labels(as_read(tmp_path, dialogues, annotations))
    truth = dialogues.set_index("dialogue")["true_satisfied"]
    assert final[truth.index].tolist() == truth.tolist()


def test_planted_agreement_tables(tmp_path):
    errors = {"satisfied": 0.05, "coherent": 0.05}
    dialogues, annotations = planted(3, errors)
    _, control = planted(3, dict.fromkeys(errors, 0.5))
    files = {name: tmp_path / f"{name}" for name in ("pool", "labels", "control", "samples")}
    dialogues.to_parquet(files["pool"])
    annotations.to_csv(files["labels"], index=False)
    control.to_csv(files["control"], index=False)
    pd.DataFrame({"benchmark": "planted", "satisfied": [True, False]}).to_parquet(files["samples"])
    job = FunctionJob(input=files, params={"errors": errors})
    planted_agreement(job)
    assert list(job.tables) == ["", "kinds", "recovered", "flips", "sizes"]
    at_random = (
        job.tables["recovered"]
        .query("annotators == 'at random' and measure == 'Cohen kappa' and row.str[0] == 'S'")
        .set_index("metric")["value"]
    )
    assert at_random["planted"] == 0
    assert abs(at_random["measured"]) < 4 * at_random["standard error"]
    shares = job.tables["flips"].set_index(["row", "metric"])["value"].unstack()
    assert (shares["planted"] - shares["measured"]).abs().max() < 5
    sizes = job.tables["sizes"].set_index(["row", "metric"])["value"]
    assert sizes["Total", "Main"] == 2


def test_sizes_from_flips_one_label():
    """A benchmark without dissatisfied originals has no satisfied counterfactuals."""
    main = pd.DataFrame({"benchmark": "toy", "satisfied": [True] * 3})
    cells = sizes_from_flips(main, {("Satisfaction", "toy"): (2, 3)}).set_index(
        ["collection", "row"]
    )["value"]
    assert cells["CF"].to_dict() == {"Satisfaction": 0, "Dissatisfaction": 2, "Total": 2}
