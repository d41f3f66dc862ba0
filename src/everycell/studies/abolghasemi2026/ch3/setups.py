"""Setups in which estimators of user satisfaction are trained: what they learn from.

Sources: abolghasemi2026, section 3.5.3; the last two setups are this project's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from everycell.collections.satisfaction_samples import Sample
from everycell.collections.satisfaction_splits import without_apologies
from everycell.dialogue.counterfactual_rules import rewrite_by_rule
from everycell.dialogue.counterfactuals import counterfactual

#: Name of the setup that trains on what there is.
PLAIN = "w/o up-sampling"
#: Setups that the thesis does not have: it hopes for the first; the second is a control.
AUGMENTED, CONTROL = "with counterfactuals", "without apologies"

#: Samples of a benchmark by part: "train", "valid" and test sets.
Parts: TypeAlias = Mapping[str, Sequence[Sample]]

#: Setups of the thesis.
PRINTED = (PLAIN, "up-sampling x10", "up-sampling x20")


@dataclass(frozen=True)
class Setup:
    """What an estimator learns from."""

    #: How often a dissatisfied sample is in the training set.
    factor: int = 1
    #: Whether each sample is paired with its counterfactual.
    counterfactuals: bool = False
    #: Whether apologies are removed.
    without_apologies: bool = False


def make_setups(factors: Sequence[int]) -> dict[str, dict[str, int | bool]]:
    """Setups of Table 3.6 by name, and two more: fields of `Setup`."""
    plain = {"counterfactuals": False, "without_apologies": False}
    setups = {
        PLAIN if factor == 1 else f"up-sampling x{factor}": plain | {"factor": factor}
        for factor in factors
    }
    setups[AUGMENTED] = plain | {"factor": 1, "counterfactuals": True}
    middle = list(setups)[len(factors) // 2]
    setups[f"{middle}, {CONTROL}"] = setups[middle] | {"without_apologies": True}
    return setups


def suitable_setups(setups: Mapping[str, Setup], parts: Parts) -> dict[str, Setup]:
    """Setups that say something on a benchmark.

    Without counterfactuals to test on there is nothing to show of the two that the thesis does not
    have, and where nobody apologises the control is what it controls.
    """
    tested = "cf" in parts
    apologies = any(without_apologies(sample) != sample for sample in parts["train"])
    return {
        name: setup
        for name, setup in setups.items()
        if (tested or not setup.counterfactuals)
        and (tested and apologies or not setup.without_apologies)
    }


def _flipped(sample: Sample, seed: int) -> Sample:
    flipped = counterfactual(rewrite_by_rule(sample, seed=seed))
    assert flipped is not None, "what the rules write has no fault"
    return flipped


def training_samples(
    setup: Setup, parts: Parts, *, limit: int | None = None, seed: int
) -> tuple[list[Sample], list[Sample]]:
    """Training and validation samples of a setup.

    With counterfactuals both have as many again, so that the two labels weigh the same: chosen on
    samples of the usual imbalance, a model would be one that says "satisfied".
    """
    both = [list(parts["train"][:limit]), list(parts["valid"])]
    if setup.counterfactuals:
        both = [[*part, *(_flipped(sample, seed) for sample in part)] for part in both]
    if setup.without_apologies:
        both = [[without_apologies(sample) for sample in part] for part in both]
    training, valid = both
    return training, valid


def is_published(name: str) -> bool:
    """Whether the thesis prints what came of a setup."""
    return name in PRINTED


def is_own(name: str) -> bool:
    """Whether a setup is one that the thesis does not have."""
    return name == AUGMENTED or name.endswith(CONTROL)
