"""What a full run asks of language models: tokens, hours of a GPU, money, by plain arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

from everycell.language_models.presets import Facts
from everycell.language_models.settings import Prices


@dataclass(frozen=True)
class Load:
    """What one step asks of each language model that it is given.

    Attributes
    ----------
    step : str
        In words.
    requests : int
    prompt_tokens : int
        Of all requests together, as expected.
    answer_tokens : int
        Of all answers together, at most.
    counted : str
        How the number of requests comes about.
    """

    step: str
    requests: int
    prompt_tokens: int
    answer_tokens: int
    counted: str


@dataclass(frozen=True)
class Gpu:
    """A GPU, by its data sheet, and the share of that which is assumed to be reached.

    Attributes
    ----------
    name : str
    memory_gb : float
    bandwidth_gb : float
        Gigabytes a second between its memory and its cores.
    tera_flops : float
        Of dense products in 16 bits.
    share : float
        Assumed to be reached of either, 0 to 1.
    """

    name: str
    memory_gb: float
    bandwidth_gb: float
    tera_flops: float
    share: float = 0.3


#: The GPU that the papers' authors name.
A100 = Gpu("A100", memory_gb=80, bandwidth_gb=2039, tera_flops=312)


def gpu_hours(load: Load, facts: Facts, *, batch: int, gpu: Gpu = A100) -> float:
    """Hours that a model of 16-bit numbers takes for a load.

    A prompt's token takes two operations with each parameter, which is bound by arithmetic. Each
    step of writing, one token for a whole batch, reads all parameters and what is kept of the
    prompts, which is bound by memory. Answers are taken to be as long as they may be.

    Examples
    --------
    >>> from everycell.language_models.presets import FACTS
    >>> asked = Load("toy", 1000, 1_500_000, 256_000, "by hand")
    >>> llama = FACTS["meta-llama/Meta-Llama-3-8B-Instruct"]
    >>> round(gpu_hours(asked, llama, batch=1), 2), round(gpu_hours(asked, llama, batch=8), 2)
    (1.96, 0.33)
    """
    reading = 2 * facts.parameters * load.prompt_tokens / (gpu.tera_flops * 1e12)
    steps = load.answer_tokens / batch
    kept = batch * facts.cached * load.prompt_tokens / load.requests
    writing = steps * 2 * (facts.parameters + kept) / (gpu.bandwidth_gb * 1e9)
    return (reading + writing) / gpu.share / 3600


def cost(load: Load, prices: Prices) -> float:
    """Money that a load costs at most, in the currency of the prices.

    Examples
    --------
    >>> cost(Load("toy", 1000, 1_500_000, 256_000, "by hand"), Prices(prompt=2.5, answer=10.0))
    6.31
    """
    spent = load.prompt_tokens * prices.prompt + load.answer_tokens * prices.answer
    return spent / 1e6
