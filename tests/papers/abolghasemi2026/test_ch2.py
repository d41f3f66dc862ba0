"""Frames of the chapter's tables, worked out by hand, by scipy and by pytrec_eval."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from scipy import stats

from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.interpolation import (
    Sweep,
    interpolate,
    noise_oracle,
    oracle,
    oracle_summary,
    z_scores,
)
from everycell.retrieval.judged_lists import judge
from papers.abolghasemi2026.ch2 import published_units
from papers.abolghasemi2026.ch2_combinations import (
    CELL,
    ORACLE_ROWS,
    add_control,
    curve_marks,
    curves_by_weight,
    effective_weights,
    gain_marks,
    interpolation_table,
    name_combinations,
    oracle_table,
    plotted_cells,
    published_cells,
    round_counts,
    tuned_values,
)
from papers.abolghasemi2026.ch2_quality import (
    expansion_means,
    letters_note,
    mean_over_seeds,
    mean_with_interval,
    means_by_seed,
    quality_table,
    runs_by_seed,
    short_and_long,
    task_reports,
)
from papers.abolghasemi2026.ch2_runs import Pairing, noise_levels, pairing

SYSTEMS = {"BM25": 0.0, "TILDE": 0.06, "TILDEv2": 0.035}
QREL = ["query", "document", "relevance"]


def per_topic(seed, n=40):
    """MAP and nDCG of three systems on n topics, the better ones by a known shift."""
    rng = np.random.default_rng(seed)
    base = rng.random((n, 2)) / 2
    topics = pd.Index([f"q{i}" for i in range(n)], name="query")
    return {
        name: pd.DataFrame(
            base + shift + rng.normal(0, 0.05, (n, 2)), columns=["MAP", "nDCG"], index=topics
        )
        for name, shift in SYSTEMS.items()
    }


def judged(seed, n=24, width=8):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "query": np.repeat([f"q{i}" for i in range(n)], width),
            "document": [f"d{j}" for j in range(width)] * n,
            "relevance": np.tile(np.arange(width) < 2, n).astype(int),
        }
    )
    lists = judge(frame, frame)
    scores = [rng.integers(5, size=lists.listed.shape) / 2 + lists.relevance for _ in range(2)]
    return frame, lists, *scores


def one_topic_sweeps():
    """Two validation and three test topics at three weights; MAP and nDCG disagree."""
    alphas = (0.0, 0.5, 1.0)
    validation = Sweep(
        alphas,
        pd.Index(["v", "w"], name="query"),
        {
            "MAP": np.array([[0.2, 0.2], [0.5, 0.4], [0.3, 0.3]]),
            "nDCG": np.array([[0.2, 0.2], [0.4, 0.4], [0.5, 0.9]]),
        },
    )
    test = Sweep(
        alphas,
        pd.Index(["q", "r", "s"], name="query"),
        {
            "MAP": np.array([[0.5, 0.2, 0.1], [0.5, 0.6, 0.2], [0.4, 0.3, 0.9]]),
            "nDCG": np.array([[0.1, 0.3, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.95]]),
        },
    )
    return Pairing(validation, test)


@pytest.mark.parametrize(("choice", "number"), [("all_pairs", 3), ("others", 2), (66, 66)])
def test_quality_table_letters_of_scipy_paired_tests(choice, number):
    values = {"cite": per_topic(0), "co-cite": per_topic(1, n=12)}
    table = quality_table(values, comparisons=choice)
    letters = dict(zip(SYSTEMS, "abc", strict=True))
    assert set(table["comparisons"]) == {number}
    assert set(table["marker"]) > {""}
    for row in table.itertuples():
        own = values[row.task][row.system][row.metric]
        assert row.value == pytest.approx(own.mean()) and row.n == len(own)
        expected = ""
        for other, letter in letters.items():
            theirs = values[row.task][other][row.metric]
            if other != row.system and own.mean() > theirs.mean():
                p = stats.ttest_rel(own, theirs).pvalue
                expected += letter if p * number < 0.05 else ""
        assert row.marker == expected


def test_quality_table_order_of_rows():
    table = quality_table({"cite": per_topic(0), "co-cite": per_topic(1)})
    assert list(table["row"]) == list("aaaabbbbcccc")
    assert table[["task", "metric"]].head(4).values.tolist() == [
        ["cite", "MAP"],
        ["cite", "nDCG"],
        ["co-cite", "MAP"],
        ["co-cite", "nDCG"],
    ]
    letters = {"BM25": "h", "TILDE": "x", "TILDEv2": "i"}
    names = quality_table({"cite": per_topic(0)}, comparisons=1, letters=letters)
    assert list(names["row"].unique()) == ["h", "x", "i"]
    assert "hi" in set(names["marker"])


def test_quality_table_single_system():
    table = quality_table({"cite": {"BM25": per_topic(0)["BM25"]}})
    assert list(table["marker"]) == ["", ""] and set(table["comparisons"]) == {0}


def test_quality_table_equals_pytrec_eval():
    frame, lists, first, _ = judged(0)
    run = lists.run(first)
    table = quality_table({"cite": {"BM25": evaluate(run, frame)}}).set_index("metric")["value"]
    result = pytrec_eval.RelevanceEvaluator(
        {
            q: dict(zip(g["document"], g["relevance"], strict=True))
            for q, g in frame.groupby("query")
        },
        {"map", "ndcg"},
    ).evaluate(
        {q: dict(zip(g["document"], g["score"], strict=True)) for q, g in run.groupby("query")}
    )
    assert table["MAP"] == pytest.approx(np.mean([v["map"] for v in result.values()]))
    assert table["nDCG"] == pytest.approx(np.mean([v["ndcg"] for v in result.values()]))


@pytest.mark.parametrize("over", ["query", "run"])
def test_pairing_scales_each_split_alone(over):
    frame, lists, first, second = judged(1)
    selection = np.arange(len(first)) % 3 == 0
    both = pairing(lists, first, second, selection, over=over)
    for rows, result in ((selection, both.test), (~selection, both.validation)):
        part = lists.topics(rows)
        scaled = [z_scores(scores[rows], part.listed, over=over) for scores in (first, second)]
        run = part.run(interpolate(*scaled, [0.3])[0])
        expected = evaluate(run, frame[frame["query"].isin(part.queries)])
        np.testing.assert_allclose(result.topic_values(0.3), expected.loc[part.queries], atol=1e-12)


def test_tuned_values_per_measure_or_for_one():
    both = {"cite": one_topic_sweeps()}
    values, alphas = tuned_values(both)
    assert alphas["alpha"].tolist() == [0.5, 1.0]
    assert values["cite"].values.tolist() == [[0.5, 0.7], [0.6, 0.8], [0.2, 0.95]]
    values, alphas = tuned_values(both, "MAP")
    assert alphas["alpha"].tolist() == [0.5, 0.5]
    assert values["cite"]["nDCG"].tolist() == [0.4, 0.5, 0.6]


def test_tuned_values_ignore_test_topics():
    both = one_topic_sweeps()
    worse = Sweep(
        both.test.alphas, both.test.queries, {m: 1 - v for m, v in both.test.values.items()}
    )
    _, alphas = tuned_values({"cite": both})
    _, same = tuned_values({"cite": Pairing(both.validation, worse)})
    pd.testing.assert_frame_equal(alphas, same)


def test_interpolation_table_singles_and_combinations():
    both = one_topic_sweeps()
    singles = {"cite": {"BM25": both.test.topic_values(1.0), "TILDE": both.test.topic_values(0.0)}}
    table = interpolation_table(singles, {"BM25+TILDE": {"cite": both}}, tune_for="MAP")
    assert list(table["system"].unique()) == ["BM25", "TILDE", "BM25+TILDE"]
    assert list(table["row"].unique()) == ["a", "b", "c"]
    assert set(table["comparisons"]) == {3}
    combined = table[table["system"] == "BM25+TILDE"]
    assert combined["alpha"].tolist() == [0.5, 0.5]
    assert combined["value"].tolist() == pytest.approx([1.3 / 3, 0.5])
    assert table[table["system"] != "BM25+TILDE"]["alpha"].isna().all()
    assert list(singles["cite"]) == ["BM25", "TILDE"]


def test_noise_levels_over_seeds():
    _, lists, first, _ = judged(2)
    levels = noise_levels(lists, first, seeds=range(4))
    control = noise_oracle(lists, first, seeds=range(4))
    for metric in ("MAP", "nDCG"):
        values = control.loc[metric, "value"]
        assert levels.loc[metric, "noise_value"] == pytest.approx(values.mean())
        assert levels.loc[metric, "noise_sd"] == pytest.approx(values.std(ddof=1))


def test_oracle_table_published_rows():
    frame, lists, first, second = judged(3)
    result = pairing(lists, first, second, np.arange(len(first)) > 3).test
    test = lists.topics(np.arange(len(first)) > 3)
    singles = {"cite": {"BM25": result.topic_values(1.0), "TILDE": result.topic_values(0.0)}}
    noise = {"cite": noise_levels(test, first[4:], seeds=range(3))}
    table = oracle_table({"BM25+oracle TILDE": {"cite": result}}, singles, noise)
    assert list(table["row"].unique()) == list(ORACLE_ROWS)
    for metric in ("MAP", "nDCG"):
        selection = oracle(result, metric)
        cells = table[table["metric"] == metric].set_index("row")
        summary = oracle_summary(selection)
        assert cells["value"].tolist() == pytest.approx([summary[n] for n in ORACLE_ROWS.values()])
        quality = cells.loc["ranking quality"]
        expected = "".join(
            letter
            for letter, frame in zip("ab", singles["cite"].values(), strict=True)
            if stats.ttest_rel(selection["value"], frame[metric]).pvalue * 2 < 0.05
        )
        assert (quality["marker"], quality["comparisons"], quality["n"]) == (expected, 2, 20)
        assert expected
        assert quality["noise_value"] == noise["cite"].loc[metric, "noise_value"]
        assert set(cells["marker"].iloc[1:]) == {""}
        assert cells["noise_value"].iloc[1:].isna().all()


def test_oracle_table_order_of_rows():
    both = one_topic_sweeps()
    singles = {
        "cite": {"BM25": both.test.topic_values(1.0)},
        "co-cite": {"BM25": both.test.topic_values(1.0)},
    }
    noise = dict.fromkeys(singles, pd.DataFrame({"noise_value": 0.5}, index=["MAP", "nDCG"]))
    table = oracle_table(
        dict.fromkeys(["z", "y"], dict.fromkeys(singles, both.test)), singles, noise
    )
    assert list(table["combination"]) == ["z"] * 20 + ["y"] * 20
    assert list(table["row"][:20]) == list(np.repeat(list(ORACLE_ROWS), 4))
    assert table["task"].head(4).tolist() == ["cite", "cite", "co-cite", "co-cite"]


def test_curves_by_weight_by_hand():
    both = one_topic_sweeps()
    noise = {"cite": pd.DataFrame({"noise_value": [0.65, 0.85]}, index=["MAP", "nDCG"])}
    table = curves_by_weight({"BM25+TILDE": {"cite": both.test}}, noise)
    means = table[table["metric"] == "MAP"]
    assert means["alpha"].tolist() == [0.0, 0.5, 1.0]
    assert means["value"].tolist() == pytest.approx([0.8 / 3, 1.3 / 3, 1.6 / 3])
    assert means["oracle"].tolist() == pytest.approx([2.0 / 3] * 3)
    assert set(means["noise"]) == {0.65} and len(table) == 6


def test_published_units_map_in_percent():
    rows = ["ranking quality", "ranking quality", "alpha_average"]
    table = pd.DataFrame({"row": rows, "metric": ["MAP", "nDCG", "MAP"], "value": 0.5})
    published = published_units(table)
    assert published["value"].tolist() == [50.0, 0.5, 0.5]
    assert published["unit"].tolist() == ["percent", "", ""]
    assert table["value"].tolist() == [0.5] * 3


@pytest.mark.parametrize(
    ("topics", "comparisons", "expected"),
    [
        ([40, 40], [3, 3], "over 40 queries, Bonferroni for 3 comparisons"),
        ([9, 120, 40], [3, 3, 3], "over 9 to 120 queries, Bonferroni for 3 comparisons"),
        # Rows that are not tested have none.
        ([20, 20], [0, 2], "over 20 queries, Bonferroni for 2 comparisons"),
    ],
)
def test_letters_note_topics_and_comparisons(topics, comparisons, expected):
    table = pd.DataFrame({"n": topics, "comparisons": comparisons})
    assert letters_note(table) == f"letters: paired t-test {expected}"


def test_letters_note_two_tasks():
    table = quality_table({"cite": per_topic(0), "co-cite": per_topic(1, n=12)})
    assert "over 12 to 40 queries, Bonferroni for 3 " in letters_note(table)


def test_mean_with_interval_equals_scipy_bootstrap():
    values = pd.Series(np.random.default_rng(0).random(30).round(3))
    result = mean_with_interval(values, 5)
    peer = stats.bootstrap(
        (values,), np.mean, n_resamples=2000, method="percentile", confidence_level=0.95, rng=5
    ).confidence_interval
    assert (result["low"], result["high"]) == (peer.low, peer.high)
    assert result["value"] == pytest.approx(values.mean())
    selection = np.random.default_rng(1).integers(30, size=(20_000, 30))
    plain = np.percentile(values.to_numpy()[selection].mean(axis=1), [2.5, 97.5])
    assert [result["low"], result["high"]] == pytest.approx(plain, abs=0.01)


def test_mean_with_interval_by_hand():
    # Of two topics, a quarter of the samples are 0, a half 1/2, a quarter 1.
    assert mean_with_interval(pd.Series([0.0, 1.0]), 0) == {"value": 0.5, "low": 0.0, "high": 1.0}
    assert mean_with_interval(pd.Series([0.25] * 3), 0) == dict.fromkeys(
        ["value", "low", "high"], 0.25
    )


def test_mean_with_interval_rounding_errors():
    last_bits = pd.Series([2e-16, -1e-16, 2e-16])
    assert mean_with_interval(last_bits, 0) == {"value": 0.0, "low": 0.0, "high": 0.0}
    assert mean_with_interval(pd.Series([2e-12] * 3), 0)["low"] > 0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "0 of 0 topics"),
        ([0.5], "1 of 1 topics"),
        ([0.5, np.nan, 0.1], "2 of 3 topics"),
    ],
)
def test_mean_with_interval_too_few_values(values, message):
    with pytest.raises(ValueError, match=f"{message} have a value; an interval needs at least two"):
        mean_with_interval(pd.Series(values, dtype=float), 0)


def ndcg(**by_topic):
    return pd.DataFrame(
        {"MAP": 0.0, "nDCG": by_topic.values()}, index=pd.Index(by_topic, name="query")
    )


def kinds_of_queries():
    """Two tasks of long queries, which share r, and one of short queries."""
    return {
        "cite": {"BM25": ndcg(q=0.2, r=0.4), "TILDE": ndcg(q=0.5, r=0.6)},
        "known item": {"BM25": ndcg(x=0.1, y=0.3, z=0.5), "TILDE": ndcg(x=0.1, y=0.3, z=0.5)},
        "co-cite": {"BM25": ndcg(r=0.8, s=0.3), "TILDE": ndcg(r=0.4, s=0.6)},
    }


KINDS = {"cite": "long", "known item": "short", "co-cite": "long"}


def test_short_and_long_by_hand():
    marks = short_and_long(kinds_of_queries(), KINDS, 0)
    assert list(marks) == ["system", "queries", "measure", "value", "low", "high"]
    gain = "nDCG minus that of BM25"
    assert marks[["queries", "system", "measure"]].values.tolist() == [
        [kind, system, measure]
        for kind in ("long", "short")
        for system in ("BM25", "TILDE")
        for measure in ("nDCG", gain)
    ]
    # r counts once, with 0.6 for BM25 and 0.5 for TILDE: q 0.2 and 0.5, s 0.3 and 0.6.
    assert marks["value"].tolist() == pytest.approx(
        [1.1 / 3, 0.0, 1.6 / 3, 0.5 / 3, 0.3, 0.0, 0.3, 0.0]
    )
    cells = marks.set_index(["queries", "system", "measure"])[["value", "low", "high"]]
    for query_kind, system, measure, values in (
        ("long", "TILDE", "nDCG", [0.5, 0.5, 0.6]),
        ("long", "TILDE", gain, [0.3, -0.1, 0.3]),
        ("short", "BM25", "nDCG", [0.1, 0.3, 0.5]),
    ):
        expected = mean_with_interval(pd.Series(values), 0)
        assert cells.loc[query_kind, system, measure].to_dict() == pytest.approx(expected)


def test_short_and_long_equal_rankings():
    values = kinds_of_queries()
    values["known item"]["TILDE"] += 1e-16
    marks = short_and_long(values, {"known item": "short"}, 0)
    gains = marks[(marks["system"] == "TILDE") & (marks["measure"] != "nDCG")]
    assert gains[["value", "low", "high"]].values.tolist() == [[0.0, 0.0, 0.0]]


def test_short_and_long_missing_kind():
    marks = short_and_long(kinds_of_queries(), {"known item": "short"}, 0)
    assert set(marks["queries"]) == {"short"}


def test_quality_and_oracle_table_different_topics():
    values, both = per_topic(0), one_topic_sweeps()
    further = {"BM25": values["BM25"], "TILDE": values["TILDE"][1:]}
    with pytest.raises(ValueError, match="TILDE"):
        quality_table({"cite": further})
    noise = {"cite": pd.DataFrame({"noise_value": 0.5}, index=["MAP", "nDCG"])}
    with pytest.raises(ValueError, match="sample"):
        oracle_table({"x": {"cite": both.test}}, {"cite": values}, noise)


@pytest.mark.parametrize(
    ("in_test", "message"),
    [
        ([True] * 24, "24 of 24 topics are test topics"),
        ([False] * 24, "0 of 24 topics are test topics"),
    ],
)
def test_pairing_single_split(in_test, message):
    _, lists, first, second = judged(4)
    with pytest.raises(ValueError, match=message):
        pairing(lists, first, second, in_test)


def test_gain_marks_over_the_first_system():
    both = one_topic_sweeps()
    singles = {"cite": {"BM25": both.test.topic_values(1.0)}}
    levels = {"noise_gain": [0.1, 0.2], "noise_sd": [0.01, 0.02]}
    noise = {"cite": pd.DataFrame(levels, index=["MAP", "nDCG"])}
    marks = gain_marks("BM25", {"TILDE": {"cite": both}}, singles, noise, seed=0)
    assert set(marks["combination"]) == {"BM25 + TILDE"} and len(marks) == 6
    cells = marks.set_index(["metric", "series"])[["value", "low", "high"]]
    # MAP at the tuned weight of 0.5, and at the best ones, less that at 1.
    for series, gains in (("tuned", [0.1, 0.3, -0.7]), ("oracle", [0.1, 0.3, 0.0])):
        expected = mean_with_interval(pd.Series(gains), 0)
        assert cells.loc["MAP", series].to_dict() == pytest.approx(expected)
    assert cells.loc["nDCG", "noise oracle"].tolist() == pytest.approx([0.2, 0.16, 0.24])


def test_add_control_once_without_marker():
    both = one_topic_sweeps()
    singles = {"cite": {"BM25": both.test.topic_values(1.0)}}
    levels = {"noise_value": [0.55, 0.65], "noise_sd": 0.01, "noise_gain": 0.1}
    noise = {"cite": pd.DataFrame(levels, index=["MAP", "nDCG"])}
    names = dict.fromkeys(["x", "y"], {"cite": both.test})
    table = oracle_table(names, singles, noise)
    output = round_counts(add_control(table, "BM25"))
    control = output[len(table) :]
    assert control["value"].tolist() == [0.55, 0.65] and set(control["marker"]) == {""}
    assert set(control["combination"]) == {"BM25+oracle noise"}
    counts = output["row"].str.startswith("n_")
    assert {type(value) for value in output.loc[counts, "value"]} == {int}
    assert output.loc[~counts, "value"].tolist()[: len(table)] == table.loc[
        ~table["row"].str.startswith("n_"), "value"
    ].tolist() + [0.55, 0.65]


def test_plotted_and_published_cells():
    both = one_topic_sweeps()
    noise = {"cite": pd.DataFrame({"noise_value": [0.65, 0.85]}, index=["MAP", "nDCG"])}
    sweeps = dict.fromkeys(["TILDE", "TILDEv2"], {"cite": both.test})
    marks = curve_marks(curves_by_weight(sweeps, noise))
    assert marks["series"].value_counts().to_dict() == {
        "curve": 12,
        "oracle": 4,
        "noise oracle": 4,
    }
    assert not marks[marks["series"] != "curve"].duplicated([*CELL, "series"]).any()
    plotted = plotted_cells(marks, "BM25", {"TILDE": "tiny", "TILDEv2": "tinier"})
    highest = plotted[plotted["x"] == "argmax"]
    assert highest["value"].tolist() == [1.0] * 4 and set(plotted["x_name"]) == {"alpha"}
    assert set(map(tuple, plotted[["combination", "detail"]].to_numpy())) == {
        ("BM25+TILDE", "tiny"),
        ("BM25+TILDEv2", "tinier"),
    }
    published = published_cells(plotted, "BM25")
    # Both ends of four curves, four oracles, and the best weight with TILDE for two measures.
    assert len(published) == 8 + 4 + 2
    assert set(published.loc[published["x"] == "argmax", "combination"]) == {"BM25+TILDE"}
    assert not published["series"].str.contains("noise").any()


def test_name_combinations_first_system():
    both = one_topic_sweeps()
    details = {"BM25": "STM2", "TILDE": "tiny", "TILDEv2": "tinier"}
    pairings = {"TILDE": {"cite": both}, "TILDEv2": {"cite": both}}
    combinations, names = name_combinations("BM25", pairings, details)
    assert list(combinations) == ["BM25+TILDE", "BM25+TILDEv2"]
    assert names["BM25+TILDEv2"] == "STM2 + tinier" and names["BM25"] == "STM2"


def test_expansion_means_over_documents():
    new_terms = {
        "200": pd.DataFrame({"document_id": ["d", "e"], "found": [40, 60], "added": [40, 0]}),
        "300": pd.DataFrame({"document_id": ["d", "e"], "found": [100, 200], "added": [3, 4]}),
    }
    assert expansion_means(new_terms).values.tolist() == [
        ["200", "found", 50.0],
        ["200", "added", 20.0],
        ["300", "found", 150.0],
        ["300", "added", 3.5],
    ]


def test_task_reports_all_tasks():
    frame, lists, first, second = judged(5)
    ranked = {
        task: ({"a": lists.run(first), "b": lists.run(second)}, frame)
        for task in ("cite", "co-cite")
    }
    names = {"a": "BM25 STM2, tuned", "b": "TILDE tiny"}
    reports = task_reports(ranked, names, ["MAP", "nDCG"], 0.05)
    assert reports["markdown"].count("## ") == 2 and reports["markdown"].startswith("## cite\n\n")
    assert reports["latex"].startswith("% cite\n") and "% co-cite\n" in reports["latex"]
    for text in reports.values():
        assert text.endswith("\n") and "BM25 STM2 tuned" in text and "TILDE tiny" in text


def test_effective_weights():
    values = ((0.0, 0.6), (0.1, 0.7), (0.5, 0.61), (0.9, 0.5), (1.0, 0.4))
    points = pd.DataFrame(values, columns=["alpha", "value"])
    points = points.assign(combination="TILDE", task="cite", metric="MAP")
    expected = [["BM25+TILDE", "cite", "MAP", 2]]
    assert effective_weights(points, "BM25").values.tolist() == expected


def test_runs_by_seed_all_rows_once():
    runs = {"a": Path("bm25.run"), "e": Path("tilde.{task}.seed-{seed}.run")}
    first, second = runs_by_seed(runs, [1, 2])
    assert list(map(str, first.values())) == ["bm25.run", "tilde.{task}.seed-1.run"]
    assert list(map(str, second.values())) == ["tilde.{task}.seed-2.run"]


def test_mean_over_seeds_by_topic():
    frame = pd.DataFrame({"MAP": [0.25, 0.5]}, index=["q1", "q2"])
    trainings = [{"cite": {"a": frame, "e": frame}}, {"cite": {"e": frame + 0.25}}]
    result = mean_over_seeds(trainings)["cite"]
    assert result["a"].equals(frame) and result["e"]["MAP"].tolist() == [0.375, 0.625]
    assert means_by_seed(trainings, ["e"]).values.tolist() == [
        ["e", "cite", "MAP", 0.375],
        ["e", "cite", "MAP", 0.625],
    ]
