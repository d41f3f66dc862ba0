"""lajewska2025, chapter 6: crowd studies on planted votes, and the file of a user's votes."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from chapter_jobs import FunctionJob
from scipy import stats

from papers.lajewska2025 import ch6_crowd
from papers.lajewska2025.ch6_crowd import (
    breadth_table,
    check_comparisons,
    check_queries,
    correlation_table,
    preferences,
    rating_p,
    scores_of_variants,
    truth_table,
    vote_table,
)
from papers.lajewska2025.ch6_votes import (
    COLUMNS,
    COMPARISONS,
    PLANTED,
    VOTED,
    Study,
    accepted_votes,
    plant_votes,
    planted_truth,
    query_probabilities,
    random_share,
    read_votes,
    rejection_shares,
)

STUDY = Study(
    queries=44,
    workers=5,
    share=0.15,
    rating=0.6,
    agreement=0.1,
    inattentive=0.3,
    rejected_from=5,
)
#: Large enough that each planted difference is found, and without other effects.
LARGE = STUDY._replace(queries=400, inattentive=1e-9, agreement=1e-9)
NOTHING = LARGE._replace(share=0.0, rating=0.0)


def planted(study: Study, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Accepted votes, as read from a file, and scores of a simulated study."""
    votes, scores = plant_votes(study, np.random.default_rng(seed))
    votes = votes.assign(rating=pd.to_numeric(votes["rating"], errors="coerce"))
    return accepted_votes(votes, study.rejected_from), scores


def marked(table: pd.DataFrame) -> set[tuple[str, ...]]:
    """Keys of the marked cells."""
    keys = [name for name in ("input", "metric") if name in table]
    return set(map(tuple, table.loc[table["marker"] == "*", keys].to_numpy()))


def expected_marks(inputs: list[str]) -> set[tuple[str, str]]:
    """Input and column of each planted difference of Table 6.5."""
    names = VOTED | {"follow-up relevance": "FQ_rel", "follow-up usefulness": "FQ_use"}
    return {(kind.capitalize(), names[name]) for kind in inputs for name in PLANTED[kind]}


INPUTS = ["relevant", "retrieved", "irrelevant"]


def test_vote_table_finds_what_is_planted() -> None:
    votes, _ = planted(LARGE)
    table = vote_table(votes, INPUTS)
    assert expected_marks(INPUTS) <= marked(table)
    values = table.set_index(["input", "row", "metric"])["value"]
    assert values["Relevant", "GINGER", "Con"] == pytest.approx(0.65, abs=0.03)
    assert values["Irrelevant", "GINGER", "Coh"] == pytest.approx(0.35, abs=0.03)
    assert values["Irrelevant", "GINGER", "FQ_rel"] < values["Irrelevant", "Baseline", "FQ_rel"]
    shares = table[~table["metric"].str.startswith("FQ")]
    assert np.allclose(shares.groupby(["input", "metric"])["value"].sum(), 1)
    assert set(table.loc[table["marker"] == "*", "row"]) == {"GINGER"}


def test_vote_table_finds_nothing_if_nothing_is_planted() -> None:
    """About 5 % of the 24 cells are marked without a preference, not the planted ones."""
    marks = [marked(vote_table(planted(NOTHING, seed)[0], INPUTS)) for seed in range(10)]
    n_marks = sum(map(len, marks))
    assert n_marks / (10 * 24) < 0.1
    assert all(not expected_marks(INPUTS) <= cells for cells in marks)


def test_truth_table_expected_shares() -> None:
    """Over many studies, measured shares have the expectation that the truth states."""
    tables = [truth_table(STUDY, planted(STUDY, seed)[0]) for seed in range(25)]
    values = pd.concat(tables).groupby(["comparison", "question", "metric"])["value"].mean()
    wide = values.unstack("metric")
    assert (wide["share"] - wide["expected"]).abs().max() < 0.03
    # The checks accept most workers who guess, so shares are nearer to 0.5 than planted.
    assert (wide["planted"] - wide["share"]).abs().max() > 0.03
    assert random_share(STUDY) == pytest.approx(0.191 / (0.191 + 0.7), abs=1e-3)


def test_planted_truth_without_random_workers() -> None:
    truth = planted_truth(STUDY._replace(inattentive=0.0))
    assert (truth["planted"] == truth["expected"]).all()
    assert set(truth["planted"].round(2)) == {0.35, 0.5, 0.65}


def test_query_probabilities_correlation() -> None:
    """Votes of two workers on a query have the stated correlation."""
    rng = np.random.default_rng(0)
    probability = query_probabilities(0.4, 0.2, (200_000,), rng)
    first, second = (rng.random(200_000) < probability for _ in range(2))
    assert probability.mean() == pytest.approx(0.4, abs=0.005)
    assert np.corrcoef(first, second)[0, 1] == pytest.approx(0.2, abs=0.01)


def test_rejection_shares_errors_of_both_tests() -> None:
    table = rejection_shares(STUDY, 4000, np.random.default_rng(0))
    values = table.set_index(["votes", "planted", "metric"])["value"]
    by_votes, by_queries = "chi-square test of votes", "sign test of queries"
    correlated = "correlated in a query"
    # The variance of correlated votes is 1.4 times as large: p of 1.96 / sqrt(1.4).
    expected = 2 * stats.norm.sf(1.96 / 1.4**0.5)
    assert values["independent", "0.50", by_votes] == pytest.approx(0.05, abs=0.015)
    assert values[correlated, "0.50", by_votes] == pytest.approx(expected, abs=0.02)
    assert values[correlated, "0.50", by_queries] < 0.06
    assert (values.xs("0.65", level="planted") > 0.8).all()


def test_breadth_table_finds_what_is_planted() -> None:
    table = breadth_table(*planted(LARGE)).set_index(["row", "metric"])
    deep = table.loc["GINGER deep"]
    assert (deep["marker"] == "*").all() and (table.loc["GINGER broad"]["marker"] == "").all()
    assert deep["value"].round(2).to_dict() == pytest.approx(
        {"Completeness": 0.15, "Resp. breadth": 0.35, "Resp. depth": 0.35}, abs=0.03
    )


def test_correlation_table_finds_what_is_planted() -> None:
    correlated = LARGE._replace(agreement=0.3)
    table = correlation_table(*planted(correlated))
    by_row = table.set_index(["row", "automatic_metric"])
    coherence = by_row.loc[("Coherence", "Answer relevance")]
    assert coherence["value"] > 0.3 and coherence["marker"] == "*"
    independent = by_row.drop(("Coherence", "Answer relevance"))
    independent = independent.drop([("Breadth", "Completeness"), ("Depth", "Completeness")])
    assert independent["value"].abs().max() < 0.1
    # Broad responses are planted as broader, deeper and more complete.
    for name in ("Breadth", "Depth"):
        assert by_row.loc[(name, "Completeness"), "value"] > 0.1
    published = pd.read_csv("published/lajewska2025/table_C_8.csv")
    keys = ["row", "automatic_metric", "metric"]
    assert table[keys].equals(published[keys])


def test_preferences_counts_queries() -> None:
    rows = [
        ("relevant", f"q{query}", f"w{query}{worker}", 0, "coherence", response, np.nan)
        for query, responses in enumerate([("GINGER", "GINGER", "Baseline"), ("Baseline",) * 3])
        for worker, response in enumerate(responses)
    ]
    table = preferences(pd.DataFrame(rows, columns=list(COLUMNS)))
    values = table.set_index("metric")["value"]
    assert values["votes"] == 6 and values["share"] == pytest.approx(2 / 6)
    assert (values["won"], values["lost"], values["tied"]) == (1, 1, 0)


def test_rating_p_against_scipy() -> None:
    ratings = [1] * 5 + [2] * 9 + [3] * 6 + [1] * 9 + [2] * 4 + [3] * 7
    answers = pd.DataFrame({"response": ["a"] * 20 + ["b"] * 20, "rating": ratings})
    assert rating_p(answers) == stats.chi2_contingency([[5, 9, 6], [9, 4, 7]]).pvalue
    assert rating_p(answers.assign(rating=3)) == 1


def test_scores_of_variants_names() -> None:
    rows = [
        ("GINGER", "relevant", "q1", "Compl", 0.1),
        ("GINGER", "irrelevant", "q1", "Compl", 0.2),
        ("GINGER -fluency (deep)", "relevant", "q1", "Compl", 0.3),
        ("GINGER -fluency", "relevant", "q1", "Compl", 0.4),
    ]
    columns = ["system", "input", "topic", "metric", "value"]
    scores = scores_of_variants(pd.DataFrame(rows, columns=columns))
    assert list(map(tuple, scores.to_numpy())) == [
        ("relevant", "q1", "GINGER", "Compl", 0.1),
        ("completeness", "q1", "GINGER deep", "Compl", 0.3),
    ]


@dataclass
class VotesFile:
    """A small file of votes that a test can damage."""

    path: Path
    table: pd.DataFrame

    def read(self) -> pd.DataFrame:
        self.table.to_csv(self.path, index=False)
        return read_votes(self.path)


@pytest.fixture
def file(tmp_path: Path) -> VotesFile:
    votes, _ = plant_votes(STUDY._replace(queries=2), np.random.default_rng(0))
    return VotesFile(tmp_path / "votes.csv", votes.astype(str))


def test_read_votes_of_simulated_study(file: VotesFile) -> None:
    votes = file.read()
    assert votes["failed_checks"].dtype == int
    assert set(votes["comparison"]) == set(COMPARISONS)
    is_rated = votes["question"].str.startswith("follow-up")
    assert votes.loc[is_rated, "rating"].isin([1, 2, 3]).all()
    assert votes.loc[~is_rated, "rating"].isna().all()


@pytest.mark.parametrize(
    ("row", "column", "value", "message"),
    [
        (0, "comparison", "relevent", "row 2: comparison is 'relevent'; expected one of relevant"),
        (3, "query", " ", "row 5: query is ' '; expected a name"),
        (3, "worker", "", "row 5: worker is ''; expected a name"),
        (3, "worker", "w1 ", "row 5: worker is 'w1 '; expected a name without spaces"),
        (1, "failed_checks", "9", "row 3: failed_checks is '9'; expected a whole number"),
        (1, "failed_checks", "1.0", "failed_checks is '1.0'"),
        (0, "question", "clarity", "row 2: question is 'clarity'"),
        (0, "question", "depth", "depth only in the comparison completeness"),
        (0, "response", "Ginger", "row 2: response is 'Ginger'; expected Baseline or GINGER"),
        (0, "rating", "2", "row 2: rating is '2'; expected an empty rating"),
        (60, "rating", "4", "row 62: rating is '4'; expected 1, 2 or 3"),
        (60, "rating", "", "row 62: rating is ''; expected 1, 2 or 3"),
        (0, "failed_checks", "8", "expected the same number in all answers"),
    ],
)
def test_read_votes_refused(file: VotesFile, row, column, value, message) -> None:
    assert file.table["question"][60].startswith("follow-up")
    file.table.loc[row, column] = value
    with pytest.raises(ValueError, match=message):
        file.read()


def test_read_votes_repeated_answer(file: VotesFile) -> None:
    file.table.loc[len(file.table)] = file.table.loc[0]
    with pytest.raises(ValueError, match="expected one answer of a worker"):
        file.read()


def test_read_votes_missing_column(file: VotesFile) -> None:
    file.table = file.table.drop(columns="worker")
    with pytest.raises(ValueError, match="worker is missing from the columns"):
        file.read()


def test_accepted_votes_limit(file: VotesFile) -> None:
    file.table["failed_checks"] = "4"
    assert len(accepted_votes(file.read(), 5)) == len(file.table)
    assert accepted_votes(file.read(), 4).empty


def test_check_comparisons_missing_answers(file: VotesFile) -> None:
    votes = file.read()
    check_comparisons(file.path, votes, COMPARISONS)
    lacking = votes[(votes["comparison"] != "retrieved") | (votes["question"] != "sufficiency")]
    with pytest.raises(ValueError, match="never is 'sufficiency' in accepted answers of the"):
        check_comparisons(file.path, lacking, ["relevant", "retrieved"])
    check_comparisons(file.path, lacking, ["relevant", "completeness"])


def test_check_comparisons_one_response_rated(file: VotesFile) -> None:
    votes = file.read()
    is_lacking = votes["question"].eq("follow-up usefulness") & votes["response"].eq("Baseline")
    lacking = votes[~is_lacking]
    message = "never is 'Baseline' in accepted answers to 'follow-up usefulness' of the comparison"
    with pytest.raises(ValueError, match=message):
        check_comparisons(file.path, lacking, ["relevant"])
    check_comparisons(file.path, lacking, ["completeness"])


def test_check_queries_unknown(file: VotesFile) -> None:
    votes = file.read()
    _, scores = planted(STUDY._replace(queries=2))
    check_queries(file.path, votes, scores)
    with pytest.raises(ValueError, match="query is 'q2', which has no response in the comparison"):
        check_queries(file.path, votes, scores[scores["query"] == "q1"])


def test_planted_and_voted_give_the_same_table(tmp_path: Path) -> None:
    """The embedded and the full tier compute the same from the same file."""
    votes, scores = plant_votes(STUDY, np.random.default_rng(0))
    paths = {"votes": tmp_path / "votes.csv", "scores": tmp_path / "scores.parquet"}
    votes.to_csv(paths["votes"], index=False)
    scores.to_parquet(paths["scores"])
    params = {"study": STUDY._asdict(), "studies": 100, "seed": 0}
    embedded = FunctionJob(input=paths, params=params)
    ch6_crowd.planted(embedded)
    assert set(embedded.tables) == {
        *("", "majorities", "truth", "control"),
        *("table_6_3", "table_6_5", "table_6_5_majorities", "table_C_8"),
    }
    for number, name in (("2", ""), ("5", "table_6_5")):
        full = FunctionJob(input=paths, params={"rejected_from": 5}, wildcards={"number": number})
        ch6_crowd.voted(full)
        assert full.tables[""].equals(embedded.tables[name])
    published = pd.read_csv("published/lajewska2025/table_6_5.csv")
    keys = ["row", "input", "metric"]
    table = embedded.tables["table_6_5"]
    assert set(map(tuple, table[keys].to_numpy())) == set(map(tuple, published[keys].to_numpy()))


def test_compared_on_scores_of_the_pipeline(tmp_path: Path) -> None:
    votes, scores = plant_votes(STUDY, np.random.default_rng(0))
    votes.to_csv(tmp_path / "votes.csv", index=False)
    systems = {"GINGER broad": "GINGER -fluency (broad)", "GINGER deep": "GINGER -fluency (deep)"}
    used = scores[scores["comparison"].isin(["relevant", "completeness"])]
    of_pipeline = used.assign(system=used["response"].replace(systems), input="relevant")
    of_pipeline = of_pipeline.rename(columns={"query": "topic", "measure": "metric"})
    of_pipeline.iloc[::2].to_parquet(tmp_path / "inferred.parquet")
    of_pipeline.iloc[1::2].to_parquet(tmp_path / "ragas.parquet")
    files = [tmp_path / "inferred.parquet", tmp_path / "ragas.parquet"]
    job = FunctionJob(
        input={"votes": tmp_path / "votes.csv", "scores": files}, params={"rejected_from": 5}
    )
    ch6_crowd.compared(job)
    accepted = accepted_votes(read_votes(tmp_path / "votes.csv"), 5)
    assert job.tables[""].equals(breadth_table(accepted, scores))
    pd.testing.assert_frame_equal(job.tables["table_C_8"], correlation_table(accepted, scores))
