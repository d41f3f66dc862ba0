"""The control: a planted preference comes out of the measures as it went in."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everycell.base.errors import DataError
from everycell.metrics.attribution import cab, cas, citation_quality
from everycell.rag.citations import citation_logprobs, divide_citations, find_citations
from papers.abolghasemi2026.ch5_controls import PlantedGenerator, expected_quality

QUERIES = [f"q{number}" for number in range(400)]
K = 5


def measured(generator, relevant, nonrelevant, queries=QUERIES):
    """Precisions and recalls; the place of the relevant document goes round."""
    result = []
    for number, query in enumerate(queries):
        gold = number % K + 1
        labels = [relevant if position == gold else nonrelevant for position in range(1, K + 1)]
        result.append(citation_quality(generator.cite(query, labels, [gold]), [gold]))
    return [quality.precision for quality in result], [quality.recall for quality in result]


def bias(strength, part, **options):
    generator = PlantedGenerator(strength, **options)
    labelled = (
        measured(generator, *labels)[part] for labels in (("Human", "LLM"), ("LLM", "Human"))
    )
    return cab(*labelled, relevant="Human", nonrelevant="LLM")


@pytest.mark.parametrize("seed", [0, 1])
def test_planted_generator_bias_grows_with_strength(seed):
    for part in (0, 1):
        result = [bias(strength, part, seed=seed) for strength in (-2, -1, 0, 1, 2, 4)]
        assert result == sorted(result) and len(set(result)) == len(result)
        assert result[2] == 0


@settings(max_examples=25, deadline=None)
@given(st.floats(0, 5), st.floats(0, 5), st.integers(0, 9))
def test_planted_generator_recall_by_strength(one, other, seed):
    queries = QUERIES[:20]
    weak, strong = (
        [
            measured(PlantedGenerator(strength, seed=seed), *labels, queries)[1]
            for labels in (("Human", "LLM"), ("LLM", "Human"))
        ]
        for strength in sorted((one, other))
    )
    assert all(a <= b for a, b in zip(weak[0], strong[0], strict=True))
    assert all(a >= b for a, b in zip(weak[1], strong[1], strict=True))


def test_planted_generator_no_preference():
    generator = PlantedGenerator(0.0)
    plain = measured(generator, "", "")
    for labels in (("Human", "LLM"), ("LLM", "Human"), ("Human", "Human")):
        message = measured(generator, *labels)
        assert message == plain
        assert cas(message[0], plain[0]) == cas(message[1], plain[1]) == 0


def test_planted_generator_sign_of_strength():
    """Without skill and base the two labels are mirror images, in the long run."""
    generator = PlantedGenerator(1.5, skill=0, base=0)
    human = expected_quality(generator, 1, relevant="Human", nonrelevant="LLM").recall
    machine = expected_quality(generator, 1, relevant="LLM", nonrelevant="Human").recall
    assert human + machine == pytest.approx(1)
    mirrored = PlantedGenerator(-1.5, skill=0, base=0)
    assert expected_quality(mirrored, 1, relevant="LLM", nonrelevant="Human").recall == human


@pytest.mark.parametrize("labels", [("Human", "LLM"), ("LLM", "Human"), ("", ""), ("LLM", "LLM")])
def test_expected_quality_equals_means(labels):
    generator = PlantedGenerator(1.0, skill=2.0, base=-1.0)
    queries = [f"long{number}" for number in range(4000)]
    expected = expected_quality(generator, K, relevant=labels[0], nonrelevant=labels[1])
    # Four standard errors of a share of 4,000.
    for values, mean in zip(measured(generator, *labels, queries), expected, strict=True):
        assert sum(values) / len(values) == pytest.approx(mean, abs=4 * 0.5 / math.sqrt(4000))


@pytest.mark.parametrize(("base", "quality"), [(-2000.0, (0.0, 0.0)), (800.0, (1 / K, 1.0))])
def test_expected_quality_limits(base, quality):
    generator = PlantedGenerator(0.0, skill=0.0, base=base)
    assert expected_quality(generator, K, relevant="", nonrelevant="") == pytest.approx(quality)


def test_planted_generator_answer_text():
    generator = PlantedGenerator(2.0, base=0.0)
    labels, texts = ["Human", "LLM", "LLM"], ["One is. Two.", "Does it? No.", "Dr. Ode came."]
    for query in QUERIES[:20]:
        cited = generator.cite(query, labels, [2])
        text = generator.answer(query, labels, [2], texts).text
        assert divide_citations(find_citations(text), 3).documents == cited
    assert generator.answer("q", [], [], []).text == ""


def test_planted_generator_answer_logprobs():
    generator = PlantedGenerator(2.0, base=0.0)
    labels = ["Human", "LLM", ""]
    p = [
        generator.probability(label, relevant=position == 1)
        for position, label in enumerate(labels)
    ]
    for query in QUERIES[:20]:
        answer = generator.answer(query, labels, [2], ["One is.", "Two is.", "Three is."])
        cited = find_citations(answer.text)
        expected = [math.log(p[citation.number - 1]) for citation in cited]
        assert citation_logprobs(answer, cited) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["strength", "skill", "base"])
def test_planted_generator_invalid(name):
    with pytest.raises(DataError) as caught:
        PlantedGenerator(**({"strength": 1} | {name: math.inf}))
    assert (caught.value.column, caught.value.value) == (name, math.inf)
