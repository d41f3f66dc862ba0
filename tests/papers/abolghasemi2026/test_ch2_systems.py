"""abolghasemi2026, chapter 2: systems by tier, as the rules read them."""

import pytest

from papers.abolghasemi2026.ch2_settings import QueryByExample
from papers.abolghasemi2026.ch2_systems import (
    combined_systems,
    ranking_systems,
    tokenised_systems,
)


@pytest.mark.parametrize(
    ("encoders", "rows"),
    [({}, "abcefhijkl"), ({"tilde_msmarco": "a/b", "tildev2_msmarco": "a/c"}, "abcdefghijkl")],
)
def test_ranking_systems_without_models_of_the_user(encoders, rows):
    systems = ranking_systems(QueryByExample(encoders=encoders))
    assert "".join(row for row, *_ in systems["full"]) == rows


def test_systems_one_run_per_row():
    for by_tier in (ranking_systems(QueryByExample()), tokenised_systems(), combined_systems(7)):
        assert by_tier.keys() == {"embedded", "released", "full"}
        for tier, systems in by_tier.items():
            for position in (0, 3):
                values = [system[position] for system in systems]
                assert len(values) == len(set(values)), tier
            assert [row for row, *_ in systems] == sorted(row for row, *_ in systems)


def test_tokenised_systems_without_scibert():
    tokenised = tokenised_systems()
    assert len(tokenised["released"]) == 11
    assert not [system for system in tokenised["embedded"] if "SciBERT" in system[2]]
