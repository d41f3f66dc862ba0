"""Numbers that errata of chapters 5 and B of lajewska2025 give, counted again from released data.

The files are read with pandas alone, so that a fault of the project's readers is seen too.
"""

import ast
import math
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest

from everycell.sources import fetch
from papers.lajewska2025.answerability_data import FILES as LABELS
from papers.lajewska2025.cast_snippets_data import FILES, SELECTION_FILES

pytestmark = pytest.mark.released

TURN, PASSAGE = "Input.turn_id", "Input.passage_id"


@pytest.fixture
def read(mirror, tmp_path):
    """Read released files, by registry key, into one frame."""

    def frame(*keys: str) -> pd.DataFrame:
        paths = [fetch(key, tmp_path, mirror=mirror, network=False) for key in keys]
        return pd.concat((pd.read_csv(path) for path in paths), ignore_index=True)

    return frame


def published_table(repository: Path, table: str) -> pd.DataFrame:
    """Published cells, as numbers where possible."""
    return pd.read_csv(repository / "published" / "lajewska2025" / f"{table}.csv")


def test_costs_of_sentences_lack_the_fee(read, repository):
    """Table 5.1, `sentence_costs_without_the_fee`."""
    cells = published_table(repository, "table_5_1").set_index(["row", "task_variant", "metric"])[
        "value"
    ]
    for row, group, fee, full in (
        ("MTurk regular", "regular", 0.20, 0.51),
        ("MTurk master", "master", 0.25, 0.70),
    ):
        passages = read(*FILES[f"paragraph_{group}"])
        selection = read(*SELECTION_FILES[f"selection_{group}"])
        sentences = read(*FILES[f"sentence_{group}"])
        assert set(passages["Reward"]) == {"$0.30"}
        assert set(selection["Reward"]) == set(sentences["Reward"]) == {"$0.10"}
        number = len(sentences.drop_duplicates([TURN, "Input.sentence_id"]))
        item = 0.1 * (1 + number / len(selection.drop_duplicates([TURN, PASSAGE])))
        assert round(item, 2) == float(cells[row, "Sentence", "cost_usd"])
        assert round(item * (1 + fee), 2) == full
        # The paper rounds half a cent up.
        cost = math.floor(100 * 0.3 * (1 + fee) + 0.5) / 100
        assert cost == float(cells[row, "Paragraph", "cost_usd"])


def test_times_by_topic(read):
    """Table 5.1, its explanation: medians of the two topics, weighted with their passages."""
    result = {}
    for group in ("regular", "master"):
        seconds = total = 0.0
        for topic in range(2):
            selection = read(SELECTION_FILES[f"selection_{group}"][topic])
            sentences = read(FILES[f"sentence_{group}"][topic])
            passages = len(selection.drop_duplicates([TURN, PASSAGE]))
            seconds += passages * selection["WorkTimeInSeconds"].median()
            seconds += len(sentences) / 3 * sentences["WorkTimeInSeconds"].median()
            total += passages
        result[group] = seconds / total
    assert {group: round(value, 1) for group, value in result.items()} == {
        "regular": 975.1,
        "master": 305.7,
    }


def test_tokens_of_an_annotation(read):
    """Table 5.4, `tokens_of_an_annotation`."""
    rows = read(*FILES["dataset"])
    texts = rows["text_spans_2"].map(ast.literal_eval)
    tokens = sum(len(snippet.split()) for snippets in texts for snippet in snippets)
    assert (tokens, len(rows), int(texts.map(len).sum())) == (220261, 5565, 12787)
    assert round(tokens / len(rows), 2) == 39.58
    assert round(tokens / texts.map(len).sum(), 2) == 17.23


def test_rankings_not_sets(read):
    """Table 5.5, `not_all_sets_of_three_passages`."""
    first = read(LABELS["snippets"]).rename(columns={TURN: "turn_id", PASSAGE: "passage_id"})
    second = read(LABELS["unanswerable"]).assign(answerability=0)
    labels = pd.concat([first, second])
    test = labels[labels["partition"] == "test"]
    sets, tuples, with_a_passage_twice, in_two_orders = [], [], 0, 0
    for turn, rows in test.groupby("turn_id"):
        ids = rows["passage_id"].tolist()
        assert len(ids) == 10
        answering = set(rows.loc[rows["answerability"] == 1, "passage_id"])
        triples = set(combinations(ids, 3))
        proper = [triple for triple in triples if len(set(triple)) == 3]
        with_a_passage_twice += len(triples) - len(proper)
        in_two_orders += len(proper) - len(set(map(frozenset, proper)))
        tuples += [bool(answering & set(triple)) for triple in triples]
        sets += [bool(answering & triple) for triple in set(map(frozenset, proper))]
        assert len(set(ids)) == (9 if turn == "93_3" else 10)
    assert (len(tuples), tuples.count(False)) == (4539, 504)
    assert (len(sets), sets.count(False)) == (4524, 491)
    assert (in_two_orders, with_a_passage_twice) == (7, 8)


def test_questions_by_answerable_passages(read, repository):
    """Table B.1, `questions_without_an_answer`, and the two counts of its sentences."""
    rows = read(LABELS["snippets"])
    answerable = rows.groupby(TURN)["answerability"].sum()
    assert set(rows.groupby(TURN).size()) == {5}
    at_least = [int((answerable >= number).sum()) for number in range(1, 6)]
    assert at_least == [370, 368, 365, 352, 323]
    rankings = rows.groupby(TURN)["answerability"].apply(
        lambda labels: all(map(any, combinations(labels, 3)))
    )
    cells = published_table(repository, "table_B_1").query("dataset == 'CAsT-snippets'")
    counts = cells.set_index("row")["value"]
    assert rankings.sum() == counts["# ans. questions"]
    assert (~rankings).sum() == counts["# unans. questions"]
    of_labels = sum(len(ast.literal_eval(cell)) for cell in rows["answerable_sentences"])
    of_pairs = int(read(LABELS["snippets_sentences"])["labels"].sum())
    assert (of_labels, of_pairs) == (6397, counts["# sent. w/ answers in ans. QPP"])


def test_passages_of_the_sample(read, repository):
    """Table B.2, `one_id_for_two_passages` and `ranking_of_a_training_question`."""
    rows = read(LABELS["snippets"])
    of_turn = rows[rows[TURN] == "81_7"].set_index(PASSAGE)
    assert set(of_turn["partition"]) == {"train"}
    cells = published_table(repository, "table_B_2").dropna(subset="sentence_no")
    for passage, number in (("MARCO_8270733", 2), ("MARCO_8270735", 3)):
        labels = cells.loc[cells["passage_no"] == number, "value"]
        answers, further = (
            len(ast.literal_eval(of_turn.loc[passage, f"{kind}_sentences"]))
            for kind in ("answerable", "unanswerable")
        )
        assert (answers, answers + further) == (labels.sum(), len(labels))
