"""Rated dialogues: readers, the split behind Table 3.2, the released counts."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.base.errors import DataError
from everycell.collections.satisfaction_samples import (
    SYSTEM,
    USER,
    Sample,
    samples_from_frame,
    samples_to_frame,
)
from everycell.records.cells import read_cells
from everycell.sources import fetch
from papers.abolghasemi2026.ch3_data import (
    CAUSE_BENCHMARK,
    CAUSE_FILES,
    FILES,
    RULES,
    RatedDialogue,
    compare_histories,
    match_counterfactuals,
    most_frequent_rating,
    read_dialogues,
    read_samples,
    read_split,
    remove_apologies,
    split_samples,
)

ASKED, TOLD = (USER, "A boat to the island?"), (SYSTEM, "At noon: two seats.")
USS = "\nUSER\tA boat?\tAsk\t3,3,4\nSYSTEM\tAt noon.\tTell\t\nUSER\tOVERALL\t\t3,2,4\n"
SPLIT = "['A boat?|||At noon.', 'Thanks.|||']\t[1, 2]\t2\n"
LINE = str({"dialogue": "USER: A boat?\nSYSTEM: At noon.", "binary_score": 1}) + "\n"


def sample(name="toy-1", turns=(ASKED, TOLD), satisfied=True):
    return Sample(name, "toy", turns, satisfied)


def rated(user, ratings):
    """A dialogue in which the system says the same after each utterance of the user."""
    turns = [turn for text in user for turn in ((USER, text), TOLD)][:-1]
    utterance_ratings = [result for rating in ratings for result in ((rating,), ())][:-1]
    return RatedDialogue(tuple(turns), tuple(utterance_ratings), (3,))


def before(user):
    """The sample of the split that ends with the last of these utterances."""
    return rated(user, [3] * len(user)).turns


@pytest.fixture
def save(tmp_path):
    def write(text, name="file.txt"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_read_samples_speakers_texts_and_labels(save):
    text = str({"dialogue": "USER: Time: 8:30?\nSYSTEM: Yes: 8:30.", "binary_score": 0}) + "\r\n"
    first, second = read_samples(save(LINE + text), "toy", "test")
    assert (first.id, first.satisfied) == ("toy-test-0001", True)
    assert second == Sample(
        "toy-test-0002", "toy", ((USER, "Time: 8:30?"), (SYSTEM, "Yes: 8:30.")), False
    )


def test_match_counterfactuals_flipped_labels():
    main = [sample("a"), sample("b", satisfied=False), sample("c")]
    other = [sample("x", satisfied=False), sample("y", satisfied=True), sample("z")]
    assert [(result.id, result.satisfied) for result in match_counterfactuals(main, other)] == [
        ("a-cf", False),
        ("b-cf", True),
    ]
    assert len(match_counterfactuals(main, other, confirmed=False)) == 3


texts = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=8)
histories = st.lists(st.tuples(st.sampled_from([USER, SYSTEM]), texts), max_size=4)


@given(histories)
def test_remove_apologies_idempotent(turns):
    sorry = [(speaker, f"{text} I'm sorry, but no. i'm sorry") for speaker, text in turns]
    once = remove_apologies(sample(turns=(*sorry, TOLD)))
    assert remove_apologies(once) == once
    assert not any("sorry" in text.lower() for _, text in once.turns)
    assert [speaker for speaker, _ in once.turns] == [speaker for speaker, _ in (*sorry, TOLD)]


def test_compare_histories_last_utterance():
    def pair(main, other):
        turns = [((SYSTEM, text), ASKED, TOLD) for text in (main, other)]
        result = compare_histories([sample("a", turns[0])], [sample("x", turns[1])])
        return tuple(result.loc[0, ["same", "same_without_apologies"]])

    assert pair("Full.", "Full.") == (True, True)
    assert pair("I'm sorry, but it is full.", "it is full.") == (False, True)
    assert pair("I'm sorry, it is full.", "it is free.") == (False, False)
    changed = sample("x", (ASKED, (SYSTEM, "Who?")), False)
    assert compare_histories([sample("a")], [changed]).loc[0, "same"]


@given(st.lists(st.tuples(histories, texts, st.booleans()), max_size=5))
def test_samples_to_frame_round_trip(tmp_path_factory, drawn):
    samples = [
        Sample(f"toy-{position}", "toy", (*turns, (SYSTEM, end)), satisfied)
        for position, (turns, end, satisfied) in enumerate(drawn)
    ]
    path = tmp_path_factory.mktemp("frames") / "samples.parquet"
    samples_to_frame(samples).to_parquet(path)
    assert samples_from_frame(pd.read_parquet(path)) == samples


def test_read_dialogues_ratings_and_texts(save):
    text = USS + USS.replace("3,3,4", "1,5").replace("3,2,4", "2,2")
    first, second = read_dialogues(save(text))
    assert first.turns == ((USER, "A boat?"), (SYSTEM, "At noon."))
    assert (first.ratings, first.overall) == (((3, 3, 4), ()), (3, 2, 4))
    assert (second.ratings, second.overall) == (((1, 5), ()), (2, 2))


def test_read_split_overall_lines(save):
    overall = SPLIT.replace("Thanks.", "OVERALL")
    assert read_split(save(SPLIT + overall)) == [
        ((USER, "A boat?"), (SYSTEM, "At noon."), (USER, "Thanks."))
    ]


@pytest.mark.parametrize(
    ("ratings", "expected"),
    [
        ([2, 3, 3, 2], [2, 3, 3, 2]),
        ([1, 1, 5, 5, 3], [1, 5, 3, 5]),
        ([2, 3, 3, 2, 2, 3], [2, 3, 3, 2]),
        ([4], [4, 4, 4, 4]),
    ],
)
def test_rules_by_hand(ratings, expected):
    assert [rule(ratings) for rule in RULES.values()] == expected


@given(st.lists(st.integers(1, 5), min_size=1, max_size=7), st.randoms(use_true_random=False))
def test_most_frequent_rating_any_order(ratings, dice):
    result = most_frequent_rating(ratings)
    assert all(ratings.count(result) >= ratings.count(other) for other in ratings)
    mixed = list(ratings)
    dice.shuffle(mixed)
    assert most_frequent_rating(mixed) == result


class TestSplit:
    """Five dialogues, two of them held out."""

    dialogues = [
        rated("abcdef", [3, 3, 3, 1, 3, 2]),
        rated("ghijk", [3] * 5),
        rated("lmnop", [3, 3, 3, 2, 3]),
        # Its user says for five utterances what that of the first one says.
        rated("abcdez", [3, 3, 3, 4, 2, 4]),
        rated("qrs", [1, 1, 1]),
    ]
    validation = [before("ghijk")], [before("lmno"), before("lmnop")]

    def split(self, **options):
        return split_samples(self.dialogues, *self.validation, "toy", **options)

    def test_parts_and_labels(self):
        split = self.split()
        assert [(result.id, result.satisfied) for result in split.test] == [
            ("toy-test-0001", False),
            ("toy-test-0002", True),
        ]
        assert split.valid == [Sample("toy-valid-0001", "toy", before("ghijk")[:-1], True)]
        assert [result.satisfied for result in split.train] == [False, True, False] + [
            False,
            True,
            True,
        ]
        assert [len(result.turns) for result in split.train] == [6, 8, 10] * 2

    def test_read_dialogues_own_labels(self):
        labels = [result.satisfied for result in self.split(same_label=False).train]
        assert labels == [False, True, False, True, False, True]

    def test_read_dialogues_other_rule(self):
        assert all(
            result.satisfied for result in self.split(rule=lambda utterance_ratings: 3).train
        )

    def test_cut_samples_drop_out(self):
        stored = [before("hijk"), before("ghijk")], self.validation[1]
        assert len(split_samples(self.dialogues, *stored, "toy").valid) == 1

    def test_windows_differ_where_the_system_speaks_twice(self):
        longer = RatedDialogue(
            (*[ASKED, TOLD] * 14, *[TOLD] * 3, ASKED), ((3,), ()) * 14 + ((),) * 3 + ((3,),), (3,)
        )
        dialogues = [*self.dialogues[1:3], longer]
        lengths = {
            window: len(split_samples(dialogues, *self.validation, "toy", window=window).train)
            for window in (SYSTEM, USER)
        }
        assert lengths == {SYSTEM: 11, USER: 12}

    def test_split_samples_other_benchmark(self):
        with pytest.raises(DataError, match="toy"):
            split_samples(self.dialogues, self.validation[0], [before("zzzz")], "toy")


@pytest.fixture(scope="module")
def splits(mirror, tmp_path_factory):
    """Make the split of each benchmark from the released files."""
    cache = tmp_path_factory.mktemp("released")

    def get(key):
        return fetch(key, cache, mirror=mirror, network=False)

    return {
        benchmark: split_samples(
            read_dialogues(get(files["ratings"])),
            read_split(get(files["valid"])),
            read_split(get(files["test"])),
            benchmark,
        )
        for benchmark, files in FILES.items()
    }


def test_split_samples_table_3_2(splits, repository):
    published = read_cells(repository / "published" / "abolghasemi2026" / "table_3_2.csv")
    for benchmark, parts in splits.items():
        for part, samples in parts._asdict().items():
            of_part = published["split"] == part.capitalize()
            cells = published[of_part & (published["dataset"] == benchmark)]
            satisfied = sum(sample.satisfied for sample in samples)
            result = [satisfied, len(samples) - satisfied, len(samples)]
            assert result == cells["value"].astype(int).tolist()


def test_read_samples_released_test_set(splits, mirror, tmp_path):
    main, generated = (
        read_samples(fetch(key, tmp_path, mirror=mirror, network=False), CAUSE_BENCHMARK, "test")
        for key in CAUSE_FILES.values()
    )
    assert main == splits[CAUSE_BENCHMARK].test
    remaining = match_counterfactuals(main, generated)
    assert (len(remaining), sum(sample.satisfied for sample in remaining)) == (543, 19)
    assert not any("sorry" in sample.turns[-1][1].lower() for sample in remaining)
    apologies = [
        sum("sorry" in sample.turns[-1][1].lower() for sample in part if sample.satisfied == label)
        for part in (splits[CAUSE_BENCHMARK].train, main)
        for label in (False, True)
    ]
    assert apologies == [94, 498, 7, 65]
    pairs = compare_histories(main, generated)
    assert pairs["same"].sum() == 664
    assert (~pairs["same"] & pairs["confirmed"]).sum() == 125
    assert pairs["same_without_apologies"].all()
