"""How a local model chooses tokens: draws by the seed of each request, probabilities, stop texts.

`transformers` generates; these are its hooks. Each treats the rows of a batch apart, so that what a
request gets does not depend on the others.
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


class DrawnTokens(LogitsProcessor):
    """Draws the next token of each row by the row's own seed; all others become impossible."""

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
    """Keeps the log-probability of each chosen token, and of no other one.

    It stands before what changes scores. A step's scores are let go of at the next one: those of
    all steps would take more memory than a model of eight billion numbers.
    """

    def __init__(self) -> None:
        self._step: torch.Tensor | None = None
        self._values: list[torch.Tensor] = []

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return the scores as they are."""
        self._take(input_ids)
        self._step = scores.float().log_softmax(dim=-1)
        return scores

    def of(self, sequences: torch.Tensor) -> list[list[float]]:
        """Log-probabilities of the generated tokens of each row of the finished sequences."""
        self._take(sequences)
        return torch.cat(self._values, dim=1).tolist()

    def _take(self, ids: torch.Tensor) -> None:
        if self._step is not None:
            self._values.append(self._step.gather(1, ids[:, -1:]))


class StopTexts(StoppingCriteria):
    """Ends each row in which one of the texts stands."""

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, texts: tuple[str, ...], start: int
    ) -> None:
        self.lengths: dict[int, int] = {}
        self._tokenizer, self._texts, self._start = tokenizer, texts, start

    def __call__(self, ids: torch.Tensor, scores: object, **_: object) -> torch.Tensor:
        """Whether each row is done."""
        # The text may lie over several tokens, each of which has one byte or more.
        longest = max((len(text.encode()) for text in self._texts), default=0)
        last = max(self._start, ids.shape[1] - longest)
        # All rows at once: each look at a GPU waits for it.
        for row, tail in enumerate(ids[:, last:].tolist() if self._texts else ()):
            if row not in self.lengths:
                end = self._tokenizer.decode(tail)
                if any(text in end for text in self._texts):
                    self.lengths[row] = ids.shape[1] - self._start
        done = [row in self.lengths for row in range(len(ids))]
        return torch.tensor(done, dtype=torch.bool, device=ids.device)
