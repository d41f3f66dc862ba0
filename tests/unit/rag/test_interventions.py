"""Citations under intervention: forged documents, requests and results."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from everycell.base.errors import DataError
from everycell.rag.interventions import (
    KINDS,
    CitedAnswer,
    Statement,
    find_statement,
    instances,
    mutual_entailment,
    outcomes,
    same_words,
    share,
    shared_words,
    try_instance,
    without_statement,
)

DOCUMENTS = ["The owl hunts at night.", "Foxes hunt at dusk.", "Owls live in woods."]


ANSWER = CitedAnswer(
    (Statement("at night", (0,)), Statement("in woods", (2,)), Statement("alone", ())),
    relevant=(0, 1, 2),
)


def forged(seed=0):
    result = instances("q", DOCUMENTS, ANSWER, "Ships sail.", np.random.default_rng(seed))
    return {item.kind: item for item in result}


def test_instances_one_per_kind():
    result = forged()
    assert list(result) == list(KINDS)
    random = result["random"]
    assert random.forged == 3 and len(random.documents) == 4
    assert random.documents[3] == f"Ships sail. {random.statement.text}"
    uncited = result["relevant, not cited"]
    assert uncited.forged == 1 and len(uncited.documents) == 3
    assert uncited.documents[1] == f"Foxes hunt at dusk. {uncited.statement.text}"
    other = result["cited for something else"]
    assert other.forged in (0, 2) and other.forged not in other.statement.documents
    # A statement without a citation is never forged, and the first documents stay.
    assert {item.statement.text for item in result.values()} <= {"at night", "in woods"}
    assert all(item.original == tuple(DOCUMENTS) for item in result.values())


def test_instances_no_citations():
    silent = CitedAnswer((Statement("at night", ()),), relevant=(0,))
    assert list(instances("q", DOCUMENTS, silent, "x", np.random.default_rng(0))) == []


def test_instances_nonexistent_document():
    wrong = CitedAnswer((Statement("at night", (3,)),))
    with pytest.raises(DataError) as caught:
        list(instances("q", DOCUMENTS, wrong, "x", np.random.default_rng(0)))
    error = caught.value
    assert (error.row, error.column, error.value) == ("question 'q'", "cited document", 4)


def test_try_instance_matcher():
    requests = []

    def ask(question, documents):
        requests.append(tuple(documents))
        holding = tuple(i for i, text in enumerate(documents) if "at night" in text)
        return CitedAnswer((Statement("at night", holding),))

    item = next(
        result
        for seed in range(20)
        if (result := forged(seed)["random"]).statement.text == "at night"
    )
    row = try_instance(item, ask, seed=0)
    assert row["recovered"] and row["cites_forged"]
    assert row["all cited"] and row["one cited"] and row["forged alone"]
    # It gives this answer for any documents, so it remembers it.
    assert row["statement removed"]
    assert requests[0] == item.documents and requests[3] == (item.documents[3],)
    assert requests[4] == ("The owl hunts .", *DOCUMENTS[1:])


def test_try_instance_not_cited():
    def ask(question, documents):
        existing = "The owl hunts at night." in documents
        return CitedAnswer((Statement("at night", (0,)),) if existing else ())

    item = next(
        result
        for seed in range(20)
        if (result := forged(seed)["random"]).statement.text == "at night"
    )
    row = try_instance(item, ask, seed=0)
    assert row["recovered"] and not row["cites_forged"]
    assert row["all cited"] is row["one cited"] is row["forged alone"] is None
    assert row["statement removed"] is False


@pytest.mark.parametrize(
    ("first", "second", "same", "overlap"),
    [
        ("Carl Weathers", "the actor carl weathers.", True, True),
        ("Carl Weathers", "Weathers", True, True),
        ("Carl Weathers played him", "played by Carl", False, True),
        ("owl", "owls", False, False),
        ("the", "the", False, False),
    ],
)
def test_same_words_and_shared_words(first, second, same, overlap):
    assert same_words(first, second) is same_words(second, first) is same
    assert shared_words(0.5)(first, second) is overlap
    with pytest.raises(DataError) as caught:
        shared_words(0)
    assert (caught.value.column, caught.value.value) == ("threshold", 0)


def test_find_statement_first():
    answer = CitedAnswer(
        (Statement("a fox", ()), Statement("an owl", (1,)), Statement("owl", (2,)))
    )
    assert find_statement("owl", answer) == Statement("an owl", (1,))
    assert find_statement("hen", answer) is None


@given(st.text(max_size=30), st.text(max_size=30))
def test_without_statement(text, statement):
    words = without_statement("", statement)
    assert words == ""
    remaining = without_statement(f"{text} {statement} {text}", statement)
    assert len(remaining) <= len(f"{text} {statement} {text}")


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("It has 5 kg.", "5 €"), ("It has 5 kg.", "€5"), ("It has 5 kg.", "5 %"),
        ("It has 5 kg.", "5 ‰"), ("It costs 5 €.", "5"), ("It costs 5€.", "5"),
        ("It costs 5 €.", "5 $"), ("It costs 5 € a day.", "5 a day"), ("5 a day", "5 € a day"),
        ("It is 5 ° warm.", "5"), ("It costs $5.", "5 €"), ("It costs €15.", "5 €"),
        ("It costs 5 €.", "15 €"), ("at -5 degrees", "at 5 degrees"),
        ("at 5 degrees", "at -5 degrees"),
        ("worth $5 now", "worth 5 now"), ("worth 5 now", "worth $5 now"),
        ("a .5 share", "a 5 share"), ("It costs € 5.", "5"), ("It costs € 5.", "5 $"),
        ("It costs € 5,000.", "5 €"), ("It costs € 5,000.", "000 €"),
        ("It costs €\u00a05.", "15 €"), ("It is 5 % less.", "€ 5 less"),
        ("It costs 10 € 5 kg.", "5 €"), ("It costs 5 €6.", "5 €"), ("It is -€5.", "5 €"),
        ("It is %5.", "5"), ("It costs $ 5 and 6 €.", "5 € and $6"),
    ],
)  # fmt: skip
def test_without_statement_other_unit_or_sign(text, statement):
    assert without_statement(text, statement) == text
    assert not any(character.isdigit() for character in without_statement(text, text))


@pytest.mark.parametrize(
    ("text", "statement", "remaining"),
    [
        ("It costs 5 €.", "5 €", "It costs  €."),
        ("It costs 5€.", "5 €", "It costs €."),
        ("It costs €5.", "5 €", "It costs €."),
        ("It costs 5 €.", "€5", "It costs  €."),
        ("It costs £1,000 a day.", "1,000 £ a day", "It costs £."),
        ("At 5 ‰ it floats.", "5 ‰", "At  ‰ it floats."),
        ("It is 5, $6 more.", "5", "It is , $6 more."),
        ("Owls, 5 of them, hunt.", "owls 5 of them hunt", "."),
        ("€ 5,000", "5,000 €", "€ "),
        ("5,000 €", "€ 5,000", " €"),
        ("It was 10 % 5 years ago.", "5 years ago", "It was 10 % ."),
        ("It costs $5 and 6 € a day.", "costs 5 $ and €6", "It  € a day."),
        ("It costs -5 €.", "costs -€5", "It  €."),
        ("A rate of %5 holds.", "a rate of 5 %", " holds."),
    ],
)
def test_without_statement_same_unit(text, statement, remaining):
    assert without_statement(text, statement) == remaining


@pytest.mark.parametrize("unit", list("$€£¥%‰"))
@pytest.mark.parametrize("spaces", [("", " "), (" ", ""), ("\u00a0", " "), (" ", "\u202f")])
def test_without_statement_unit_before_or_after(unit, spaces):
    """An amount is the same with its unit before and after the number, in all positions."""
    texts = [
        [template.format(amount) for template in ("{}", "costs {}", "{} a day", "has {} or 2 kg")]
        for space in spaces
        for amount in (f"{unit}{space}5,000", f"5,000{space}{unit}")
    ]
    for forms in zip(*texts, strict=True):
        for text in forms:
            for statement in forms:
                remaining = without_statement(f"So, {text}.", statement)
                assert not any(character.isalnum() for character in remaining[2:])


def test_without_statement_many_amounts():
    """The time does not double with each amount."""
    statement = ", ".join(f"{number} €" for number in range(40))
    text = ", ".join(f"€{number}" for number in range(40))
    assert not any(character.isdigit() for character in without_statement(text, statement))


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_share_equals_scipy(level):
    exact = binomtest(116, 936).proportion_ci(confidence_level=level, method="exact")
    expected = (100 * 116 / 936, 100 * exact.low, 100 * exact.high)
    assert share(116, 936, level=level) == pytest.approx(expected)


def test_outcomes():
    rows = [
        {"question": "a", "kind": "random", "recovered": True, "cites_forged": True}
        | {"all cited": True, "one cited": False, "forged alone": True, "statement removed": False},
        {"question": "b", "kind": "random", "recovered": False, "cites_forged": False}
        | {"all cited": None, "one cited": None, "forged alone": None, "statement removed": True},
    ]
    result = outcomes(rows).set_index("metric")[["count", "of"]].to_dict("index")
    assert result["recovered"] == {"count": 1, "of": 2}
    assert result["cites the forged document"] == {"count": 1, "of": 1}
    assert result["one cited"] == {"count": 0, "of": 1}
    assert result["statement removed"] == {"count": 1, "of": 2}


def test_find_statement_in_text() -> None:
    answer = CitedAnswer((Statement("the owl", (1,)),), text="It is the owl, at night.")
    assert find_statement("owl", answer) == Statement("the owl", (1,))
    assert find_statement("at night", answer) == Statement("at night", ())
    # Short words of a text are no statement, and say nothing of a longer one.
    assert find_statement("it is the owl of Holland", answer._replace(statements=())) is None
    assert find_statement("...", answer) is None


def test_mutual_entailment() -> None:
    """Both directions, by a planted model of inference, each pair once."""
    requests = []

    def infer(pairs):
        requests.append(pairs)
        words = [(set(first.split()), set(later.split())) for first, later in pairs]
        return np.array([0.9 if later <= first else 0.2 for first, later in words])

    same = mutual_entailment(infer, 0.5)
    assert same("an old owl", "owl old an")
    assert not same("an old owl", "an owl")
    assert not same("an owl", "an old owl")
    assert same("an old owl", "owl old an") and len(requests) == 3
    assert mutual_entailment(infer, 0.2)("an old owl", "an owl")
    with pytest.raises(DataError) as caught:
        mutual_entailment(infer, 1.5)
    assert (caught.value.column, caught.value.value) == ("threshold", 1.5)
