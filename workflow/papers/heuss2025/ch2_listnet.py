"""ListNet, a small ranker of items by their features, for chapter 2 of heuss2025.

Its batch normalisation uses the mean and variance of each list, in training and in scoring. So
features need not be scaled, and scores are relative to the list. Identical items get equal scores.

Training amplifies differences in the last bit, so it uses double precision and a fused optimiser.
The scores are bit-identical on all x86-64 processors with FMA if :func:`use_portable_arithmetic` is
called first. Torch and its linear algebra library select instructions by processor: wider registers
sum in a different order, so the last bits of a sum differ.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from everycell.base.arrays import FloatArray

#: Added to variances, to avoid division by 0.
_EPSILON = 2e-5


class ListNorm(nn.Module):
    """Batch normalisation by the mean and variance of each list."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, values: Tensor, members: Tensor) -> Tensor:
        """Normalise values, shape (n, width); `members` @ values are the means of the lists."""
        lists = members.argmax(dim=0)
        centred = values - (members @ values)[lists]
        variance = (members @ centred.square())[lists]
        return centred * torch.rsqrt(variance + _EPSILON) * self.weight + self.bias


class ListNet(nn.Module):
    """Perceptron with three hidden layers, each normalised by list."""

    def __init__(self, features: int, hidden: Sequence[int] = (200, 78, 40)) -> None:
        super().__init__()
        widths = [features, *hidden]
        self.layers = nn.ModuleList(map(_linear, widths, hidden))
        self.norms = nn.ModuleList(map(ListNorm, hidden))
        self.last = _linear(widths[-1], 1)

    def forward(self, features: Tensor, members: Tensor) -> Tensor:
        """Scores of items, shape (n,), with lists given by a matrix from :func:`_members`."""
        for layer, norm in zip(self.layers, self.norms, strict=True):
            features = torch.relu(norm(layer(features), members))
        return self.last(features).squeeze(1)


def train_and_score(
    features: Sequence[npt.ArrayLike],
    relevance: Sequence[npt.ArrayLike],
    scored_features: Sequence[npt.ArrayLike],
    *,
    epochs: Sequence[int],
    seed: int,
    validation: tuple[Sequence[npt.ArrayLike], Sequence[npt.ArrayLike]] | None = None,
    stop_by: int | None = None,
    batch: int = 128,
    learning_rate: float = 0.02,
) -> Mapping[int | None, list[FloatArray]]:
    """Train on lists, and return the scores of other lists after the given epochs.

    With validation lists (features, relevance), the key None has the scores after the epoch with
    the lowest validation loss, considering only the first `stop_by` epochs if it is given.
    """
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    inputs, targets = _examples(features, relevance)
    held_out = _examples(*validation) if validation is not None else None
    model = ListNet(inputs[0].shape[1]).double()
    # Fused, because the square roots of other implementations differ between processors.
    optimiser = torch.optim.Adam(model.parameters(), lr=learning_rate, fused=True)
    scores: dict[int | None, list[FloatArray]] = {}
    lowest = np.inf
    for epoch in range(1, max(epochs) + 1):
        order = rng.permutation(len(inputs))
        for start in range(0, len(order), batch):
            rows = order[start : start + batch]
            loss = _loss(model, [inputs[i] for i in rows], [targets[i] for i in rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        if epoch in epochs:
            scores[epoch] = score(model, scored_features)
        if held_out is not None and (stop_by is None or epoch <= stop_by):
            with torch.no_grad():
                held_out_loss = float(_loss(model, *held_out))
            if held_out_loss < lowest:
                lowest, scores[None] = held_out_loss, score(model, scored_features)
    return scores


def score(model: ListNet, lists: Sequence[npt.ArrayLike]) -> list[FloatArray]:
    """Score the items of lists, each of shape (n, d)."""
    with torch.no_grad():
        return [model(part, _members([len(part)])).numpy() for part in _tensors(lists)]


def _tensors(parts: Sequence[npt.ArrayLike]) -> list[Tensor]:
    return [torch.from_numpy(np.array(part, dtype=np.float64)) for part in parts]


def _examples(
    features: Sequence[npt.ArrayLike], relevance: Sequence[npt.ArrayLike]
) -> tuple[list[Tensor], list[Tensor]]:
    """Lists, and their relevance divided by its norm."""
    return _tensors(features), [part / part.norm() for part in _tensors(relevance)]


def _loss(model: ListNet, inputs: Sequence[Tensor], targets: Sequence[Tensor]) -> Tensor:
    """Sum of the losses of lists."""
    sizes = [len(part) for part in inputs]
    scores = model(torch.cat(list(inputs)), _members(sizes)).split(sizes)
    return -torch.stack(
        [target @ part.log_softmax(0) for target, part in zip(targets, scores, strict=True)]
    ).sum()


def _members(sizes: Sequence[int]) -> Tensor:
    """Matrix (lists, items) that averages over lists, whose items are contiguous."""
    counts = torch.tensor(sizes)
    lists = torch.repeat_interleave(torch.arange(len(sizes)), counts)
    members = torch.zeros(len(sizes), len(lists), dtype=torch.float64)
    members[lists, torch.arange(len(lists))] = (1 / counts.double())[lists]
    return members


def _linear(inputs: int, outputs: int) -> nn.Linear:
    """Linear layer, initialised with weights of variance 1 / inputs and zero biases."""
    layer = nn.Linear(inputs, outputs, dtype=torch.float64)
    nn.init.normal_(layer.weight, std=inputs**-0.5)
    nn.init.zeros_(layer.bias)
    return layer


#: Torch's own loops without wide registers, and matrix products summed in a fixed order.
_SETTINGS = {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE"}


def use_portable_arithmetic() -> None:
    """Make torch use portable instructions and one thread in this process.

    Call it before any computation. It makes ListNet about half as fast.

    Some functions are not affected: ``sqrt``, ``log`` and others on whole tensors come from a
    library that still detects the processor, so optimisers must be ``fused``, with their own
    square roots. A test compares a training run with results from two other processors. The C
    library matters too: other operating systems, and processors without FMA, give different bits.
    """
    os.environ.update(_SETTINGS)
    torch.set_num_threads(1)
    capability = torch.backends.cpu.get_cpu_capability()
    if capability not in ("DEFAULT", "NO AVX"):
        raise RuntimeError(
            f"Torch already uses {capability}: call use_portable_arithmetic() before the first "
            "computation of the process."
        )
