"""What a full run asks of language models: tokens, hours of a GPU, money, by measured rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from everycell.language_models.presets import Facts
from everycell.language_models.settings import Prices


@dataclass(frozen=True)
class Load:
    """Load of one step on each language model that it asks."""

    step: str
    requests: int
    prompt_tokens: int
    answer_tokens: int
    counted: str


@dataclass(frozen=True)
class Gpu:
    """A GPU, by what `bench/gpu.py` measured on it with a model of 8 billion parameters.

    `reading` and `encoding` are in tera-operations per second; `steps` maps the size of a batch to
    the seconds in which one token of each answer is written.
    """

    name: str
    reading: float
    steps: Mapping[int, float]
    encoding: float


#: The GPU that was measured: docs/cost-of-scale.md.
H200 = Gpu("H200", reading=560, steps={8: 0.058, 64: 0.206}, encoding=155)
#: Parameters of the language model that was measured.
MEASURED_PARAMETERS = 8.03e9


def gpu_hours(load: Load, facts: Facts, *, batch: int, gpu: Gpu = H200) -> float:
    """Hours that a model of 16-bit numbers takes for a load.

    A prompt's token takes two operations with each parameter. A step of writing takes its measured
    time, in proportion to the parameters. Answers are taken to be as long as they may be.
    """
    reading = 2 * facts.parameters * load.prompt_tokens / (gpu.reading * 1e12)
    step = gpu.steps[batch] * facts.parameters / MEASURED_PARAMETERS
    return (reading + load.answer_tokens / batch * step) / 3600


def cost(load: Load, prices: Prices) -> float:
    """Money that a load costs at most, in the currency of the prices."""
    spent = load.prompt_tokens * prices.prompt + load.answer_tokens * prices.answer
    return spent / 1e6
