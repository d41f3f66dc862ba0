"""Requirements of language models (memory, disk, key, licence), and cost of full runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from everycell.language_models.settings import LanguageModels, LocalSettings, Prices

_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
# GPU memory for the driver, torch and activations.
_OVERHEAD_GB = 1.5


@dataclass(frozen=True)
class Facts:
    """Facts about a model; `cached` is the number of cached keys and values per token."""

    parameters: int
    cached: int
    context: int
    licence: str
    gated: bool = False
    bits: int | None = None


#: Source of a local model -> facts, from the model's files and its model card on the hub.
FACTS: Mapping[str, Facts] = {
    "smollm2/SmolLM2-135M-Instruct.Q4_1.gguf": Facts(
        134_515_008, 2 * 30 * 3 * 64, 8192, "Apache-2.0", bits=5
    ),
    "HuggingFaceH4/zephyr-7b-beta": Facts(7_241_732_096, 2 * 32 * 8 * 128, 32_768, "MIT"),
    "mistralai/Mistral-7B-Instruct-v0.2": Facts(
        7_241_732_096, 2 * 32 * 8 * 128, 32_768, "Apache-2.0", gated=True
    ),
    "mistralai/Mistral-7B-Instruct-v0.3": Facts(
        7_248_023_552, 2 * 32 * 8 * 128, 32_768, "Apache-2.0"
    ),
    "meta-llama/Meta-Llama-3-8B-Instruct": Facts(
        8_030_261_248, 2 * 32 * 8 * 128, 8192, "Llama 3 Community License", gated=True
    ),
    "CohereLabs/c4ai-command-r-plus-08-2024": Facts(
        103_810_674_688, 2 * 64 * 8 * 128, 131_072, "CC-BY-NC-4.0", gated=True
    ),
}


@dataclass(frozen=True)
class Requirements:
    """Requirements of a language model: memory, disk, key, licence."""

    kind: Literal["local", "endpoint"]
    source: str
    gpu_gb: float | None
    disk_gb: float | None
    key: str | None = None
    licence: str = ""
    gated: bool = False
    context: int | None = None


def requirements(name: str, settings: LanguageModels, *, tokens: int = 4096) -> Requirements:
    """Requirements of a configured language model, without loading it or using the network.

    Memory covers the weights in `dtype`, the keys and values of one prompt (batches shrink to one
    prompt if memory is short), and 1.5 GB for everything else.
    """
    if name in settings.endpoints:
        endpoint = settings.endpoints[name]
        return Requirements("endpoint", endpoint.url, 0.0, 0.0, key=endpoint.key)
    if name not in settings.local:
        raise KeyError(f"There is no language model {name!r} under `language_models`.")
    local = settings.local[name]
    facts = FACTS.get(local.source)
    if facts is None:
        size = _size_of_files(Path(local.source))
        # Assumes that the number format of the files is that of the computation.
        return Requirements("local", local.source, size and round(size + _OVERHEAD_GB, 1), size)
    return Requirements(
        "local",
        local.source,
        gpu_gb=_memory(facts, local, tokens),
        disk_gb=round(facts.parameters * (facts.bits or 16) / 8 / 1e9, 1),
        licence=facts.licence,
        gated=facts.gated,
        context=facts.context,
    )


def _memory(facts: Facts, local: LocalSettings, tokens: int) -> float:
    cache = facts.cached * min(tokens, facts.context)
    return round((facts.parameters + cache) * _BYTES[local.dtype] / 1e9 + _OVERHEAD_GB, 1)


def _size_of_files(source: Path) -> float | None:
    """Gigabytes of a file, or of the weights in a folder; None if there are none."""
    files = [source] if source.is_file() else list(source.glob("*.safetensors"))
    return round(sum(file.stat().st_size for file in files) / 1e9, 1) if files else None


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
