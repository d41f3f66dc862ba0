"""Hooks for generation with transformers: seeded sampling, log-probabilities, stop texts.

Each hook treats the rows of a batch separately, so that an answer does not depend on the other
requests.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from transformers import (
    LogitsProcessor,
    PreTrainedTokenizerBase,
    StoppingCriteria,
    TemperatureLogitsWarper,
    TopPLogitsWarper,
)


class SeededSampling(LogitsProcessor):
    """Samples the next token of each row with its own seed; all other tokens become impossible."""

    def __init__(
        self,
        seeds: Sequence[int | None],
        *,
        temperature: float,
        top_p: float,
        device: torch.device,
    ) -> None:
        self._warpers = [TemperatureLogitsWarper(temperature)]
        if top_p < 1:
            self._warpers.append(TopPLogitsWarper(top_p))
        self._generators = [torch.Generator(device) for _ in seeds]
        for generator, seed in zip(self._generators, seeds, strict=True):
            if seed is None:
                generator.seed()
            else:
                generator.manual_seed(seed)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Scores of shape (rows, vocabulary): 0 for the drawn token, minus infinity elsewhere."""
        for warper in self._warpers:
            scores = warper(input_ids, scores)
        shares = scores.softmax(dim=-1)
        drawn = [
            torch.multinomial(shares[row : row + 1], num_samples=1, generator=generator)
            for row, generator in enumerate(self._generators)
        ]
        return torch.full_like(scores, -torch.inf).scatter(1, torch.cat(drawn), 0.0)


class ChosenLogprobs(LogitsProcessor):
    """Records the log-probabilities of the chosen tokens only.

    It must precede hooks that change scores. The scores of a step are discarded at the next step:
    those of all steps would take more memory than a model of eight billion parameters.
    """

    def __init__(self) -> None:
        self._step: torch.Tensor | None = None
        self._values: list[torch.Tensor] = []

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return the scores unchanged."""
        self._record(input_ids)
        self._step = scores.float().log_softmax(dim=-1)
        return scores

    def logprobs(self, sequences: torch.Tensor) -> list[list[float]]:
        """Log-probabilities of the generated tokens of each row of the finished sequences."""
        self._record(sequences)
        return torch.cat(self._values, dim=1).tolist()

    def _record(self, ids: torch.Tensor) -> None:
        if self._step is not None:
            self._values.append(self._step.gather(1, ids[:, -1:]))


class StopTexts(StoppingCriteria):
    """Ends each row that contains one of the stop texts."""

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, texts: tuple[str, ...], start: int
    ) -> None:
        self.lengths: dict[int, int] = {}
        self._tokenizer, self._texts, self._start = tokenizer, texts, start

    def __call__(self, ids: torch.Tensor, scores: object, **_: object) -> torch.Tensor:
        """Whether each row is done."""
        # A stop text may span several tokens, each of at least one byte.
        longest = max((len(text.encode()) for text in self._texts), default=0)
        tail_start = max(self._start, ids.shape[1] - longest)
        # All rows at once: each transfer waits for the GPU.
        for row, tail in enumerate(ids[:, tail_start:].tolist() if self._texts else ()):
            if row not in self.lengths:
                tail_text = self._tokenizer.decode(tail)
                if any(text in tail_text for text in self._texts):
                    self.lengths[row] = ids.shape[1] - self._start
        done = [row in self.lengths for row in range(len(ids))]
        return torch.tensor(done, dtype=torch.bool, device=ids.device)
