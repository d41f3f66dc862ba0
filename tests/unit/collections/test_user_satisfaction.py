"""Rated dialogues: what is read and refused, the split behind Table 3.2, the released counts."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.base.errors import CollectionError
from everycell.collections.satisfaction_samples import (
    SYSTEM,
    USER,
    Sample,
    samples_from_frame,
    samples_to_frame,
)
from everycell.collections.satisfaction_splits import (
    compare_histories,
    match_counterfactuals,
    remove_apologies,
    split_samples,
)
from everycell.collections.user_satisfaction import (
    CAUSE_BENCHMARK,
    CAUSE_FILES,
    FILES,
    RULES,
    RatedDialogue,
    most_frequent_rating,
    read_dialogues,
    read_samples,
    read_split,
)
from everycell.records.published_cells import read_cells
from everycell.sources import fetch

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


def test_speakers_texts_and_labels_come_out(save):
    text = str({"dialogue": "USER: Time: 8:30?\nSYSTEM: Yes: 8:30.", "binary_score": 0}) + "\r\n"
    first, second = read_samples(save(LINE + text), "toy", "test")
    assert (first.id, first.satisfied) == ("toy-test-0001", True)
    assert second == Sample(
        "toy-test-0002", "toy", ((USER, "Time: 8:30?"), (SYSTEM, "Yes: 8:30.")), False
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (LINE.replace("1}", "2}"), "line 2 has 2"),
        (LINE.replace("1}", "True}"), "expected a 'binary_score' of 0 or 1"),
        (LINE.replace("1}", "'1'}"), "expected a 'binary_score' of 0 or 1"),
        (LINE.replace("binary_score", "score"), "a dictionary with 'dialogue' and 'binary_score'"),
        (LINE[:40] + "\n", "line 2 has .* as a Python literal without code"),
        ("(" * 5000 + "\n", "without code"),
        ("\n", "line 2 has ''"),
        ("[1, 2]\n", "line 2 has .* a dictionary with 'dialogue' and 'binary_score'"),
        (str({"dialogue": 7, "binary_score": 1}) + "\n", " has 7; expected a 'dialogue'"),
        (LINE.replace("SYSTEM", "BOT"), "expected utterances that start with 'USER:'"),
        (LINE.replace("\\nSYSTEM: At noon.", ""), "has no utterance of the system"),
        (LINE.replace("At noon.", "Noon.\\nUSER: So?"), "does not end with an utterance of the"),
        (LINE, "line 2 repeats the dialogue on line 1"),
    ],
)
def test_a_bad_line_is_named(save, tmp_path, line, message):
    with pytest.raises(CollectionError, match=message) as error:
        read_samples(save(LINE + line), "toy", "test")
    assert "file.txt" in str(error.value) and "fetch" in str(error.value)
    assert len(str(error.value)) < 400 + len(str(tmp_path))


def test_code_in_place_of_a_literal_is_not_run(save, tmp_path):
    code = f"open({str(tmp_path / 'made')!r}, 'w')"
    with pytest.raises(CollectionError, match="line 1 has .* without code"):
        read_samples(save(f"{{'dialogue': {code}, 'binary_score': 1}}"), "toy", "test")
    with pytest.raises(CollectionError, match="line 1 has .* without code"):
        read_split(save(f"[{code}]\t[1]\t2"))
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("read", [lambda path: read_samples(path, "toy", "test"), read_dialogues])
def test_empty_and_binary_files_are_refused(save, read):
    with pytest.raises(CollectionError, match="is empty; fetch it again"):
        read(save(""))
    with pytest.raises(CollectionError, match="UTF-16"):
        read(save(b"\xff\xfe\x00"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"turns": (ASKED,)}, "does not end with an utterance of the system"),
        ({"turns": ()}, "does not end with an utterance of the system"),
        ({"turns": (("Bot", "Hi"), TOLD)}, "has the speaker 'Bot'; expected USER or SYSTEM"),
        ({"satisfied": 1}, "has the label 1; expected True or False"),
    ],
)
def test_no_sample_without_what_its_label_is_about(changes, message):
    with pytest.raises(CollectionError, match=f"toy-1 {message}"):
        sample(**changes)


def test_counterfactuals_are_kept_where_the_label_flips():
    main = [sample("a"), sample("b", satisfied=False), sample("c")]
    other = [sample("x", satisfied=False), sample("y", satisfied=True), sample("z")]
    assert [(result.id, result.satisfied) for result in match_counterfactuals(main, other)] == [
        ("a-cf", False),
        ("b-cf", True),
    ]
    assert len(match_counterfactuals(main, other, confirmed=False)) == 3


def test_pairs_of_different_length_are_refused():
    with pytest.raises(CollectionError, match="There are 2 samples and 1 counterfactuals"):
        match_counterfactuals([sample("a"), sample("b")], [sample("x")])
    longer = sample("x", turns=(ASKED, TOLD) * 2)
    for compare in (match_counterfactuals, compare_histories):
        with pytest.raises(CollectionError, match="Sample a has 2 utterances .* counterfactual 4"):
            compare([sample("a")], [longer])


texts = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=8)
histories = st.lists(st.tuples(st.sampled_from([USER, SYSTEM]), texts), max_size=4)


@given(histories)
def test_apologies_are_gone_after_one_pass(turns):
    sorry = [(speaker, f"{text} I'm sorry, but no. i'm sorry") for speaker, text in turns]
    once = remove_apologies(sample(turns=(*sorry, TOLD)))
    assert remove_apologies(once) == once
    assert not any("sorry" in text.lower() for _, text in once.turns)
    assert [speaker for speaker, _ in once.turns] == [speaker for speaker, _ in (*sorry, TOLD)]


def test_histories_are_compared_up_to_the_last_utterance():
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
def test_a_frame_keeps_every_sample(tmp_path_factory, drawn):
    samples = [
        Sample(f"toy-{position}", "toy", (*turns, (SYSTEM, end)), satisfied)
        for position, (turns, end, satisfied) in enumerate(drawn)
    ]
    path = tmp_path_factory.mktemp("frames") / "samples.parquet"
    samples_to_frame(samples).to_parquet(path)
    assert samples_from_frame(pd.read_parquet(path)) == samples


def test_ratings_and_texts_of_a_dialogue(save):
    text = USS + USS.replace("3,3,4", "1,5").replace("3,2,4", "2,2")
    first, second = read_dialogues(save(text))
    assert first.turns == ((USER, "A boat?"), (SYSTEM, "At noon."))
    assert (first.ratings, first.overall) == (((3, 3, 4), ()), (3, 2, 4))
    assert (second.ratings, second.overall) == (((1, 5), ()), (2, 2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (USS.replace("3,3,4", "3,3,6"), "line 2 has '6'"),
        (USS.replace("3,3,4", "3,,4"), "line 2 has ''"),
        (USS.replace("3,3,4", ""), "line 2 has ''"),
        (USS.replace("3,2,4", "3,2"), "line 4 has '3,2'"),
        (USS.replace("Tell\t", "Tell\t3"), "line 3 has '3'"),
        (USS.replace("SYSTEM", "BOT"), "line 3 has .* expected USER or SYSTEM, text, act"),
        (USS.replace("\tTell\t", ""), "line 3 has .* expected USER or SYSTEM, text, act"),
        (
            USS.rsplit("USER", 1)[0],
            "line 3: the dialogue that ends here lacks its line 'USER OVERALL'",
        ),
        (USS.rsplit("USER", 1)[0] + USS, "line 4: the dialogue that ends here lacks its line"),
        (USS.replace("SYSTEM\tAt noon.\tTell\t\n", ""), "line 2: .* no utterance of the system"),
    ],
)
def test_a_bad_line_of_ratings_is_named(save, text, message):
    with pytest.raises(CollectionError, match=message):
        read_dialogues(save(text))


def test_lines_that_rate_whole_dialogues_are_no_samples(save):
    overall = SPLIT.replace("Thanks.", "OVERALL")
    assert read_split(save(SPLIT + overall)) == [
        ((USER, "A boat?"), (SYSTEM, "At noon."), (USER, "Thanks."))
    ]
    with pytest.raises(CollectionError, match="has no samples; fetch it again"):
        read_split(save(overall))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (SPLIT, "line 2 repeats the sample on line 1"),
        (SPLIT[:25] + "\n", "line 2 has .* tabs"),
        (SPLIT[:20] + "\t[1]\t2\n", "line 2 has .* without code"),
        (SPLIT.replace("'Thanks.|||'", "print(1)"), "line 2 has .* without code"),
        (SPLIT.replace("|||']", "']"), "line 2 has .* a list of 'user|||system'"),
        (SPLIT.replace("|||']", "|||Bye.']"), "line 2 has 'Thanks.|||Bye.'"),
        ("['Thanks.|||']\t[1]\t2\n", "line 2 has 'Thanks.|||'"),
        ("[]\t[1]\t2\n", "line 2 has '\\[\\]'"),
        ("['A|||b', 7]\t[1]\t2\n", "line 2 has .* a list of 'user|||system'"),
    ],
)
def test_a_bad_line_of_the_split_is_named(save, line, message):
    with pytest.raises(CollectionError, match=message.replace("|||", r"\|\|\|")):
        read_split(save(SPLIT + line))


@pytest.mark.parametrize(
    ("ratings", "expected"),
    [
        ([2, 3, 3, 2], [2, 3, 3, 2]),
        ([1, 1, 5, 5, 3], [1, 5, 3, 5]),
        ([2, 3, 3, 2, 2, 3], [2, 3, 3, 2]),
        ([4], [4, 4, 4, 4]),
    ],
)
def test_rules_on_ratings_worked_by_hand(ratings, expected):
    assert [rule(ratings) for rule in RULES.values()] == expected


@given(st.lists(st.integers(1, 5), min_size=1, max_size=7), st.randoms(use_true_random=False))
def test_the_most_frequent_rating_has_no_order(ratings, dice):
    result = most_frequent_rating(ratings)
    assert all(ratings.count(result) >= ratings.count(other) for other in ratings)
    mixed = list(ratings)
    dice.shuffle(mixed)
    assert most_frequent_rating(mixed) == result


def test_no_ratings_have_no_most_frequent_one():
    with pytest.raises(ValueError, match="There are no ratings"):
        most_frequent_rating([])


class TestSplit:
    """Five dialogues: two are held out, and what the others give."""

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

    def test_own_labels(self):
        labels = [result.satisfied for result in self.split(same_label=False).train]
        assert labels == [False, True, False, True, False, True]

    def test_another_rule(self):
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

    def test_files_of_two_benchmarks_do_not_fit(self):
        with pytest.raises(CollectionError, match="toy: one part has no sample that matches any"):
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


def test_the_released_files_give_table_3_2(splits, repository):
    published = read_cells(repository / "published" / "abolghasemi2026" / "table_3_2.csv")
    for benchmark, parts in splits.items():
        for part, samples in parts._asdict().items():
            of_part = published["split"] == part.capitalize()
            cells = published[of_part & (published["dataset"] == benchmark)]
            satisfied = sum(sample.satisfied for sample in samples)
            result = [satisfied, len(samples) - satisfied, len(samples)]
            assert result == cells["value"].astype(int).tolist()


def test_the_released_test_set_is_the_rebuilt_one(splits, mirror, tmp_path):
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
