"""Cost of full runs with language models, in GPU hours and money, from measured rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from everycell.language_models.presets import Facts
from everycell.language_models.settings import Prices


@dataclass(frozen=True)
class Load:
    """Requests and tokens of one step, per language model."""

    step: str
    requests: int
    prompt_tokens: int
    answer_tokens: int
    counted: str


@dataclass(frozen=True)
class Gpu:
    """Speed of a GPU, measured by `bench/gpu.py` with a model of 8 billion parameters.

    `reading` and `encoding` are in tera-operations per second; `steps` maps a batch size to the
    seconds for generating one token of each answer.
    """

    name: str
    reading: float
    steps: Mapping[int, float]
    encoding: float


#: The GPU that was measured (see docs/cost-of-scale.md).
H200 = Gpu("H200", reading=560, steps={8: 0.058, 64: 0.206}, encoding=155)
#: Parameters of the language model that was measured.
MEASURED_PARAMETERS = 8.03e9


def gpu_hours(load: Load, facts: Facts, *, batch: int, gpu: Gpu = H200) -> float:
    """GPU hours of a load with a model in 16-bit precision.

    A prompt token takes two operations per parameter. A generation step takes its measured time,
    scaled by the number of parameters. Answers are assumed to have maximal length.
    """
    reading = 2 * facts.parameters * load.prompt_tokens / (gpu.reading * 1e12)
    step = gpu.steps[batch] * facts.parameters / MEASURED_PARAMETERS
    return (reading + load.answer_tokens / batch * step) / 3600


def cost(load: Load, prices: Prices) -> float:
    """Maximum cost of a load, in the currency of the prices."""
    total = load.prompt_tokens * prices.prompt + load.answer_tokens * prices.answer
    return total / 1e6
