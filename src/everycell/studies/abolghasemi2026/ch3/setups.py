"""Setups for training estimators of user satisfaction.

Source: abolghasemi2026, section 3.5.3; the last two setups are not in the thesis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from everycell.collections.satisfaction_samples import Sample
from everycell.collections.user_satisfaction import remove_apologies
from everycell.dialogue.counterfactuals import counterfactual, rewrite_by_rule

#: Name of the setup that trains on the unchanged samples.
PLAIN = "w/o up-sampling"
#: Setups that are not in the thesis: it suggests the first; the second is a control.
AUGMENTED, CONTROL = "with counterfactuals", "without apologies"

#: Samples of a benchmark by part: "train", "valid" and test sets.
Parts: TypeAlias = Mapping[str, Sequence[Sample]]

#: Setups of the thesis.
PUBLISHED = (PLAIN, "up-sampling x10", "up-sampling x20")


@dataclass(frozen=True)
class Setup:
    """Changes to the training samples of an estimator."""

    #: Number of copies of each dissatisfied sample in the training set.
    factor: int = 1
    #: Whether each sample is paired with its counterfactual.
    counterfactuals: bool = False
    #: Whether apologies are removed.
    without_apologies: bool = False


def make_setups(factors: Sequence[int]) -> dict[str, dict[str, int | bool]]:
    """Fields of `Setup` by name, for the setups of Table 3.6 and two more."""
    plain_setup = {"counterfactuals": False, "without_apologies": False}
    setups = {
        PLAIN if factor == 1 else f"up-sampling x{factor}": plain_setup | {"factor": factor}
        for factor in factors
    }
    setups[AUGMENTED] = plain_setup | {"factor": 1, "counterfactuals": True}
    middle_setup = list(setups)[len(factors) // 2]
    setups[f"{middle_setup}, {CONTROL}"] = setups[middle_setup] | {"without_apologies": True}
    return setups


def suitable_setups(setups: Mapping[str, Setup], parts: Parts) -> dict[str, Setup]:
    """Setups that are informative on a benchmark.

    The two setups that are not in the thesis need counterfactuals to test on, and the control also
    needs apologies to remove.
    """
    tested = "cf" in parts
    apologies = any(remove_apologies(sample) != sample for sample in parts["train"])
    return {
        name: setup
        for name, setup in setups.items()
        if (tested or not setup.counterfactuals)
        and (tested and apologies or not setup.without_apologies)
    }


def _flipped(sample: Sample, seed: int) -> Sample:
    flipped = counterfactual(rewrite_by_rule(sample, seed=seed))
    assert flipped is not None, "rewrites by rule are always valid"
    return flipped


def training_samples(
    setup: Setup, parts: Parts, *, limit: int | None = None, seed: int
) -> tuple[list[Sample], list[Sample]]:
    """Training and validation samples of a setup.

    Counterfactuals double both, which balances the two labels. Model selection on the imbalanced
    validation samples would favour a model that always predicts satisfaction.
    """
    training_parts = [list(parts["train"][:limit]), list(parts["valid"])]
    if setup.counterfactuals:
        training_parts = [
            [*part, *(_flipped(sample, seed) for sample in part)] for part in training_parts
        ]
    if setup.without_apologies:
        training_parts = [[remove_apologies(sample) for sample in part] for part in training_parts]
    training, valid = training_parts
    return training, valid


def is_published(name: str) -> bool:
    """Whether the thesis reports results of a setup."""
    return name in PUBLISHED


def is_own(name: str) -> bool:
    """Whether a setup is not in the thesis but added by this study."""
    return name == AUGMENTED or name.endswith(CONTROL)
