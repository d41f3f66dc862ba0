"""Tables of attribution bias from answers: by hand, of the control, without any citation."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from everycell.rag.prompts import Question
from papers.abolghasemi2026.ch5_answers import (
    ANSWERS,
    answer_shares,
    check_answers,
    cite_always_first,
    collect_answers,
)
from papers.abolghasemi2026.ch5_arms import (
    MIXED_ARMS,
    OPPOSITE_ARMS,
    PLAIN_ARMS,
    PRECISION,
    RECALL,
    Arm,
    Setting,
    present_questions,
)
from papers.abolghasemi2026.ch5_comparisons import DAGGER, NO_CITATION, NOT_RUN, compare_labels
from papers.abolghasemi2026.ch5_controls import PlantedControl
from papers.abolghasemi2026.ch5_published import bias_cells, counts_from_recalls
from papers.abolghasemi2026.ch5_requests import Benchmark
from papers.abolghasemi2026.ch5_results import (
    FEWEST_PAIRS,
    citation_counts,
    confidence,
    figure_cells,
    quality,
)

MAIN = {"retriever": "BM25", "k": 5, "place": "retrieved", "labels": "plain"}
TEXTS = {letter: f"{letter} is a letter." for letter in "abcdefghij"}
VANILLA, INFORMED, OPPOSITE = PLAIN_ARMS[3:]


def answers_of(generator, arms, n=30, name="toy", dataset="NQ", **setting):
    setting = MAIN | setting
    documents = tuple("abcdefghij"[: setting["k"]])
    questions = [Question(f"q{i:04}", documents, i % len(documents) + 1) for i in range(n)]
    output = present_questions([Setting("toy", *setting.values(), arms)], lambda *_: questions)
    answers = collect_answers(generator, output, Benchmark(dataset, {"Human": TEXTS}))
    return answers.assign(generator=name)


def by_hand(arm, cited, gold=1):
    """Answers to a question for each list of citations; document 1 is the relevant one."""
    rows = [
        {
            "query": f"q{position}",
            **dict(zip(Arm._fields, arm, strict=True)),
            "gold": gold,
            "cited": len(set(numbers)),
            "stray": sum(number > 5 for number in set(numbers)),
            PRECISION: (gold in numbers) / len(set(numbers)) if numbers else 0,
            RECALL: float(gold in numbers),
            "right": float(position % 2),
            "cut": float(len(numbers) > 2),
            "relevant_citations": numbers.count(gold),
            "other_citations": sum(1 < number <= 5 for number in numbers),
            "relevant_probability": 0.9 * numbers.count(gold),
            "other_probability": 0.5 * sum(1 < number <= 5 for number in numbers),
        }
        for position, numbers in enumerate(cited)
    ]
    frame = pd.DataFrame(rows).assign(dataset="NQ", generator="hand", **MAIN)
    return frame[ANSWERS]


HAND = pd.concat(
    [
        by_hand(VANILLA, [[1], [2], [], [1, 1, 2]]),
        by_hand(INFORMED, [[1], [1], [1], [1, 9]]),
        by_hand(OPPOSITE, [[2], [2], [], []]),
    ]
)


def values(table, *keys):
    return {tuple(row[:-1]): row[-1] for row in table[[*keys, "value"]].itertuples(index=False)}


def test_quality_by_hand():
    result = values(quality(HAND, PLAIN_ARMS, seed=1), "mode_relevant", "metric")
    assert result == pytest.approx(
        {
            ("Vanilla", PRECISION): 37.5,
            ("Vanilla", RECALL): 50,
            ("Vanilla", "EM correctness"): 0.5,
            ("Informed", PRECISION): 87.5,
            ("Informed", RECALL): 100,
            ("Informed", "EM correctness"): 0.5,
            ("CF-informed", PRECISION): 0,
            ("CF-informed", RECALL): 0,
            ("CF-informed", "EM correctness"): 0.5,
        }
    )


def test_compare_labels_by_hand():
    """|1-1|, |1-0|, |1-0|, |1/2-1/2| and the same without bars, by four questions."""
    cas = values(compare_labels(HAND, "CAS", study="plain", seed=1), "metric")
    cab = values(compare_labels(HAND, "CAB", study="plain", seed=1), "metric")
    assert cas == {("CAS delta precision",): 50, ("CAS delta recall",): 50}
    assert cab == {("CAB delta precision",): 87.5, ("CAB delta recall",): 100}


def test_confidence_and_counts_by_hand():
    result = values(confidence(HAND, seed=1), "mode_relevant", "metric")
    assert result["Vanilla", "AC relevant"] == pytest.approx(0.9)
    assert result["Vanilla", "AC non-relevant"] == pytest.approx(0.5)
    assert result["Informed", "AC non-relevant"] == NO_CITATION
    assert result["CF-informed", "AC relevant"] == NO_CITATION
    counts = values(citation_counts(HAND, seed=1), "mode_relevant", "metric")
    # A document that is cited twice counts once, a number of no document as well.
    assert counts["Vanilla", "avg cited total"] == 1
    assert counts["Informed", "avg cited total"] == 1.25
    assert counts["Informed", "avg cited relevant"] == 1


def test_answer_shares_by_hand():
    result = dict(answer_shares(HAND)[["metric", "value"]].itertuples(index=False))
    assert result == pytest.approx(
        {
            "questions": 4,
            "answers": 12,
            # One of twelve answers has more than two citations.
            "cut": 100 / 12,
            "cut, of those that cite": 100 / 9,
            "cite": 100 * 9 / 12,
            "cite out of range": 100 / 12,
            "cite the relevant document": 50,
            "precision": 100 * 5 / 12,
            "right": 50,
        }
    )


def test_cite_always_first_control():
    """Of four questions three have the relevant document first."""
    frame = HAND.assign(gold=HAND["query"].map({"q3": 2}).fillna(1).astype(int))
    reference = check_answers(cite_always_first(frame))
    assert set(reference["generator"]) == {"always [1] (hand)"} and len(reference) == len(frame)
    table = quality(pd.concat([frame, reference]), PLAIN_ARMS, seed=1)
    mine = table[table["generator"] != "hand"]
    assert set(mine["metric"]) == {PRECISION, RECALL} and set(mine["value"]) == {75}
    pd.testing.assert_frame_equal(
        table[table["generator"] == "hand"], quality(frame, PLAIN_ARMS, seed=1)
    )
    shares = dict(answer_shares(reference)[["metric", "value"]].itertuples(index=False))
    assert shares == {
        "questions": 4,
        "answers": 12,
        "cite": 100,
        "cite out of range": 0,
        "cite the relevant document": 75,
        "precision": 75,
    }
    assert set(compare_labels(reference, "CAB", study="plain", seed=1)["value"]) == {0}


def test_confidence_few_pairs():
    """However far the two confidences are apart, nine answers make no dagger."""

    def confident_answers(pairs, other_pairs=5):
        draw = np.random.default_rng(2)
        frame = by_hand(VANILLA, [[1, 2]] * pairs + [[1]] * other_pairs)
        return frame.assign(relevant_probability=draw.uniform(0.8, 0.9, len(frame)))

    for pairs in (FEWEST_PAIRS - 1, FEWEST_PAIRS):
        result = confidence(confident_answers(pairs), seed=1)
        enough = pairs == FEWEST_PAIRS
        assert (result["marker"] == (DAGGER if enough else "")).all()
        assert result["p"].notna().all() == enough
        assert result["pairs"].tolist() == [pairs, pairs]
        assert result["citations"].tolist() == [pairs + 5, pairs]


def test_quality_dagger_needs_both_tests():
    """Above both other modes; against one of them the test may still not be significant."""
    clear = [[1]] * 18 + [[2]] * 2
    nearly = [[1]] * 17 + [[2]] * 3
    low = [[2]] * 15 + [[1]] * 5
    frame = pd.concat([by_hand(VANILLA, low), by_hand(INFORMED, clear), by_hand(OPPOSITE, nearly)])
    result = quality(frame, PLAIN_ARMS, seed=1).query("metric == @RECALL")
    assert (result["marker"] == "").all()
    peer = stats.ttest_rel([1] * 18 + [0] * 2, [1] * 17 + [0] * 3)
    assert result["p"].dropna().tolist() == [pytest.approx(peer.pvalue)]
    frame = pd.concat([by_hand(VANILLA, low), by_hand(INFORMED, clear), by_hand(OPPOSITE, low)])
    result = quality(frame, PLAIN_ARMS, seed=1).query("metric == @RECALL")
    assert dict(zip(result["mode_relevant"], result["marker"], strict=True)) == {
        "Vanilla": "",
        "Informed": DAGGER,
        "CF-informed": "",
    }


def test_quality_without_citations():
    frame = pd.concat(by_hand(arm, [[]] * 5) for arm in (VANILLA, INFORMED, OPPOSITE))
    table = quality(frame, PLAIN_ARMS, seed=1)
    assert set(table.query("metric == @PRECISION")["value"]) == {NO_CITATION}
    assert set(table.query("metric == @RECALL")["value"]) == {0}
    for measure in ("CAS", "CAB"):
        result = compare_labels(frame, measure, study="plain", seed=1)
        assert set(result["value"]) == {NO_CITATION} and set(result["marker"]) == {""}
        assert result[["low", "high", "p"]].isna().all(axis=None)
    assert set(confidence(frame, seed=1)["value"]) == {NO_CITATION}
    assert set(citation_counts(frame, seed=1)["value"]) == {0}
    assert answer_shares(frame).set_index("metric")["value"]["cite"] == 0


def test_confidence_without_probabilities():
    silent = HAND.assign(relevant_probability=np.nan, other_probability=np.nan)
    result = values(confidence(silent, seed=1), "mode_relevant", "metric")
    assert result["Vanilla", "AC relevant"] == result["CF-informed", "AC non-relevant"] == NOT_RUN
    # Documents without citations have no confidence.
    assert result["CF-informed", "AC relevant"] == NO_CITATION
    assert (confidence(silent, seed=1)["marker"] == "").all()


def test_quality_unknown_answers():
    table = quality(HAND.assign(right=np.nan), PLAIN_ARMS, seed=1)
    assert set(table["metric"]) == {PRECISION, RECALL}
    assert "right" in set(answer_shares(HAND)["metric"])
    assert "right" not in set(answer_shares(HAND.assign(right=np.nan))["metric"])


def test_quality_single_question():
    frame = HAND[HAND["query"] == "q0"]
    table = quality(frame, PLAIN_ARMS, seed=1)
    assert table[["low", "high", "p"]].isna().all(axis=None) and len(table) == 9


@pytest.fixture(scope="module")
def all_answers():
    """All settings of two generators, one of which has no preference."""
    parts = []
    arms = (*PLAIN_ARMS, *MIXED_ARMS)
    for name, generator in (("fair", PlantedControl(0.0)), ("biased", PlantedControl(2.0))):
        parts += [
            answers_of(generator, arms, name=name),
            answers_of(generator, MIXED_ARMS, name=name, labels="extended"),
            answers_of(generator, MIXED_ARMS[:5], name=name, labels="extended", retriever="SPLADE"),
        ]
        for k in (2, 5):
            depth = {"k": k, "place": "random", "labels": "extended"}
            parts.append(answers_of(generator, MIXED_ARMS[:5], name=name, **depth))
    return check_answers(pd.concat(parts, ignore_index=True))


def test_tables_rows(all_answers):
    assert len(quality(all_answers, PLAIN_ARMS, seed=1)) == 2 * 6 * 2
    assert len(quality(all_answers, MIXED_ARMS, seed=1)) == 2 * 10 * 2
    assert len(quality(all_answers, OPPOSITE_ARMS, seed=1)) == 2 * 2 * 2
    assert len(confidence(all_answers, seed=1)) == len(citation_counts(all_answers, seed=1)) == 24
    studies = {"plain": 8, "mixed": 8, "extended": 8, "retrievers": 4, "depths": 8}
    for measure in ("CAS", "CAB"):
        for study, rows in studies.items():
            result = compare_labels(all_answers, measure, study=study, seed=1)
            assert len(result) == rows, (measure, study)
            assert (result.query("generator == 'fair'")["value"] == 0).all()
            biased = result.query("generator == 'biased'")
            assert (biased["value"] > 0).all() and (biased["low"] <= biased["value"]).all()
    retrievers = compare_labels(all_answers, "CAB", study="retrievers", seed=1)
    assert set(retrievers["retriever"]) == {"SPLADE"}
    assert list(compare_labels(all_answers, "CAS", study="depths", seed=1)["k"].unique()) == [2, 5]


def test_tables_agree_with_means(all_answers):
    """Bias and relevant citations follow from quality, by the functions for published tables."""
    table = quality(all_answers, PLAIN_ARMS, seed=1).rename(columns={"mode_relevant": "rag_mode"})
    keys = ["generator", "relevant_author", "metric"]
    bias = compare_labels(all_answers, "CAB", study="plain", seed=1)
    assert values(bias, *keys) == pytest.approx(values(bias_cells(table), *keys))
    counts = citation_counts(all_answers, seed=1).rename(columns={"mode_relevant": "rag_mode"})
    keys.append("rag_mode")
    relevant = counts[counts["metric"] == "avg cited relevant"]
    assert values(relevant, *keys) == pytest.approx(values(counts_from_recalls(table), *keys))
    cells = figure_cells(counts)
    assert len(cells) == 12 and set(cells["row"]) == {"NQ"}
    assert "biased rel=Human nonrel=LLM" in set(cells["series"])


def test_tables_order_of_rows(all_answers):
    mixed = all_answers.sample(frac=1, random_state=3)
    for make in (
        lambda rows: quality(rows, PLAIN_ARMS, seed=1),
        lambda rows: confidence(rows, seed=1),
        lambda rows: compare_labels(rows, "CAB", study="mixed", seed=1),
    ):
        keys = ["generator", "relevant_author", "nonrelevant_author", "metric"]
        keys += ["mode_relevant"] if "mode_relevant" in make(all_answers) else []
        one, other = (
            make(rows).sort_values(keys, ignore_index=True) for rows in (all_answers, mixed)
        )
        pd.testing.assert_frame_equal(one, other)


@settings(max_examples=8, deadline=None)
@given(st.floats(-2, 2), st.floats(0, 3), st.integers(0, 5))
def test_compare_labels_opposite_labels(strength, skill, seed):
    """The mirrored preference cites under [LLM] what the other one does under [Human]."""
    result = [
        compare_labels(
            answers_of(PlantedControl(item, skill=skill, seed=seed), PLAIN_ARMS, n=10),
            "CAB",
            study="plain",
            seed=1,
        )
        for item in (strength, -strength)
    ]
    numbers = [table["value"].replace(NO_CITATION, 0).astype(float) for table in result]
    assert numbers[0].to_numpy() == pytest.approx(-numbers[1].to_numpy())


@pytest.mark.parametrize("strength", [0.0, 1.0, -2.0])
def test_planted_control_expected_values(strength):
    generator = PlantedControl(strength)
    frame = answers_of(generator, PLAIN_ARMS[3:], n=300)

    def near(row):
        # Four standard errors, of which a 95 % interval has about 3.92.
        return pytest.approx(row.value, abs=row.high - row.low + 1e-9)

    expected = generator.expected_bias(5)
    for row in compare_labels(frame, "CAB", study="plain", seed=1).itertuples():
        assert expected[row.metric] == near(row)
    tables = [
        quality(frame, PLAIN_ARMS, seed=1),
        confidence(frame, seed=1),
        citation_counts(frame, seed=1),
    ]
    message = {"Vanilla": ("", ""), "Informed": ("Human", "LLM"), "CF-informed": ("LLM", "Human")}
    compared_metrics = set()
    for row in pd.concat(tables).itertuples():
        sides = dict(zip(("relevant", "nonrelevant"), message[row.mode_relevant], strict=True))
        known = generator.expected_measures(5, **sides).get(row.metric)
        if known is None:
            continue
        compared_metrics.add(row.metric)
        assert known == near(row)
        if row.metric.startswith("AC"):
            # Every citation of a kind has one probability, so that no sample is off.
            assert row.low == pytest.approx(known) == pytest.approx(row.high)
            assert row.marker == DAGGER
    assert len(compared_metrics) == 5


@pytest.mark.parametrize(
    ("change", "expected_message"),
    [
        (lambda rows: rows.drop(columns="stray"), "lack the column 'stray'"),
        (lambda rows: pd.concat([rows, rows[:1]]), "hand has two answers to q0"),
        (lambda rows: rows[1:], r"NQ / hand / BM25 / 5 .* lacks an answer to q0"),
        (
            lambda rows: pd.concat([rows, rows.assign(k=2)]),
            "NQ / hand / BM25 / plain: answers with 2 and 5 documents",
        ),
    ],
)
def test_check_answers_invalid(change, expected_message):
    with pytest.raises(ValueError, match=expected_message):
        check_answers(change(HAND))


def test_tables_without_answers():
    none = HAND[:0]
    assert quality(none, PLAIN_ARMS, seed=1).empty and confidence(none, seed=1).empty
    assert compare_labels(none, "CAB", study="plain", seed=1).empty and answer_shares(none).empty
